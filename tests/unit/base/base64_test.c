/* base64_test.c - RFC 4648's examples, and that decoding has one spelling for each value. */
#include "proxy/base/base64.h"

#include "tests/unit/base/check.h"

static const struct {
    struct text bytes;
    const char *text;
} examples[] = {
    {TEXT_INIT(""), ""},
    {TEXT_INIT("f"), "Zg=="},
    {TEXT_INIT("fo"), "Zm8="},
    {TEXT_INIT("foo"), "Zm9v"},
    {TEXT_INIT("foob"), "Zm9vYg=="},
    {TEXT_INIT("fooba"), "Zm9vYmE="},
    {TEXT_INIT("foobar"), "Zm9vYmFy"},
    {TEXT_INIT("\xFF\xFE\xFD"), "//79"},
    {TEXT_INIT("\xFB\xEF"), "++8="},
    {TEXT_INIT("\0\0"), "AAA="},
};

Test(base64, encodes_and_decodes_published_examples)
{
    for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
        char text[16];
        size_t size = base64_encode(examples[i].bytes.bytes, examples[i].bytes.size, text);
        cr_expect_eq(size, BASE64_SIZE(examples[i].bytes.size));
        cr_expect_str_eq(text, examples[i].text);
        uint8_t bytes[16];
        cr_expect(base64_decode(text_from(text), bytes, sizeof bytes, &size), "%s", text);
        cr_expect(text_equal((struct text){(const char *)bytes, size}, examples[i].bytes), "%s",
                  text);
    }
}

Test(base64, refuses_what_is_not_canonical)
{
    static const char *const bad[] = {
        "Z",    "Zg",   "Zg=",    "Zm9",  "====",     "Z===", "=Zg=",     "Zg=A",
        "Zh==", "Zm9=", "Zm9v\n", "Zm 9", "Zm9v====", "Zm-_", "Zg==Zg==", "Zm\xC3\xA4"};
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        uint8_t bytes[16];
        size_t size;
        cr_expect_not(base64_decode(text_from(bad[i]), bytes, sizeof bytes, &size), "%s", bad[i]);
    }
    uint8_t bytes[16];
    size_t size;
    cr_expect_not(base64_decode(TEXT("Zm9\0"), bytes, sizeof bytes, &size));
}

Test(base64, writes_no_more_than_there_is_room)
{
    uint8_t bytes[5];
    size_t size;
    cr_expect(base64_decode(TEXT("Zm9vYmE="), bytes, 5, &size));
    cr_expect_not(base64_decode(TEXT("Zm9vYmE="), bytes, 4, &size));
    cr_expect_not(base64_decode(TEXT("Zm9vYmFy"), bytes, 5, &size));
    cr_expect(base64_decode(TEXT(""), NULL, 0, &size));
    cr_expect_eq(size, 0);
}

Test(base64, every_pair_of_bytes_comes_back)
{
    for (unsigned value = 0; value <= UINT16_MAX; value++) {
        const uint8_t bytes[2] = {(uint8_t)(value >> 8), (uint8_t)value};
        char text[5];
        uint8_t back[2];
        size_t size;
        base64_encode(bytes, 2, text);
        cr_assert(base64_decode(text_from(text), back, 2, &size) && size == 2);
        cr_assert_arr_eq(back, bytes, 2);
    }
}
