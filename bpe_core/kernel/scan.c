/* The grammar of scan.h by hand: one function for each of its lines, each deciding from the sets of
   a few characters.

   A regular expression backtracks to a place that is known while scanning: in upper* lower+ the
   last lower character, in white space the last newline and the last character. So no character is
   read more than three times. */

#include "scan.h"

typedef struct {
    const scanner *scanner;
    const uint8_t *bytes;
    size_t n;
} source;

typedef struct {
    unsigned sets; /* 0 at the end of the text */
    size_t size;   /* in bytes */
} character;

static bool continues(const source *text, size_t at)
{
    return at < text->n && (text->bytes[at] & 0xC0) == 0x80;
}

/* Return the code point at `at`, which is not ASCII, and set its size; U+FFFD and 1 for invalid
   UTF-8. */
static uint32_t decode(const source *text, size_t at, size_t *size)
{
    const uint8_t *bytes = text->bytes + at;
    uint32_t code = 0xFFFD, least = 1;
    size_t length = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : bytes[0] >= 0xC0 ? 2 : 1;
    *size = 1;
    if (length >= 2 && continues(text, at + 1)) {
        if (length == 2) {
            least = 0x80, code = (bytes[0] & 0x1Fu) << 6 | (bytes[1] & 0x3Fu);
        } else if (continues(text, at + 2)) {
            code = (bytes[0] & 0x0Fu) << 12 | (bytes[1] & 0x3Fu) << 6 | (bytes[2] & 0x3Fu);
            if (length == 3) {
                least = 0x800;
            } else if (continues(text, at + 3)) {
                least = 0x10000,
                code = (bytes[0] & 0x0Fu) << 18 | (code & 0x0FFFu) << 6 | (bytes[3] & 0x3Fu);
            } else {
                return 0xFFFD;
            }
        } else {
            return 0xFFFD;
        }
        if (code < least || code >= N_CODE_POINTS || (code >= 0xD800 && code < 0xE000))
            return 0xFFFD;
        *size = length;
    }
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

/* The end of the contraction that begins at `at`, or `at`. Only s has a third form if case is
   ignored: U+017F, the long s. */
static size_t contraction(const source *text, size_t at, bool any_case)
{
    if (text->n - at < 2 || text->bytes[at] != '\'')
        return at;
    const uint8_t *letters = text->bytes + at + 1;
    size_t left = text->n - at - 1;
    uint8_t fold = any_case ? 0x20 : 0;
    uint8_t first = letters[0] | fold;
    if (first == 's' || first == 't' || first == 'm' || first == 'd')
        return at + 2;
    if (left < 2)
        return at;
    if (any_case && letters[0] == 0xC5 && letters[1] == 0xBF)
        return at + 3;
    uint8_t second = letters[1] | fold;
    bool is_one =
        (first == 'l' && second == 'l') || ((first == 'v' || first == 'r') && second == 'e');
    return is_one ? at + 3 : at;
}

typedef struct {
    size_t end;
    bool has_lower;
} word;

/* Match upper* lower+, else upper+, else nothing; then it ends where it begins. */
static inline word word_at(const source *text, size_t at)
{
    size_t end = at, after_lower = end;
    character c = character_at(text, end);
    for (; c.sets & UPPER; c = character_at(text, end)) {
        end += c.size;
        if (c.sets & LOWER)
            after_lower = end;
    }
    if (c.sets & LOWER)
        after_lower = run(text, end, LOWER);
    bool has_lower = after_lower > at;
    return (word){has_lower ? after_lower : end, has_lower};
}

/* Return the end of the word at `at`, whose first character is `first`; `at` if there is none. A
   mark can be a prefix or a letter. It is a prefix if a word with a lower character follows. */
static inline size_t word_end(const source *text, size_t at, character first)
{
    word prefixed = {0, false}, plain = {at, false};
    if (first.sets & PREFIX)
        prefixed = word_at(text, at + first.size);
    if (!prefixed.has_lower)
        plain = word_at(text, at);
    bool takes_prefix = prefixed.has_lower || (!plain.has_lower && prefixed.end > at + first.size);
    size_t end = takes_prefix ? prefixed.end : plain.end;
    if (end > at && end < text->n && text->bytes[end] == '\'' &&
        text->scanner->contractions == CONTRACTION_SUFFIXES)
        end = contraction(text, end, true);
    return end;
}

static inline size_t number_end(const source *text, size_t at)
{
    size_t most = text->scanner->max_digits;
    if (!most) {
        size_t begin = text->bytes[at] == ' ' ? at + 1 : at;
        size_t end = run(text, begin, NUMBER);
        return end > begin ? end : at;
    }
    for (character c; most && (c = character_at(text, at)).sets & NUMBER; most--)
        at += c.size;
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
    size_t end = at, last = at, after_newline = 0;
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
    return ends_text || last == at ? end : last;
}

size_t contraction_end(const scanner *scanner, const uint8_t *bytes, size_t at, size_t n)
{
    const source text = {scanner, bytes, n};
    return contraction(&text, at, scanner->contractions != LOWER_CASE_CONTRACTIONS);
}

size_t piece_end(const scanner *scanner, const uint8_t *bytes, size_t at, size_t n)
{
    const source all = {scanner, bytes, n}, *text = &all;
    const unsigned letters = UPPER | LOWER;
    character first = character_at(text, at), second = character_at(text, at + first.size);
    unsigned behind_space = bytes[at] == ' ' ? second.sets : 0;
    size_t end = at;
    if (bytes[at] == '\'' &&
        (scanner->contractions == CONTRACTIONS || scanner->contractions == LOWER_CASE_CONTRACTIONS))
        end = contraction(text, at, scanner->contractions == CONTRACTIONS);
    if (end == at && (first.sets & letters || (first.sets & PREFIX && second.sets & letters)))
        end = word_end(text, at, first);
    if (end == at && (first.sets | behind_space) & NUMBER)
        end = number_end(text, at);
    if (end == at && (first.sets | behind_space) & SIGN)
        end = signs_end(text, at);
    if (end == at && first.sets & SPACE)
        end = space_end(text, at);
    return end > at ? end : at + first.size;
}

size_t last_cut(const scanner *scanner, const uint8_t *bytes, size_t n)
{
    const source all = {scanner, bytes, n}, *text = &all;
    for (size_t at = n; at-- > 2;) {
        if (bytes[at - 1] != '\n')
            continue;
        size_t before = at - 2;
        while (before && at - before < 5 && continues(text, before))
            before--;
        character last = character_at(text, before), next = character_at(text, at);
        bool whole = before + last.size == at - 1 && (next.size > 1 || bytes[at] < 0x80);
        if (whole && !(last.sets & SPACE) && !(next.sets & (SPACE | TAIL)))
            return at;
    }
    return 0;
}
