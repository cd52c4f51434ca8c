/*
 * summary.h - what a hold's effect comes to, in the words of the pages: one headline, what follows,
 * what a release is asked for. Pure.
 */
#ifndef PGWICKET_REVIEW_SUMMARY_H
#define PGWICKET_REVIEW_SUMMARY_H

#include "proxy/holds/effect.h"
#include "proxy/holds/hold.h"

/* What happens to rows or objects. */
enum deed {
    DEED_NONE = 0,
    DEED_DELETE,
    DEED_UPDATE,
    DEED_INSERT,
    DEED_EMPTY,
    DEED_DROP,
    DEED_ALTER,
    DEED_REWRITE,
    DEED_RESTART,
    DEED_CREATE,
    DEED_COUNT,
};

/* "Deletes", "Deleted", "Would have deleted", "May have deleted", "delete", "deleted". */
enum tense { WILL = 0, DID, WOULD, MAY_HAVE, BARE, DONE, TENSE_COUNT };

const char *deed_word(enum deed deed, enum tense tense);

/* "del", "upd", "ins": how it is coloured. */
const char *deed_class(enum deed deed);

/* Of an object's `change`. */
enum deed deed_of_change(struct text change);

/* Deed, rows and name of one table's line; an update and a delete of one table are two. */
struct change_line {
    enum deed deed;
    int64_t rows;
    const struct effect_table *table;
};

enum confirmation { CONFIRM_NOTHING = 0, CONFIRM_NUMBER, CONFIRM_UNKNOWN };

struct summary {
    const struct hold *hold;
    struct effect effect;
    enum tense tense;

    const struct change_line *lines; /* first the headline's */
    size_t line_count;
    int64_t totals[DEED_COUNT]; /* rows by deed over all tables, objects by deed */
    size_t tables;              /* that have a line */
    int64_t lost_rows;          /* of objects that are dropped or emptied */
    int64_t all_rows;           /* of every table and lost object */

    double ratio; /* rows of the target to the estimate; 0: nothing to compare, or below ten */
    enum confirmation confirmation;
    bool loses; /* rows or objects, or nobody knows */
};

/* Texts live in `arena` or belong to the hold. */
void summary_make(struct summary *summary, struct arena *arena, const struct hold *hold);

/* The same of what the run of a drifted hold met; false if that is not known. */
MUST_USE bool summary_of_run(struct summary *summary, struct arena *arena, const struct hold *hold);

/* The headline as text: "Deletes 42 rows of shop.orders". */
struct text summary_headline(const struct summary *summary, struct arena *arena);

/* The headline as markup, with its number marked. */
void summary_headline_html(const struct summary *summary, struct arena *arena, struct buffer *out);

/* Whole sentences about the other tables and objects, as markup; never empty where something is
 * known. */
void summary_also_html(const struct summary *summary, struct arena *arena, struct buffer *out);

/* The same in a few words for a list; may be empty. */
struct text summary_also(const struct summary *summary, struct arena *arena);

/* What the button says: "Release: delete 185 rows, change 9". */
struct text summary_button(const struct summary *summary, struct arena *arena);

/* Is this what has to be typed? Separators of thousands are ignored. */
bool summary_is_confirmed(const struct summary *summary, struct text typed);

#endif
