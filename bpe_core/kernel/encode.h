/* Encode texts and pieces. Look up each piece in a cache, then among the tokens if the vocabulary
   looks up whole pieces, and merge it if neither has it. */

#ifndef BPESCOPE_ENCODE_H
#define BPESCOPE_ENCODE_H

#include "merge.h"
#include "piece_cache.h"
#include "tokens.h"

/* The tables of a vocabulary. They never change, so any number of threads may read them. */
typedef struct tables {
    symbol_set symbols;
    rule_table rules; /* with ranks 0, 1, ... in order */
    /* With their ranks; for a vocabulary of merges, the tokens that are looked up whole, with the
       step that makes each. */
    token_table tokens;
    bool looks_up;     /* whether a piece equal to one of `tokens` becomes it at once */
    bool has_ranks;    /* whether neighbors join by the ranks of `tokens`, not by rules */
    uint32_t n_merges; /* the largest limit: the number of rules, or NO_RANK */
} tables;

/* The working memory of one thread that encodes. */
typedef struct {
    const tables *tables;
    uint32_t limit; /* only merges of a rank below it are in force */
    piece_cache cache;
    workspace space;
    id_list ids; /* the result */
} encoding;

/* Append the ids of a text. Without a scanner it is one piece. */
outcome encode_text(encoding *encoding, const scanner *scanner, const uint8_t *text, size_t n);

/* Merge a piece or a part of one, and append its ids. Looks up nothing whole. */
outcome encode_part(encoding *encoding, const uint8_t *part, size_t n);

/* Append the ids of each of `n` texts, pieces or tokens, and set `n_ids` to the number of ids up to
   the end of each. `ends` has n + 1 numbers: 0, and where each ends in `bytes`. */
typedef outcome encode_each(encoding *encoding, const scanner *scanner, const uint8_t *bytes,
                            const size_t *ends, size_t n, size_t *n_ids);

/* Encode texts; without a scanner, pieces. */
encode_each encode_texts;

/* Merge each token of a vocabulary of ranks by the tokens of lower rank. */
encode_each encode_parents;

#endif
