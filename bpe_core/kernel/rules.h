/* Merges as a hash table: two neighboring tokens -> the rank of their merge and the token it makes.

   Open addressing, at most three quarters full. Most look-ups of a merge loop find nothing; a
   filter of one bit per pair, small enough for the second cache, answers nearly all of them. If a
   pair has several merges, the first added is kept, since it has the lowest rank. Ids are below
   NO_TOKEN, ranks below NO_RANK. */

#ifndef BPESCOPE_RULES_H
#define BPESCOPE_RULES_H

#include "kernel.h"

#include <stdbool.h>
#include <stdint.h>

#define NO_RANK UINT32_MAX
#define NO_TOKEN ((uint32_t)0x7fffffff)

typedef struct {
    uint32_t rank;
    uint32_t token; /* the id of the token that the merge makes */
} merge_rule;

typedef struct {
    uint64_t pair; /* left << 32 | right */
    merge_rule rule;
} rule_slot;

typedef struct {
    rule_slot *slots; /* a slot whose rank is NO_RANK is empty */
    uint64_t *filter; /* bits, one of which is set for each pair in the table */
    int bits;         /* there are 1 << bits slots, and four bits of the filter for each */
    size_t n;         /* pairs */
} rule_table;

/* Make a table, empty or a copy, or add a merge. Return false without memory. */
bool rules_init(rule_table *table, size_t n_expected);
bool rules_copy(rule_table *table, const rule_table *from);
bool rules_add(rule_table *table, uint32_t left, uint32_t right, merge_rule rule);
void rules_free(rule_table *table);

static inline uint64_t rules_hash(uint64_t pair)
{
    pair *= 0x9e3779b97f4a7c15u;
    return (pair ^ pair >> 32) * 0xd6e8feb86659fd93u;
}

/* Return the merge of two neighbors; one with NO_RANK if there is none. */
static inline merge_rule rules_find(const rule_table *table, uint32_t left, uint32_t right)
{
    uint64_t pair = (uint64_t)left << 32 | right;
    uint64_t hash = rules_hash(pair);
    uint64_t bit = hash >> (62 - table->bits);
    bool may_be_known = table->filter[bit >> 6] >> (bit & 63) & 1;
    if (!may_be_known)
        return (merge_rule){NO_RANK, NO_TOKEN};
    size_t mask = ((size_t)1 << table->bits) - 1;
    for (size_t at = hash >> (64 - table->bits);; at = (at + 1) & mask) {
        const rule_slot *slot = &table->slots[at];
        if (slot->pair == pair || slot->rule.rank == NO_RANK)
            return slot->rule;
    }
}

#endif
