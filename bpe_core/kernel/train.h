/* Learn merges: the corpus as symbols, an index of its pairs, and the loop that merges the most
   frequent pair.

   The algorithm is Sennrich, Haddow and Birch 2016 (arXiv:1508.07909) with the index of
   subword-nmt: a merge looks only at the places where its pair occurs. All structures are flat
   arrays:

   - `slots`: the pieces one after another, with END_OF_PIECE before, between and after them. A
   symbol made of s first symbols takes s slots, and its number is in the first and the last of
   them. So the neighbors of a place are found without links. A place where a symbol once began has
   it in both slots only until it is merged. An example: "low" is [END, l, o, w, END]; after merging
   l + o into 256 and 256 + w into 257, it is [END, 257, 256, 257, END].
   - `pairs`: every pair that ever occurred in the corpus, with its count. The slots where it began
   are `n` entries of `places` from `start` on, in ascending order. One merge makes all of them;
   later merges only make them fewer.
   - `waiting` and `open`: heaps of pairs. Counts only fall, so the pairs with the highest count are
     among those that wait with the highest known count. They move to `open`, where the tie rule
     orders them.

   Memory and time are linear in the corpus, except for the logarithm of the heaps. Long pieces cost
   no more than short ones. */

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
} neighbor;

typedef struct {
    uint64_t weight;
    uint32_t n, pair;
} tally;

/* The symbols on one side of the occurrences of the pair that is being merged. */
typedef struct {
    VECTOR(neighbor) neighbors;
    VECTOR(uint32_t) symbols; /* the different ones among `neighbors` */
    VECTOR(tally) of_symbol;  /* how often each symbol is a neighbor; all zero between two merges */
} side;

typedef struct {
    /* Options */
    enum ties ties;
    uint64_t min_count, max_length;
    /* The corpus */
    VECTOR(uint32_t) slots;
    VECTOR(uint32_t) starts;     /* piece -> its first slot; one more for the end */
    VECTOR(uint64_t) weights;    /* piece -> how often it occurs */
    VECTOR(uint32_t) piece_near; /* every 64th slot -> its piece or an earlier one */
    VECTOR(uint64_t) spans;      /* symbol -> how many slots it takes */
    VECTOR(uint8_t) bytes;    /* of all symbols, one after another, if the tie rule compares them */
    VECTOR(size_t) bytes_end; /* symbol -> where its bytes end */
    uint64_t n_tokens;
    /* Pairs */
    VECTOR(pair) pairs;
    VECTOR(uint32_t) places;
    VECTOR(uint32_t)
    table;         /* a pair's hash -> its number + 1, open addressing; a power of two of slots */
    size_t n_kept; /* places that were still used when unused ones were last removed */
    size_t sweep_pair, sweep_to;
    bool sweeping;
    /* Candidates */
    heap waiting, open;
    uint64_t level, n_tied;
    bool entering; /* pairs with the count `level` may still be in `waiting` */
    /* The merge under way */
    uint32_t pair, next_place;
    bool chosen, merging, replaced;
    bool giving; /* the caller gives merges, which may be longer than max_length: keep all pairs
                    until the last one */
    side sides[2];
    VECTOR(tally) grid; /* while the index is built: one cell for each two symbols, row by row */
} trainer;

/* Prepare a trainer of zeros with its options set. Return false without memory. */
bool begin_trainer(trainer *trainer);

/* Add a symbol with its bytes: first the 256 bytes, then the end-of-word marker if there is one.
   Then append bytes to a piece, and close the piece with its weight, which is at least 1. Each
   returns false without memory; the last two also if the corpus is too large. */
bool add_symbol(trainer *trainer, const uint8_t *bytes, size_t n);
bool add_to_piece(trainer *trainer, const uint8_t *bytes, size_t n, const uint8_t *symbol_of);
bool end_piece(trainer *trainer, uint64_t weight);

/* Build the index: count the pairs of all pieces, add them, then note their places. Both passes go
   from the first slot to the last. */
bool begin_index(trainer *trainer);
void count_pairs(trainer *trainer, size_t first_slot, size_t last_slot);
bool add_counted_pairs(trainer *trainer);
void place_pairs(trainer *trainer, size_t first_slot, size_t last_slot);

/* Learn one merge, for at most about `steps` of work. LEARNED: `merge` has it. After NO_MEMORY or
   UNDER_WAY, the next call continues the work. */
enum progress learn_merge(trainer *trainer, size_t *steps, merge *merge);

/* Make this pair the next one that learn_merge merges, even if it does not occur. Allowed only
   before the first chosen merge. Return false without memory. Does nothing if the merge of this
   pair is under way. */
bool give_merge(trainer *trainer, uint32_t left, uint32_t right);
bool may_be_given(const trainer *trainer, uint64_t left, uint64_t right);

/* End the given merges: pairs longer than max_length stop being candidates. */
void end_giving(trainer *trainer);

/* Set counts[symbol] to how often each symbol occurs in the corpus now. */
void count_symbols(const trainer *trainer, uint64_t *counts);

void free_trainer(trainer *trainer);

/* pairs.c */
bool room_for_pairs(trainer *trainer, size_t more);
uint32_t add_pair(trainer *trainer, uint32_t left, uint32_t right, uint64_t count, uint32_t n);
void fetch_pair(const trainer *trainer, uint32_t left,
                uint32_t right); /* prefetch it: find_pair follows */
pair *find_pair(trainer *trainer, uint32_t left, uint32_t right); /* NULL if it never occurred */
enum progress room_for_places(trainer *trainer, size_t more, size_t *steps);

/* Whether the pair (left, right) begins at a slot where `left` once began. */
static inline bool occurs_at(const trainer *t, uint32_t left, uint32_t right, uint32_t slot)
{
    const uint32_t *slots = t->slots.items + slot;
    size_t span = t->spans.items[left];
    return slots[0] == left && slots[span - 1] == left && slots[span] == right;
}

/* candidates.c */
bool room_for_candidates(trainer *trainer, size_t more);
void add_candidate(trainer *trainer, uint32_t number); /* a new pair */
enum progress choose_pair(trainer *trainer,
                          size_t *steps); /* LEARNED: the trainer's `pair` is next */

#endif
