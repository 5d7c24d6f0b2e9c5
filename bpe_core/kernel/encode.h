/* Encoding texts and pieces: each piece is looked up in a cache, then, if the vocabulary looks
   pieces up whole, among its tokens, and only then merged. */

#ifndef BPESCOPE_ENCODE_H
#define BPESCOPE_ENCODE_H

#include "merge.h"
#include "piece_cache.h"
#include "tokens.h"

/* The tables of a vocabulary. They do not change once they are built, so that any number of threads
 * may read them. */
typedef struct tables {
    symbol_set symbols;
    rule_table rules;   /* ranked from 0 in their order */
    token_table tokens; /* with ranks; or, of merges, those that are looked up whole, with the step
                           that makes them */
    bool looks_up;      /* whether a piece equal to one of `tokens` becomes it at once */
    bool has_ranks;     /* whether neighbors join by the ranks of `tokens`, not by rules */
    uint32_t n_merges;  /* what a limit can be: the number of rules, or NO_RANK */
} tables;

/* The working memory of one thread that encodes; only merges of a rank below `limit` are in force.
 */
typedef struct {
    const tables *tables;
    uint32_t limit;
    piece_cache cache;
    workspace space;
    id_list ids;
} encoding;

/* Append the ids of a text, all of it one piece if `scanner` is NULL. */
outcome encode_text(encoding *encoding, const scanner *scanner, const uint8_t *text, size_t n);

/* Append the ids that merging leaves of a piece or a part of one; nothing is looked up whole. */
outcome encode_part(encoding *encoding, const uint8_t *part, size_t n);

/* Append the ids of each of `n` things, and put into `n_ids` how many ids there are up to the end
   of each. `ends` has n + 1 numbers: 0, and where each ends in `bytes`. */
typedef outcome encode_each(encoding *encoding, const scanner *scanner, const uint8_t *bytes,
                            const size_t *ends, size_t n, size_t *n_ids);
encode_each encode_texts;   /* or pieces, without a scanner */
encode_each encode_parents; /* what merging leaves of tokens of a vocabulary of ranks, of each by
                               those of lower rank */

#endif
