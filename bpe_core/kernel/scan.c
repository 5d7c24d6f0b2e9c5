/* The grammar of scan.h by hand: one function for each of its lines, each deciding from the sets of
   a few characters.

   A regular expression backtracks to a place that is known while scanning: in upper* lower+ the
   last lower character, in white space the last newline and the last character. So no character is
   read more than three times. */

#include "scan.h"

#define REPLACEMENT 0xFFFDu /* stands for an invalid byte */

/* Characters */

typedef struct {
    const scanner *scanner;
    const uint8_t *bytes;
    size_t n;
} source;

typedef struct {
    unsigned sets; /* 0 at the end of the text */
    size_t size;   /* in bytes */
} character;

static bool continues(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/* Return how many bytes a character has by its first byte. */
static inline size_t expected_length(uint8_t first)
{
    if (first >= 0xF0)
        return 4;
    if (first >= 0xE0)
        return 3;
    return first >= 0xC0 ? 2 : 1;
}

/* Return the code point at `at`, which is not ASCII, and set its size; REPLACEMENT and 1 for
   invalid UTF-8. */
static uint32_t decode(const source *text, size_t at, size_t *size)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* code point of each length */
    const uint8_t *bytes = text->bytes + at;
    size_t length = expected_length(bytes[0]);
    *size = 1;
    if (length == 1 || length > text->n - at)
        return REPLACEMENT;
    uint32_t code = bytes[0] & (0xFFu >> length);
    for (size_t i = 1; i < length; i++) {
        if (!continues(bytes[i]))
            return REPLACEMENT;
        code = code << 6 | (bytes[i] & 0x3Fu);
    }
    bool is_surrogate = code >= 0xD800 && code < 0xE000;
    if (code < least[length] || code >= N_CODE_POINTS || is_surrogate)
        return REPLACEMENT;
    *size = length;
    return code;
}

static inline character character_at(const source *text, size_t at)
{
    if (at >= text->n)
        return (character){0, 0};
    uint8_t first = text->bytes[at];
    if (first < 0x80)
        return (character){text->scanner->sets[first], 1};
    size_t size;
    uint32_t code = decode(text, at, &size);
    return (character){text->scanner->sets[code], size};
}

/* Return the end of the characters from `at` on that are in `set`; `at` if none is. */
static inline size_t run(const source *text, size_t at, unsigned set)
{
    for (character c = character_at(text, at); c.sets & set; c = character_at(text, at))
        at += c.size;
    return at;
}

/* The lines of the grammar. Each function returns where the match ends that begins at `at`, or `at`
   if there is none. */

/* 's 't 'm 'd 'll 've 're. Only s has a third form if case is ignored: U+017F, the long s. */
static size_t contraction(const source *text, size_t at, bool ignores_case)
{
    size_t n = text->n - at;
    if (n < 2 || text->bytes[at] != '\'')
        return at;
    const uint8_t *letters = text->bytes + at + 1;
    uint8_t case_bit = ignores_case ? 0x20 : 0;
    uint8_t first = letters[0] | case_bit;
    if (first == 's' || first == 't' || first == 'm' || first == 'd')
        return at + 2;
    if (n < 3)
        return at;
    if (ignores_case && letters[0] == 0xC5 && letters[1] == 0xBF)
        return at + 3;
    uint8_t second = letters[1] | case_bit;
    bool is_ll = first == 'l' && second == 'l';
    bool is_ve_or_re = (first == 'v' || first == 'r') && second == 'e';
    return is_ll || is_ve_or_re ? at + 3 : at;
}

typedef struct {
    size_t end;
    bool has_lower;
} word;

/* Match upper* lower+, else upper+, else nothing. */
static inline word word_at(const source *text, size_t at)
{
    size_t end = at;
    size_t after_lower = at;
    character c = character_at(text, end);
    for (; c.sets & UPPER; c = character_at(text, end)) {
        end += c.size;
        if (c.sets & LOWER)
            after_lower = end;
    }
    if (c.sets & LOWER)
        after_lower = run(text, end, LOWER);
    if (after_lower > at)
        return (word){after_lower, true};
    return (word){end, false};
}

/* A word, whose first character is `first`. A mark can be a prefix or a letter. It is a prefix if a
   word with a lower character follows. */
static inline size_t word_end(const source *text, size_t at, character first)
{
    word prefixed = {0, false};
    word plain = {at, false};
    if (first.sets & PREFIX)
        prefixed = word_at(text, at + first.size);
    if (!prefixed.has_lower)
        plain = word_at(text, at);
    bool has_prefixed = prefixed.end > at + first.size;
    bool takes_prefix = prefixed.has_lower || (!plain.has_lower && has_prefixed);
    size_t end = takes_prefix ? prefixed.end : plain.end;
    bool may_have_suffix = text->scanner->contractions == CONTRACTION_SUFFIXES;
    if (may_have_suffix && end > at && end < text->n)
        end = contraction(text, end, true);
    return end;
}

static inline size_t number_end(const source *text, size_t at)
{
    size_t max_digits = text->scanner->max_digits;
    if (max_digits == 0) {
        size_t begin = text->bytes[at] == ' ' ? at + 1 : at;
        size_t end = run(text, begin, NUMBER);
        return end > begin ? end : at;
    }
    for (size_t n_digits = 0; n_digits < max_digits; n_digits++) {
        character digit = character_at(text, at);
        if (!(digit.sets & NUMBER))
            break;
        at += digit.size;
    }
    return at;
}

static inline size_t signs_end(const source *text, size_t at)
{
    size_t begin = text->bytes[at] == ' ' ? at + 1 : at;
    size_t end = run(text, begin, SIGN);
    return end > begin ? run(text, end, TAIL) : at;
}

static inline size_t space_end(const source *text, size_t at)
{
    size_t end = at;
    size_t last = at; /* where the last character begins */
    size_t after_newline = 0;
    for (character c = character_at(text, at); c.sets & SPACE; c = character_at(text, end)) {
        last = end;
        end += c.size;
        if (c.sets & NEWLINE)
            after_newline = end;
    }
    bool ends_text = end == text->n;
    if (ends_text && text->scanner->end_first)
        return end;
    if (after_newline && text->scanner->lines)
        return after_newline;
    bool is_single = last == at;
    return ends_text || is_single ? end : last;
}

size_t contraction_end(const scanner *scanner, const uint8_t *bytes, size_t at, size_t n)
{
    const source text = {scanner, bytes, n};
    return contraction(&text, at, scanner->contractions != LOWER_CASE_CONTRACTIONS);
}

size_t piece_end(const scanner *scanner, const uint8_t *bytes, size_t at, size_t n)
{
    const source text = {scanner, bytes, n};
    const unsigned letters = UPPER | LOWER;
    character first = character_at(&text, at);
    character second = character_at(&text, at + first.size);
    unsigned after_space = bytes[at] == ' ' ? second.sets : 0;
    bool are_pieces =
        scanner->contractions == CONTRACTIONS || scanner->contractions == LOWER_CASE_CONTRACTIONS;
    size_t end = at;
    if (are_pieces && bytes[at] == '\'')
        end = contraction(&text, at, scanner->contractions == CONTRACTIONS);
    bool may_be_word = first.sets & letters || (first.sets & PREFIX && second.sets & letters);
    if (end == at && may_be_word)
        end = word_end(&text, at, first);
    if (end == at && (first.sets | after_space) & NUMBER)
        end = number_end(&text, at);
    if (end == at && (first.sets | after_space) & SIGN)
        end = signs_end(&text, at);
    if (end == at && first.sets & SPACE)
        end = space_end(&text, at);
    return end > at ? end : at + first.size;
}

/* Cuts */

/* Return where the character begins that ends before `end`, if the UTF-8 is valid. */
static size_t character_before(const source *text, size_t end)
{
    size_t at = end - 1;
    while (at && end - at < 4 && continues(text->bytes[at]))
        at--;
    return at;
}

size_t last_cut(const scanner *scanner, const uint8_t *bytes, size_t n)
{
    const source text = {scanner, bytes, n};
    for (size_t at = n; at-- > 2;) {
        size_t newline = at - 1;
        if (bytes[newline] != '\n')
            continue;
        size_t before = character_before(&text, newline);
        character last = character_at(&text, before);
        character next = character_at(&text, at);
        bool is_valid = before + last.size == newline && (next.size > 1 || bytes[at] < 0x80);
        if (is_valid && !(last.sets & SPACE) && !(next.sets & (SPACE | TAIL)))
            return at;
    }
    return 0;
}
