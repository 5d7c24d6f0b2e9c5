/* The merge loop: few symbols scan for the lowest rank, many use a heap, and long pieces are merged
   in windows. */

#include "merge.h"

#include <string.h>

enum {
    FEW = 64,   /* a window of up to this many symbols is merged by a linear search for the lowest
                   rank */
    AHEAD = 36, /* new bytes in a window, unless a window had to grow */
    OVERLAP =
        4, /* tokens of the previous window that are merged again; earlier ones seldom change */
    PERIOD = 8,         /* tokens of the longest period that is recognized */
    REPEATED = 1 << 18, /* tokens of a repetition that are appended at a time */
};

void workspace_free(workspace *space)
{
    PyMem_RawFree(space->window);
    PyMem_RawFree(space->ends.items);
    *space = (workspace){0};
}

/* The bytes that are merged, up to `end`, and how they merge. */
typedef struct {
    const merges *merges;
    const uint8_t *bytes, *end;
} merge_context;

/* Return the rule that joins two symbols, whose bytes are those from `start` to `end`. */
static inline merge_rule rule_of(const merge_context *context, uint32_t left, uint32_t right,
                                 uint32_t start, uint32_t end)
{
    if (context->merges->rules)
        return rules_find(context->merges->rules, left, right);
    const uint8_t *bytes = context->bytes + start;
    uint64_t pair = ((uint64_t)left << 32 | right) + 1; /* 0 marks an unused slot */
    rule_slot *slot = &context->merges->pairs[rules_hash(pair) >> (64 - PAIR_BITS)];
    if (slot->pair != pair)
        *slot = (rule_slot){pair, tokens_find(context->merges->ranks, bytes, end - start,
                                              (size_t)(context->end - bytes))};
    return slot->rule;
}

/* Few symbols: quadratic, but fast on an array in the first cache. `starts` has one entry
   more than there are symbols: the end of the last one. */

typedef struct {
    uint32_t id, start;
    uint32_t rank, token; /* of the pair that begins here */
} part;

static inline void look_up_short(const merge_context *context, part *parts, size_t i)
{
    merge_rule rule =
        rule_of(context, parts[i].id, parts[i + 1].id, parts[i].start, parts[i + 2].start);
    parts[i].rank = rule.rank;
    parts[i].token = rule.token;
}

/* Return the leftmost of `n` pairs with the lowest rank. The loop has no branch that the processor
   would mispredict.
 */
static inline size_t lowest_rank(const part *parts, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        best = parts[i].rank < parts[best].rank ? i : best;
    return best;
}

static size_t merge_few(const merge_context *context, uint32_t *ids, uint32_t *starts, size_t n)
{
    part parts[FEW + 1];
    for (size_t i = 0; i <= n; i++)
        parts[i] = (part){i < n ? ids[i] : NO_TOKEN, starts[i], NO_RANK, NO_TOKEN};
    for (size_t i = 0; i + 1 < n; i++)
        look_up_short(context, parts, i);
    while (n > 1) {
        size_t i = lowest_rank(parts, n - 1);
        if (parts[i].rank >= context->merges->limit)
            break;
        parts[i].id = parts[i].token;
        for (size_t j = i + 1; j < n; j++)
            parts[j] = parts[j + 1];
        n--;
        if (i + 1 < n)
            look_up_short(context, parts, i);
        if (i)
            look_up_short(context, parts, i - 1);
    }
    for (size_t i = 0; i <= n; i++) {
        starts[i] = parts[i].start;
        if (i < n)
            ids[i] = parts[i].id;
    }
    return n;
}

/* Many symbols: a linked list, and a heap of pairs, each as one number: rank << 32 | place. An
   entry is out of date if the pair at its place has another rank now. */

typedef struct {
    uint64_t *heap;
    uint32_t *ids, *starts, *ranks, *tokens, *next, *previous;
    size_t n_heap;
} window;

/* Make room for `n` symbols. The heap holds one pair for each symbol, and two for each merge. */
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

static void push(window *window, uint64_t entry)
{
    size_t at = window->n_heap++;
    for (size_t parent; at && window->heap[parent = (at - 1) / 2] > entry; at = parent)
        window->heap[at] = window->heap[parent];
    window->heap[at] = entry;
}

/* Look up the pair that begins at `i`. Return whether it may be merged. */
static bool look_up(window *window, const merge_context *context, size_t n, uint32_t i)
{
    uint32_t j = window->next[i];
    merge_rule rule = {NO_RANK, NO_TOKEN};
    if (j < n)
        rule = rule_of(context, window->ids[i], window->ids[j], window->starts[i],
                       window->starts[window->next[j]]);
    bool may_merge = rule.rank < context->merges->limit;
    window->ranks[i] = may_merge ? rule.rank : NO_RANK;
    window->tokens[i] = rule.token;
    return may_merge;
}

static uint64_t heap_entry(const window *window, uint32_t i)
{
    return (uint64_t)window->ranks[i] << 32 | i;
}

static size_t merge_many(const merge_context *context, window *window, size_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        window->next[i] = i + 1;
        window->previous[i] = i - 1;
    }
    for (uint32_t i = 0; i < n; i++)
        if (look_up(window, context, n, i))
            window->heap[window->n_heap++] = heap_entry(window, i);
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
        if (look_up(window, context, n, i))
            push(window, heap_entry(window, i));
        if (i && look_up(window, context, n, window->previous[i]))
            push(window, heap_entry(window, window->previous[i]));
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
    size_t first;    /* index of its first token among `ids` */
    size_t n_tokens; /* tokens so far */
    size_t done;     /* bytes of these tokens */
} long_piece;

static uint32_t *tokens_of(const long_piece *piece) { return piece->ids->items + piece->first; }

/* Return the byte where the last `n_last` tokens begin. */
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

static size_t smaller_of(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger_of(size_t a, size_t b) { return a > b ? a : b; }

/* Return how many bytes after `one` equal those after `other`, which is later. */
static size_t n_equal_bytes(const long_piece *piece, size_t one, size_t other)
{
    size_t n = 0, most = piece->n - other;
    const uint8_t *a = piece->bytes + one, *b = piece->bytes + other;
    while (n + 64 <= most && !memcmp(a + n, b + n, 64))
        n += 64;
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* Leave out the last `n_dropped` tokens. If the tokens before them repeat a period, append it as
   often as the piece repeats it, except at the very end of the piece, and set `is_done`. An
   example: in "abababababab", tokens [ab, ab] are followed by more [ab]. Return false without
   memory. */
static bool copy_period(long_piece *piece, size_t n_dropped, bool *is_done)
{
    size_t n_tokens = piece->n_tokens - n_dropped,
           done = n_dropped ? start_of_last(piece, n_dropped) : piece->done;
    for (size_t n = 1; n <= PERIOD && 2 * n <= n_tokens; n++) {
        uint32_t *last = tokens_of(piece) + n_tokens - n;
        size_t begin = start_of_last(piece, n + n_dropped), period = done - begin;
        if (memcmp(last - n, last, n * sizeof *last) ||
            begin - start_of_last(piece, 2 * n + n_dropped) != period)
            continue;
        size_t n_same = n_equal_bytes(piece, begin - period, begin);
        size_t times = n_same > period ? smaller_of((n_same - 1) / period - 1, REPEATED / n) : 0;
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

/* If the piece repeats itself from here on, copy its tokens. The end of a window may have changed
   its last tokens, so try without some of them. */
static bool copy_repetition(long_piece *piece)
{
    bool is_done = false, has_room = true;
    for (size_t n_dropped = 0;
         n_dropped <= OVERLAP && n_dropped < piece->n_tokens && !is_done && has_room; n_dropped++)
        has_room = copy_period(piece, n_dropped, &is_done);
    return has_room;
}

/* Merge the bytes from `begin` to `end`. Leave the tokens and their starts in `window`, and return
   their number; -1 for an unknown symbol. */
static Py_ssize_t merge_window(const long_piece *piece, size_t begin, size_t end, window *window)
{
    Py_ssize_t n = symbols_of(piece->merges->symbols, piece->bytes + begin, end - begin,
                              end == piece->n, window->ids, window->starts);
    if (n < 0)
        return n;
    merge_context context = {piece->merges, piece->bytes + begin, piece->bytes + piece->n};
    return (Py_ssize_t)(n <= FEW ? merge_few(&context, window->ids, window->starts, (size_t)n)
                                 : merge_many(&context, window, (size_t)n));
}

/* Replace the last `n_again` tokens by the window's tokens. Return false without memory. */
static bool replace_last(long_piece *piece, size_t n_again, size_t begin, size_t end,
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

/* Merge the next window. If its first token has changed, try again from further back. Later windows
   are then longer, so that no more bytes are merged again than are new. */
static outcome merge_next_window(long_piece *piece, size_t *ahead)
{
    for (size_t n_again = smaller_of(OVERLAP, piece->n_tokens);;
         n_again = smaller_of(4 * n_again, piece->n_tokens)) {
        size_t begin = n_again ? start_of_last(piece, n_again) : piece->done;
        *ahead = larger_of(*ahead, n_again > OVERLAP ? piece->done - begin : 0);
        size_t end = smaller_of(piece->n - piece->done, *ahead) + piece->done;
        end = symbol_boundary(piece->merges->symbols, piece->bytes, end, piece->n);
        if (end - begin >= UINT32_MAX)
            return OUT_OF_MEMORY;
        window window;
        if (!window_reserve(piece->space, end - begin + 2, &window))
            return OUT_OF_MEMORY;
        Py_ssize_t n = merge_window(piece, begin, end, &window);
        if (n < 0)
            return UNKNOWN_SYMBOL;
        bool is_right = n_again == piece->n_tokens /* the window begins with the piece */
                        || (n > 1 && begin + window.starts[1] == start_of_last(piece, n_again - 1));
        if (!is_right)
            continue;
        if (!replace_last(piece, n_again, begin, end, &window, (size_t)n))
            return OUT_OF_MEMORY;
        break;
    }
    if (!copy_repetition(piece))
        return OUT_OF_MEMORY;
    size_t again = piece->done - start_of_last(piece, smaller_of(OVERLAP, piece->n_tokens));
    *ahead = larger_of(larger_of(AHEAD, *ahead / 2), again);
    return ENCODED;
}

static outcome merge_in_windows(long_piece *piece)
{
    outcome outcome = ENCODED;
    size_t ahead = AHEAD;
    while (piece->done < piece->n && outcome == ENCODED) {
        size_t before = piece->done;
        outcome = merge_next_window(piece, &ahead);
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
    merge_context context = {merges, piece, piece + n};
    ids->n += merge_few(&context, found, starts, (size_t)n_symbols);
    return ENCODED;
}
