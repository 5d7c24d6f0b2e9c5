/* Learning merges: the corpus as symbols, an index of its pairs, and the loop that merges the most
   frequent one.

   The algorithm is Sennrich, Haddow and Birch 2016 (arXiv:1508.07909) with the index of
   subword-nmt: only the places where a pair stands are looked at. All structures are flat arrays:

   - `slots`: the pieces one after another, END_OF_PIECE before, between and behind them. A symbol
   made of s first symbols takes s slots and stands in the first and the last of them. So the
   neighbors of a place are found without links, and a place where a symbol once began holds it in
   both these slots only as long as it has not been merged.
   - `pairs`: every pair that ever stood in the corpus, with its count and the slots where it began,
   ascending, which are `n` of `places` from `start` on. All of them are made by one merge; after
   it, they only become fewer.
   - `waiting` and `open`: heaps of pairs. Since counts only fall, those of the highest count are
   found by looking at what waits with the highest count known; they are open then, and the tie rule
   orders them among each other.

   Memory and time are linear in the corpus, whatever the length of its pieces, but for the
   logarithm of the heaps. */

#ifndef BPESCOPE_TRAIN_H
#define BPESCOPE_TRAIN_H

#include <stdint.h>

#include "vector.h"

enum ties { FIRST, LOWEST, LARGEST, N_TIES };
enum progress { LEARNED, UNDER_WAY, NOTHING_LEFT, NO_MEMORY };

#define END_OF_PIECE UINT32_MAX

typedef struct merge {
    uint64_t left, right, count, n_tied, n_tokens;
} merge;

typedef struct {
    uint64_t count;
    size_t start;
    uint32_t left, right, n;
} pair;

typedef struct {
    uint64_t key; /* the smallest comes first */
    uint32_t pair;
} candidate;

typedef VECTOR(candidate) heap;

typedef struct {
    uint32_t symbol, place;
} beside;

typedef struct {
    uint64_t weight;
    uint32_t n, pair;
} tally;

/* What stands on one side of the occurrences of the pair that is being merged. */
typedef struct {
    VECTOR(beside) found;
    VECTOR(uint32_t) symbols; /* those found, each once */
    VECTOR(tally) of_symbol;  /* all zero between two merges */
} side;

typedef struct {
    /* Options */
    enum ties ties;
    uint64_t min_count, max_length;
    /* The corpus */
    VECTOR(uint32_t) slots;
    VECTOR(uint32_t) starts;     /* piece -> its first slot; one more for the end */
    VECTOR(uint64_t) weights;    /* piece -> how often it occurs */
    VECTOR(uint32_t) piece_near; /* every 64th slot -> its piece or the one before */
    VECTOR(uint64_t) spans;      /* symbol -> how many slots it takes */
    VECTOR(uint8_t) bytes;       /* of all symbols, where the tie rule compares them */
    VECTOR(size_t) bytes_end;    /* symbol -> where its bytes end */
    uint64_t n_tokens;
    /* Pairs */
    VECTOR(pair) pairs;
    VECTOR(uint32_t) places;
    VECTOR(uint32_t)
    table;         /* a pair's hash -> its number + 1, open addressing; a power of two of slots */
    size_t n_kept; /* places that were in use when unused ones were last removed */
    size_t sweep_pair, sweep_to;
    bool sweeping;
    /* Candidates */
    heap waiting, open;
    uint64_t level, n_tied;
    bool entering; /* whether pairs of this level may still be waiting */
    /* The merge under way */
    uint32_t pair, next_place;
    bool chosen, merging, replaced;
    bool giving; /* whether merges are given, which may be longer than max_length: all pairs are
                    kept until the last one */
    side sides[2];
    VECTOR(tally) grid; /* while the index is made: of each two symbols, row by row */
} trainer;

/* Prepare a trainer that is all zero but for its options; false without memory. */
bool begin_trainer(trainer *trainer);

/* Add a symbol with its bytes (false without memory): first the 256 bytes, then the marker behind
   every piece if there is one. Append bytes to the piece that is being added, and close it with its
   weight, at least 1 (false also where there are too many). */
bool add_symbol(trainer *trainer, const uint8_t *bytes, size_t n);
bool add_to_piece(trainer *trainer, const uint8_t *bytes, size_t n, const uint8_t *symbol_of);
bool end_piece(trainer *trainer, uint64_t weight);

/* Count the pairs of all pieces, then note their places: slot by slot, both of them from the first
 * to the last. */
bool begin_index(trainer *trainer);
void count_pairs(trainer *trainer, size_t first_slot, size_t last_slot);
bool add_counted_pairs(trainer *trainer);
void place_pairs(trainer *trainer, size_t first_slot, size_t last_slot);

/* Go on with learning one merge for about so many `steps` of work. LEARNED: it is in `merge`. After
   NO_MEMORY or UNDER_WAY it can be called again and goes on where it was. */
enum progress learn_merge(trainer *trainer, size_t *steps, merge *merge);

/* Make this pair the next one that learn_merge merges, wherever it stands, and if it stands nowhere
   too; only before the first merge that is chosen. False without memory. Called again with the pair
   whose merge is under way, it does nothing. */
bool give_merge(trainer *trainer, uint32_t left, uint32_t right);
bool may_be_given(const trainer *trainer, uint64_t left, uint64_t right);

/* No more merges are given: the pairs that are longer than max_length are no candidates. */
void end_giving(trainer *trainer);

/* Set counts[symbol] to how often each symbol stands in the corpus now. */
void count_symbols(const trainer *trainer, uint64_t *counts);

void free_trainer(trainer *trainer);

/* pairs.c */
bool room_for_pairs(trainer *trainer, size_t more);
uint32_t add_pair(trainer *trainer, uint32_t left, uint32_t right, uint64_t count, uint32_t n);
void fetch_pair(const trainer *trainer, uint32_t left, uint32_t right); /* it is looked for soon */
pair *find_pair(trainer *trainer, uint32_t left,
                uint32_t right); /* NULL: it never stood anywhere */
enum progress room_for_places(trainer *trainer, size_t more, size_t *steps);

/* Whether the pair `left`, `right` begins at a slot where `left` once began. */
static inline bool stands_at(const trainer *t, uint32_t left, uint32_t right, uint32_t slot)
{
    const uint32_t *slots = t->slots.items + slot;
    size_t span = t->spans.items[left];
    return slots[0] == left && slots[span - 1] == left && slots[span] == right;
}

/* candidates.c */
bool room_for_candidates(trainer *trainer, size_t more);
void add_candidate(trainer *trainer, uint32_t number); /* a pair that is new */
enum progress choose(trainer *trainer, size_t *steps); /* LEARNED: `pair` is the pair to merge */

#endif
