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
    WINDOW = 64, /* bytes of a window */
    LEAST = 24,  /* fewer bytes of ASCII are not worth a window */
};

/* One bit for each byte of a window; the lowest bit is the first byte. */
typedef uint64_t mask;

/* Bytes of a window as masks */

static inline mask bits_of(const __m128i bytes[4])
{
    mask bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (mask)_mm_movemask_epi8(bytes[i]) << 16 * i;
    return bits;
}

/* Return the bytes from `first` to `last`, after setting the bits `ignored`: 0x20 ignores case. The
   comparison is of signed numbers, so the range is moved to begin at -128. */
static inline mask bytes_between(const __m128i bytes[4], char ignored, int first, int last)
{
    const __m128i to_least = _mm_set1_epi8((char)(-128 - first));
    const __m128i end = _mm_set1_epi8((char)(-127 + last - first));
    __m128i found[4];
    for (int i = 0; i < 4; i++) {
        __m128i folded = _mm_or_si128(bytes[i], _mm_set1_epi8(ignored));
        found[i] = _mm_cmplt_epi8(_mm_add_epi8(folded, to_least), end);
    }
    return bits_of(found);
}

static inline mask bytes_equal(const __m128i bytes[4], char byte)
{
    return bytes_between(bytes, 0, byte, byte);
}

/* The bytes of a window by kind. Each byte of ASCII is in one of letters, digits, spaces and
   signs. */
typedef struct {
    mask letters;
    mask digits;
    mask signs;
    mask spaces;   /* white space */
    mask newlines; /* of the white space */
    mask blanks;   /* " " of the white space */
} kinds;

static inline kinds kinds_of(const __m128i bytes[4])
{
    kinds kinds;
    kinds.letters = bytes_between(bytes, 0x20, 'a', 'z');
    kinds.digits = bytes_between(bytes, 0, '0', '9');
    kinds.blanks = bytes_equal(bytes, ' ');
    kinds.newlines = bytes_equal(bytes, '\n') | bytes_equal(bytes, '\r');
    kinds.spaces = bytes_between(bytes, 0, '\t', '\r') | kinds.blanks;
    kinds.signs = ~(kinds.letters | kinds.digits | kinds.spaces);
    return kinds;
}

/* Return the bits up to a place, including it. */
static inline mask up_to(int place) { return ((mask)2 << place) - 1; }

/* Return the places where a run of bits begins or ends. */
static inline mask first_of_runs(mask bits) { return bits & ~(bits << 1); }
static inline mask last_of_runs(mask bits) { return bits & ~(bits >> 1); }

/* Return how far a window is right whose first `n_ascii` bytes are ASCII. White space at their end
   depends on what follows. */
static inline mask right_part(mask spaces, int n_ascii)
{
    mask from_end = spaces << (WINDOW - n_ascii); /* the last byte of ASCII at the highest bit */
    bool ends_with_space = from_end >> 63;
    if (!ends_with_space)
        return up_to(n_ascii - 1);
    bool is_all_space = !~from_end;
    if (is_all_space)
        return 1;
    return up_to(n_ascii - __builtin_clzll(~from_end));
}

/* Take the tails of signs out of the other kinds: they belong to the pieces of the signs. */
static inline void remove_tails(kinds *kinds, mask slashes)
{
    mask in_tails = kinds->newlines | slashes;
    mask first = kinds->newlines & kinds->signs << 1;
    /* Adding `first` carries through the run of bits that begins there: 1 + 0111 is 1000. */
    mask tails = first | (((first + in_tails) ^ in_tails) & in_tails);
    kinds->signs &= ~tails;
    kinds->spaces &= ~tails;
    kinds->newlines &= ~tails;
}

/* Where pieces begin */

/* Pieces begin where white space begins, after its last newline, and at its last character unless
   that is a newline. */
static inline mask begin_of_spaces(mask spaces, mask newlines, bool lines)
{
    mask before_newline = lines ? newlines : 0; /* white space up to its last newline */
    mask others = spaces & ~newlines;
    for (;;) {
        mask more = others & before_newline >> 1 & ~before_newline;
        if (!more)
            break;
        before_newline |= more;
    }
    mask rest = spaces & ~before_newline;
    return first_of_runs(spaces) | first_of_runs(rest) | last_of_runs(rest);
}

static inline mask begin_of_signs(mask signs, mask blanks)
{
    return first_of_runs(signs) & ~(blanks << 1);
}

static inline mask begin_of_digits(mask digits, mask blanks, size_t max_digits)
{
    mask begin = first_of_runs(digits);
    if (max_digits == 0)
        return begin & ~(blanks << 1);
    if (max_digits >= WINDOW)
        return begin;
    mask after_digits = digits; /* digits after at least max_digits - 1 other digits */
    for (size_t i = 1; i < max_digits; i++)
        after_digits &= digits << i;
    mask next = begin << max_digits & after_digits;
    while (next) {
        begin |= next;
        next = next << max_digits & after_digits;
    }
    return begin;
}

/* Return where words begin. `begin` has the pieces of white space and of signs. */
static inline mask begin_of_words(const scanner *scanner, const __m128i bytes[4],
                                  const kinds *kinds, mask begin)
{
    bool any_prefix = scanner->sets['!'] & PREFIX; /* not only a space */
    mask may_be_prefix = kinds->blanks;
    if (any_prefix)
        may_be_prefix = kinds->signs | (kinds->spaces & ~kinds->newlines);
    mask prefixes = begin & may_be_prefix;
    mask words = first_of_runs(kinds->letters) & ~(prefixes << 1);
    bool case_matters = !(scanner->sets['a'] & UPPER);
    if (case_matters) {
        mask upper = bytes_between(bytes, 0, 'A', 'Z');
        mask lower = kinds->letters & ~upper;
        words |= upper & lower << 1;
    }
    return words;
}

/* Return `begin` with contractions as pieces of their own, or joined to the words that they end. */
static inline mask with_contractions(const scanner *scanner, const uint8_t *text, size_t n,
                                     mask begin, mask quotes, mask letters)
{
    bool are_suffixes = scanner->contractions == CONTRACTION_SUFFIXES;
    quotes &= are_suffixes ? letters << 1 : begin;
    size_t last = 0; /* where the last contraction ends */
    for (; quotes; quotes &= quotes - 1) {
        size_t at = (size_t)__builtin_ctzll(quotes);
        size_t end = contraction_end(scanner, text, at, n);
        bool follows_suffix = are_suffixes && at == last;
        if (end == at || follows_suffix)
            continue;
        /* No piece begins in the contraction, nor at a suffix, but one begins after it. */
        mask after = end < WINDOW ? (mask)1 << end : 0;
        mask before_end = after - 1; /* all bits if `after` is 0 */
        mask kept = up_to((int)at);
        if (are_suffixes)
            kept >>= 1;
        begin = (begin & ~(before_end & ~kept)) | after;
        last = end;
    }
    return begin;
}

/* Return where pieces begin in the window at `text`. */
static inline mask begin_of_pieces(const scanner *scanner, const uint8_t *text, size_t n,
                                   const __m128i bytes[4], kinds kinds)
{
    bool has_tails = scanner->sets['\n'] & TAIL;
    bool has_slashes = scanner->sets['/'] & TAIL;
    if (has_tails)
        remove_tails(&kinds, has_slashes ? bytes_equal(bytes, '/') : 0);
    mask begin = 1;
    begin |= begin_of_spaces(kinds.spaces, kinds.newlines, scanner->lines);
    begin |= begin_of_signs(kinds.signs, kinds.blanks);
    begin |= begin_of_words(scanner, bytes, &kinds, begin);
    begin |= begin_of_digits(kinds.digits, kinds.blanks, scanner->max_digits);
    mask quotes = scanner->contractions ? bytes_equal(bytes, '\'') : 0;
    if (quotes)
        begin = with_contractions(scanner, text, n, begin, quotes, kinds.letters);
    return begin;
}

/* Write where the pieces of the window at `text` end, except the last one. Return their number.
   `at` is the offset of the window. */
static inline size_t window_ends(const scanner *scanner, const uint8_t *text, size_t n, size_t at,
                                 size_t *ends)
{
    __m128i bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = _mm_loadu_si128((const __m128i *)(text + 16 * i));
    mask not_ascii = bits_of(bytes);
    int n_ascii = not_ascii ? __builtin_ctzll(not_ascii) : WINDOW;
    if (n_ascii < LEAST)
        return 0;
    kinds kinds = kinds_of(bytes);
    mask right = right_part(kinds.spaces, n_ascii);
    mask begin = begin_of_pieces(scanner, text, n, bytes, kinds) & right & ~(mask)1;
    size_t n_ends = 0;
    for (; begin; begin &= begin - 1)
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
        if (!n_more) {
            ends[n_ends] = piece_end(scanner, text, at, n);
            n_more = 1;
        }
        n_ends += n_more;
        at = ends[n_ends - 1];
    }
    return n_ends;
}
