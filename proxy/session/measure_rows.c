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

enum { NAMED_DIGEST_DIGITS = 16 };

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
    buffer_release(&rows->named);
    *rows = (struct measured_rows){0};
}

void measured_rows_named_by(struct measured_rows *rows, const struct text *key, size_t key_count)
{
    rows->key = key;
    rows->key_count = key_count;
    buffer_init(&rows->named, (size_t)LIMIT_NAMED_ROWS * LIMIT_ROW_NAME_BYTES);
}

/* All of them or none: what is missing in a list would seem to have come or gone. */
static void name(struct measured_rows *rows, const uint8_t digest[SHA256_SIZE], struct text old_row)
{
    char key[LIMIT_ROW_NAME_BYTES], hex[SHA256_HEX_SIZE];
    if (rows->key_count == 0)
        return;
    bool fits = rows->named_count < LIMIT_NAMED_ROWS &&
                measured_row_key(old_row, rows->key, rows->key_count, key, sizeof key);
    hex_from_bytes(digest, SHA256_SIZE, hex);
    if (fits) {
        buffer_append_string(&rows->named, key);
        buffer_append_byte(&rows->named, 0);
        buffer_append(&rows->named, hex, NAMED_DIGEST_DIGITS);
        buffer_append_byte(&rows->named, 0);
        rows->named_count++;
    }
    if (!fits || rows->named.overflow) {
        rows->key_count = rows->named_count = 0;
        buffer_release(&rows->named);
    }
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
                     struct text old_row, struct text new_row)
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
    row.old_row = measured_row_as_json(old_row);
    row.new_row = measured_row_as_json(new_row);
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
    struct text old_row = TEXT(""), new_row = TEXT("");
    if (image.size == 0)
        return;
    if (!measured_image_parts(image, &old_row, &new_row))
        old_row = new_row = TEXT("");
    name(rows, digest, old_row);
    consider(rows, digest, old_row, new_row);
}
