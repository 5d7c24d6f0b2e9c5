/* Tokens by their bytes: what a piece that is looked up whole becomes, and which neighbors join where ranks are known. */

#ifndef BPESCOPE_TOKENS_H
#define BPESCOPE_TOKENS_H

#include "rules.h"

typedef struct {
    size_t start; /* among the bytes of all */
    size_t n;
    uint32_t id, rank;
} token;

typedef struct {
    token *tokens;
    size_t n_tokens;
    uint8_t *bytes;
    size_t n_bytes;
    struct token_slot {
        uint32_t hash, index; /* the index of a token, plus one; 0 in an empty slot */
    } *slots;
    int bits; /* there are 1 << bits slots */
    size_t longest;
} token_table;

/* Room for so many tokens of so many bytes in all. */
bool tokens_init(token_table *table, size_t n_tokens, size_t n_bytes);
bool tokens_copy(token_table *table, const token_table *from);
void tokens_free(token_table *table);

/* Add a token for which there is room; of two with the same bytes the first is found. */
void tokens_add(token_table *table, const uint8_t *bytes, size_t n, uint32_t id, uint32_t rank);

/* The token of these bytes; NULL if there is none. */
const token *tokens_find(const token_table *table, const uint8_t *bytes, size_t n);

#endif
