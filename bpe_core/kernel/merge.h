/* Merge the symbols of a piece: always the pair with the lowest rank, the leftmost of equal ones. A
   long piece takes linear time if its windows stay small, as they do in texts.

   Two neighboring tokens are compatible if merging their joined symbols, alone, gives the two
   tokens back. A list of tokens is the result of merging the whole piece exactly if all its
   neighbors are compatible (bpe_core/vocabulary/merge_loop.py has the proof; H. van Antwerpen and
   A. Neubeck use the fact in the Rust crate `bpe`). So a long piece is merged window by window.
   Each window begins with the last few tokens of the previous one: if their first token comes out
   again, all neighbors are compatible. If a piece repeats itself, its tokens do too, and are
   copied. */

#ifndef BPESCOPE_MERGE_H
#define BPESCOPE_MERGE_H

#include "rules.h"
#include "symbols.h"

enum { PAIR_BITS = 13 }; /* few enough for the second cache, which answers two look-ups of three */

typedef VECTOR(uint32_t) id_list;

typedef enum { ENCODED, OUT_OF_MEMORY, UNKNOWN_SYMBOL, INTERRUPTED } outcome;

/* The working memory of a thread that merges. Free it with workspace_free. */
typedef struct {
    void *window;        /* the arrays of a window that is merged by a heap */
    size_t window_room;  /* symbols they hold */
    VECTOR(size_t) ends; /* of a long piece: the byte where each token ends */
    bool (*interrupted)(void *caller, size_t n_bytes); /* called regularly with the bytes done since
                                                          the last call; true stops the work */
    void *caller;
} workspace;

void workspace_free(workspace *space);

/* How neighbors join: by `rules` or, if that is NULL, by the rank of the token with their joined
   bytes. */
typedef struct {
    const rule_table *rules;
    const token_table *ranks;
    const symbol_set *symbols;
    uint32_t limit;   /* only ranks below it count */
    rule_slot *pairs; /* a cache of 1 << PAIR_BITS results from `ranks`, by a hash of both
                         neighbors; NULL with `rules` */
} merges;

/* Merge a piece of `n` bytes, and append its tokens. Appends none unless it returns ENCODED. */
outcome merge_piece(const merges *merges, const uint8_t *piece, size_t n, workspace *space,
                    id_list *ids);

#endif
