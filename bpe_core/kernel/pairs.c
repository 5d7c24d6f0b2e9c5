/* The pairs of a training: a hash table from two symbols to the pair, with the places where it
   occurs or once did. */

#include "train.h"

enum { FIRST_SLOTS = 1 << 12 };

static size_t home_slot(const trainer *t, uint32_t left, uint32_t right)
{
    uint64_t key = ((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15u;
    return (size_t)(key ^ key >> 32) & (t->table.n - 1);
}

void fetch_pair(const trainer *t, uint32_t left, uint32_t right)
{
    FETCH(t->table.items + home_slot(t, left, right));
}

/* Return the table's slot of a pair, or the free slot for it. */
static size_t table_slot(const trainer *t, uint32_t left, uint32_t right)
{
    size_t mask = t->table.n - 1;
    for (size_t slot = home_slot(t, left, right);; slot = (slot + 1) & mask) {
        uint32_t number = t->table.items[slot];
        if (!number)
            return slot;
        const pair *pair = &t->pairs.items[number - 1];
        if (pair->left == left && pair->right == right)
            return slot;
    }
}

pair *find_pair(trainer *t, uint32_t left, uint32_t right)
{
    uint32_t number = t->table.items[table_slot(t, left, right)];
    return number ? &t->pairs.items[number - 1] : NULL;
}

/* Replace the table by one with `size` slots, without the pairs that no longer occur. Return false
   without memory. */
static bool resize_table(trainer *t, size_t size)
{
    uint32_t *table = PyMem_RawCalloc(size, sizeof *table);
    if (!table)
        return false;
    PyMem_RawFree(t->table.items);
    t->table.items = table;
    t->table.n = size;
    t->table.capacity = size;
    for (uint32_t number = 0; number < t->pairs.n; number++) {
        const pair *pair = &t->pairs.items[number];
        if (pair->count)
            table[table_slot(t, pair->left, pair->right)] = number + 1;
    }
    return true;
}

bool room_for_pairs(trainer *t, size_t more)
{
    if (more > UINT32_MAX - 1 - t->pairs.n || !ROOM(t->pairs, more))
        return false;
    size_t size = t->table.n ? t->table.n : FIRST_SLOTS;
    while (size / 2 < t->pairs.n + more) /* at most half full */
        size *= 2;
    return size == t->table.n || resize_table(t, size);
}

uint32_t add_pair(trainer *t, uint32_t left, uint32_t right, uint64_t count, uint32_t n)
{
    uint32_t number = (uint32_t)t->pairs.n++;
    t->pairs.items[number] = (pair){count, t->places.n, left, right, n};
    t->places.n += n;
    t->table.items[table_slot(t, left, right)] = number + 1;
    return number;
}

/* Move the places where a pair still occurs down to `sweep_to`. */
static void sweep_places(trainer *t, pair *pair)
{
    const uint32_t *old = t->places.items + pair->start;
    size_t n_old = pair->count ? pair->n : 0;
    pair->start = t->sweep_to;
    pair->n = 0;
    for (size_t i = 0; i < n_old; i++)
        if (occurs_at(t, pair->left, pair->right, old[i])) {
            t->places.items[t->sweep_to++] = old[i];
            pair->n++;
        }
}

/* Remove the places where pairs no longer occur, pair by pair. */
static enum progress sweep(trainer *t, size_t *steps)
{
    for (; t->sweep_pair < t->pairs.n; t->sweep_pair++) {
        if (!*steps)
            return UNDER_WAY;
        pair *pair = &t->pairs.items[t->sweep_pair];
        size_t n_steps = (pair->count ? pair->n : 0) + 1;
        *steps -= n_steps < *steps ? n_steps : *steps;
        sweep_places(t, pair);
    }
    t->places.n = t->sweep_to;
    t->n_kept = t->sweep_to;
    t->sweeping = false;
    return LEARNED;
}

/* Make room for more places. Remove unused ones first if there are twice as many places as the last
   removal kept. */
enum progress room_for_places(trainer *t, size_t more, size_t *steps)
{
    bool is_full = more > t->places.capacity - t->places.n;
    if (!t->sweeping && is_full && t->places.n > 2 * t->n_kept) {
        t->sweeping = true;
        t->sweep_pair = 0;
        t->sweep_to = 0;
    }
    if (t->sweeping && sweep(t, steps) == UNDER_WAY)
        return UNDER_WAY;
    return ROOM(t->places, more) ? LEARNED : NO_MEMORY;
}
