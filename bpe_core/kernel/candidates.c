/* Choose the pair to merge next: the most frequent pair, and among equals the one that the tie rule
   prefers.

   The count of a pair only falls after the merge that made it, and its first place only moves to
   the right. So a lazy heap is enough: its first entry is the right one if that entry is up to
   date. train.h describes the two heaps. */

#include "train.h"

enum { CHILDREN = 4 }; /* of an entry of a heap */

/* Compare two symbols by their bytes. A symbol is greater than its prefixes: "ab" > "a". */
static int compare_bytes(const trainer *t, uint32_t one, uint32_t other)
{
    size_t one_length = n_bytes_of(t, one);
    size_t other_length = n_bytes_of(t, other);
    size_t shared = one_length < other_length ? one_length : other_length;
    const uint8_t *bytes = t->bytes.items;
    int order = memcmp(bytes + bytes_start(t, one), bytes + bytes_start(t, other), shared);
    if (order)
        return order;
    return (one_length > other_length) - (one_length < other_length);
}

/* Whether a pair is larger by the bytes of its symbols, or equal and has the lower symbols. */
static bool is_larger(const trainer *t, const pair *one, const pair *other)
{
    int order = compare_bytes(t, one->left, other->left);
    if (!order)
        order = compare_bytes(t, one->right, other->right);
    if (order)
        return order > 0;
    if (one->left != other->left)
        return one->left < other->left;
    return one->right < other->right;
}

static bool comes_before(const trainer *t, candidate one, candidate other)
{
    if (one.key != other.key)
        return one.key < other.key;
    if (t->ties != LARGEST)
        return false;
    return is_larger(t, &t->pairs.items[one.pair], &t->pairs.items[other.pair]);
}

/* The heaps */

static void push(const trainer *t, heap *heap, candidate new)
{
    size_t at = heap->n++;
    while (at) {
        size_t parent = (at - 1) / CHILDREN;
        if (!comes_before(t, new, heap->items[parent]))
            break;
        heap->items[at] = heap->items[parent];
        at = parent;
    }
    heap->items[at] = new;
}

/* Return the entry that comes first of those from `child` on with the same parent. */
static inline size_t first_child(const trainer *t, const heap *heap, size_t child)
{
    size_t end = child + CHILDREN < heap->n ? child + CHILDREN : heap->n;
    size_t first = child;
    while (++child < end)
        if (comes_before(t, heap->items[child], heap->items[first]))
            first = child;
    return first;
}

/* Replace the first entry of the heap by `new`. */
static void replace_first(const trainer *t, heap *heap, candidate new)
{
    size_t at = 0;
    for (size_t child = 1; child < heap->n; child = CHILDREN * at + 1) {
        size_t first = first_child(t, heap, child);
        if (!comes_before(t, heap->items[first], new))
            break;
        heap->items[at] = heap->items[first];
        at = first;
    }
    heap->items[at] = new;
}

static void remove_first(const trainer *t, heap *heap)
{
    candidate last = heap->items[--heap->n];
    if (heap->n)
        replace_first(t, heap, last);
}

/* The pairs in the heaps */

/* Return the first place where a pair still occurs. Its count must not be 0. */
static uint32_t first_place(trainer *t, pair *pair)
{
    while (pair->n > 1 && !occurs_at(t, pair->left, pair->right, t->places.items[pair->start])) {
        pair->start++;
        pair->n--;
    }
    return t->places.items[pair->start];
}

/* `waiting` has the largest count first, so its keys are the complements of counts. */
static uint64_t key_of_count(uint64_t count) { return ~count; }
static uint64_t largest_waiting_count(const trainer *t) { return ~t->waiting.items[0].key; }

static void wait_for_level(trainer *t, uint32_t number)
{
    uint64_t count = t->pairs.items[number].count;
    if (count >= t->min_count)
        push(t, &t->waiting, (candidate){key_of_count(count), number});
}

/* Order a pair among those with its count. Its first place may still move, so choose_pair looks at
   that only when the pair is first. */
static void order_among_equals(trainer *t, uint32_t number)
{
    const pair *pair = &t->pairs.items[number];
    uint64_t key = 0;
    if (t->ties == LOWEST)
        key = (uint64_t)pair->left << 32 | pair->right;
    push(t, &t->open, (candidate){key, number});
    t->n_tied++;
}

bool room_for_candidates(trainer *t, size_t more)
{
    return ROOM(t->waiting, more) && ROOM(t->open, more);
}

void add_candidate(trainer *t, uint32_t number)
{
    if (t->pairs.items[number].count == t->level && !t->entering)
        order_among_equals(t, number);
    else
        wait_for_level(t, number);
}

/* Move the pairs that still have the highest count from `waiting` to `open`. */
static enum progress enter_level(trainer *t, size_t *steps)
{
    if (!t->entering) {
        t->level = largest_waiting_count(t);
        t->n_tied = 0;
        t->entering = true;
    }
    for (; t->waiting.n && largest_waiting_count(t) == t->level; --*steps) {
        if (!*steps)
            return UNDER_WAY;
        if (!room_for_candidates(t, 1))
            return NO_MEMORY;
        uint32_t number = t->waiting.items[0].pair;
        remove_first(t, &t->waiting);
        if (t->pairs.items[number].count == t->level)
            order_among_equals(t, number);
        else
            wait_for_level(t, number);
    }
    t->entering = false;
    return LEARNED;
}

/* Take the first pair of `open` that is up to date. NOTHING_LEFT: `open` is empty. */
static enum progress choose_open_pair(trainer *t, size_t *steps)
{
    while (t->open.n) {
        if (!*steps)
            return UNDER_WAY;
        --*steps;
        if (!room_for_candidates(t, 1))
            return NO_MEMORY;
        candidate best = t->open.items[0];
        pair *pair = &t->pairs.items[best.pair];
        bool places_decide = t->ties == FIRST && t->n_tied > 1;
        if (pair->count != t->level) {
            remove_first(t, &t->open);
            wait_for_level(t, best.pair);
        } else if (places_decide && first_place(t, pair) != best.key) {
            replace_first(t, &t->open, (candidate){first_place(t, pair), best.pair});
        } else {
            remove_first(t, &t->open);
            t->pair = best.pair;
            return LEARNED;
        }
    }
    return NOTHING_LEFT;
}

enum progress choose_pair(trainer *t, size_t *steps)
{
    for (;;) {
        if (!t->entering) {
            enum progress chosen = choose_open_pair(t, steps);
            if (chosen != NOTHING_LEFT)
                return chosen;
            if (!t->waiting.n)
                return NOTHING_LEFT;
        }
        enum progress entered = enter_level(t, steps);
        if (entered != LEARNED)
            return entered;
    }
}
