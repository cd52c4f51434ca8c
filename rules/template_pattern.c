/*
 * template_pattern.c - the keyword `pattern`: regular expressions of JSON Schema, matched in linear time.
 *
 * A pattern becomes a small program whose every state is looked at once for each character, so no text
 * can make it slow. What that cannot do (back references, look-around) and what regular expression
 * libraries read differently is refused with words.
 */
#include "rules/template.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"

#include <string.h>

enum operation {
    OP_MATCH = 0, /* the end of the text must be here, too */
    OP_SET,       /* a character of `set`, then the next state */
    OP_SPLIT,     /* both x and y */
    OP_JUMP,      /* x */
    OP_BEGIN,     /* only before the first character */
    OP_END,       /* only behind the last */
};

struct range {
    uint32_t first, last;
};

struct set {
    struct range *ranges;
    size_t count, capacity;
    bool negated;
};

/* x and y count from the state itself, so that a block of states can be copied and moved. */
struct state {
    enum operation operation;
    int x, y;
    const struct set *set;
};

struct template_pattern {
    struct state *states;
    size_t count, capacity;
};

struct parser {
    struct arena *arena;
    struct text source;
    size_t at;
    int depth;
    struct template_pattern *program;
    const char *problem; /* NULL so far */
};

static bool parse_alternatives(struct parser *parser);

static bool fail(struct parser *parser, const char *problem)
{
    if (parser->problem == NULL)
        parser->problem = problem;
    return false;
}

/* --- characters ----------------------------------------------------------------------------------- */

static bool at_end(const struct parser *parser) { return parser->at == parser->source.size; }

static char peek(const struct parser *parser)
{
    return at_end(parser) ? '\0' : parser->source.bytes[parser->at];
}

static bool take(struct parser *parser, const char *word)
{
    if (!text_starts_with(text_behind(parser->source, parser->at), word))
        return false;
    parser->at += strlen(word);
    return true;
}

static uint32_t take_character(struct parser *parser)
{
    uint32_t code_point;
    parser->at += utf8_decode(text_behind(parser->source, parser->at), &code_point);
    return code_point;
}

/* --- sets of characters --------------------------------------------------------------------------- */

static const struct range digits[] = {{'0', '9'}};
static const struct range word[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
static const struct range blanks[] = {{'\t', '\r'},     {' ', ' '},       {0xA0, 0xA0},
                                      {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029},
                                      {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000},
                                      {0xFEFF, 0xFEFF}};
static const struct range line_ends[] = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

static const struct {
    char letter;
    const struct range *ranges;
    size_t count;
} classes[] = {
    {'d', digits, ARRAY_SIZE(digits)},
    {'w', word, ARRAY_SIZE(word)},
    {'s', blanks, ARRAY_SIZE(blanks)},
};

static void add_range(struct parser *parser, struct set *set, uint32_t first, uint32_t last)
{
    struct range *added = arena_push(parser->arena, (void **)&set->ranges, &set->count,
                                     &set->capacity, sizeof *added);
    *added = (struct range){first, last};
}

/* The ranges are sorted, so what is not in them lies between them. */
static void add_class(struct parser *parser, struct set *set, const struct range *ranges,
                      size_t count, bool negated)
{
    uint32_t next = 0;
    for (size_t i = 0; i < count; i++) {
        if (!negated)
            add_range(parser, set, ranges[i].first, ranges[i].last);
        else if (ranges[i].first > next)
            add_range(parser, set, next, ranges[i].first - 1);
        next = ranges[i].last + 1;
    }
    if (negated)
        add_range(parser, set, next, UINT32_MAX);
}

static bool set_has(const struct set *set, uint32_t character)
{
    for (size_t i = 0; i < set->count; i++)
        if (character >= set->ranges[i].first && character <= set->ranges[i].last)
            return !set->negated;
    return set->negated;
}

/* --- escapes -------------------------------------------------------------------------------------- */

static bool read_hex(struct parser *parser, int count, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < count; i++, parser->at++) {
        char byte = (char)(peek(parser) | 0x20);
        bool is_digit = byte >= '0' && byte <= '9', is_letter = byte >= 'a' && byte <= 'f';
        if (!is_digit && !is_letter)
            return fail(parser, "\\x takes two and \\u four hexadecimal digits");
        *value = *value << 4 | (uint32_t)(is_digit ? byte - '0' : byte - 'a' + 10);
    }
    if (*value == 0 || (*value >= 0xD800 && *value <= 0xDFFF))
        return fail(parser, "there is no such character in a text");
    return true;
}

/* Behind the backslash: \d and its kind. */
static bool take_class(struct parser *parser, struct set *set)
{
    char letter = peek(parser);
    for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
        bool negated = letter == classes[i].letter - ('a' - 'A');
        if (letter != classes[i].letter && !negated)
            continue;
        parser->at++;
        add_class(parser, set, classes[i].ranges, classes[i].count, negated);
        return true;
    }
    return false;
}

/* Behind the backslash: one character. */
static bool read_escape(struct parser *parser, const char *punctuation, uint32_t *character)
{
    static const char letters[] = "tnvfr", characters[] = "\t\n\v\f\r";
    char byte = peek(parser);
    if (at_end(parser))
        return fail(parser, "it ends in a backslash");
    if (byte >= '1' && byte <= '9')
        return fail(parser, "back references cannot be matched in linear time");
    parser->at++;
    if (byte == 'x' || byte == 'u')
        return read_hex(parser, byte == 'x' ? 2 : 4, character);
    const char *letter = strchr(letters, byte), *escaped = strchr(punctuation, byte);
    if (letter == NULL && escaped == NULL)
        return fail(parser, "this escape is not known; only \\d \\D \\w \\W \\s \\S \\t \\n \\v \\f \\r "
                            "\\xHH \\uHHHH and punctuation can be escaped");
    *character = (uint32_t)(letter != NULL ? characters[letter - letters] : byte);
    return true;
}

/* --- [classes] ------------------------------------------------------------------------------------ */

#define PUNCTUATION "^$\\.*+?()[]{}|/"

/* One character of a class, or a class of its own (*is_set). */
static bool read_member(struct parser *parser, struct set *set, uint32_t *character, bool *is_set)
{
    *is_set = false;
    if (at_end(parser))
        return fail(parser, "a [ has no ]");
    if (!take(parser, "\\")) {
        *character = take_character(parser);
        return true;
    }
    *is_set = take_class(parser, set);
    return *is_set || read_escape(parser, PUNCTUATION "-", character);
}

static bool read_range(struct parser *parser, struct set *set)
{
    uint32_t first, last;
    bool is_set;
    if (!read_member(parser, set, &first, &is_set))
        return false;
    bool is_range = peek(parser) == '-' && parser->at + 1 < parser->source.size &&
                    parser->source.bytes[parser->at + 1] != ']';
    if (!is_range) {
        if (!is_set)
            add_range(parser, set, first, first);
        return true;
    }
    parser->at++;
    if (is_set || !read_member(parser, set, &last, &is_set) || is_set || last < first)
        return fail(parser, "a range in [ ] needs two characters in their order");
    add_range(parser, set, first, last);
    return true;
}

static bool read_bracket(struct parser *parser, struct set *set)
{
    set->negated = take(parser, "^");
    while (!take(parser, "]"))
        if (!read_range(parser, set))
            return false;
    return set->count > 0 ? true : fail(parser, "an empty [ ] matches nothing");
}

/* --- states --------------------------------------------------------------------------------------- */

static bool push(struct parser *parser, struct state state)
{
    struct template_pattern *program = parser->program;
    if (program->count == LIMIT_TEMPLATE_PATTERN_STATES)
        return fail(parser, "it is too large once its repetitions are written out; use maxLength for "
                            "lengths");
    *(struct state *)arena_push(parser->arena, (void **)&program->states, &program->count,
                                &program->capacity, sizeof *program->states) = state;
    return true;
}

/* Puts a state before the block that begins at `start`. */
static bool insert(struct parser *parser, size_t start, struct state state)
{
    if (!push(parser, state))
        return false;
    struct state *states = parser->program->states;
    memmove(states + start + 1, states + start,
            (parser->program->count - start - 1) * sizeof *states);
    states[start] = state;
    return true;
}

static bool copy_block(struct parser *parser, const struct state *block, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!push(parser, block[i]))
            return false;
    return true;
}

static bool push_split(struct parser *parser, int x, int y)
{
    return push(parser, (struct state){.operation = OP_SPLIT, .x = x, .y = y});
}

/* --- repetitions ---------------------------------------------------------------------------------- */

enum { UNBOUNDED = -1 };

static bool read_count(struct parser *parser, int *count)
{
    bool any = false;
    for (*count = 0; peek(parser) >= '0' && peek(parser) <= '9'; any = true) {
        *count = *count * 10 + (parser->source.bytes[parser->at++] - '0');
        if (*count > LIMIT_TEMPLATE_PATTERN_STATES)
            return fail(parser, "it repeats too often; use maxLength for lengths");
    }
    return any ? true : fail(parser, "a repetition is written {2}, {2,} or {2,5}; escape a { that is meant");
}

static bool read_counts(struct parser *parser, int *least, int *most)
{
    if (!read_count(parser, least))
        return false;
    *most = *least;
    if (take(parser, ",")) {
        *most = UNBOUNDED;
        if (peek(parser) != '}' && !read_count(parser, most))
            return false;
    }
    if (!take(parser, "}"))
        return fail(parser, "a { has no }");
    return *most == UNBOUNDED || *most >= *least ? true : fail(parser, "a repetition's bounds are in the wrong order");
}

/* A quantifier, if one stands here. */
static bool read_quantifier(struct parser *parser, int *least, int *most, bool *found)
{
    static const struct {
        const char *sign;
        int least, most;
    } signs[] = {{"*", 0, UNBOUNDED}, {"+", 1, UNBOUNDED}, {"?", 0, 1}};
    *found = true;
    for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
        if (take(parser, signs[i].sign)) {
            *least = signs[i].least;
            *most = signs[i].most;
            return true;
        }
    *found = take(parser, "{");
    return *found ? read_counts(parser, least, most) : true;
}

/* The block is the last `size` states. */
static bool repeat_without_end(struct parser *parser, size_t start, size_t size)
{
    int length = (int)size;
    return insert(parser, start,
                  (struct state){.operation = OP_SPLIT, .x = 1, .y = length + 2}) &&
           push(parser, (struct state){.operation = OP_JUMP, .x = -length - 1});
}

static bool repeat(struct parser *parser, size_t start, int least, int most)
{
    struct template_pattern *program = parser->program;
    size_t size = program->count - start;
    struct state *block = arena_array(parser->arena, size, sizeof *block);
    for (size_t i = 0; i < size; i++)
        block[i] = program->states[start + i];
    program->count = start;
    for (int i = 0; i < least; i++)
        if (!copy_block(parser, block, size))
            return false;
    if (most == UNBOUNDED) {
        size_t last = program->count;
        return copy_block(parser, block, size) && repeat_without_end(parser, last, size);
    }
    for (int i = least; i < most; i++)
        if (!push_split(parser, 1, (int)size + 1) || !copy_block(parser, block, size))
            return false;
    return true;
}

/* --- the grammar ---------------------------------------------------------------------------------- */

static bool parse_group(struct parser *parser)
{
    if (!take(parser, "?:") && peek(parser) == '?')
        return fail(parser, "of the groups that begin with (? only (?: is known");
    if (parser->depth == LIMIT_TEMPLATE_PATTERN_DEPTH)
        return fail(parser, "its groups are nested too deeply");
    parser->depth++;
    bool fine = parse_alternatives(parser);
    parser->depth--;
    if (!fine)
        return false;
    return take(parser, ")") ? true : fail(parser, "a ( has no )");
}

static bool parse_set(struct parser *parser)
{
    struct set *set = arena_allocate(parser->arena, sizeof *set);
    uint32_t character;
    bool fine = true;
    if (take(parser, "[")) {
        fine = read_bracket(parser, set);
    } else if (take(parser, ".")) {
        add_class(parser, set, line_ends, ARRAY_SIZE(line_ends), true);
    } else if (take(parser, "\\")) {
        fine = take_class(parser, set);
        if (!fine && read_escape(parser, PUNCTUATION, &character)) {
            add_range(parser, set, character, character);
            fine = true;
        }
    } else if (strchr("*+?{}]", peek(parser)) != NULL) {
        fine = fail(parser, "a sign of repetition, a } or a ] must be escaped to stand for itself");
    } else {
        character = take_character(parser);
        add_range(parser, set, character, character);
    }
    return fine && push(parser, (struct state){.operation = OP_SET, .set = set});
}

static bool parse_repeated(struct parser *parser)
{
    size_t start = parser->program->count;
    int least, most;
    bool found;
    if (take(parser, "^"))
        return push(parser, (struct state){.operation = OP_BEGIN});
    if (take(parser, "$"))
        return push(parser, (struct state){.operation = OP_END});
    if (take(parser, "(") ? !parse_group(parser) : !parse_set(parser))
        return false;
    if (!read_quantifier(parser, &least, &most, &found))
        return false;
    if (!found)
        return true;
    (void)take(parser, "?"); /* lazy or not, the same texts match */
    return repeat(parser, start, least, most);
}

static bool parse_sequence(struct parser *parser)
{
    while (!at_end(parser) && peek(parser) != '|' && peek(parser) != ')')
        if (!parse_repeated(parser))
            return false;
    return true;
}

struct jumps {
    size_t *states;
    size_t count, capacity;
};

/* a|b: split into a, which then jumps behind all, and what follows. */
static bool parse_alternatives(struct parser *parser)
{
    struct jumps jumps = {0};
    struct template_pattern *program = parser->program;
    size_t start = program->count;
    while (true) {
        if (!parse_sequence(parser))
            return false;
        if (!take(parser, "|"))
            break;
        int size = (int)(program->count - start);
        if (!insert(parser, start, (struct state){.operation = OP_SPLIT, .x = 1, .y = size + 2}))
            return false;
        *(size_t *)arena_push(parser->arena, (void **)&jumps.states, &jumps.count, &jumps.capacity,
                              sizeof *jumps.states) = program->count;
        if (!push(parser, (struct state){.operation = OP_JUMP}))
            return false;
        start = program->count;
    }
    for (size_t i = 0; i < jumps.count; i++)
        program->states[jumps.states[i]].x = (int)(program->count - jumps.states[i]);
    return true;
}

const struct template_pattern *template_pattern_compile(struct arena *arena, struct text pattern,
                                                        struct text *problem)
{
    struct template_pattern *program = arena_allocate(arena, sizeof *program);
    struct parser parser = {.arena = arena, .source = pattern, .program = program};
    *problem = TEXT("");
    if (pattern.size > LIMIT_TEMPLATE_PATTERN_BYTES)
        (void)fail(&parser, "it is too long");
    else if (!utf8_valid(pattern))
        (void)fail(&parser, "it is not valid UTF-8");
    else if (parse_alternatives(&parser) && !at_end(&parser))
        (void)fail(&parser, "a ) has no (");
    else
        (void)push(&parser, (struct state){.operation = OP_MATCH});
    if (parser.problem == NULL)
        return program;
    *problem = text_from(parser.problem);
    return NULL;
}

/* --- matching ------------------------------------------------------------------------------------- */

/* The states that a text can be in; each once. */
struct states {
    uint16_t items[LIMIT_TEMPLATE_PATTERN_STATES];
    size_t count;
    bool has[LIMIT_TEMPLATE_PATTERN_STATES];
};

static void clear(struct states *states)
{
    memset(states->has, 0, sizeof states->has);
    states->count = 0;
}

static void add(struct states *states, size_t state)
{
    if (states->has[state])
        return;
    states->has[state] = true;
    states->items[states->count++] = (uint16_t)state;
}

/* Follows what needs no character. The list grows while it is read; true if the end is among it. */
static bool close_over(const struct template_pattern *pattern, struct states *states, bool at_begin,
                       bool is_at_end)
{
    bool matches = false;
    for (size_t i = 0; i < states->count; i++) {
        size_t at = states->items[i];
        const struct state *state = &pattern->states[at];
        switch (state->operation) {
        case OP_MATCH:
            matches = true;
            break;
        case OP_SPLIT:
            add(states, (size_t)((int)at + state->x));
            add(states, (size_t)((int)at + state->y));
            break;
        case OP_JUMP:
            add(states, (size_t)((int)at + state->x));
            break;
        case OP_BEGIN:
            if (at_begin)
                add(states, at + 1);
            break;
        case OP_END:
            if (is_at_end)
                add(states, at + 1);
            break;
        case OP_SET:
            break;
        }
    }
    return matches;
}

static void step(const struct template_pattern *pattern, const struct states *from,
                 uint32_t character, struct states *to)
{
    clear(to);
    for (size_t i = 0; i < from->count; i++) {
        const struct state *state = &pattern->states[from->items[i]];
        if (state->operation == OP_SET && set_has(state->set, character))
            add(to, (size_t)from->items[i] + 1);
    }
}

bool template_pattern_matches(const struct template_pattern *pattern, struct text value)
{
    struct states both[2];
    struct states *now = &both[0], *next = &both[1];
    size_t at = 0;
    clear(now);
    add(now, 0);
    bool matches = close_over(pattern, now, true, value.size == 0);
    while (at < value.size && now->count > 0) {
        uint32_t character;
        at += utf8_decode(text_behind(value, at), &character);
        step(pattern, now, character, next);
        matches = close_over(pattern, next, false, at == value.size);
        struct states *swap = now;
        now = next;
        next = swap;
    }
    return matches && at == value.size;
}
