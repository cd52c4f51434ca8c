/* document_test.c - YAML into a tree, and what is refused, with its place. */
#include "proxy/config/document.h"

#include <criterion/criterion.h>
#include <string.h>

static struct arena arena;

static struct buffer parse(const char *source, const struct node **root)
{
    struct buffer out;
    struct problems problems = {
        .arena = &arena, .path = TEXT("f.yaml"), .source = text_from(source)};
    buffer_init(&out, 65536);
    *root = document_parse(&arena, text_from(source), &problems);
    problems_print(&problems, &out);
    return out;
}

Test(document, keeps_values_as_they_are_written)
{
    const struct node *root;
    struct buffer out = parse("on: yes\nnumber: 0x10\nlist: [a, 'b: c', \"d\\n\"]\nempty:\n", &root);
    cr_assert_eq(out.size, 0);
    cr_assert(text_is(node_find(root, "on")->text, "yes"));
    cr_assert(text_is(node_find(root, "number")->text, "0x10"));
    const struct node *list = node_find(root, "list");
    cr_assert(list->kind == NODE_LIST && list->count == 3);
    cr_assert(text_is(list->items[1].text, "b: c") && !list->items[1].is_plain);
    cr_assert(text_is(list->items[2].text, "d\n"));
    cr_assert(node_is_null(node_find(root, "empty")));
    cr_assert_null(node_find(root, "absent"));
    cr_assert(list->place.line == 3 && list->place.column == 7);
    arena_release(&arena);
}

Test(document, skips_a_byte_order_mark)
{
    const struct node *root;
    struct buffer out = parse("\xEF\xBB\xBF" "a: b\n", &root);
    cr_assert_eq(out.size, 0);
    cr_assert(text_is(node_find(root, "a")->text, "b"));
    arena_release(&arena);
}

static const struct {
    const char *source;
    const char *begins; /* the first problem */
} refused[] = {
    {"a: &x 1\n", "f.yaml:1:4: error: anchors"},
    {"a: *x\n", "f.yaml:1:4: error: aliases"},
    {"a: !!str 1\n", "f.yaml:1:4: error: tags"},
    {"a: ! 1\n", "f.yaml:1:4: error: tags"},
    {"a: !x [b]\n", "f.yaml:1:4: error: tags"},
    {"a:\n  <<: {b: 1}\n", "f.yaml:2:3: error: merge keys"},
    {"a: 1\n---\nb: 2\n", "f.yaml:2:1: error: only one document"},
    {"a: 1\nb: 2\na: 3\n", "f.yaml:3:1: error: the key \"a\" stands twice, first in line 1"},
    {"[a]: 1\n", "f.yaml:1:1: error: a key must be a name"},
    {"{a: 1}: 1\n", "f.yaml:1:1: error: a key must be a name"},
    {"a: [1\n", "f.yaml:2:1: error: not YAML"},
    {"a: b: c\n", "f.yaml:1:5: error: not YAML"},
    {"a: \"b\n", "f.yaml:2:1: error: not YAML"},
    {"a: 1\n\tb: 2\n", "f.yaml:2:1: error: not YAML"},
    {"a: 1\nb: \xff\n", "f.yaml:2:4: error: not YAML"},
    {"a: 1\nb: \x01\n", "f.yaml:2:4: error: not YAML"},
    {"[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]\n", "f.yaml:1:18: error: the file is nested"},
};

Test(document, refuses_with_place_and_line)
{
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        const struct node *root;
        struct buffer out = parse(refused[i].source, &root);
        const char *text = buffer_string(&out);
        cr_expect(strncmp(text, refused[i].begins, strlen(refused[i].begins)) == 0,
                  "case %zu: %s", i, text);
        buffer_release(&out);
        arena_release(&arena);
    }
}

Test(document, puts_the_caret_under_the_place)
{
    const struct node *root;
    struct buffer out = parse("a: 1\n\xC3\xA4\xC3\xB6: {b: *x}\n", &root);
    cr_expect_str_eq(buffer_string(&out),
                     "f.yaml:2:9: error: aliases (*name) are not used here: write the value out\n"
                     "     2 | \xC3\xA4\xC3\xB6: {b: *x}\n"
                     "       |         ^\n");
    buffer_release(&out);
    arena_release(&arena);
}

Test(document, does_not_show_passwords)
{
    static const char *const lines[] = {
        "secret: hunter2 *x", "x: {secret: hunter2, a: *x}", "s: \"host=db password=hunter2 a\" *x",
        "s: postgresql://u:hunter2@h/d *x"};
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        struct problems problems = {
            .arena = &arena, .path = TEXT("f"), .source = text_from(lines[i])};
        struct buffer out;
        buffer_init(&out, 4096);
        problem_error(&problems, (struct place){1, 3}, "a problem of this line");
        problems_print(&problems, &out);
        cr_expect_null(strstr(buffer_string(&out), "hunter2"), "%s", buffer_string(&out));
        cr_expect_not_null(strstr(buffer_string(&out), "*****"));
        buffer_release(&out);
        arena_release(&arena);
    }
}

Test(document, finds_the_nearest_name)
{
    static const char *const names[] = {"search_path", "settings", "rules", "on"};
    cr_expect_str_eq(problems_nearest_name(TEXT("serch_path"), names, 4), "search_path");
    cr_expect_str_eq(problems_nearest_name(TEXT("setting"), names, 4), "settings");
    cr_expect_str_eq(problems_nearest_name(TEXT("rulse"), names, 4), "rules");
    cr_expect_null(problems_nearest_name(TEXT("templates"), names, 4));
    cr_expect_null(problems_nearest_name(TEXT(""), names, 0));
}

Test(document, lists_problems_in_the_order_of_the_file)
{
    struct problems problems = {.arena = &arena, .path = TEXT("f"), .source = TEXT("a\nb\n")};
    struct buffer out;
    buffer_init(&out, 4096);
    problem_error(&problems, (struct place){2, 1}, "second");
    problem_warning(&problems, (struct place){1, 1}, "first");
    problems_print(&problems, &out);
    const char *text = buffer_string(&out);
    cr_expect(strncmp(text, "f:1:1: warning: first", 21) == 0, "%s", text);
    cr_expect_not_null(strstr(text, "f:2:1: error: second"));
    cr_expect_eq(problems.errors, 1);
    buffer_release(&out);
    arena_release(&arena);
}

Test(document, stops_listing_at_a_limit)
{
    struct problems problems = {.arena = &arena, .path = TEXT("f"), .source = TEXT("a\n")};
    struct buffer out;
    buffer_init(&out, 1 << 20);
    for (int i = 0; i < 5000; i++)
        problem_error(&problems, (struct place){1, 1}, "again");
    problems_print(&problems, &out);
    cr_expect_eq(problems.errors, 5000);
    cr_expect_leq(out.size, 20000);
    cr_expect_not_null(strstr(buffer_string(&out), "There may be more"));
    buffer_release(&out);
    arena_release(&arena);
}
