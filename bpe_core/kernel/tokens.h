/* A hash table from the bytes of tokens to their ids and ranks, for whole pieces and for merging by
   ranks.

   A slot holds the bytes of a token of up to INLINE_BYTES; of a longer one, their hash and their
   offset in `bytes`. As for rules, a filter with a few bits for each slot answers most look-ups
   that find nothing. */

#ifndef BPESCOPE_TOKENS_H
#define BPESCOPE_TOKENS_H

#include "keys.h"
#include "rules.h"
#include "vector.h"

typedef struct {
    key key;         /* all 0 in an empty slot */
    merge_rule rule; /* the rank and the id of the token */
    uint64_t start;  /* of a long token, its offset in `bytes` */
} token_slot;

typedef struct {
    token_slot *slots;     /* NULL for a table without any tokens */
    uint64_t *filter;      /* bits, one of which is set for each token in the table */
    int bits;              /* there are 1 << bits slots, and eight bits of the filter for each */
    size_t n;              /* tokens */
    size_t longest;        /* bytes of the longest token */
    VECTOR(uint8_t) bytes; /* of long tokens */
} token_table;

bool tokens_init(token_table *table, size_t n_tokens); /* with room for `n_tokens` */
bool tokens_copy(token_table *table, const token_table *from);
void tokens_free(token_table *table);

/* Add a token. The first of two tokens with the same bytes is kept. Return false without room. */
bool tokens_add(token_table *table, const uint8_t *bytes, size_t n, merge_rule rule);

static inline bool is_token(const token_table *table, const token_slot *slot, key key,
                            const uint8_t *bytes, size_t n)
{
    return same_key(slot->key, key) &&
           (n <= INLINE_BYTES || !memcmp(table->bytes.items + slot->start, bytes, n));
}

/* Return the rank and the id of the token with these `n` bytes; NO_RANK if there is none.
   `n_readable` bytes may be read. */
static inline merge_rule tokens_find(const token_table *table, const uint8_t *bytes, size_t n,
                                     size_t n_readable)
{
    const merge_rule none = {NO_RANK, NO_TOKEN};
    if (n > table->longest)
        return none;
    key key = key_of(bytes, n, n_readable);
    uint64_t hash = key_hash(key);
    size_t home = hash >> (64 - table->bits);
    FETCH(&table->slots[home]); /* most look-ups need it */
    uint64_t bit = hash >> (61 - table->bits);
    bool may_be_known = table->filter[bit >> 6] >> (bit & 63) & 1;
    if (!may_be_known)
        return none;
    size_t mask = ((size_t)1 << table->bits) - 1;
    for (size_t at = home;; at = (at + 1) & mask) {
        const token_slot *slot = &table->slots[at];
        if (!slot->key.high)
            return none;
        if (is_token(table, slot, key, bytes, n))
            return slot->rule;
    }
}

#endif
