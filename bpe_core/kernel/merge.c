/* The merge loop: a scan for the lowest rank where symbols are few, a heap where they are many,
 * windows beyond. */

#include "merge.h"

#include <string.h>

enum {
    FEW = 64,    /* symbols up to which a window is merged by a linear search for the lowest rank */
    AHEAD = 36,  /* new bytes in a window, unless it had to grow */
    OVERLAP = 4, /* tokens of the window before that are merged once more; more seldom change */
    PERIOD = 8,  /* tokens of the longest period that is recognized */
    REPEATED = 1 << 18, /* tokens of a repetition that are appended at a time */
};

void workspace_free(workspace *space)
{
    PyMem_RawFree(space->window);
    PyMem_RawFree(space->ends.items);
    *space = (workspace){0};
}

/* What is merged: bytes, up to `end`, and how. */
typedef struct {
    const merges *merges;
    const uint8_t *bytes, *end;
} material;

/* The rule that joins two symbols, which are the bytes from `start` to `end`. */
static inline merge_rule rule_of(const material *of, uint32_t left, uint32_t right, uint32_t start,
                                 uint32_t end)
{
    if (of->merges->rules)
        return rules_find(of->merges->rules, left, right);
    const uint8_t *bytes = of->bytes + start;
    uint64_t pair = ((uint64_t)left << 32 | right) + 1; /* 0 is of none */
    rule_slot *slot = &of->merges->pairs[rules_hash(pair) >> (64 - PAIR_BITS)];
    if (slot->pair != pair)
        *slot = (rule_slot){
            pair, tokens_find(of->merges->ranks, bytes, end - start, (size_t)(of->end - bytes))};
    return slot->rule;
}

/* Few symbols: quadratic, but fast on an array that is in the first cache. `starts` has one entry
   more than there are symbols: the end of the last one. */

typedef struct {
    uint32_t id, start;
    uint32_t rank, token; /* of the pair that begins here */
} part;

static inline void look_at(const material *of, part *parts, size_t i)
{
    merge_rule rule = rule_of(of, parts[i].id, parts[i + 1].id, parts[i].start, parts[i + 2].start);
    parts[i].rank = rule.rank;
    parts[i].token = rule.token;
}

/* The leftmost of the `n` pairs of the lowest rank, found without a branch that nobody could guess.
 */
static inline size_t lowest(const part *parts, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        best = parts[i].rank < parts[best].rank ? i : best;
    return best;
}

static size_t merge_few(const material *of, uint32_t *ids, uint32_t *starts, size_t n)
{
    part parts[FEW + 1];
    for (size_t i = 0; i <= n; i++)
        parts[i] = (part){i < n ? ids[i] : NO_TOKEN, starts[i], NO_RANK, NO_TOKEN};
    for (size_t i = 0; i + 1 < n; i++)
        look_at(of, parts, i);
    while (n > 1) {
        size_t i = lowest(parts, n - 1);
        if (parts[i].rank >= of->merges->limit)
            break;
        parts[i].id = parts[i].token;
        for (size_t j = i + 1; j < n; j++)
            parts[j] = parts[j + 1];
        n--;
        if (i + 1 < n)
            look_at(of, parts, i);
        if (i)
            look_at(of, parts, i - 1);
    }
    for (size_t i = 0; i <= n; i++) {
        starts[i] = parts[i].start;
        if (i < n)
            ids[i] = parts[i].id;
    }
    return n;
}

/* Many symbols: a linked list, and a heap of pairs, each one number of rank and place. An entry is
   out of date if the pair that is at its place by now has another rank. */

typedef struct {
    uint64_t *heap;
    uint32_t *ids, *starts, *ranks, *tokens, *next, *previous;
    size_t n_heap;
} window;

/* Room for `n` symbols; the heap holds a pair for each, and two for each merge. */
static bool window_reserve(workspace *space, size_t n, window *arrays)
{
    const size_t each = 3 * sizeof(uint64_t) + 6 * sizeof(uint32_t);
    if (n > space->window_room) {
        size_t room = n < 1024 ? 1024 : n;
        void *memory =
            room > PY_SSIZE_T_MAX / each ? NULL : PyMem_RawRealloc(space->window, room * each);
        if (!memory)
            return false;
        space->window = memory;
        space->window_room = room;
    }
    arrays->heap = space->window;
    arrays->ids = (uint32_t *)(arrays->heap + 3 * n);
    arrays->starts = arrays->ids + n;
    arrays->ranks = arrays->starts + n;
    arrays->tokens = arrays->ranks + n;
    arrays->next = arrays->tokens + n;
    arrays->previous = arrays->next + n;
    arrays->n_heap = 0;
    return true;
}

static void sink(uint64_t *heap, size_t n, size_t at)
{
    uint64_t moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && heap[child + 1] < heap[child];
        if (moved <= heap[child])
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static uint64_t pop(window *window)
{
    uint64_t first = window->heap[0];
    window->heap[0] = window->heap[--window->n_heap];
    sink(window->heap, window->n_heap, 0);
    return first;
}

static void push(window *window, uint64_t what)
{
    size_t at = window->n_heap++;
    for (size_t parent; at && window->heap[parent = (at - 1) / 2] > what; at = parent)
        window->heap[at] = window->heap[parent];
    window->heap[at] = what;
}

/* Look up the pair that begins at `i`; whether it may be merged. */
static bool look(window *window, const material *of, size_t n, uint32_t i)
{
    uint32_t j = window->next[i];
    merge_rule rule = {NO_RANK, NO_TOKEN};
    if (j < n)
        rule = rule_of(of, window->ids[i], window->ids[j], window->starts[i],
                       window->starts[window->next[j]]);
    bool may_merge = rule.rank < of->merges->limit;
    window->ranks[i] = may_merge ? rule.rank : NO_RANK;
    window->tokens[i] = rule.token;
    return may_merge;
}

static uint64_t to_do(const window *window, uint32_t i)
{
    return (uint64_t)window->ranks[i] << 32 | i;
}

static size_t merge_many(const material *of, window *window, size_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        window->next[i] = i + 1;
        window->previous[i] = i - 1;
    }
    for (uint32_t i = 0; i < n; i++)
        if (look(window, of, n, i))
            window->heap[window->n_heap++] = to_do(window, i);
    for (size_t i = window->n_heap / 2; i-- > 0;)
        sink(window->heap, window->n_heap, i);
    while (window->n_heap) {
        uint64_t done = pop(window);
        uint32_t i = (uint32_t)done, j = window->next[i];
        if (window->ranks[i] != done >> 32)
            continue;
        window->ids[i] = window->tokens[i];
        window->ids[j] = NO_TOKEN;
        window->ranks[j] = NO_RANK;
        window->next[i] = window->next[j];
        if (window->next[i] < n)
            window->previous[window->next[i]] = i;
        if (look(window, of, n, i))
            push(window, to_do(window, i));
        if (i && look(window, of, n, window->previous[i]))
            push(window, to_do(window, window->previous[i]));
    }
    size_t n_left = 0;
    for (size_t i = 0; i < n; i = window->next[i], n_left++) {
        window->ids[n_left] = window->ids[i];
        window->starts[n_left] = window->starts[i];
    }
    return n_left;
}

/* A long piece */

typedef struct {
    const merges *merges;
    const uint8_t *bytes;
    size_t n;
    workspace *space;
    id_list *ids;
    size_t first;    /* where its tokens begin among the ids */
    size_t n_tokens; /* so far */
    size_t done;     /* bytes that these are */
} long_piece;

static uint32_t *tokens_of(const long_piece *piece) { return piece->ids->items + piece->first; }

/* The byte where the last `n_last` tokens begin. */
static size_t start_of_last(const long_piece *piece, size_t n_last)
{
    return n_last < piece->n_tokens ? piece->space->ends.items[piece->n_tokens - n_last - 1] : 0;
}

static bool tokens_reserve(long_piece *piece, size_t n_more)
{
    piece->space->ends.n = piece->n_tokens;
    piece->ids->n = piece->first + piece->n_tokens;
    return ROOM(piece->space->ends, n_more) && ROOM(*piece->ids, n_more);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* How many bytes are the same from `one` and from `other`, a later place, on. */
static size_t common(const long_piece *piece, size_t one, size_t other)
{
    size_t n = 0, most = piece->n - other;
    const uint8_t *a = piece->bytes + one, *b = piece->bytes + other;
    while (n + 64 <= most && !memcmp(a + n, b + n, 64))
        n += 64;
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* If the last tokens, but for `n_dropped`, stand there twice in a row, add them as often as the
   piece repeats them, but not to its very end, and drop those behind them. Sets `is_done` if so. */
static bool repeat_behind(long_piece *piece, size_t n_dropped, bool *is_done)
{
    size_t n_tokens = piece->n_tokens - n_dropped,
           done = n_dropped ? start_of_last(piece, n_dropped) : piece->done;
    for (size_t n = 1; n <= PERIOD && 2 * n <= n_tokens; n++) {
        uint32_t *last = tokens_of(piece) + n_tokens - n;
        size_t begin = start_of_last(piece, n + n_dropped), period = done - begin;
        if (memcmp(last - n, last, n * sizeof *last) ||
            begin - start_of_last(piece, 2 * n + n_dropped) != period)
            continue;
        size_t n_same = common(piece, begin - period, begin);
        size_t times = n_same > period ? smaller((n_same - 1) / period - 1, REPEATED / n) : 0;
        *is_done = times * period > piece->done - done;
        if (!*is_done)
            return true;
        piece->n_tokens = n_tokens;
        if (!tokens_reserve(piece, times * n))
            return false;
        for (size_t i = 0; i < times * n; i++, piece->n_tokens++) {
            tokens_of(piece)[piece->n_tokens] = tokens_of(piece)[piece->n_tokens - n];
            piece->space->ends.items[piece->n_tokens] =
                piece->space->ends.items[piece->n_tokens - n] + period;
        }
        piece->done = done + times * period;
        return true;
    }
    return true;
}

/* If the piece repeats itself from here on, so do its tokens. The last ones may be others where a
 * window ended. */
static bool repeat(long_piece *piece)
{
    bool is_done = false, has_room = true;
    for (size_t n_dropped = 0;
         n_dropped <= OVERLAP && n_dropped < piece->n_tokens && !is_done && has_room; n_dropped++)
        has_room = repeat_behind(piece, n_dropped, &is_done);
    return has_room;
}

/* Merge the bytes between `begin` and `end`; the tokens and where each starts are left in `window`,
 * -1: unknown. */
static Py_ssize_t merge_window(const long_piece *piece, size_t begin, size_t end, window *window)
{
    Py_ssize_t n = symbols_of(piece->merges->symbols, piece->bytes + begin, end - begin,
                              end == piece->n, window->ids, window->starts);
    if (n < 0)
        return n;
    material of = {piece->merges, piece->bytes + begin, piece->bytes + piece->n};
    return (Py_ssize_t)(n <= FEW ? merge_few(&of, window->ids, window->starts, (size_t)n)
                                 : merge_many(&of, window, (size_t)n));
}

/* Replace the last `n_again` tokens by those of the window. */
static bool replace(long_piece *piece, size_t n_again, size_t begin, size_t end,
                    const window *window, size_t n)
{
    piece->n_tokens -= n_again;
    if (!tokens_reserve(piece, n))
        return false;
    memcpy(tokens_of(piece) + piece->n_tokens, window->ids, n * sizeof *window->ids);
    for (size_t i = 1; i <= n; i++)
        piece->space->ends.items[piece->n_tokens++] = i < n ? begin + window->starts[i] : end;
    piece->done = end;
    return true;
}

/* Go on by one window. If its first token proves wrong, it is tried again from farther back, and
   the next ones are longer, which pays for it: what is looked at twice is never more than what
   comes new. */
static outcome go_on(long_piece *piece, size_t *ahead)
{
    for (size_t n_again = smaller(OVERLAP, piece->n_tokens);;
         n_again = smaller(4 * n_again, piece->n_tokens)) {
        size_t begin = n_again ? start_of_last(piece, n_again) : piece->done;
        *ahead = larger(*ahead, n_again > OVERLAP ? piece->done - begin : 0);
        size_t end = smaller(piece->n - piece->done, *ahead) + piece->done;
        end = symbol_boundary(piece->merges->symbols, piece->bytes, end, piece->n);
        if (end - begin >= UINT32_MAX)
            return OUT_OF_MEMORY;
        window window;
        if (!window_reserve(piece->space, end - begin + 2, &window))
            return OUT_OF_MEMORY;
        Py_ssize_t n = merge_window(piece, begin, end, &window);
        if (n < 0)
            return UNKNOWN_SYMBOL;
        bool is_right = n_again == piece->n_tokens /* it begins where the piece does */
                        || (n > 1 && begin + window.starts[1] == start_of_last(piece, n_again - 1));
        if (!is_right)
            continue;
        if (!replace(piece, n_again, begin, end, &window, (size_t)n))
            return OUT_OF_MEMORY;
        break;
    }
    if (!repeat(piece))
        return OUT_OF_MEMORY;
    size_t again = piece->done - start_of_last(piece, smaller(OVERLAP, piece->n_tokens));
    *ahead = larger(larger(AHEAD, *ahead / 2), again);
    return ENCODED;
}

static outcome merge_in_windows(long_piece *piece)
{
    outcome outcome = ENCODED;
    size_t ahead = AHEAD;
    while (piece->done < piece->n && outcome == ENCODED) {
        size_t before = piece->done;
        outcome = go_on(piece, &ahead);
        if (outcome == ENCODED &&
            piece->space->interrupted(piece->space->caller, piece->done - before))
            outcome = INTERRUPTED;
    }
    piece->ids->n = piece->first + (outcome == ENCODED ? piece->n_tokens : 0);
    return outcome;
}

outcome merge_piece(const merges *merges, const uint8_t *piece, size_t n, workspace *space,
                    id_list *ids)
{
    if (n >= FEW) {
        long_piece whole = {merges, piece, n, space, ids, ids->n, 0, 0};
        return merge_in_windows(&whole);
    }
    uint32_t starts[FEW + 1];
    if (!ROOM(*ids, FEW))
        return OUT_OF_MEMORY;
    uint32_t *found = ids->items + ids->n;
    Py_ssize_t n_symbols = symbols_of(merges->symbols, piece, n, true, found, starts);
    if (n_symbols < 0)
        return UNKNOWN_SYMBOL;
    material of = {merges, piece, piece + n};
    ids->n += merge_few(&of, found, starts, (size_t)n_symbols);
    return ENCODED;
}
