/* names_test.c - the table of names against a model that keeps every message about a name. */
#include "proxy/session/names.h"

#include <criterion/criterion.h>
#include <string.h>

struct object {
    int references;
    bool kept;
};

static void retain(void *object) { ((struct object *)object)->references++; }
static void release(void *object)
{
    cr_assert_gt(((struct object *)object)->references, 0);
    ((struct object *)object)->references--;
}

static const struct names_type type = {retain, release};

static bool is_kept(const void *object) { return ((const struct object *)object)->kept; }

static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

Test(names, a_definition_counts_for_the_next_message)
{
    struct object a = {0};
    struct names *names = names_new(&type);
    cr_assert_null(names_find(names, TEXT("s")));
    names_sent(names, TEXT("s"), &a);
    cr_assert_eq(names_find(names, TEXT("s")), &a);
    cr_assert_null(names_find(names, TEXT("t")));
    cr_assert_null(names_find(names, TEXT("")));
    names_confirmed(names, TEXT("s"), &a);
    cr_assert_eq(names_find(names, TEXT("s")), &a);
    names_free(names);
    cr_assert_eq(a.references, 0);
}

Test(names, a_failed_definition_brings_the_old_one_back)
{
    struct object a = {0}, b = {0};
    struct names *names = names_new(&type);
    names_sent(names, TEXT("s"), &a);
    names_confirmed(names, TEXT("s"), &a);
    names_sent(names, TEXT("s"), &b);
    cr_assert_eq(names_find(names, TEXT("s")), &b);
    names_failed(names, TEXT("s"), false);
    cr_assert_eq(names_find(names, TEXT("s")), &a);
    cr_assert_eq(b.references, 0);
    names_free(names);
}

Test(names, a_lost_name_means_nothing)
{
    struct object a = {0}, b = {0};
    struct names *names = names_new(&type);
    names_sent(names, TEXT(""), &a);
    names_confirmed(names, TEXT(""), &a);
    names_sent(names, TEXT(""), &b);
    names_failed(names, TEXT(""), true);
    cr_assert_null(names_find(names, TEXT("")));
    names_free(names);
    cr_assert_eq(a.references, 0);
}

Test(names, agree_in_their_first_63_bytes)
{
    char name[200];
    memset(name, 'n', sizeof name);
    const struct text exact = {name, 63}, shorter = {name, 62}, longer = {name, 64}, long_one = {name, 200};
    struct object a = {0}, b = {0};
    struct names *names = names_new(&type);
    names_sent(names, exact, &a);
    names_confirmed(names, exact, &a);
    cr_assert_eq(names_find(names, longer), &a);
    cr_assert_eq(names_find(names, long_one), &a);
    cr_assert_null(names_find(names, shorter));
    names_sent(names, longer, NULL);
    names_confirmed(names, longer, NULL);
    cr_assert_null(names_find(names, exact));
    names_sent(names, long_one, &b);
    names_confirmed(names, exact, &b);
    cr_assert_eq(names_find(names, exact), &b);
    cr_assert_eq(names_count(names), 1);
    names_free(names);
}

Test(names, drop_keeps_what_it_is_told_to_and_what_is_pending)
{
    struct object kept = {.kept = true}, gone = {0}, pending = {0};
    struct names *names = names_new(&type);
    names_sent(names, TEXT("k"), &kept);
    names_confirmed(names, TEXT("k"), &kept);
    names_sent(names, TEXT("g"), &gone);
    names_confirmed(names, TEXT("g"), &gone);
    names_sent(names, TEXT("p"), &pending);
    names_drop(names, is_kept);
    cr_assert_eq(names_find(names, TEXT("k")), &kept);
    cr_assert_null(names_find(names, TEXT("g")));
    cr_assert_eq(names_find(names, TEXT("p")), &pending);
    names_drop(names, NULL);
    cr_assert_null(names_find(names, TEXT("k")));
    names_confirmed(names, TEXT("p"), &pending);
    cr_assert_eq(names_find(names, TEXT("p")), &pending);
    names_free(names);
    cr_assert_eq(pending.references, 0);
    cr_assert_eq(kept.references, 0);
}

/* --- the model ---------------------------------------------------------------------------------- */

enum { NAMES = 9, OBJECTS = 12, PENDING = 8 };

struct model {
    struct object *confirmed[NAMES];
    struct object *sent[NAMES][PENDING];
    size_t sent_count[NAMES];
};

static struct text name_of(size_t index)
{
    static const char *const all[NAMES] = {"", "a", "b", "c", "s1", "s2", "A", "\xc3\xa4", "long name"};
    return text_from(all[index]);
}

static struct object *meaning(const struct model *model, size_t name)
{
    size_t count = model->sent_count[name];
    return count > 0 ? model->sent[name][count - 1] : model->confirmed[name];
}

static struct object *take(struct model *model, size_t name)
{
    struct object *first = model->sent[name][0];
    model->sent_count[name]--;
    memmove(model->sent[name], model->sent[name] + 1, model->sent_count[name] * sizeof first);
    return first;
}

static void random_step(struct names *names, struct model *model, struct object *objects, unsigned *random)
{
    size_t name = next_random(random) % NAMES;
    unsigned what = next_random(random) % 10;
    if (what < 4 && model->sent_count[name] < PENDING) {
        struct object *object = what == 0 ? NULL : &objects[next_random(random) % OBJECTS];
        names_sent(names, name_of(name), object);
        model->sent[name][model->sent_count[name]++] = object;
    } else if (what < 7 && model->sent_count[name] > 0) {
        model->confirmed[name] = take(model, name);
        names_confirmed(names, name_of(name), model->confirmed[name]);
    } else if (what < 9 && model->sent_count[name] > 0) {
        bool lost = name == 0 && next_random(random) % 2 == 0;
        (void)take(model, name);
        model->confirmed[name] = lost ? NULL : model->confirmed[name];
        names_failed(names, name_of(name), lost);
    } else if (what == 9 && next_random(random) % 20 == 0) {
        names_drop(names, is_kept);
        for (size_t i = 0; i < NAMES; i++)
            if (model->confirmed[i] != NULL && !model->confirmed[i]->kept)
                model->confirmed[i] = NULL;
    }
}

Test(names, follow_the_model_through_random_messages)
{
    struct object objects[OBJECTS] = {{0}};
    struct model model = {0};
    unsigned random = 11;
    struct names *names = names_new(&type);
    for (size_t i = 0; i < OBJECTS; i += 3)
        objects[i].kept = true;
    for (int round = 0; round < 30000; round++) {
        random_step(names, &model, objects, &random);
        size_t count = 0;
        for (size_t i = 0; i < NAMES; i++) {
            cr_assert_eq(names_find(names, name_of(i)), meaning(&model, i), "round %d, name %zu", round, i);
            count += i > 0 && meaning(&model, i) != NULL;
        }
        cr_assert_eq(names_count(names), count);
    }
    names_free(names);
    for (size_t i = 0; i < OBJECTS; i++)
        cr_assert_eq(objects[i].references, 0);
}
