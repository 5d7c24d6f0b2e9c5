/* Merging the symbols of a piece: always the pair of the lowest rank, the leftmost of equal ones. A
   long piece takes linear time as long as its windows stay small, as in texts.

   Call two neighboring tokens compatible if merging what the two are made of, alone, gives the two
   back. A list of tokens is what merging a whole piece leaves exactly when all its neighbors are
   compatible (the proof stands in bpe_core/vocabulary/windows.py; H. van Antwerpen and A. Neubeck
   use the fact in the Rust crate `bpe`). So a long piece is merged window by window, each beginning
   with the last few tokens of the one before: if the first of them comes out again, all neighbors
   are compatible. If a piece repeats itself, so do its tokens, which are then copied. */

#ifndef BPESCOPE_MERGE_H
#define BPESCOPE_MERGE_H

#include "rules.h"
#include "symbols.h"

enum {
    PAIR_BITS = 13
}; /* so few that the second cache holds them; two of three neighbors are found there */

typedef VECTOR(uint32_t) id_list;

typedef enum { ENCODED, OUT_OF_MEMORY, UNKNOWN_SYMBOL, INTERRUPTED } outcome;

/* The working memory of a thread that merges; free it by workspace_free. */
typedef struct {
    void *window;        /* the arrays of a window that is merged by a heap */
    size_t window_room;  /* symbols they hold */
    VECTOR(size_t) ends; /* of a long piece: the byte where each token ends */
    bool (*interrupted)(
        void *caller,
        size_t n_bytes); /* called now and then with the bytes done since; true: stop */
    void *caller;
} workspace;

void workspace_free(workspace *space);

/* By what neighbors join: by `rules` or, if that is NULL, by the rank of the token that is their
 * joined bytes. */
typedef struct {
    const rule_table *rules;
    const token_table *ranks;
    const symbol_set *symbols;
    uint32_t limit;   /* only ranks below it count */
    rule_slot *pairs; /* 1 << PAIR_BITS: what `ranks` said of neighbors, by a hash of both; NULL
                         with `rules` */
} merges;

/* Append the tokens that merging leaves of a piece of `n` bytes; none unless it returns ENCODED. */
outcome merge_piece(const merges *merges, const uint8_t *piece, size_t n, workspace *space,
                    id_list *ids);

#endif
