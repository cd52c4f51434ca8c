/* template_pattern_test.c - the keyword `pattern`: what matches, what is refused, how long it takes. */
#include "rules/template.h"

#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct {
    const char *pattern, *value;
    bool matches;
} cases[] = {
    {"", "", true},
    {"", "a", false},
    {"abc", "abc", true},
    {"abc", "xabc", false},
    {"abc", "abcx", false},
    {"abc", "abc\n", false},
    {"a|b", "a", true},
    {"a|b", "b", true},
    {"a|b", "ab", false},
    {"a|", "", true},
    {"|a", "a", true},
    {"ab|cd|ef", "cd", true},
    {"ab|cd|ef", "ef", true},
    {"ab|cd|ef", "abef", false},
    {"x(?:a|b|c)+y", "xabcy", true},
    {"x(a|b|c)+y", "xy", false},
    {"(a|bc)*", "", true},
    {"(a|bc)*", "abcbca", true},
    {"(a|bc)*", "abcb", false},
    {"(a*)*", "aaaa", true},
    {"(a*)*b", "aaaa", false},
    {"(a?)*?c", "aac", true},
    {"a{3}", "aaa", true},
    {"a{3}", "aa", false},
    {"a{3}", "aaaa", false},
    {"a{2,}", "a", false},
    {"a{2,}", "aaaaa", true},
    {"a{0,2}", "", true},
    {"a{0,2}", "aaa", false},
    {"a{0}b", "b", true},
    {"a{0}b", "ab", false},
    {"(ab{1,2}){2}", "abbab", true},
    {"(ab{1,2}){2}", "abbb", false},
    {"(?:a|b){2,3}", "aba", true},
    {"(?:a|b){2,3}", "abab", false},
    {"[a-c]", "b", true},
    {"[a-c]", "d", false},
    {"[^a-c]", "d", true},
    {"[^a-c]", "a", false},
    {"[^a]", "\n", true},
    {"[-a]", "-", true},
    {"[a-]", "-", true},
    {"[\\]\\\\^]+", "]\\^", true},
    {"[[]", "[", true},
    {"[.*]", "x", false},
    {"[\\d_]+", "4_2", true},
    {"[^\\d]", "4", false},
    {"[\\D]", "x", true},
    {"\\d{2}", "42", true},
    {"\\d", "\xD9\xA4", false},
    {"\\w+", "a_Z0", true},
    {"\\w", "\xC3\xA4", false},
    {"\\W", "\xC3\xA4", true},
    {"\\s", "\xC2\xA0", true},
    {"\\S", " ", false},
    {".", "\n", false},
    {".", "\xE2\x80\xA8", false},
    {".", "\xF0\x9F\x98\x80", true},
    {"..", "\xF0\x9F\x98\x80", false},
    {"[\xC3\xA4-\xC3\xBC]", "\xC3\xB6", true},
    {"\\x41\\u00e4", "A\xC3\xA4", true},
    {"\\.\\*\\$\\^\\/\\(\\)\\{\\}\\[\\]\\|\\?\\+\\\\", ".*$^/(){}[]|?+\\", true},
    {"\\t\\n\\r\\f\\v", "\t\n\r\f\v", true},
    {"^abc$", "abc", true},
    {"^a|b$", "b", true},
    {"a^b", "ab", false},
    {"a$b", "ab", false},
    {"(^a$)", "a", true},
    {"(?:^)*a", "a", true},
    {"[0-9]{1,3}(\\.[0-9]{1,3}){3}", "192.168.0.1", true},
    {"[0-9]{1,3}(\\.[0-9]{1,3}){3}", "192.168.0", false},
};

Test(template_pattern, matches_the_whole_text_or_nothing)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct text problem;
        const struct template_pattern *pattern =
            template_pattern_compile(&test_arena, text_from(cases[i].pattern), &problem);
        cr_assert_not_null(pattern, "%s: %.*s", cases[i].pattern, TEXT_ARGS(problem));
        cr_expect_eq(template_pattern_matches(pattern, text_from(cases[i].value)), cases[i].matches,
                     "%s on %s", cases[i].pattern, cases[i].value);
    }
}

static const struct {
    const char *pattern, *problem;
} refused[] = {
    {"(a)\\1", "back references"},
    {"(?=a)", "(?: is known"},
    {"(?!a)", "(?: is known"},
    {"(?<=a)b", "(?: is known"},
    {"(?<name>a)", "(?: is known"},
    {"(?i)a", "(?: is known"},
    {"(a", "has no )"},
    {"a)", "has no ("},
    {"[a", "has no ]"},
    {"[]", "empty"},
    {"[^]", "empty"},
    {"[b-a]", "in their order"},
    {"[\\d-x]", "in their order"},
    {"[a-\\d]", "in their order"},
    {"*a", "must be escaped"},
    {"a**", "must be escaped"},
    {"a{2}{3}", "must be escaped"},
    {"^*", "must be escaped"},
    {"a]", "must be escaped"},
    {"a}", "must be escaped"},
    {"{", "must be escaped"},
    {"a{", "a repetition is written"},
    {"a{,2}", "a repetition is written"},
    {"a{2", "has no }"},
    {"a{3,2}", "wrong order"},
    {"a{1001}", "too often"},
    {"a{99999999999999999999}", "too often"},
    {"(a{100}){100}", "too large"},
    {"((((((((a{9}){9}){9}){9}){9}){9}){9}){9})", "too large"},
    {".{0,600}", "too large"},
    {"\\", "ends in a backslash"},
    {"\\b", "not known"},
    {"\\p{L}", "not known"},
    {"\\cA", "not known"},
    {"\\a", "not known"},
    {"\\-", "not known"},
    {"\\0", "not known"},
    {"\\x4", "hexadecimal"},
    {"\\u00g0", "hexadecimal"},
    {"\\ud800", "no such character"},
    {"\\x00", "no such character"},
    {"\xFF", "UTF-8"},
};

Test(template_pattern, what_is_not_regular_or_not_clear_is_refused_with_words)
{
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        struct text problem;
        cr_expect_null(
            template_pattern_compile(&test_arena, text_from(refused[i].pattern), &problem), "%s",
            refused[i].pattern);
        cr_expect_not_null(strstr(arena_text(&test_arena, problem).bytes, refused[i].problem),
                           "%s: %.*s", refused[i].pattern, TEXT_ARGS(problem));
    }
}

Test(template_pattern, depth_and_length_of_a_pattern_have_limits)
{
    char text[2001];
    struct text problem;
    for (size_t depth = 50; depth <= 51; depth++) {
        memset(text, '(', depth);
        memset(text + depth, ')', depth);
        bool fine = template_pattern_compile(&test_arena, (struct text){text, 2 * depth},
                                             &problem) != NULL;
        cr_expect_eq(fine, depth == 50);
    }
    memset(text, '|', sizeof text);
    cr_expect_null(
        template_pattern_compile(&test_arena, (struct text){text, 1001}, &problem));
}

/* Backtracking would take longer than the universe has been there. */
Test(template_pattern, no_text_makes_a_pattern_slow, .timeout = 20)
{
    static const char *const patterns[] = {"(a+)+b", "(a|a)*b", "(a|aa)+$b", "(.*)*x", "(a?){90}a{90}c"};
    char text[10000];
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
        struct text problem;
        const struct template_pattern *pattern =
            template_pattern_compile(&test_arena, text_from(patterns[i]), &problem);
        cr_assert_not_null(pattern);
        cr_expect_not(template_pattern_matches(pattern, (struct text){text, sizeof text}));
    }
}
