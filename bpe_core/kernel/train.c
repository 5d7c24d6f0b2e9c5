/* The corpus of a training, and the merge of one pair in it. At each place where the pair occurs,
   its first and last slot get the new symbol, and pairs with the new symbol replace the pairs
   on both sides. */

#include "train.h"

enum { LEFT, RIGHT };
enum {
    AHEAD = 8
}; /* places between a prefetch and the use; prefetching saves a quarter of the time at 100 MB */

bool begin_trainer(trainer *t)
{
    if (!ROOM(t->slots, 1) || !ROOM(t->starts, 1) || !room_for_pairs(t, 0))
        return false;
    t->slots.items[t->slots.n++] = END_OF_PIECE;
    t->starts.items[t->starts.n++] = 1;
    return true;
}

bool add_symbol(trainer *t, const uint8_t *bytes, size_t n)
{
    if (!ROOM(t->spans, 1) || !ROOM(t->bytes_end, 1) || !ROOM(t->bytes, n))
        return false;
    memcpy(t->bytes.items + t->bytes.n, bytes, n);
    t->bytes_end.items[t->bytes_end.n++] = t->bytes.n += n;
    t->spans.items[t->spans.n++] = 1;
    return true;
}

bool add_to_piece(trainer *t, const uint8_t *bytes, size_t n, const uint8_t *symbol_of)
{
    if (n > UINT32_MAX - 3 - t->slots.n || !ROOM(t->slots, n))
        return false;
    for (size_t i = 0; i < n; i++)
        t->slots.items[t->slots.n++] = symbol_of[bytes[i]];
    return true;
}

bool end_piece(trainer *t, uint64_t weight)
{
    bool is_marked = t->spans.n > 256;
    size_t n = t->slots.n + is_marked - t->starts.items[t->starts.n - 1];
    if ((n && weight > (UINT64_MAX / 2 - t->n_tokens) / n) || t->slots.n > UINT32_MAX - 3)
        return false;
    if (!ROOM(t->slots, 2) || !ROOM(t->starts, 1) || !ROOM(t->weights, 1))
        return false;
    if (is_marked)
        t->slots.items[t->slots.n++] = 256;
    t->slots.items[t->slots.n++] = END_OF_PIECE;
    t->n_tokens += n * weight;
    t->weights.items[t->weights.n++] = weight;
    t->starts.items[t->starts.n++] = (uint32_t)t->slots.n;
    return true;
}

/* Return the piece of a slot; at an END_OF_PIECE, the next piece. */
static size_t piece_of(const trainer *t, size_t slot)
{
    size_t piece = t->piece_near.items[slot / 64];
    while (t->starts.items[piece + 1] <= slot)
        piece++;
    return piece;
}

bool begin_index(trainer *t)
{
    size_t n = t->spans.n, n_near = t->slots.n / 64 + 1;
    if (!ROOM(t->grid, n * n) || !ROOM(t->piece_near, n_near))
        return false;
    memset(t->grid.items, 0, n * n * sizeof *t->grid.items);
    size_t piece = 0;
    for (size_t near = 0; near < n_near; near++) {
        while (piece + 1 < t->weights.n && t->starts.items[piece + 1] <= 64 * near)
            piece++;
        t->piece_near.items[near] = (uint32_t)piece;
    }
    return true;
}

/* Return the tally of the pair that begins at a slot; NULL if none does. */
static tally *tally_at(trainer *t, size_t slot)
{
    uint32_t left = t->slots.items[slot], right = t->slots.items[slot + 1];
    bool is_pair = left != END_OF_PIECE && right != END_OF_PIECE && t->max_length >= 2;
    return is_pair ? &t->grid.items[left * t->spans.n + right] : NULL;
}

void count_pairs(trainer *t, size_t slot, size_t last)
{
    size_t piece = slot < last ? piece_of(t, slot) : 0;
    for (; slot < last; slot++) {
        piece += slot == t->starts.items[piece + 1];
        tally *tally = tally_at(t, slot);
        if (tally) {
            tally->weight += t->weights.items[piece];
            tally->n++;
        }
    }
}

bool add_counted_pairs(trainer *t)
{
    size_t n = t->spans.n, n_pairs = 0, n_places = 0, steps = SIZE_MAX;
    for (size_t cell = 0; cell < n * n; cell++) {
        n_pairs += t->grid.items[cell].n > 0;
        n_places += t->grid.items[cell].n;
    }
    if (!room_for_pairs(t, n_pairs) || !room_for_candidates(t, n_pairs) ||
        room_for_places(t, n_places, &steps) != LEARNED)
        return false;
    for (size_t cell = 0; cell < n * n; cell++) {
        tally *tally = &t->grid.items[cell];
        if (tally->n) {
            tally->pair =
                add_pair(t, (uint32_t)(cell / n), (uint32_t)(cell % n), tally->weight, tally->n);
            add_candidate(t, tally->pair);
            tally->n = 0;
        }
    }
    t->n_kept = t->places.n;
    return true;
}

void place_pairs(trainer *t, size_t slot, size_t last)
{
    for (; slot < last; slot++) {
        tally *tally = tally_at(t, slot);
        if (tally)
            t->places.items[t->pairs.items[tally->pair].start + tally->n++] = (uint32_t)slot;
    }
}

/* Add the new symbol, and make room for the neighbors of the pair. */
static bool begin_merge(trainer *t)
{
    const pair *pair = &t->pairs.items[t->pair];
    size_t n_symbols = t->spans.n + 1;
    for (int i = LEFT; i <= RIGHT; i++) {
        side *side = &t->sides[i];
        if (!ROOM(side->neighbors, pair->n) ||
            !ROOM(side->symbols, pair->n < n_symbols ? pair->n : n_symbols) ||
            !ROOM(side->of_symbol, n_symbols - side->of_symbol.n))
            return false;
        size_t more = n_symbols - side->of_symbol.n;
        memset(side->of_symbol.items + side->of_symbol.n, 0, more * sizeof(tally));
        side->of_symbol.n = n_symbols;
    }
    if (!ROOM(t->spans, 1))
        return false;
    if (t->ties == LARGEST) {
        size_t ends[2];
        uint32_t parts[2] = {pair->left, pair->right};
        for (int i = 0; i < 2; i++) {
            size_t start = parts[i] ? t->bytes_end.items[parts[i] - 1] : 0;
            ends[i] = t->bytes_end.items[parts[i]] - start;
        }
        if (!ROOM(t->bytes, ends[0] + ends[1]) || !ROOM(t->bytes_end, 1))
            return false;
        for (int i = 0; i < 2; i++) {
            memcpy(t->bytes.items + t->bytes.n,
                   t->bytes.items + t->bytes_end.items[parts[i]] - ends[i], ends[i]);
            t->bytes.n += ends[i];
        }
        t->bytes_end.items[t->bytes_end.n++] = t->bytes.n;
    }
    t->spans.items[t->spans.n++] = t->spans.items[pair->left] + t->spans.items[pair->right];
    t->next_place = 0;
    t->merging = true;
    t->replaced = false;
    return true;
}

static void note_neighbor(side *side, uint32_t symbol, size_t place, uint64_t weight)
{
    tally *tally = &side->of_symbol.items[symbol];
    if (!tally->n++)
        side->symbols.items[side->symbols.n++] = symbol;
    tally->weight += weight;
    side->neighbors.items[side->neighbors.n++] = (neighbor){symbol, (uint32_t)place};
}

/* Write the new symbol over the pair, place after place, and note its neighbors. Two
   occurrences that touch have one pair between them, of two new symbols; it is noted at the second
   one. */
static enum progress replace_pair(trainer *t, size_t *steps)
{
    const pair *pair = &t->pairs.items[t->pair];
    uint32_t left = pair->left, right = pair->right, new = (uint32_t)t->spans.n - 1;
    size_t left_span = t->spans.items[left], span = t->spans.items[new];
    for (; t->next_place < pair->n; t->next_place++) {
        if (!*steps)
            return UNDER_WAY;
        --*steps;
        uint32_t place = t->places.items[pair->start + t->next_place];
        if (t->next_place + AHEAD < pair->n) {
            uint32_t later = t->places.items[pair->start + t->next_place + AHEAD];
            FETCH(t->slots.items + later);
            FETCH(t->piece_near.items + later / 64);
        }
        if (!occurs_at(t, left, right, place))
            continue;
        uint32_t *slots = t->slots.items;
        size_t behind = place + span;
        uint32_t before = slots[place - 1], after = slots[behind];
        uint64_t weight = t->weights.items[piece_of(t, place)];
        slots[place] = slots[behind - 1] = new;
        t->n_tokens -= weight;
        if (before != END_OF_PIECE)
            note_neighbor(&t->sides[LEFT], before, place - t->spans.items[before], weight);
        if (after != END_OF_PIECE && !(after == left && slots[behind + left_span] == right))
            note_neighbor(&t->sides[RIGHT], after, place, weight);
    }
    t->replaced = true;
    return LEARNED;
}

static void subtract(trainer *t, uint32_t left, uint32_t right, uint64_t weight)
{
    pair *pair = find_pair(t, left, right);
    if (!pair || !pair->count)
        return;
    t->n_tied -= pair->count == t->level;
    pair->count -= weight;
}

/* Replace the pairs on one side by pairs with the new symbol. The caller has made room. */
static void exchange_pairs(trainer *t, int i, uint32_t left, uint32_t right)
{
    side *side = &t->sides[i];
    uint32_t new = (uint32_t)t->spans.n - 1;
    for (size_t k = 0; k < side->symbols.n; k++) {
        uint32_t symbol = side->symbols.items[k];
        tally *tally = &side->of_symbol.items[symbol];
        if (k + AHEAD < side->symbols.n) {
            uint32_t later = side->symbols.items[k + AHEAD];
            fetch_pair(t, i == LEFT ? later : right, i == LEFT ? left : later);
            fetch_pair(t, i == LEFT ? later : new, i == LEFT ? new : later);
        }
        if (i == LEFT)
            subtract(t, symbol == new ? right : symbol, left, tally->weight);
        else
            subtract(t, right, symbol, tally->weight);
        bool is_short = t->giving || t->spans.items[symbol] + t->spans.items[new] <= t->max_length;
        tally->pair = !is_short   ? UINT32_MAX
                      : i == LEFT ? add_pair(t, symbol, new, tally->weight, tally->n)
                                  : add_pair(t, new, symbol, tally->weight, tally->n);
        tally->n = 0;
        if (is_short)
            add_candidate(t, tally->pair);
    }
    for (size_t k = 0; k < side->neighbors.n; k++) {
        tally *tally = &side->of_symbol.items[side->neighbors.items[k].symbol];
        if (tally->pair != UINT32_MAX)
            t->places.items[t->pairs.items[tally->pair].start + tally->n++] =
                side->neighbors.items[k].place;
    }
    for (size_t k = 0; k < side->symbols.n; k++)
        side->of_symbol.items[side->symbols.items[k]] = (tally){0};
    side->symbols.n = side->neighbors.n = 0;
}

static enum progress finish_merge(trainer *t, size_t *steps, merge *merge)
{
    const side *sides = t->sides;
    size_t n_new = sides[LEFT].symbols.n + sides[RIGHT].symbols.n;
    enum progress room =
        room_for_places(t, sides[LEFT].neighbors.n + sides[RIGHT].neighbors.n, steps);
    if (room != LEARNED)
        return room;
    if (!room_for_pairs(t, n_new) || !room_for_candidates(t, n_new))
        return NO_MEMORY;
    pair *pair = &t->pairs.items[t->pair];
    uint32_t left = pair->left, right = pair->right;
    *merge = (struct merge){left, right, pair->count, t->n_tied, t->n_tokens};
    pair->count = 0;
    t->n_tied -= !t->giving;
    exchange_pairs(t, LEFT, left, right);
    exchange_pairs(t, RIGHT, left, right);
    t->merging = false;
    return LEARNED;
}

enum progress learn_merge(trainer *t, size_t *steps, merge *merge)
{
    if (!t->merging) {
        enum progress chosen = t->chosen ? LEARNED : choose_pair(t, steps);
        t->chosen = chosen == LEARNED;
        if (!t->chosen)
            return chosen;
        if (!begin_merge(t))
            return NO_MEMORY;
        t->chosen = false;
    }
    if (!t->replaced && replace_pair(t, steps) == UNDER_WAY)
        return UNDER_WAY;
    return finish_merge(t, steps, merge);
}

bool may_be_given(const trainer *t, uint64_t left, uint64_t right)
{
    const pair *pair = t->chosen || t->merging ? &t->pairs.items[t->pair] : NULL;
    return !t->level && left < t->spans.n && right < t->spans.n &&
           (!pair || (pair->left == left && pair->right == right));
}

bool give_merge(trainer *t, uint32_t left, uint32_t right)
{
    if (t->chosen || t->merging)
        return true;
    if (!room_for_pairs(t, 1))
        return false;
    pair *pair = find_pair(t, left, right);
    if (pair && !pair->count)
        pair->n = 0; /* it no longer occurs, so the merge changes nothing */
    t->pair = pair ? (uint32_t)(pair - t->pairs.items) : add_pair(t, left, right, 0, 0);
    t->chosen = t->giving = true;
    return true;
}

void end_giving(trainer *t)
{
    for (size_t number = 0; t->giving && number < t->pairs.n; number++) {
        pair *pair = &t->pairs.items[number];
        if (pair->count && t->spans.items[pair->left] + t->spans.items[pair->right] > t->max_length)
            pair->count = 0;
    }
    t->giving = false;
}

void count_symbols(const trainer *t, uint64_t *counts)
{
    memset(counts, 0, t->spans.n * sizeof *counts);
    for (size_t piece = 0; piece < t->weights.n; piece++)
        for (size_t slot = t->starts.items[piece]; slot + 1 < t->starts.items[piece + 1];) {
            uint32_t symbol = t->slots.items[slot];
            counts[symbol] += t->weights.items[piece];
            slot += t->spans.items[symbol];
        }
}

void free_trainer(trainer *t)
{
    void *blocks[] = {t->slots.items,  t->starts.items, t->weights.items,   t->piece_near.items,
                      t->spans.items,  t->bytes.items,  t->bytes_end.items, t->pairs.items,
                      t->places.items, t->table.items,  t->waiting.items,   t->open.items,
                      t->grid.items};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        PyMem_RawFree(blocks[i]);
    for (int i = LEFT; i <= RIGHT; i++) {
        PyMem_RawFree(t->sides[i].neighbors.items);
        PyMem_RawFree(t->sides[i].symbols.items);
        PyMem_RawFree(t->sides[i].of_symbol.items);
    }
}
