/* The merge loop: few symbols scan for the lowest rank, many use a heap. Both give the same tokens,
   and bpe_core/vocabulary/merge_loop.py does the same in Python. */

#include "merge.h"

#include <string.h>

enum { FEW = 64 }; /* up to this many symbols are merged by a linear search for the lowest rank */

void workspace_free(workspace *space)
{
    PyMem_RawFree(space->window);
    PyMem_RawFree(space->ends.items);
    *space = (workspace){0};
}

/* The bytes that are merged, and how they merge. */
typedef struct {
    const merges *merges;
    const uint8_t *bytes; /* where the first symbol begins */
    const uint8_t *end;   /* up to here, bytes may be read */
} merge_context;

/* Return the rule that joins two symbols, whose bytes are those from `start` to `end`. */
static inline merge_rule rule_of(const merge_context *context, uint32_t left, uint32_t right,
                                 uint32_t start, uint32_t end)
{
    const merges *merges = context->merges;
    if (merges->rules)
        return rules_find(merges->rules, left, right);
    uint64_t pair = ((uint64_t)left << 32 | right) + 1; /* 0 marks an unused slot */
    rule_slot *slot = &merges->pairs[rules_hash(pair) >> (64 - PAIR_BITS)];
    if (slot->pair != pair) {
        const uint8_t *bytes = context->bytes + start;
        size_t n_readable = (size_t)(context->end - bytes);
        *slot = (rule_slot){pair, tokens_find(merges->ranks, bytes, end - start, n_readable)};
    }
    return slot->rule;
}

/* Few symbols: quadratic, but fast on an array in the first cache. `starts` has one entry more than
   there are symbols: the end of the last one. */

typedef struct {
    uint32_t id;    /* of the symbol */
    uint32_t start; /* of the symbol */
    uint32_t rank;  /* of the pair that begins here */
    uint32_t token; /* that the pair makes */
} part;

static inline void look_up_short(const merge_context *context, part *parts, size_t i)
{
    merge_rule rule =
        rule_of(context, parts[i].id, parts[i + 1].id, parts[i].start, parts[i + 2].start);
    parts[i].rank = rule.rank;
    parts[i].token = rule.token;
}

/* Return the leftmost of `n` pairs with the lowest rank. The loop has no branch that the processor
   would mispredict. */
static inline size_t lowest_rank(const part *parts, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        best = parts[i].rank < parts[best].rank ? i : best;
    return best;
}

/* Merge `n` symbols in place, and return how many are left. */
static size_t merge_few(const merge_context *context, uint32_t *ids, uint32_t *starts, size_t n)
{
    part parts[FEW + 1];
    for (size_t i = 0; i < n; i++)
        parts[i] = (part){ids[i], starts[i], NO_RANK, NO_TOKEN};
    parts[n] = (part){NO_TOKEN, starts[n], NO_RANK, NO_TOKEN};
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
    for (size_t i = 0; i < n; i++) {
        ids[i] = parts[i].id;
        starts[i] = parts[i].start;
    }
    starts[n] = parts[n].start;
    return n;
}

/* Many symbols: a linked list, and a heap of pairs. An entry of the heap is out of date if the pair
   at its place has another rank now. */

bool window_reserve(workspace *space, size_t n, window *window)
{
    /* The heap holds one pair for each symbol, and two for each merge. */
    const size_t bytes_each = 3 * sizeof(uint64_t) + 6 * sizeof(uint32_t);
    if (n > space->window_room) {
        size_t room = n < 1024 ? 1024 : n;
        if (room > PY_SSIZE_T_MAX / bytes_each)
            return false;
        void *memory = PyMem_RawRealloc(space->window, room * bytes_each);
        if (!memory)
            return false;
        space->window = memory;
        space->window_room = room;
    }
    window->heap = space->window;
    window->n_heap = 0;
    window->ids = (uint32_t *)(window->heap + 3 * n);
    window->starts = window->ids + n;
    window->ranks = window->starts + n;
    window->tokens = window->ranks + n;
    window->next = window->tokens + n;
    window->previous = window->next + n;
    return true;
}

/* Move an entry of the heap down to where both entries below it are larger. */
static void sink(uint64_t *heap, size_t n, size_t at)
{
    uint64_t moved = heap[at];
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && heap[child + 1] < heap[child];
        if (moved <= heap[child])
            break;
        heap[at] = heap[child];
        at = child;
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
    while (at) {
        size_t parent = (at - 1) / 2;
        if (window->heap[parent] <= entry)
            break;
        window->heap[at] = window->heap[parent];
        at = parent;
    }
    window->heap[at] = entry;
}

/* Look up the pair that begins at `i`. Return whether it may be merged. */
static bool look_up(window *window, const merge_context *context, size_t n, uint32_t i)
{
    uint32_t j = window->next[i];
    merge_rule rule = {NO_RANK, NO_TOKEN};
    if (j < n) {
        uint32_t end = window->starts[window->next[j]];
        rule = rule_of(context, window->ids[i], window->ids[j], window->starts[i], end);
    }
    bool may_merge = rule.rank < context->merges->limit;
    window->ranks[i] = may_merge ? rule.rank : NO_RANK;
    window->tokens[i] = rule.token;
    return may_merge;
}

static uint64_t heap_entry(const window *window, uint32_t i)
{
    return (uint64_t)window->ranks[i] << 32 | i;
}

/* Link the symbols, look up all pairs, and make the heap. */
static void fill_heap(window *window, const merge_context *context, size_t n)
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
}

/* Merge the pair that begins at `i`, and look up the pairs on both sides. */
static void merge_at(window *window, const merge_context *context, size_t n, uint32_t i)
{
    uint32_t right = window->next[i];
    window->ids[i] = window->tokens[i];
    window->ids[right] = NO_TOKEN;
    window->ranks[right] = NO_RANK;
    uint32_t after = window->next[right];
    window->next[i] = after;
    if (after < n)
        window->previous[after] = i;
    if (look_up(window, context, n, i))
        push(window, heap_entry(window, i));
    if (i) {
        uint32_t before = window->previous[i];
        if (look_up(window, context, n, before))
            push(window, heap_entry(window, before));
    }
}

/* Merge `n` symbols in place, and return how many are left. */
static size_t merge_many(window *window, const merge_context *context, size_t n)
{
    fill_heap(window, context, n);
    while (window->n_heap) {
        uint64_t entry = pop(window);
        uint32_t i = (uint32_t)entry;
        bool is_current = window->ranks[i] == entry >> 32;
        if (is_current)
            merge_at(window, context, n, i);
    }
    size_t n_left = 0;
    for (size_t i = 0; i < n; i = window->next[i]) {
        window->ids[n_left] = window->ids[i];
        window->starts[n_left] = window->starts[i];
        n_left++;
    }
    return n_left;
}

Py_ssize_t merge_window(const merges *merges, const uint8_t *piece, size_t n, size_t begin,
                        size_t end, window *window)
{
    const merge_context context = {merges, piece + begin, piece + n};
    bool ends_piece = end == n;
    Py_ssize_t n_symbols = symbols_of(merges->symbols, piece + begin, end - begin, ends_piece,
                                      window->ids, window->starts);
    if (n_symbols < 0)
        return n_symbols;
    if (n_symbols <= FEW)
        return (Py_ssize_t)merge_few(&context, window->ids, window->starts, (size_t)n_symbols);
    return (Py_ssize_t)merge_many(window, &context, (size_t)n_symbols);
}

outcome merge_piece(const merges *merges, const uint8_t *piece, size_t n, workspace *space,
                    id_list *ids)
{
    if (n >= FEW) /* with the end of the word, it may have more than FEW symbols */
        return merge_long_piece(merges, piece, n, space, ids);
    if (!ROOM(*ids, FEW))
        return OUT_OF_MEMORY;
    uint32_t *symbols = ids->items + ids->n;
    uint32_t starts[FEW + 1];
    Py_ssize_t n_symbols = symbols_of(merges->symbols, piece, n, true, symbols, starts);
    if (n_symbols < 0)
        return UNKNOWN_SYMBOL;
    const merge_context context = {merges, piece, piece + n};
    ids->n += merge_few(&context, symbols, starts, (size_t)n_symbols);
    return ENCODED;
}
