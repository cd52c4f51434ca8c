/*
 * measure_rows.c - the rows that a measured statement returns: their digests, and a random sample of them.
 *
 * Which rows are in the sample is decided by a secret of the hold, so that nobody who writes the data
 * can keep a row out of it.
 */
#include "proxy/session/measure.h"

#include "proxy/base/limits.h"

#include <stdlib.h>
#include <string.h>

void measured_rows_begin(struct measured_rows *rows, const uint8_t secret[16])
{
    *rows = (struct measured_rows){0};
    memcpy(rows->secret, secret, sizeof rows->secret);
    buffer_init(&rows->digests, (size_t)LIMIT_MEASURED_ROWS * SHA256_SIZE);
}

static void release_row(struct sampled_row *row)
{
    free(row->old_row);
    free(row->new_row);
}

void measured_rows_release(struct measured_rows *rows)
{
    for (size_t i = 0; i < rows->sample_count; i++)
        release_row(&rows->sample[i]);
    buffer_release(&rows->digests);
    *rows = (struct measured_rows){0};
}

/* --- the sample ------------------------------------------------------------------------------------ */

static size_t highest_rank(const struct measured_rows *rows)
{
    size_t highest = 0;
    for (size_t i = 1; i < rows->sample_count; i++)
        if (memcmp(rows->sample[i].rank, rows->sample[highest].rank, SHA256_SIZE) > 0)
            highest = i;
    return highest;
}

static void rank_of(const struct measured_rows *rows, const uint8_t digest[SHA256_SIZE],
                    uint8_t rank[SHA256_SIZE])
{
    struct digest *mix = digest_new();
    digest_field(mix, (struct text){(const char *)rows->secret, sizeof rows->secret});
    digest_field(mix, (struct text){(const char *)digest, SHA256_SIZE});
    digest_field(mix, (struct text){(const char *)&rows->count, sizeof rows->count});
    digest_finish(mix, rank);
}

static void consider(struct measured_rows *rows, const uint8_t digest[SHA256_SIZE],
                     struct text image)
{
    struct sampled_row row = {0};
    size_t place = rows->sample_count;
    rank_of(rows, digest, row.rank);
    if (place == SAMPLE_ROWS) {
        place = highest_rank(rows);
        if (memcmp(row.rank, rows->sample[place].rank, SHA256_SIZE) >= 0)
            return;
        release_row(&rows->sample[place]);
    } else {
        rows->sample_count++;
    }
    struct text old_row, new_row;
    if (measured_image_parts(image, &old_row, &new_row)) {
        row.old_row = measured_row_as_json(old_row);
        row.new_row = measured_row_as_json(new_row);
    }
    rows->sample[place] = row;
}

void measured_rows_add(struct measured_rows *rows, struct text fingerprint, struct text image)
{
    uint8_t digest[SHA256_SIZE];
    rows->count++;
    if (fingerprint.size == 0) {
        rows->incomplete = true;
        return;
    }
    sha256(fingerprint.bytes, fingerprint.size, digest);
    buffer_append(&rows->digests, digest, sizeof digest);
    rows->incomplete = rows->incomplete || rows->digests.overflow;
    if (image.size > 0)
        consider(rows, digest, image);
}
