/* digest_test.c - SHA-256 against FIPS 180-4's examples, framing of fields, hexadecimal. */
#include "proxy/base/digest.h"

#include "tests/unit/base/check.h"

static const char *hex_of(struct text text)
{
    static char hex[SHA256_HEX_SIZE];
    uint8_t digest[SHA256_SIZE];
    sha256(text.bytes, text.size, digest);
    hex_from_bytes(digest, sizeof digest, hex);
    return hex;
}

Test(digest, sha256_of_published_examples)
{
    cr_expect_str_eq(hex_of(TEXT("")),
                     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    cr_expect_str_eq(hex_of(TEXT("abc")),
                     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    cr_expect_str_eq(hex_of(TEXT("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
                     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void digest_of(const struct text *fields, size_t count, uint8_t out[SHA256_SIZE])
{
    struct digest *digest = digest_new();
    for (size_t i = 0; i < count; i++)
        digest_field(digest, fields[i]);
    digest_finish(digest, out);
}

Test(digest, fields_are_framed_by_their_length)
{
    const struct text lists[][3] = {
        {TEXT("ab"), TEXT("c"), TEXT("")},
        {TEXT("a"), TEXT("bc"), TEXT("")},
        {TEXT("abc"), TEXT(""), TEXT("")},
        {TEXT(""), TEXT("abc"), TEXT("")},
    };
    uint8_t digests[ARRAY_SIZE(lists) + 1][SHA256_SIZE];
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        digest_of(lists[i], 3, digests[i]);
    digest_of(lists[0], 2, digests[ARRAY_SIZE(lists)]);
    for (size_t i = 0; i < ARRAY_SIZE(digests); i++)
        for (size_t j = 0; j < i; j++)
            cr_expect_not(equal_in_constant_time(digests[i], digests[j], SHA256_SIZE), "%zu %zu", i,
                          j);
}

Test(digest, field_is_eight_bytes_of_length_and_the_bytes)
{
    const struct text field = TEXT("abc");
    uint8_t framed[SHA256_SIZE];
    uint8_t by_hand[SHA256_SIZE];
    digest_of(&field, 1, framed);
    sha256("\0\0\0\0\0\0\0\3abc", 11, by_hand);
    cr_expect_arr_eq(framed, by_hand, SHA256_SIZE);
}

Test(digest, hexadecimal_is_lower_case)
{
    char text[9];
    hex_from_bytes("\x00\x9F\xA0\xFF", 4, text);
    cr_expect_str_eq(text, "009fa0ff");
}

Test(digest, random_bytes_differ)
{
    uint8_t first[16] = {0};
    uint8_t second[16] = {0};
    random_bytes(first, sizeof first);
    random_bytes(second, sizeof second);
    cr_expect_arr_neq(first, second, sizeof first);
}

Test(digest, constant_time_comparison_sees_every_byte)
{
    uint8_t a[32] = {0};
    uint8_t b[32] = {0};
    cr_expect(equal_in_constant_time(a, b, sizeof a));
    for (size_t i = 0; i < sizeof b; i++) {
        b[i] = 1;
        cr_expect_not(equal_in_constant_time(a, b, sizeof a), "byte %zu", i);
        b[i] = 0;
    }
    cr_expect(equal_in_constant_time("a", "b", 0));
}
