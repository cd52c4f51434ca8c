/* html_test.c - what an argument can do to markup: nothing. */
#include "proxy/review/html.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct buffer out;

static void begin(void)
{
    buffer_init(&out, 4096);
}

static void end(void)
{
    buffer_release(&out);
}

TestSuite(html, .init = begin, .fini = end);

static const struct {
    const char *text;
    size_t size; /* 0: up to its NUL */
    const char *between;
    const char *in_tag;
} cases[] = {
    {"a<b>&\"'", 0, "a&lt;b&gt;&amp;&quot;&#39;", "a&lt;b&gt;&amp;&quot;&#39;"},
    {"\xE2\x80\xAE", 0, "<span class=\"u\">U+202E</span>", "[U+202E]"},
    {"\t\n\r\x1B", 0,
     "<span class=\"u\">TAB</span><span class=\"u\">LF</span><span class=\"u\">CR</span>"
     "<span class=\"u\">ESC</span>",
     "[TAB][LF][CR][ESC]"},
    {"a\0b", 3, "a<span class=\"u\">NUL</span>b", "a[NUL]b"},
    {"\xFF<\xC0", 0, "<span class=\"u\">\\xFF</span>&lt;<span class=\"u\">\\xC0</span>",
     "[\\xFF]&lt;[\\xC0]"},
    {"e\xCC\x81", 0, "e<span class=\"u\">U+0301</span>", "e[U+0301]"},
    {"\xC2\xA0\xEF\xBB\xBF", 0, "<span class=\"u\">U+00A0</span><span class=\"u\">U+FEFF</span>",
     "[U+00A0][U+FEFF]"},
    {"J\xC3\xB6rg \xE6\x97\xA5", 0, "J\xC3\xB6rg \xE6\x97\xA5", "J\xC3\xB6rg \xE6\x97\xA5"},
    {"", 0, "", ""},
};

static void expect(const char *expected)
{
    cr_expect_str_eq(buffer_string(&out), expected);
    buffer_clear(&out);
}

Test(html, arguments_are_text_wherever_they_stand)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char expected[512];
        struct text text = {cases[i].text,
                            cases[i].size > 0 ? cases[i].size : text_from(cases[i].text).size};
        html(&out, "<p>%.*s</p>", TEXT_ARGS(text));
        snprintf(expected, sizeof expected, "<p>%s</p>", cases[i].between);
        expect(expected);
        html(&out, "<p title=\"%.*s\">", TEXT_ARGS(text));
        snprintf(expected, sizeof expected, "<p title=\"%s\">", cases[i].in_tag);
        expect(expected);
        html(&out, "<title>%.*s</title>", TEXT_ARGS(text));
        if (cases[i].text[0] != '\t') {
            snprintf(expected, sizeof expected, "<title>%s</title>", cases[i].in_tag);
            expect(expected);
        }
        buffer_clear(&out);
    }
}

Test(html, a_text_area_keeps_its_line_breaks)
{
    html(&out, "<textarea name=\"a\">%s</textarea>%s", "a\nb<", "\n");
    expect("<textarea name=\"a\">a\nb&lt;</textarea><span class=\"u\">LF</span>");
}

Test(html, numbers_and_percent_signs)
{
    html(&out, "<b>%d %ld 5 %%</b>", -3, 5000000000L);
    expect("<b>-3 5000000000 5 %</b>");
}

Test(html, names_may_break_after_dots_and_underscores)
{
    html_name(&out, TEXT("shop.order_items"));
    expect("shop.<wbr>order_<wbr>items");
    html_name(&out, TEXT("<_"));
    expect("&lt;_");
}

Test(html, a_segment_of_a_path_is_encoded)
{
    struct arena arena;
    arena_init(&arena);
    struct text path = html_path(&arena, TEXT("batch bot/1?\xC3\xB6"));
    cr_expect(text_is(path, "batch%20bot%2F1%3F%C3%B6"), "%.*s", TEXT_ARGS(path));
    arena_release(&arena);
}
