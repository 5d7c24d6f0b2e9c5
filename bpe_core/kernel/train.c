/* The corpus of a training, and the merge of one pair in it. At each place where the pair occurs,
   its first and last slot get the new symbol, and pairs with the new symbol replace the pairs on
   both sides. train.h describes the structures; pairs.c and candidates.c keep the pairs. */

#include "train.h"

enum { LEFT, RIGHT }; /* a side of the merged pair */

enum {
    NEAR = 64, /* slots for each entry of `piece_near` */
    AHEAD = 8, /* places between a prefetch and the use; saves a quarter of the time at 100 MB */
};

/* Slots are numbered with 32 bits, and closing a piece adds two at most. */
#define MOST_SLOTS (UINT32_MAX - 3)

/* The corpus */

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
    t->bytes.n += n;
    t->bytes_end.items[t->bytes_end.n++] = t->bytes.n;
    t->spans.items[t->spans.n++] = 1;
    return true;
}

bool add_to_piece(trainer *t, const uint8_t *bytes, size_t n, const uint8_t *symbol_of)
{
    if (n > MOST_SLOTS - t->slots.n || !ROOM(t->slots, n))
        return false;
    for (size_t i = 0; i < n; i++)
        t->slots.items[t->slots.n++] = symbol_of[bytes[i]];
    return true;
}

bool end_piece(trainer *t, uint64_t weight)
{
    bool has_end_of_word = t->spans.n > 256;
    size_t n = t->slots.n + has_end_of_word - t->starts.items[t->starts.n - 1];
    bool has_too_many_tokens = n && weight > (UINT64_MAX / 2 - t->n_tokens) / n;
    if (has_too_many_tokens || t->slots.n > MOST_SLOTS)
        return false;
    if (!ROOM(t->slots, 2) || !ROOM(t->starts, 1) || !ROOM(t->weights, 1))
        return false;
    if (has_end_of_word)
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
    size_t piece = t->piece_near.items[slot / NEAR];
    while (t->starts.items[piece + 1] <= slot)
        piece++;
    return piece;
}

/* The index: two passes over the slots. Before the first merge there are at most 257 symbols, so a
   grid of all pairs counts them without a hash table. */

bool begin_index(trainer *t)
{
    size_t n_cells = t->spans.n * t->spans.n;
    size_t n_near = t->slots.n / NEAR + 1;
    if (!ROOM(t->grid, n_cells) || !ROOM(t->piece_near, n_near))
        return false;
    memset(t->grid.items, 0, n_cells * sizeof *t->grid.items);
    size_t piece = 0;
    for (size_t near = 0; near < n_near; near++) {
        while (piece + 1 < t->weights.n && t->starts.items[piece + 1] <= NEAR * near)
            piece++;
        t->piece_near.items[near] = (uint32_t)piece;
    }
    return true;
}

/* Return the tally of the pair that begins at a slot; NULL if none does. */
static tally *tally_at(trainer *t, size_t slot)
{
    uint32_t left = t->slots.items[slot];
    uint32_t right = t->slots.items[slot + 1];
    bool is_pair = left != END_OF_PIECE && right != END_OF_PIECE && t->max_length >= 2;
    return is_pair ? &t->grid.items[left * t->spans.n + right] : NULL;
}

void count_pairs(trainer *t, size_t first_slot, size_t last_slot)
{
    if (first_slot >= last_slot)
        return;
    size_t piece = piece_of(t, first_slot);
    for (size_t slot = first_slot; slot < last_slot; slot++) {
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
    size_t n_symbols = t->spans.n;
    size_t n_cells = n_symbols * n_symbols;
    size_t n_pairs = 0;
    size_t n_places = 0;
    for (size_t cell = 0; cell < n_cells; cell++) {
        n_pairs += t->grid.items[cell].n > 0;
        n_places += t->grid.items[cell].n;
    }
    size_t steps = SIZE_MAX;
    if (!room_for_pairs(t, n_pairs) || !room_for_candidates(t, n_pairs) ||
        room_for_places(t, n_places, &steps) != LEARNED)
        return false;
    for (size_t cell = 0; cell < n_cells; cell++) {
        tally *tally = &t->grid.items[cell];
        if (!tally->n)
            continue;
        uint32_t left = (uint32_t)(cell / n_symbols);
        uint32_t right = (uint32_t)(cell % n_symbols);
        tally->pair = add_pair(t, left, right, tally->weight, tally->n);
        add_candidate(t, tally->pair);
        tally->n = 0; /* place_pairs counts again */
    }
    t->n_kept = t->places.n;
    return true;
}

void place_pairs(trainer *t, size_t first_slot, size_t last_slot)
{
    for (size_t slot = first_slot; slot < last_slot; slot++) {
        tally *tally = tally_at(t, slot);
        if (tally) {
            size_t start = t->pairs.items[tally->pair].start;
            t->places.items[start + tally->n++] = (uint32_t)slot;
        }
    }
}

/* The merge of a pair: begin, replace the pair at its places, and exchange the pairs on both sides.
   begin_merge makes all room that the second step needs, and finish_merge that of the third, so
   that no step is left half done without memory. */

/* Make room for the symbols on one side of a pair with this many places. */
static bool room_for_neighbors(side *side, size_t n_places, size_t n_symbols)
{
    size_t n_different = n_places < n_symbols ? n_places : n_symbols;
    size_t n_new = n_symbols - side->of_symbol.n;
    if (!ROOM(side->neighbors, n_places) || !ROOM(side->symbols, n_different) ||
        !ROOM(side->of_symbol, n_new))
        return false;
    memset(side->of_symbol.items + side->of_symbol.n, 0, n_new * sizeof(tally));
    side->of_symbol.n = n_symbols;
    return true;
}

/* Append the bytes of a new symbol, which joins two others. Return false without memory. */
static bool append_joined_bytes(trainer *t, uint32_t left, uint32_t right)
{
    size_t n_left = n_bytes_of(t, left);
    size_t n_right = n_bytes_of(t, right);
    if (!ROOM(t->bytes, n_left + n_right) || !ROOM(t->bytes_end, 1))
        return false;
    uint8_t *end = t->bytes.items + t->bytes.n;
    memcpy(end, t->bytes.items + bytes_start(t, left), n_left);
    memcpy(end + n_left, t->bytes.items + bytes_start(t, right), n_right);
    t->bytes.n += n_left + n_right;
    t->bytes_end.items[t->bytes_end.n++] = t->bytes.n;
    return true;
}

/* Add the new symbol, and make room for the neighbors of the pair. */
static bool begin_merge(trainer *t)
{
    const pair *pair = &t->pairs.items[t->pair];
    size_t n_symbols = t->spans.n + 1;
    if (!room_for_neighbors(&t->sides[LEFT], pair->n, n_symbols) ||
        !room_for_neighbors(&t->sides[RIGHT], pair->n, n_symbols) || !ROOM(t->spans, 1))
        return false;
    bool compares_bytes = t->ties == LARGEST;
    if (compares_bytes && !append_joined_bytes(t, pair->left, pair->right))
        return false;
    t->spans.items[t->spans.n++] = t->spans.items[pair->left] + t->spans.items[pair->right];
    t->next_place = 0;
    t->merging = true;
    t->replaced = false;
    return true;
}

static void note_neighbor(side *side, uint32_t symbol, size_t place, uint64_t weight)
{
    tally *tally = &side->of_symbol.items[symbol];
    if (!tally->n)
        side->symbols.items[side->symbols.n++] = symbol;
    tally->n++;
    tally->weight += weight;
    side->neighbors.items[side->neighbors.n++] = (neighbor){symbol, (uint32_t)place};
}

/* The symbols of the merge under way, and how many slots they take. */
typedef struct {
    uint32_t left;
    uint32_t right;
    uint32_t new;
    size_t left_span;
    size_t new_span;
} replacement;

/* Write the new symbol over the pair at one place, and note its neighbors. Two occurrences that
   touch have one pair between them, of two new symbols; it is noted at the second one. */
static inline void replace_at(trainer *t, const replacement *merge, uint32_t place)
{
    uint32_t *slots = t->slots.items;
    size_t end = place + merge->new_span;
    uint32_t before = slots[place - 1];
    uint32_t after = slots[end];
    uint64_t weight = t->weights.items[piece_of(t, place)];
    slots[place] = merge->new;
    slots[end - 1] = merge->new;
    t->n_tokens -= weight;
    if (before != END_OF_PIECE)
        note_neighbor(&t->sides[LEFT], before, place - t->spans.items[before], weight);
    bool touches_next = after == merge->left && slots[end + merge->left_span] == merge->right;
    if (after != END_OF_PIECE && !touches_next)
        note_neighbor(&t->sides[RIGHT], after, place, weight);
}

/* Write the new symbol over the pair, place after place. */
static enum progress replace_pair(trainer *t, size_t *steps)
{
    const pair *pair = &t->pairs.items[t->pair];
    const replacement merge = {
        .left = pair->left,
        .right = pair->right,
        .new = (uint32_t)t->spans.n - 1,
        .left_span = t->spans.items[pair->left],
        .new_span = t->spans.items[t->spans.n - 1],
    };
    for (; t->next_place < pair->n; t->next_place++) {
        if (!*steps)
            return UNDER_WAY;
        --*steps;
        const uint32_t *place = t->places.items + pair->start + t->next_place;
        if (t->next_place + AHEAD < pair->n) {
            uint32_t later = place[AHEAD];
            FETCH(t->slots.items + later);
            FETCH(t->piece_near.items + later / NEAR);
        }
        if (occurs_at(t, merge.left, merge.right, *place))
            replace_at(t, &merge, *place);
    }
    t->replaced = true;
    return LEARNED;
}

/* Two symbols, the left one first. */
typedef struct {
    uint32_t left;
    uint32_t right;
} two_symbols;

/* Return a symbol with its neighbor on one side, in the order in which they occur. */
static inline two_symbols with_neighbor(int where, uint32_t neighbor, uint32_t symbol)
{
    return where == LEFT ? (two_symbols){neighbor, symbol} : (two_symbols){symbol, neighbor};
}

static void subtract(trainer *t, two_symbols symbols, uint64_t weight)
{
    pair *pair = find_pair(t, symbols.left, symbols.right);
    if (!pair || !pair->count)
        return;
    t->n_tied -= pair->count == t->level;
    pair->count -= weight;
}

/* For each neighbor on one side, take its weight from the old pair, and add the new pair. `edge` is
   the half of the merged pair that was next to the neighbors. */
static void exchange_counts(trainer *t, int where, uint32_t left, uint32_t right)
{
    side *side = &t->sides[where];
    uint32_t new = (uint32_t)t->spans.n - 1;
    uint32_t edge = where == LEFT ? left : right;
    for (size_t k = 0; k < side->symbols.n; k++) {
        if (k + AHEAD < side->symbols.n) {
            uint32_t later = side->symbols.items[k + AHEAD];
            two_symbols old_pair = with_neighbor(where, later, edge);
            two_symbols new_pair = with_neighbor(where, later, new);
            fetch_pair(t, old_pair.left, old_pair.right);
            fetch_pair(t, new_pair.left, new_pair.right);
        }
        uint32_t symbol = side->symbols.items[k];
        tally *tally = &side->of_symbol.items[symbol];
        /* A left neighbor that is new itself was `right` before: see replace_at. */
        uint32_t old_symbol = where == LEFT && symbol == new ? right : symbol;
        subtract(t, with_neighbor(where, old_symbol, edge), tally->weight);
        two_symbols made = with_neighbor(where, symbol, new);
        tally->pair = NO_PAIR;
        if (t->giving || is_short(t, made.left, made.right)) {
            tally->pair = add_pair(t, made.left, made.right, tally->weight, tally->n);
            add_candidate(t, tally->pair);
        }
        tally->n = 0; /* place_neighbors counts again */
    }
}

/* Write the places of the new pairs on one side. */
static void place_neighbors(trainer *t, side *side)
{
    for (size_t k = 0; k < side->neighbors.n; k++) {
        neighbor neighbor = side->neighbors.items[k];
        tally *tally = &side->of_symbol.items[neighbor.symbol];
        if (tally->pair != NO_PAIR) {
            size_t start = t->pairs.items[tally->pair].start;
            t->places.items[start + tally->n++] = neighbor.place;
        }
    }
}

static void forget_neighbors(side *side)
{
    for (size_t k = 0; k < side->symbols.n; k++)
        side->of_symbol.items[side->symbols.items[k]] = (tally){0};
    side->symbols.n = 0;
    side->neighbors.n = 0;
}

/* Replace the pairs on one side by pairs with the new symbol. The caller has made room. */
static void exchange_pairs(trainer *t, int where, uint32_t left, uint32_t right)
{
    exchange_counts(t, where, left, right);
    place_neighbors(t, &t->sides[where]);
    forget_neighbors(&t->sides[where]);
}

static enum progress finish_merge(trainer *t, size_t *steps, merge *merge)
{
    const side *sides = t->sides;
    size_t n_new_places = sides[LEFT].neighbors.n + sides[RIGHT].neighbors.n;
    enum progress room = room_for_places(t, n_new_places, steps);
    if (room != LEARNED)
        return room;
    size_t n_new_pairs = sides[LEFT].symbols.n + sides[RIGHT].symbols.n;
    if (!room_for_pairs(t, n_new_pairs) || !room_for_candidates(t, n_new_pairs))
        return NO_MEMORY;
    pair *pair = &t->pairs.items[t->pair];
    uint32_t left = pair->left;
    uint32_t right = pair->right;
    *merge = (struct merge){
        .left = left,
        .right = right,
        .count = pair->count,
        .n_tied = t->n_tied,
        .n_tokens = t->n_tokens,
    };
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

/* Given merges */

bool may_be_given(const trainer *t, uint64_t left, uint64_t right)
{
    bool has_chosen = t->level > 0;
    if (has_chosen || left >= t->spans.n || right >= t->spans.n)
        return false;
    if (!t->chosen && !t->merging)
        return true;
    const pair *under_way = &t->pairs.items[t->pair];
    return under_way->left == left && under_way->right == right;
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
    t->chosen = true;
    t->giving = true;
    return true;
}

void end_giving(trainer *t)
{
    for (size_t number = 0; t->giving && number < t->pairs.n; number++) {
        pair *pair = &t->pairs.items[number];
        if (pair->count && !is_short(t, pair->left, pair->right))
            pair->count = 0;
    }
    t->giving = false;
}

void count_symbols(const trainer *t, uint64_t *counts)
{
    memset(counts, 0, t->spans.n * sizeof *counts);
    for (size_t piece = 0; piece < t->weights.n; piece++) {
        size_t slot = t->starts.items[piece];
        size_t end = t->starts.items[piece + 1] - 1; /* its END_OF_PIECE */
        while (slot < end) {
            uint32_t symbol = t->slots.items[slot];
            counts[symbol] += t->weights.items[piece];
            slot += t->spans.items[symbol];
        }
    }
}

void free_trainer(trainer *t)
{
    void *blocks[] = {
        t->slots.items,   t->starts.items,    t->weights.items, t->piece_near.items, t->spans.items,
        t->bytes.items,   t->bytes_end.items, t->pairs.items,   t->places.items,     t->table.items,
        t->waiting.items, t->open.items,      t->grid.items,
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        PyMem_RawFree(blocks[i]);
    for (int where = LEFT; where <= RIGHT; where++) {
        PyMem_RawFree(t->sides[where].neighbors.items);
        PyMem_RawFree(t->sides[where].symbols.items);
        PyMem_RawFree(t->sides[where].of_symbol.items);
    }
}
