/* form_test.c - bodies of forms, cookies, and paths to go on with. */
#include "proxy/review/form.h"

#include "proxy/base/attributes.h"

#include <criterion/criterion.h>

static struct arena arena;

static void begin(void)
{
    arena_init(&arena);
}

static void end(void)
{
    arena_release(&arena);
}

TestSuite(form, .init = begin, .fini = end);

static const struct {
    const char *body;
    bool fine;
    const char *a; /* the field's value */
} bodies[] = {
    {"", true, ""},
    {"a=1", true, "1"},
    {"b=2&a=x+y%20z", true, "x y z"},
    {"a=%2B%26%3D", true, "+&="},
    {"a=one%0D%0Atwo%0Athree%0D", true, "one\ntwo\nthree\r"},
    {"a", true, ""},
    {"a=1&b", true, "1"},
    {"a=1&a=1", false, NULL},
    {"a=1&%61=2", false, NULL},
    {"a=%", false, NULL},
    {"a=%4", false, NULL},
    {"a=%zz", false, NULL},
    {"a=%00", false, NULL},
    {"a=%FF", false, NULL},
    {"a=\xFF", false, NULL},
    {"a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8", true, "1"},
    {"a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8&i=9", false, NULL},
};

Test(form, bodies_are_read_strictly)
{
    for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
        struct form form;
        const char *problem = form_parse(&arena, text_from(bodies[i].body), &form);
        cr_expect_eq(problem == NULL, bodies[i].fine, "%s: %s", bodies[i].body, problem);
        if (bodies[i].fine)
            cr_expect(text_is(form_value(&form, "a"), bodies[i].a), "%s", bodies[i].body);
    }
}

static const struct {
    const char *header;
    const char *value;
} cookies[] = {
    {"", ""},
    {"t=abc", "abc"},
    {"x=1; t=abc; y=2", "abc"},
    {"x=1;t=abc;", "abc"},
    {"t=a=b", "a=b"},
    {"t", ""},
    {"tt=abc; xt=1", ""},
    {"T=abc", ""},
    {"t=abc; t=def", ""},
    {"t=abc; t=abc", ""},
};

Test(form, a_cookie_is_taken_by_its_whole_name_and_never_of_two)
{
    for (size_t i = 0; i < ARRAY_SIZE(cookies); i++)
        cr_expect(text_is(cookie_value(text_from(cookies[i].header), "t"), cookies[i].value), "%s",
                  cookies[i].header);
}

static const struct {
    const char *path;
    bool local;
} paths[] = {
    {"/", true},          {"/holds/17?x=1", true}, {"", false},
    {"//evil", false},    {"/\\evil", false},      {"https://evil", false},
    {"holds", false},     {"/a\tb", false},        {"/a b", false},
    {"/a\r\nX: y", false}, {"/\xC3\xB6", false},
};

Test(form, only_paths_of_ours_are_gone_on_with)
{
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
        cr_expect_eq(is_local_path(text_from(paths[i].path)), paths[i].local, "%s", paths[i].path);
}

Test(form, the_content_type_is_that_of_a_form)
{
    cr_expect(content_type_is_form(TEXT("application/x-www-form-urlencoded")));
    cr_expect(content_type_is_form(TEXT("Application/X-WWW-form-urlencoded ; charset=UTF-8")));
    cr_expect_not(content_type_is_form(TEXT("text/plain")));
    cr_expect_not(content_type_is_form(TEXT("multipart/form-data")));
    cr_expect_not(content_type_is_form(TEXT("")));
}
