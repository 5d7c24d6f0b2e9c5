/* Merge a long piece, window by window.

   Two neighboring tokens are compatible if merging their joined symbols, alone, gives the two
   tokens back. A list of tokens is the result of merging the whole piece exactly if all its
   neighbors are compatible (bpe_core/vocabulary/merge_loop.py has the proof; H. van Antwerpen and
   A. Neubeck use the fact in the Rust crate `bpe`). So each window begins with the last few tokens
   of the previous one: if their first token comes out again, all neighbors are compatible. If a
   piece repeats itself, its tokens do too, and are copied.

   A window seldom changes more than the last few tokens before it, so few are tried again. */

#include "merge.h"

#include <string.h>

enum {
    AHEAD = 36,         /* new bytes in a window, unless a window had to grow */
    OVERLAP = 4,        /* tokens of the previous window that are merged again */
    PERIOD = 8,         /* tokens of the longest period that is recognized */
    REPEATED = 1 << 18, /* tokens of a repetition that are appended at a time */
};

/* A piece that is being merged. */
typedef struct {
    const merges *merges;
    const uint8_t *bytes;
    size_t n; /* bytes */
    workspace *space;
    id_list *ids;
    size_t first;    /* index of its first token among `ids` */
    size_t n_tokens; /* tokens so far */
    size_t done;     /* bytes of these tokens */
    size_t ahead;    /* new bytes in the next window */
} long_piece;

static size_t smaller_of(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger_of(size_t a, size_t b) { return a > b ? a : b; }

static uint32_t *tokens_of(const long_piece *piece) { return piece->ids->items + piece->first; }

/* Return the byte where the last `n_last` tokens begin. */
static size_t start_of_last(const long_piece *piece, size_t n_last)
{
    if (n_last == 0)
        return piece->done;
    if (n_last >= piece->n_tokens)
        return 0;
    return piece->space->ends.items[piece->n_tokens - n_last - 1];
}

static bool tokens_reserve(long_piece *piece, size_t n_more)
{
    piece->space->ends.n = piece->n_tokens;
    piece->ids->n = piece->first + piece->n_tokens;
    return ROOM(piece->space->ends, n_more) && ROOM(*piece->ids, n_more);
}

/* Repetitions */

/* Return how many bytes after `one` equal those after `other`, which is later. */
static size_t n_equal_bytes(const long_piece *piece, size_t one, size_t other)
{
    const uint8_t *a = piece->bytes + one;
    const uint8_t *b = piece->bytes + other;
    size_t most = piece->n - other;
    size_t n = 0;
    while (n + 64 <= most && !memcmp(a + n, b + n, 64))
        n += 64;
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* Tokens at the end of a piece that are the same as those before them, in ids and bytes. */
typedef struct {
    size_t n_tokens; /* 0 if there are none */
    size_t n_bytes;
    size_t begin; /* the byte where they begin */
} period;

/* Return the shortest period at the end of a piece without its last `n_dropped` tokens. */
static period find_period(const long_piece *piece, size_t n_dropped)
{
    size_t n_kept = piece->n_tokens - n_dropped;
    size_t end = start_of_last(piece, n_dropped);
    for (size_t n = 1; n <= PERIOD && 2 * n <= n_kept; n++) {
        const uint32_t *last = tokens_of(piece) + n_kept - n;
        size_t begin = start_of_last(piece, n_dropped + n);
        size_t begin_before = start_of_last(piece, n_dropped + 2 * n);
        bool has_same_length = begin - begin_before == end - begin;
        if (has_same_length && !memcmp(last - n, last, n * sizeof *last))
            return (period){n, end - begin, begin};
    }
    return (period){0};
}

/* Return how often a period may be appended: as often as the piece repeats it, except at the very
   end of the piece. */
static size_t times_repeated(const long_piece *piece, const period *period)
{
    size_t n_same = n_equal_bytes(piece, period->begin - period->n_bytes, period->begin);
    if (n_same <= period->n_bytes)
        return 0;
    size_t times = (n_same - 1) / period->n_bytes - 1;
    return smaller_of(times, REPEATED / period->n_tokens);
}

static bool append_period(long_piece *piece, const period *period, size_t times)
{
    size_t n_more = times * period->n_tokens;
    if (!tokens_reserve(piece, n_more))
        return false;
    uint32_t *tokens = tokens_of(piece);
    size_t *ends = piece->space->ends.items;
    for (size_t i = 0; i < n_more; i++) {
        size_t before = piece->n_tokens - period->n_tokens;
        tokens[piece->n_tokens] = tokens[before];
        ends[piece->n_tokens] = ends[before] + period->n_bytes;
        piece->n_tokens++;
    }
    piece->done += times * period->n_bytes;
    return true;
}

/* If the piece repeats itself from here on, copy its tokens. An example: in "abababababab", tokens
   [ab, ab] are followed by more [ab]. The end of a window may have changed its last tokens, so try
   without some of them. Return false without memory. */
static bool copy_repetition(long_piece *piece)
{
    for (size_t n_dropped = 0; n_dropped <= OVERLAP && n_dropped < piece->n_tokens; n_dropped++) {
        period period = find_period(piece, n_dropped);
        if (!period.n_tokens)
            continue;
        size_t times = times_repeated(piece, &period);
        size_t begin_dropped = start_of_last(piece, n_dropped);
        size_t n_dropped_bytes = piece->done - begin_dropped;
        if (times * period.n_bytes > n_dropped_bytes) {
            piece->n_tokens -= n_dropped;
            piece->done = begin_dropped;
            return append_period(piece, &period, times);
        }
    }
    return true;
}

/* Windows */

/* Whether the first of the last `n_again` tokens came out again in a window of `n` tokens that
   begins with them. */
static bool begins_right(const long_piece *piece, size_t n_again, size_t begin,
                         const window *window, size_t n)
{
    bool begins_piece = n_again == piece->n_tokens;
    if (begins_piece)
        return true;
    return n > 1 && begin + window->starts[1] == start_of_last(piece, n_again - 1);
}

/* Replace the last `n_again` tokens by the window's tokens. Return false without memory. */
static bool replace_last(long_piece *piece, size_t n_again, size_t begin, size_t end,
                         const window *window, size_t n)
{
    piece->n_tokens -= n_again;
    if (!tokens_reserve(piece, n))
        return false;
    memcpy(tokens_of(piece) + piece->n_tokens, window->ids, n * sizeof *window->ids);
    size_t *ends = piece->space->ends.items + piece->n_tokens;
    for (size_t i = 0; i + 1 < n; i++)
        ends[i] = begin + window->starts[i + 1];
    if (n)
        ends[n - 1] = end;
    piece->n_tokens += n;
    piece->done = end;
    return true;
}

/* Merge the last `n_again` tokens again, with the next bytes. Set `is_right` to whether the result
   is right, and keep it then. */
static outcome try_window(long_piece *piece, size_t n_again, bool *is_right)
{
    size_t begin = start_of_last(piece, n_again);
    if (n_again > OVERLAP) /* merge no more bytes again than are new */
        piece->ahead = larger_of(piece->ahead, piece->done - begin);
    size_t end = piece->done + smaller_of(piece->n - piece->done, piece->ahead);
    end = symbol_boundary(piece->merges->symbols, piece->bytes, end, piece->n);
    window window;
    if (end - begin >= UINT32_MAX || !window_reserve(piece->space, end - begin + 2, &window))
        return OUT_OF_MEMORY;
    Py_ssize_t n = merge_window(piece->merges, piece->bytes, piece->n, begin, end, &window);
    if (n < 0)
        return UNKNOWN_SYMBOL;
    *is_right = begins_right(piece, n_again, begin, &window, (size_t)n);
    if (*is_right && !replace_last(piece, n_again, begin, end, &window, (size_t)n))
        return OUT_OF_MEMORY;
    return ENCODED;
}

/* Merge the next window. If its first token has changed, try again from further back. Later windows
   are then longer for a while. */
static outcome merge_next_window(long_piece *piece)
{
    bool is_right = false;
    size_t n_again = smaller_of(OVERLAP, piece->n_tokens);
    while (!is_right) {
        outcome outcome = try_window(piece, n_again, &is_right);
        if (outcome != ENCODED)
            return outcome;
        n_again = smaller_of(4 * n_again, piece->n_tokens);
    }
    if (!copy_repetition(piece))
        return OUT_OF_MEMORY;
    size_t n_bytes_again = piece->done - start_of_last(piece, smaller_of(OVERLAP, piece->n_tokens));
    piece->ahead = larger_of(larger_of(AHEAD, piece->ahead / 2), n_bytes_again);
    return ENCODED;
}

outcome merge_long_piece(const merges *merges, const uint8_t *bytes, size_t n, workspace *space,
                         id_list *ids)
{
    long_piece piece = {
        .merges = merges,
        .bytes = bytes,
        .n = n,
        .space = space,
        .ids = ids,
        .first = ids->n,
        .ahead = AHEAD,
    };
    outcome outcome = ENCODED;
    while (piece.done < n && outcome == ENCODED) {
        size_t before = piece.done;
        outcome = merge_next_window(&piece);
        if (outcome == ENCODED && space->interrupted(space->caller, piece.done - before))
            outcome = INTERRUPTED;
    }
    ids->n = piece.first;
    if (outcome == ENCODED)
        ids->n += piece.n_tokens;
    return outcome;
}
