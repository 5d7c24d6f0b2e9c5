/* The grammar of scan.h for 64 bytes of ASCII at a time: one bit for each byte, and arithmetic on
   these bits finds where pieces begin. An example: in "ab cd", letters are 11011; letters &
   ~(letters << 1) has a bit where a run of letters begins.

   A window begins with a piece, so it depends on nothing before it. The characters before a place
   decide whether a piece begins there, except in white space, whose last character depends on the
   next one. So a window is right up to its end or its first character that is not ASCII, or up to
   the white space before that. */

#include "scan.h"

#ifdef __SSE2__ /* defined by GCC and Clang; without it, piece_end finds each piece */
#include <emmintrin.h>

enum {
    WINDOW = 64,
    LEAST = 24
}; /* bytes of a window; fewer than LEAST bytes of ASCII are not worth it */

typedef uint64_t mask; /* the lowest bit is the first byte */

static inline mask bits_of(const __m128i bytes[4])
{
    mask bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (mask)_mm_movemask_epi8(bytes[i]) << 16 * i;
    return bits;
}

/* Return the bytes from `first` to `last`, after setting the bits `ignored`: 0x20 ignores case. */
static inline mask bytes_between(const __m128i bytes[4], char ignored, int first, int last)
{
    __m128i found[4];
    for (int i = 0; i < 4; i++) {
        __m128i from_least = _mm_add_epi8(_mm_or_si128(bytes[i], _mm_set1_epi8(ignored)),
                                          _mm_set1_epi8((char)(-128 - first)));
        found[i] = _mm_cmplt_epi8(from_least, _mm_set1_epi8((char)(-127 + last - first)));
    }
    return bits_of(found);
}

static inline mask bytes_equal(const __m128i bytes[4], char byte)
{
    return bytes_between(bytes, 0, byte, byte);
}

static inline mask up_to(int place) { return ((mask)2 << place) - 1; }

/* Return the characters that follow signs as their tail. */
static inline mask tails_of(mask signs, mask newlines, mask in_tails)
{
    mask first = newlines & signs << 1;
    return first | (((first + in_tails) ^ in_tails) & in_tails);
}

static inline mask begin_of_digits(mask digits, mask blanks, size_t most)
{
    mask begin = digits & ~(digits << 1), together = digits;
    if (!most)
        return begin & ~(blanks << 1);
    if (most >= WINDOW)
        return begin;
    for (size_t i = 1; i < most; i++)
        together &= digits << i;
    for (mask next = begin; (next = next << most & together);)
        begin |= next;
    return begin;
}

/* Pieces begin where white space begins, after its last newline, and at its last character unless
   that is a newline. */
static inline mask begin_of_spaces(mask spaces, mask newlines, bool lines)
{
    mask before_newline = lines ? newlines : 0, others = spaces & ~newlines;
    for (mask more; (more = others & before_newline >> 1 & ~before_newline);)
        before_newline |= more;
    mask rest = spaces & ~before_newline;
    return (spaces & ~(spaces << 1)) | (rest & ~(rest << 1)) | (rest & ~(rest >> 1));
}

/* Return `begin` with contractions as pieces of their own, or joined to the words that they end. */
static inline mask with_contractions(const scanner *scanner, const uint8_t *text, size_t n,
                                     mask begin, mask quotes, mask letters)
{
    bool are_suffixes = scanner->contractions == CONTRACTION_SUFFIXES;
    quotes &= are_suffixes ? letters << 1 : begin;
    for (size_t last = 0; quotes; quotes &= quotes - 1) {
        size_t at = (size_t)__builtin_ctzll(quotes), end = contraction_end(scanner, text, at, n);
        if (end == at || (are_suffixes && at == last))
            continue;
        mask behind = end < WINDOW ? (mask)1 << end : 0; /* and 0 - 1 is all bits */
        begin = (begin & ~((behind - 1) & ~up_to((int)at - !!are_suffixes))) | behind;
        last = end;
    }
    return begin;
}

/* Write where the pieces of the window at `text` end, except the last one. Return their number. */
static inline size_t window_ends(const scanner *scanner, const uint8_t *text, size_t n, size_t at,
                                 size_t *ends)
{
    __m128i bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = _mm_loadu_si128((const __m128i *)(text + 16 * i));
    mask others = bits_of(bytes);
    int n_right = others ? __builtin_ctzll(others) : WINDOW;
    if (n_right < LEAST)
        return 0;
    mask right = up_to(n_right - 1);
    mask letters = bytes_between(bytes, 0x20, 'a', 'z'), digits = bytes_between(bytes, 0, '0', '9'),
         blanks = bytes_equal(bytes, ' ');
    mask newlines = bytes_equal(bytes, '\n') | bytes_equal(bytes, '\r'),
         spaces = bytes_between(bytes, 0, '\t', '\r') | blanks;
    mask signs = ~(letters | digits | spaces), open = spaces << (WINDOW - n_right);
    if (open >> 63) /* white space at the end depends on what follows */
        right = ~open ? up_to(n_right - __builtin_clzll(~open)) : 1;
    if (scanner->sets['\n'] & TAIL) {
        mask tails = tails_of(signs, newlines,
                              newlines | (scanner->sets['/'] & TAIL ? bytes_equal(bytes, '/') : 0));
        signs &= ~tails, spaces &= ~tails, newlines &= ~tails;
    }
    mask begin = 1 | begin_of_spaces(spaces, newlines, scanner->lines) |
                 (signs & ~(signs << 1) & ~(blanks << 1));
    mask prefixes = begin & (scanner->sets['!'] & PREFIX ? signs | (spaces & ~newlines) : blanks);
    begin |= letters & ~(letters << 1) & ~(prefixes << 1);
    begin |= begin_of_digits(digits, blanks, scanner->max_digits);
    if (!(scanner->sets['a'] & UPPER)) { /* case matters */
        mask upper = bytes_between(bytes, 0, 'A', 'Z');
        begin |= upper & (letters & ~upper) << 1;
    }
    mask quotes = scanner->contractions ? bytes_equal(bytes, '\'') : 0;
    if (quotes)
        begin = with_contractions(scanner, text, n, begin, quotes, letters);
    size_t n_ends = 0;
    for (begin &= right & ~(mask)1; begin; begin &= begin - 1)
        ends[n_ends++] = at + (size_t)__builtin_ctzll(begin);
    return n_ends;
}
#else
enum { WINDOW = 1 };
#endif

size_t piece_ends(const scanner *scanner, const uint8_t *text, size_t at, size_t n, size_t *ends,
                  size_t room)
{
    size_t n_ends = 0;
    while (at < n && n_ends + WINDOW <= room) {
        size_t n_more = 0;
#ifdef __SSE2__
        if (scanner->usual && n - at >= WINDOW)
            n_more = window_ends(scanner, text + at, n - at, at, ends + n_ends);
#endif
        if (!n_more)
            ends[n_ends + n_more++] = piece_end(scanner, text, at, n);
        n_ends += n_more;
        at = ends[n_ends - 1];
    }
    return n_ends;
}
