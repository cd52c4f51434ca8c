/* scram_verifier_test.c - verifiers that PostgreSQL 15 made, and ours. */
#include "proxy/wire/scram.h"

#include "tests/unit/base/check.h"

/* CREATE ROLE … PASSWORD, then rolpassword of pg_authid. */
static const struct {
    const char *password;
    const char *verifier;
} of_postgresql[] = {
    {"pencil",
     "SCRAM-SHA-256$4096:OFft6odhS6rF6sPfClRouQ==$a8MQ3juqSDTqqxT1gll/ZIy8K6Dkw0+v1R8b6tsdOTE=:"
     "f8A2RpIui1Wsr2eQ/lV3TXXyenG0Z8w7hv1GGR/qbpw="},
    /* a soft hyphen, which is mapped to nothing */
    {"I\xC2\xADX",
     "SCRAM-SHA-256$4096:ES6de/9fjnuzznN1zzbmzg==$qQ1wqC5p2bJjtcoLqnlLaygt2WkQZq5/JgwI7uiV8vM=:"
     "yT3sHISD1wAPEkNo938EPS3+Le+cAL1cVA/zr6UMnnY="},
    /* a no-break space and the Roman numeral nine */
    {"pass\xC2\xA0word\xE2\x85\xA8",
     "SCRAM-SHA-256$4096:UswBa5Ct/E2AmZH8xC65Gg==$jqMj3RqIrFhxK9QMNRS3CqbV2Za6ZkHwN9ghxlgqarc=:"
     "dJ5OIdPWHTy5S2yWrvrvUTMAeIw0oyZ7t9WXUk9K0pU="},
    /* é composed, and decomposed */
    {"\xC3\xA9te\xCC\x81",
     "SCRAM-SHA-256$4096:SzI1yriU48IhxCJNs53QDw==$ciLDT+n6gwlQGys4uyEqM9WpMaPSQi6WZOgTf9GPMa8=:"
     "Af56pf1JFuPHNrlCf2SIXEr52/iYubZz1b09rimBvO0="},
    /* a bell, which is prohibited: raw bytes */
    {"bad\x07"
     "bell\xC3\xA4",
     "SCRAM-SHA-256$4096:11UP2wj8FMTZQxfGNFrI+Q==$epbsoJeP//fi+79PtCmxOnQjiGB/Mr6mlOXMJ1D5HVs=:"
     "Uv8j7tC5dUBod+SzqbCmLHmEi8mAGOM9Ag+Uzs7vs7w="},
    /* both directions mixed, which is prohibited */
    {"mixed\xD8\xA7"
     "a",
     "SCRAM-SHA-256$4096:95TxFli9H4mhiuZtKmAAhA==$SE61+BL2o4AwcZZKMmirvnCSQbOujFI8OxNU0tsirK4=:"
     "DA4YiqDE9o1pSf0JstDqittbZCA9jTgmlIlIFiHwvdA="},
    /* not assigned in Unicode 3.2 */
    {"emoji \xF0\x9F\x98\x80",
     "SCRAM-SHA-256$4096:jspWA9TBJFGE+I/ExVkmOw==$hL5RgHT9IYvoO8AIXsb0U4zloNJlRF2PqnMMTO1YbJc=:"
     "z6tzOdDo0Zmk3DEYo54xzhSn7PUDaFI8IzRqLgC/j/Q="},
};

Test(scram_verifier, passwords_match_what_postgresql_made_of_them)
{
    for (size_t i = 0; i < ARRAY_SIZE(of_postgresql); i++) {
        struct scram_verifier verifier;
        cr_assert(scram_verifier_parse(text_from(of_postgresql[i].verifier), &verifier));
        cr_expect(scram_verifier_matches(&verifier, text_from(of_postgresql[i].password)), "%zu",
                  i);
    }
}

Test(scram_verifier, equivalent_spellings_match)
{
    struct scram_verifier verifier;
    cr_assert(scram_verifier_parse(text_from(of_postgresql[1].verifier), &verifier));
    cr_expect(scram_verifier_matches(&verifier, TEXT("IX")));
    cr_assert(scram_verifier_parse(text_from(of_postgresql[2].verifier), &verifier));
    cr_expect(scram_verifier_matches(&verifier, TEXT("pass wordIX")));
    cr_assert(scram_verifier_parse(text_from(of_postgresql[3].verifier), &verifier));
    cr_expect(scram_verifier_matches(&verifier, TEXT("\xC3\xA9t\xC3\xA9")));
}

Test(scram_verifier, other_passwords_do_not_match)
{
    struct scram_verifier verifier;
    cr_assert(scram_verifier_parse(text_from(of_postgresql[0].verifier), &verifier));
    cr_expect_not(scram_verifier_matches(&verifier, TEXT("")));
    cr_expect_not(scram_verifier_matches(&verifier, TEXT("Pencil")));
    cr_expect_not(scram_verifier_matches(&verifier, TEXT("pencil ")));
    cr_expect_not(scram_verifier_matches(&verifier, TEXT("pencil\0")));
    cr_expect_not(scram_verifier_matches(&verifier, TEXT("pencil\0x")));
    cr_expect_not(scram_verifier_matches(&verifier, TEXT("\xFF\xFE")));
}

Test(scram_verifier, text_form_comes_back)
{
    for (size_t i = 0; i < ARRAY_SIZE(of_postgresql); i++) {
        struct scram_verifier verifier;
        char text[SCRAM_VERIFIER_TEXT_MAX];
        cr_assert(scram_verifier_parse(text_from(of_postgresql[i].verifier), &verifier));
        scram_verifier_to_text(&verifier, text);
        cr_expect_str_eq(text, of_postgresql[i].verifier);
    }
}

Test(scram_verifier, from_password_has_a_new_salt_each_time)
{
    struct scram_verifier first;
    struct scram_verifier second;
    scram_verifier_from_password(TEXT("secret"), &first);
    scram_verifier_from_password(TEXT("secret"), &second);
    cr_expect(scram_verifier_matches(&first, TEXT("secret")));
    cr_expect(scram_verifier_matches(&second, TEXT("secret")));
    cr_expect_eq(first.iterations, 4096);
    cr_expect_eq(first.salt_size, 16);
    cr_expect_arr_neq(first.salt, second.salt, first.salt_size);
    cr_expect_arr_neq(first.stored_key, second.stored_key, SHA256_SIZE);
}

#define SALT       "OFft6odhS6rF6sPfClRouQ=="
#define STORED_KEY "a8MQ3juqSDTqqxT1gll/ZIy8K6Dkw0+v1R8b6tsdOTE="
#define SERVER_KEY "f8A2RpIui1Wsr2eQ/lV3TXXyenG0Z8w7hv1GGR/qbpw="

Test(scram_verifier, texts_that_are_no_verifier_are_refused)
{
    static const char *const bad[] = {
        "",
        "pencil",
        "md55ab7d3bb2d2a1b4a9a5d3c1e0f4b2a61",
        "SCRAM-SHA-1$4096:" SALT "$" STORED_KEY ":" SERVER_KEY,
        "scram-sha-256$4096:" SALT "$" STORED_KEY ":" SERVER_KEY,
        "SCRAM-SHA-256$0:" SALT "$" STORED_KEY ":" SERVER_KEY,
        "SCRAM-SHA-256$-1:" SALT "$" STORED_KEY ":" SERVER_KEY,
        "SCRAM-SHA-256$:" SALT "$" STORED_KEY ":" SERVER_KEY,
        "SCRAM-SHA-256$4096x:" SALT "$" STORED_KEY ":" SERVER_KEY,
        "SCRAM-SHA-256$1000001:" SALT "$" STORED_KEY ":" SERVER_KEY,
        "SCRAM-SHA-256$4096:$" STORED_KEY ":" SERVER_KEY,
        "SCRAM-SHA-256$4096:" SALT "$" STORED_KEY,
        "SCRAM-SHA-256$4096:" SALT "$" STORED_KEY ":",
        "SCRAM-SHA-256$4096:" SALT "$" STORED_KEY ":" SALT,
        "SCRAM-SHA-256$4096:" SALT "$" SALT ":" SERVER_KEY,
        "SCRAM-SHA-256$4096:" SALT ":" STORED_KEY "$" SERVER_KEY,
        "SCRAM-SHA-256$4096:" SALT "$" STORED_KEY ":" SERVER_KEY "\n",
        "SCRAM-SHA-256$4096:" SALT "$" STORED_KEY ":" SERVER_KEY ":",
        " SCRAM-SHA-256$4096:" SALT "$" STORED_KEY ":" SERVER_KEY,
        /* 66 bytes of salt */
        "SCRAM-SHA-256$4096:"
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "$" STORED_KEY ":" SERVER_KEY,
    };
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct scram_verifier verifier;
        cr_expect_not(scram_verifier_parse(text_from(bad[i]), &verifier), "%s", bad[i]);
    }
}

Test(scram_verifier, longest_verifier_has_room_for_its_text)
{
    struct scram_verifier verifier = {.iterations = UINT32_MAX, .salt_size = SCRAM_SALT_MAX};
    char text[SCRAM_VERIFIER_TEXT_MAX];
    scram_verifier_to_text(&verifier, text);
    cr_expect_lt(strlen(text), sizeof text);
}

Test(scram_verifier, mock_is_stable_for_a_name_and_differs_between_names)
{
    struct scram_verifier first;
    struct scram_verifier again;
    struct scram_verifier other;
    scram_verifier_mock(TEXT("nobody"), &first);
    scram_verifier_mock(TEXT("nobody"), &again);
    scram_verifier_mock(TEXT("nobody2"), &other);
    cr_expect_eq(memcmp(&first, &again, sizeof first), 0);
    cr_expect_arr_neq(first.salt, other.salt, 16);
    cr_expect_eq(first.iterations, 4096);
    cr_expect_eq(first.salt_size, 16);
    cr_expect_not(scram_verifier_matches(&first, TEXT("")));
    cr_expect_not(scram_verifier_matches(&first, TEXT("nobody")));
}
