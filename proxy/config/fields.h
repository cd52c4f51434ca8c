/*
 * fields.h - maps of a configuration file, read by tables: one row for each key. Internal to config/.
 *
 * Every read function returns false after it has reported what is wrong, so that the caller can go on
 * and find the rest.
 */
#ifndef PGWICKET_CONFIG_FIELDS_H
#define PGWICKET_CONFIG_FIELDS_H

#include "proxy/config/document.h"
#include "proxy/config/settings.h"

/* What every part of the reading shares. */
struct reader {
    struct arena *arena;      /* the configuration's: what stays */
    struct arena *scratch;    /* secrets as written, and whatever is needed while reading */
    struct problems *problems;
    struct text folder;       /* of the file, with its '/' at the end, or empty */
};

struct field;

/* Reads `node` into the member at `target`. */
typedef bool field_function(struct reader *reader, const struct field *field,
                            const struct node *node, void *target);

enum field_need { OPTIONAL = 0, REQUIRED };

struct field {
    const char *key;
    field_function *read;
    enum field_need need;
    size_t offset;         /* of the member in the struct that is filled */
    const char *expected;  /* in words, for messages */
    const char *const *choices; /* of field_choice; the index goes into an int */
    int64_t least, most;   /* of field_integer, field_duration, field_size */
};

/* Members by type: */
field_function field_text;      /* struct text: any scalar but nothing, as written */
field_function field_name;      /* struct text: what may name an agent, a policy, … */
field_function field_path;      /* struct text: made relative to the file's folder */
field_function field_choice;    /* int: index in `choices` */
field_function field_flag;      /* bool: true or false */
field_function field_integer;   /* int64_t */
field_function field_number;    /* double, not negative */
field_function field_duration;  /* int64_t in microseconds: an integer and ms s m h d */
field_function field_size;      /* int64_t in bytes: an integer and kB MB GB, or none */
field_function field_secret;    /* struct text: a text, {file: PATH} or {env: NAME} */
field_function field_names;     /* struct name_list: a list of texts */
field_function field_not_built; /* reports that the key is not built yet */

/* Where a text stands, for checks that need the whole file. */
struct placed_text {
    struct text text;
    struct place place;
};

struct name_list {
    const struct placed_text *names;
    size_t count;
    bool given;
};

/* Reads a map. Unknown and missing keys are reported. False if anything is wrong in it. */
bool fields_read(struct reader *reader, const struct node *map, const char *what,
                 const struct field *fields, size_t count, void *target);

/* Reports that `node` is not what is expected; always false. */
bool field_wrong(struct reader *reader, const struct node *node, const char *expected);

/* Is the node a map or list? Otherwise it is reported. */
bool node_must_be(struct reader *reader, const struct node *node, enum node_kind kind,
                  const char *expected);

/* May this text name something? Reported if not. */
bool name_is_fine(struct reader *reader, struct text name, struct place place);

/* "a, b or c" */
struct text words_of_choices(struct arena *arena, const char *const *choices);

struct text path_from_folder(struct reader *reader, struct text path);

/* The names alone, in the configuration's arena. */
const struct text *names_only(struct reader *reader, const struct name_list *list);

#endif
