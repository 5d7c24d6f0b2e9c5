/* Merge the symbols of a piece: always the pair with the lowest rank, the leftmost of equal ones.

   A piece of few bytes is merged as a whole, in merge.c. A long piece is merged window by window,
   in long_pieces.c, and takes linear time if its windows stay small, as they do in texts. */

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
    /* Called regularly with the bytes done since the last call; true stops the work. */
    bool (*interrupted)(void *caller, size_t n_bytes);
    void *caller; /* the first argument of `interrupted` */
} workspace;

void workspace_free(workspace *space);

/* How neighbors join: by `rules` or, if that is NULL, by the rank of the token with their joined
   bytes. */
typedef struct {
    const rule_table *rules;
    const token_table *ranks;
    const symbol_set *symbols;
    uint32_t limit; /* only ranks below it count */
    /* A cache of 1 << PAIR_BITS results from `ranks`, by a hash of both neighbors; NULL with
       `rules`. */
    rule_slot *pairs;
} merges;

/* Merge a piece of `n` bytes, and append its tokens. Appends none unless it returns ENCODED. */
outcome merge_piece(const merges *merges, const uint8_t *piece, size_t n, workspace *space,
                    id_list *ids);

/* Between merge.c and long_pieces.c */

/* The arrays of a window: symbols that are merged together. */
typedef struct {
    uint32_t *ids;
    uint32_t *starts; /* the byte of the window where each symbol begins, and where the last ends */
    /* If there are many, they are a linked list. Entry i of the others belongs to the pair that
       begins at symbol i. */
    uint32_t *next;
    uint32_t *previous;
    uint32_t *ranks;
    uint32_t *tokens;
    uint64_t *heap; /* pairs, the next to merge first: rank << 32 | i */
    size_t n_heap;
} window;

/* Make room for `n` symbols in the workspace. Return false without memory. */
bool window_reserve(workspace *space, size_t n, window *window);

/* Merge the bytes from `begin` to `end` of a piece of `n` bytes. Leave the tokens and their starts
   in `window`, and return their number; -1 for an unknown symbol. */
Py_ssize_t merge_window(const merges *merges, const uint8_t *piece, size_t n, size_t begin,
                        size_t end, window *window);

outcome merge_long_piece(const merges *merges, const uint8_t *piece, size_t n, workspace *space,
                         id_list *ids);

#endif
