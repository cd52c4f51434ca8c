/*
 * print.c - writes tokens so that PostgreSQL's scanner reads the same ones back.
 *
 * It cannot fail but by the buffer's limit (buffer.overflow). That the print is right is not
 * believed but checked by the caller, who lexes it again (lex_matches).
 */
#include "parser/print.h"

#include "proxy/base/unicode.h"

#include <stdlib.h>
#include <string.h>

/* Keywords of PostgreSQL 16 to 18 that 15 reads as plain names: bare, a newer server could read
 * another statement. In alphabetic order. */
static const char *const later_keywords[] = {
    "absent",         "conditional", "empty",          "enforced",   "error",
    "format",         "indent",      "json",           "json_array", "json_arrayagg",
    "json_exists",    "json_object", "json_objectagg", "json_query", "json_scalar",
    "json_serialize", "json_table",  "json_value",     "keep",       "keys",
    "merge_action",   "nested",      "objects",        "omit",       "path",
    "period",         "plan",        "quotes",         "scalar",     "source",
    "split",          "string",      "system_user",    "target",     "unconditional",
    "virtual",
};

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_later_keyword(const char *name)
{
    return bsearch(&name, later_keywords, ARRAY_SIZE(later_keywords), sizeof later_keywords[0],
                   compare_words) != NULL;
}

static bool is_one_of(const char *string, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(string, words[i]) == 0)
            return true;
    return false;
}

static bool is_bare_name(const char *name)
{
    if (*name != '_' && (*name < 'a' || *name > 'z'))
        return false;
    for (const char *c = name; *c != '\0'; c++)
        if (*c != '_' && (*c < 'a' || *c > 'z') && (*c < '0' || *c > '9'))
            return false;
    return !lex_is_keyword(name) && !is_later_keyword(name);
}

/* Text of letters, digits and such: nothing to double, nothing to escape. */
static bool is_plain(struct text text, char quote)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.bytes[i] < ' ' || text.bytes[i] > '~' || text.bytes[i] == quote ||
            text.bytes[i] == '\\')
            return false;
    return true;
}

/* Has it a character that would not be seen, or would break the line? */
static bool has_invisible(struct text text)
{
    while (text.size > 0) {
        uint32_t code_point;
        size_t size = utf8_decode(text, &code_point);
        if (unicode_is_invisible(code_point))
            return true;
        text.bytes += size;
        text.size -= size;
    }
    return false;
}

/* How a kind of literal writes a character by its number. */
struct escapes {
    char quote;
    const char *short_lead, *long_lead;
    int long_digits;
    bool letters; /* \n \t \r */
};

static const struct escapes string_escapes = {'\'', "\\u", "\\U", 8, true};
static const struct escapes name_escapes = {'"', "\\", "\\+", 6, false};

static void append_number(struct buffer *out, const char *lead, uint32_t code_point, int digits)
{
    buffer_append_string(out, lead);
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
        buffer_append_byte(out, (uint8_t) "0123456789ABCDEF"[code_point >> shift & 0xF]);
}

static void append_escape(struct buffer *out, const struct escapes *escapes, uint32_t code_point)
{
    if (escapes->letters && code_point == '\n')
        buffer_append_string(out, "\\n");
    else if (escapes->letters && code_point == '\t')
        buffer_append_string(out, "\\t");
    else if (escapes->letters && code_point == '\r')
        buffer_append_string(out, "\\r");
    else if (code_point <= 0xFFFF)
        append_number(out, escapes->short_lead, code_point, 4);
    else
        append_number(out, escapes->long_lead, code_point, escapes->long_digits);
}

/* Between quotes, with backslash escapes. */
static void append_escaped(struct buffer *out, const struct escapes *escapes, struct text text)
{
    buffer_append_byte(out, (uint8_t)escapes->quote);
    while (text.size > 0) {
        uint32_t code_point;
        size_t size = utf8_decode(text, &code_point);
        if (unicode_is_invisible(code_point)) {
            append_escape(out, escapes, code_point);
        } else {
            if (*text.bytes == '\\' || *text.bytes == escapes->quote)
                buffer_append_byte(out, (uint8_t)*text.bytes);
            buffer_append(out, text.bytes, size);
        }
        text.bytes += size;
        text.size -= size;
    }
    buffer_append_byte(out, (uint8_t)escapes->quote);
}

/* Between quotes, with nothing special but the quote itself. */
static void append_quoted(struct buffer *out, char quote, struct text text)
{
    buffer_append_byte(out, (uint8_t)quote);
    for (;;) {
        const char *found = text.size > 0 ? memchr(text.bytes, quote, text.size) : NULL;
        size_t size = found != NULL ? (size_t)(found - text.bytes) + 1 : text.size;
        buffer_append(out, text.bytes, size);
        if (found == NULL)
            break;
        buffer_append_byte(out, (uint8_t)quote);
        text.bytes += size;
        text.size -= size;
    }
    buffer_append_byte(out, (uint8_t)quote);
}

static void append_string(struct buffer *out, struct text text)
{
    if (is_plain(text, '\'') || (!text_has_byte(text, '\\') && !has_invisible(text))) {
        append_quoted(out, '\'', text);
    } else {
        buffer_append_byte(out, 'E');
        append_escaped(out, &string_escapes, text);
    }
}

static void append_name(struct buffer *out, const char *name)
{
    struct text text = text_from(name);
    if (is_bare_name(name)) {
        buffer_append_text(out, text);
    } else if (is_plain(text, '"') || !has_invisible(text)) {
        append_quoted(out, '"', text);
    } else {
        buffer_append_string(out, "U&");
        append_escaped(out, &name_escapes, text);
    }
}

static void append_keyword(struct buffer *out, const char *keyword)
{
    for (const char *c = keyword; *c != '\0'; c++)
        buffer_append_byte(out, (uint8_t)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c));
}

/* B'0101' and X'FF': the scanner keeps the letter in front of the digits. */
static void append_bits(struct buffer *out, const char *string)
{
    buffer_append_byte(out, *string == 'b' ? 'B' : 'X');
    append_quoted(out, '\'', text_from(string + 1));
}

static void append_decimal(struct buffer *out, int number)
{
    char digits[16];
    size_t at = sizeof digits;
    /* The scanner lets the number of a parameter wrap; unsigned, it is read back as it was. */
    unsigned left = (unsigned)number;
    do
        digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    buffer_append(out, digits + at, sizeof digits - at);
}

static const char *fixed_spelling(int kind)
{
    switch (kind) {
    case TOKEN_TYPECAST:
        return "::";
    case TOKEN_DOT_DOT:
        return "..";
    case TOKEN_COLON_EQUALS:
        return ":=";
    case TOKEN_EQUALS_GREATER:
        return "=>";
    case TOKEN_LESS_EQUALS:
        return "<=";
    case TOKEN_GREATER_EQUALS:
        return ">=";
    case TOKEN_NOT_EQUALS:
        return "<>";
    default:
        return NULL;
    }
}

static void append_token(struct buffer *out, const struct token *token)
{
    const char *fixed = fixed_spelling(token->kind);
    if (fixed != NULL)
        buffer_append_string(out, fixed);
    else if (token->kind < TOKEN_IDENT)
        buffer_append_byte(out, (uint8_t)token->kind);
    else if (token->kind == TOKEN_IDENT)
        append_name(out, token->string);
    else if (token->kind == TOKEN_SCONST)
        append_string(out, text_from(token->string));
    else if (token->kind == TOKEN_BCONST || token->kind == TOKEN_XCONST)
        append_bits(out, token->string);
    else if (token->kind == TOKEN_ICONST)
        append_decimal(out, token->number);
    else if (token->kind == TOKEN_PARAM) {
        buffer_append_byte(out, '$');
        append_decimal(out, token->number);
    } else if (token->kind == TOKEN_FCONST || token->kind == TOKEN_OP)
        buffer_append_string(out, token->string);
    else
        append_keyword(out, token->string);
}

/* A sign behind this token is the sign of a number. Looks only: the tokens are the same either
 * way. */
static bool expects_operand(const struct token *token)
{
    static const char *const words[] = {"and",    "between", "by",     "case", "else",
                                        "limit",  "not",     "offset", "or",   "returning",
                                        "select", "then",    "when",   "where"};
    if (token_is_keyword(token))
        return is_one_of(token->string, words, ARRAY_SIZE(words));
    if (token->kind < TOKEN_IDENT)
        return strchr("([,=<>+-*/%^", token->kind) != NULL;
    return token->kind == TOKEN_OP || token->kind >= TOKEN_COLON_EQUALS;
}

static bool is_sign(const struct token *token)
{
    return token->kind == '-' || token->kind == '+';
}

static bool is_number(const struct token *token)
{
    return token->kind == TOKEN_ICONST || token->kind == TOKEN_FCONST;
}

/* COALESCE(x), NUMERIC(10) like a function call; but VALUES (1), EXISTS (SELECT …). */
static bool is_called(const struct token *token)
{
    static const char *const not_called[] = {"between", "exists", "values"};
    if (token->kind == TOKEN_IDENT)
        return true;
    if (!token_is_keyword(token))
        return false;
    if (!token_is_column_name_keyword(token))
        return strcmp(token->string, "cast") == 0;
    return !is_one_of(token->string, not_called, ARRAY_SIZE(not_called));
}

static bool clings_to_left(int kind)
{
    return kind == ',' || kind == ')' || kind == ';' || kind == '.' || kind == '[' || kind == ']' ||
           kind == TOKEN_TYPECAST;
}

static bool clings_to_right(int kind)
{
    return kind == '(' || kind == '[' || kind == '.' || kind == TOKEN_TYPECAST;
}

/* Operators always have a space before them unless an opening bracket or a dot stands there, so two
 * of them never grow together, and neither comment can arise. */
static bool space_before(const struct tokens *tokens, size_t first, size_t at)
{
    const struct token *token = &tokens->items[at];
    const struct token *before = token - 1;
    if (clings_to_left(token->kind) || clings_to_right(before->kind))
        return false;
    if (token->kind == '(')
        return !is_called(before);
    if (is_number(token) && is_sign(before))
        return at - first >= 2 && !expects_operand(before - 1);
    return true;
}

static void append_spaced(struct buffer *out, const struct tokens *tokens, size_t first, size_t at)
{
    if (at > first && space_before(tokens, first, at))
        buffer_append_byte(out, ' ');
    append_token(out, &tokens->items[at]);
}

void print_token(struct buffer *out, const struct tokens *tokens, size_t at)
{
    append_spaced(out, tokens, 0, at);
}

void print_tokens(struct buffer *out, const struct tokens *tokens, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        append_spaced(out, tokens, first, i);
}

static bool touches_dot(const struct tokens *tokens, size_t at)
{
    return (at > 0 && tokens->items[at - 1].kind == '.') ||
           (at + 1 < tokens->count && tokens->items[at + 1].kind == '.');
}

void print_prepare(struct tokens *tokens)
{
    for (size_t i = 0; i < tokens->count; i++)
        if (token_is_keyword(&tokens->items[i]) && touches_dot(tokens, i))
            tokens->items[i].kind = TOKEN_IDENT;
}

/* The scanner takes anything between the quotes of B'' and X''. */
static bool is_printable(const struct token *token)
{
    if (token->string == NULL)
        return true;
    if (token->kind != TOKEN_BCONST && token->kind != TOKEN_XCONST)
        return utf8_valid(text_from(token->string));
    const char *digits = token->string + 1;
    return digits[strspn(digits, "0123456789abcdefABCDEF")] == '\0';
}

bool print_can(const struct tokens *tokens)
{
    for (size_t i = 0; i < tokens->count; i++)
        if (!is_printable(&tokens->items[i]))
            return false;
    return true;
}
