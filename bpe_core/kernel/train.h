/* Learn merges: the corpus as symbols, an index of its pairs, and the loop that merges the most
   frequent pair.

   The algorithm is Sennrich, Haddow and Birch 2016 (arXiv:1508.07909) with the index of
   subword-nmt: a merge looks only at the places where its pair occurs. All structures are flat
   arrays:

   - `slots`: the pieces one after another, with END_OF_PIECE before, between and after them. A
     symbol made of s first symbols takes s slots, and its number is in the first and the last of
     them. So the neighbors of a place are found without links. A place where a symbol once began
     has it in both slots only until it is merged. An example: "low" is [END, l, o, w, END]; after
     merging l + o into 256 and 256 + w into 257, it is [END, 257, 256, 257, END].
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

/* Which of several equally frequent pairs is next: the first in the corpus, the lowest symbols, or
   the largest bytes. */
enum ties { FIRST, LOWEST, LARGEST, N_TIES };

/* How a step ended. UNDER_WAY: its `steps` of work are used up, and another call continues it. */
enum progress { LEARNED, UNDER_WAY, NOTHING_LEFT, NO_MEMORY };

/* Fills the slots between pieces. No symbol has this number. */
#define END_OF_PIECE UINT32_MAX

/* No pair has this number. */
#define NO_PAIR UINT32_MAX

/* A merge that was made. */
typedef struct merge {
    uint64_t left;
    uint64_t right;
    uint64_t count;    /* of the pair, just before the merge */
    uint64_t n_tied;   /* pairs that had this count; 0 if the merge was given */
    uint64_t n_tokens; /* in the corpus after the merge */
} merge;

/* Two symbols that are neighbors, or once were. */
typedef struct {
    uint64_t count;
    size_t start;   /* index of its first place in `places` */
    uint32_t left;  /* symbol */
    uint32_t right; /* symbol */
    uint32_t n;     /* number of its places */
} pair;

/* A pair in a heap. */
typedef struct {
    uint64_t key;  /* the smallest comes first */
    uint32_t pair; /* its number */
} candidate;

typedef VECTOR(candidate) heap;

/* A symbol next to the pair that is being merged. */
typedef struct {
    uint32_t symbol;
    uint32_t place; /* where its pair with the new symbol begins */
} neighbor;

/* How often something was seen. */
typedef struct {
    uint64_t weight; /* how often, with the weights of the pieces */
    uint32_t n;      /* in how many places */
    uint32_t pair;   /* number of the pair that is counted; NO_PAIR if it is too long */
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
    uint64_t min_count;  /* the least count of a pair that is merged */
    uint64_t max_length; /* the most slots of a symbol that is made */

    /* The corpus */
    VECTOR(uint32_t) slots;
    VECTOR(uint32_t) starts;     /* piece -> its first slot; one more for the end */
    VECTOR(uint64_t) weights;    /* piece -> how often it occurs */
    VECTOR(uint32_t) piece_near; /* every 64th slot -> its piece or an earlier one */
    VECTOR(uint64_t) spans;      /* symbol -> how many slots it takes */
    /* The bytes of all symbols, one after another. New symbols have none unless the tie rule
       compares bytes. */
    VECTOR(uint8_t) bytes;
    VECTOR(size_t) bytes_end; /* symbol -> where its bytes end */
    uint64_t n_tokens;

    /* The pairs */
    VECTOR(pair) pairs;
    VECTOR(uint32_t) places; /* slots where the pairs begin or once began, pair by pair */
    /* A pair's hash -> its number + 1, by open addressing; 0 in an empty slot. The number of slots
       is a power of two. */
    VECTOR(uint32_t) table;
    size_t n_kept;     /* places that were kept when unused ones were last removed */
    bool sweeping;     /* unused places are being removed */
    size_t sweep_pair; /* the next pair whose places are looked at */
    size_t sweep_to;   /* where the next place that is kept is written */

    /* The candidates */
    heap waiting;    /* pairs by their known counts, the largest first */
    heap open;       /* pairs whose known count is `level`, by the tie rule */
    uint64_t level;  /* the highest count; 0 before the first merge is chosen */
    uint64_t n_tied; /* pairs with the count `level` */
    bool entering;   /* pairs with the count `level` may still be in `waiting` */

    /* The merge under way */
    uint32_t pair;       /* number of the pair */
    bool chosen;         /* `pair` is chosen, and its merge has not begun */
    bool merging;        /* the merge of `pair` has begun */
    bool replaced;       /* all its places have the new symbol */
    uint32_t next_place; /* of the pair's places, the next one to replace */
    /* The caller gives merges, which may be longer than max_length: keep all pairs until the last
       one. */
    bool giving;
    side sides[2];      /* left and right */
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

/* Whether the pair (left, right) begins at a slot where `left` once began. */
static inline bool occurs_at(const trainer *t, uint32_t left, uint32_t right, uint32_t slot)
{
    const uint32_t *slots = t->slots.items + slot;
    size_t span = t->spans.items[left];
    return slots[0] == left && slots[span - 1] == left && slots[span] == right;
}

/* Whether the symbol that joins these two is no longer than max_length. */
static inline bool is_short(const trainer *t, uint32_t left, uint32_t right)
{
    return t->spans.items[left] + t->spans.items[right] <= t->max_length;
}

/* Return where the bytes of a symbol begin in `bytes`, or how many it has. */
static inline size_t bytes_start(const trainer *t, uint32_t symbol)
{
    return symbol ? t->bytes_end.items[symbol - 1] : 0;
}
static inline size_t n_bytes_of(const trainer *t, uint32_t symbol)
{
    return t->bytes_end.items[symbol] - bytes_start(t, symbol);
}

/* pairs.c */

/* Make room for more pairs, or for more places. Return false or NO_MEMORY without memory. */
bool room_for_pairs(trainer *trainer, size_t more);
enum progress room_for_places(trainer *trainer, size_t more, size_t *steps);

/* Add a pair, and reserve `n` places, which the caller fills. The caller has made room. Return its
   number. */
uint32_t add_pair(trainer *trainer, uint32_t left, uint32_t right, uint64_t count, uint32_t n);

/* Return a pair; NULL if it never occurred. Prefetching it helps if find_pair follows later. */
pair *find_pair(trainer *trainer, uint32_t left, uint32_t right);
void fetch_pair(const trainer *trainer, uint32_t left, uint32_t right);

/* candidates.c */

/* Make room for more candidates, or add a new pair to them. */
bool room_for_candidates(trainer *trainer, size_t more);
void add_candidate(trainer *trainer, uint32_t number);

/* Set the trainer's `pair` to the next one to merge, and return LEARNED. */
enum progress choose_pair(trainer *trainer, size_t *steps);

#endif
