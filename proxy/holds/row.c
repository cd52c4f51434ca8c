/*
 * row.c - see row.h. Columns are walked by a table made from the same list as the SQL. What comes
 * from the file is checked: an unknown state, a wrong size, a torn list make the row unreadable.
 */
#include "proxy/holds/row.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/holds/pack.h"

#include <string.h>

enum kind { WORDS, WHOLE, REAL, BLOB, BYTES, TYPES, VALUES, SETTINGS };

struct column {
    enum kind kind;
    size_t offset;
    size_t size;
};

#define COLUMN(field, kind) {kind, offsetof(struct hold, field), sizeof((struct hold *)0)->field},

static const struct column fixed[] = {HOLD_FIXED_COLUMNS(COLUMN)};
static const struct column changing[] = {HOLD_CHANGING_COLUMNS(COLUMN)};

enum { COLUMN_POLICY = 3, COLUMN_FIRST = 2 };

_Static_assert(sizeof(struct instant) == sizeof(int64_t),
               "an instant is stored as its microseconds");

static void bind_text(sqlite3_stmt *statement, int at, struct text text, bool words)
{
    const char *bytes = text.bytes != NULL ? text.bytes : "";
    if (words)
        sqlite3_bind_text64(statement, at, bytes, text.size, SQLITE_TRANSIENT, SQLITE_UTF8);
    else
        sqlite3_bind_blob64(statement, at, bytes, text.size, SQLITE_TRANSIENT);
}

static bool bind_list(sqlite3_stmt *statement, int at, const struct hold *hold,
                      void (*pack)(struct buffer *, const struct hold *))
{
    struct buffer blob;
    buffer_init(&blob, LIMIT_HOLD_LIST_BYTES);
    pack(&blob, hold);
    bool fits = !blob.overflow;
    bind_text(statement, at, buffer_text(&blob), false);
    buffer_release(&blob);
    return fits;
}

static int64_t whole_at(const void *field)
{
    int64_t value;
    memcpy(&value, field, sizeof value);
    return value;
}

static double real_at(const void *field)
{
    double value;
    memcpy(&value, field, sizeof value);
    return value;
}

static struct text text_at(const void *field)
{
    struct text value;
    memcpy(&value, field, sizeof value);
    return value;
}

static bool bind_column(sqlite3_stmt *statement, int at, const struct hold *hold,
                        const struct column *column)
{
    const char *field = (const char *)hold + column->offset;
    switch (column->kind) {
    case WORDS:
        bind_text(statement, at, text_at(field), true);
        return true;
    case BLOB:
        bind_text(statement, at, text_at(field), false);
        return true;
    case WHOLE:
        sqlite3_bind_int64(statement, at, whole_at(field));
        return true;
    case REAL:
        sqlite3_bind_double(statement, at, real_at(field));
        return true;
    case BYTES:
        bind_text(statement, at, (struct text){field, column->size}, false);
        return true;
    case TYPES:
        return bind_list(statement, at, hold, pack_types);
    case VALUES:
        return bind_list(statement, at, hold, pack_values);
    case SETTINGS:
        return bind_list(statement, at, hold, pack_settings);
    }
    INVARIANT(false && "a column kind");
    return false;
}

/* Binds columns from parameter `at` on and moves `at` behind them. */
static bool bind_columns(sqlite3_stmt *statement, int *at, const struct hold *hold,
                         const struct column *columns, size_t count)
{
    bool fits = true;
    for (size_t i = 0; i < count; i++)
        fits = bind_column(statement, (*at)++, hold, &columns[i]) && fits;
    return fits;
}

static void bind_state(sqlite3_stmt *statement, int at, enum hold_state state)
{
    bind_text(statement, at, text_from(hold_state_name(state)), true);
}

bool row_bind_new(sqlite3_stmt *insert, const struct hold *hold)
{
    int at = 1;
    bind_state(insert, at++, hold->state);
    return bind_columns(insert, &at, hold, fixed, ARRAY_SIZE(fixed)) &&
           bind_columns(insert, &at, hold, changing, ARRAY_SIZE(changing));
}

void row_bind_change(sqlite3_stmt *update, const struct hold *hold, enum hold_state before)
{
    int at = 1;
    bind_state(update, at++, hold->state);
    bool fits = bind_columns(update, &at, hold, changing, ARRAY_SIZE(changing));
    INVARIANT(fits);
    sqlite3_bind_int64(update, at++, hold->id);
    bind_state(update, at, before);
}

static struct text column_bytes(sqlite3_stmt *select, int at)
{
    const char *bytes = sqlite3_column_blob(select, at);
    int size = sqlite3_column_bytes(select, at);
    return (struct text){bytes != NULL ? bytes : "", bytes != NULL && size > 0 ? (size_t)size : 0};
}

struct text row_policy(sqlite3_stmt *select)
{
    return column_bytes(select, COLUMN_POLICY);
}

static bool read_column(struct arena *arena, sqlite3_stmt *select, int at, struct hold *hold,
                        const struct column *column)
{
    char *field = (char *)hold + column->offset;
    struct text bytes =
        column->kind == WHOLE || column->kind == REAL ? TEXT("") : column_bytes(select, at);
    switch (column->kind) {
    case WORDS:
    case BLOB:
        bytes = arena_text(arena, bytes);
        memcpy(field, &bytes, sizeof bytes);
        return true;
    case WHOLE:
        memcpy(field, &(int64_t){sqlite3_column_int64(select, at)}, sizeof(int64_t));
        return true;
    case REAL:
        memcpy(field, &(double){sqlite3_column_double(select, at)}, sizeof(double));
        return true;
    case BYTES:
        if (bytes.size != column->size)
            return false;
        memcpy(field, bytes.bytes, bytes.size);
        return true;
    case TYPES:
        return unpack_types(arena, bytes, hold);
    case VALUES:
        return unpack_values(arena, bytes, hold);
    case SETTINGS:
        return unpack_settings(arena, bytes, hold);
    }
    INVARIANT(false && "a column kind");
    return false;
}

static bool read_columns(struct arena *arena, sqlite3_stmt *select, int *at, struct hold *hold,
                         const struct column *columns, size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = read_column(arena, select, (*at)++, hold, &columns[i]);
    return good;
}

struct hold *row_read(struct arena *arena, sqlite3_stmt *select)
{
    struct hold *hold = arena_allocate(arena, sizeof *hold);
    hold->id = sqlite3_column_int64(select, 0);
    hold->state = hold_state_from_name(column_bytes(select, 1));
    int at = COLUMN_FIRST;
    bool good = hold->state != HOLD_NONE &&
                read_columns(arena, select, &at, hold, fixed, ARRAY_SIZE(fixed)) &&
                read_columns(arena, select, &at, hold, changing, ARRAY_SIZE(changing));
    return good ? hold : NULL;
}
