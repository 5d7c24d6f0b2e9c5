/* Choose the pair to merge next: the most frequent pair, and among equals the one that the tie rule
   prefers.

   The count of a pair only falls after the merge that made it, and its first place only moves to
   the right. So a lazy heap is enough: its first entry is the right one if that entry is up to
   date. */

#include "train.h"

/* Compare two symbols by their bytes. A symbol is greater than its prefixes: "ab" > "a". */
static int compare_bytes(const trainer *t, uint32_t one, uint32_t other)
{
    const size_t *end = t->bytes_end.items;
    size_t one_start = one ? end[one - 1] : 0, other_start = other ? end[other - 1] : 0;
    size_t one_length = end[one] - one_start, other_length = end[other] - other_start;
    size_t shared = one_length < other_length ? one_length : other_length;
    int order = memcmp(t->bytes.items + one_start, t->bytes.items + other_start, shared);
    return order ? order : (one_length > other_length) - (one_length < other_length);
}

static bool comes_before(const trainer *t, candidate one, candidate other)
{
    if (one.key != other.key)
        return one.key < other.key;
    if (t->ties != LARGEST)
        return false;
    const pair *a = &t->pairs.items[one.pair], *b = &t->pairs.items[other.pair];
    int order = compare_bytes(t, b->left, a->left);
    order = order ? order : compare_bytes(t, b->right, a->right);
    return order ? order < 0 : a->left != b->left ? a->left < b->left : a->right < b->right;
}

static void push(const trainer *t, heap *heap, candidate new)
{
    size_t at = heap->n++;
    for (; at && comes_before(t, new, heap->items[(at - 1) / 4]); at = (at - 1) / 4)
        heap->items[at] = heap->items[(at - 1) / 4];
    heap->items[at] = new;
}

/* Replace the first entry of the heap by `new`. */
static void replace_first(const trainer *t, heap *heap, candidate new)
{
    size_t at = 0;
    for (size_t child = 1; child < heap->n; child = 4 * at + 1) {
        size_t end = child + 4 < heap->n ? child + 4 : heap->n, best = child;
        while (++child < end)
            if (comes_before(t, heap->items[child], heap->items[best]))
                best = child;
        if (!comes_before(t, heap->items[best], new))
            break;
        heap->items[at] = heap->items[best];
        at = best;
    }
    heap->items[at] = new;
}

static void remove_first(const trainer *t, heap *heap)
{
    candidate last = heap->items[--heap->n];
    if (heap->n)
        replace_first(t, heap, last);
}

/* Return the first place where a pair still occurs. Its count must not be 0. */
static uint32_t first_place(trainer *t, pair *pair)
{
    for (; pair->n > 1 && !occurs_at(t, pair->left, pair->right, t->places.items[pair->start]);
         pair->start++)
        pair->n--;
    return t->places.items[pair->start];
}

static void wait_for_level(trainer *t, uint32_t number)
{
    uint64_t count = t->pairs.items[number].count;
    if (count >= t->min_count)
        push(t, &t->waiting, (candidate){~count, number});
}

/* Order a pair among those with its count. Its first place may still move, so choose_pair looks at
   that only when the pair is first. */
static void order_among_equals(trainer *t, uint32_t number)
{
    const pair *pair = &t->pairs.items[number];
    uint64_t key = t->ties == LOWEST ? (uint64_t)pair->left << 32 | pair->right : 0;
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
        t->level = ~t->waiting.items[0].key;
        t->n_tied = 0;
        t->entering = true;
    }
    for (; t->waiting.n && ~t->waiting.items[0].key == t->level; --*steps) {
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

enum progress choose_pair(trainer *t, size_t *steps)
{
    for (;;) {
        while (t->open.n && !t->entering) {
            if (!*steps)
                return UNDER_WAY;
            --*steps;
            if (!room_for_candidates(t, 1))
                return NO_MEMORY;
            candidate best = t->open.items[0];
            pair *pair = &t->pairs.items[best.pair];
            if (pair->count != t->level) {
                remove_first(t, &t->open);
                wait_for_level(t, best.pair);
            } else if (t->ties == FIRST && t->n_tied > 1 && first_place(t, pair) != best.key) {
                replace_first(t, &t->open, (candidate){first_place(t, pair), best.pair});
            } else {
                remove_first(t, &t->open);
                t->pair = best.pair;
                return LEARNED;
            }
        }
        if (!t->waiting.n && !t->entering)
            return NOTHING_LEFT;
        enum progress progress = enter_level(t, steps);
        if (progress != LEARNED)
            return progress;
    }
}
