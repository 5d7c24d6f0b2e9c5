/* Fill the table of merges. rules.h has the look-up, so that the merge loop can inline it. */

#include "rules.h"

#include <string.h>

#define LEAST_BITS 8
#define MOST_BITS 40
#define FILTER_BYTES(bits) ((size_t)1 << (bits) >> 1) /* four bits a slot */
#define MOST_PAIRS(bits) ((size_t)3 << (bits) >> 2)   /* three quarters of the slots */

static bool allocate(rule_table *table, int bits)
{
    size_t n_slots = (size_t)1 << bits;
    *table = (rule_table){.bits = bits};
    table->slots = PyMem_RawMalloc(n_slots * sizeof(rule_slot));
    table->filter = PyMem_RawCalloc(1, FILTER_BYTES(bits));
    if (!table->slots || !table->filter) {
        rules_free(table);
        return false;
    }
    memset(table->slots, 0xff, n_slots * sizeof(rule_slot)); /* every rank is NO_RANK */
    return true;
}

bool rules_init(rule_table *table, size_t n_expected)
{
    int bits = LEAST_BITS;
    while (bits < MOST_BITS && n_expected > MOST_PAIRS(bits))
        bits++;
    return allocate(table, bits);
}

bool rules_copy(rule_table *table, const rule_table *from)
{
    if (!allocate(table, from->bits))
        return false;
    table->n = from->n;
    memcpy(table->slots, from->slots, sizeof(rule_slot) << from->bits);
    memcpy(table->filter, from->filter, FILTER_BYTES(from->bits));
    return true;
}

void rules_free(rule_table *table)
{
    PyMem_RawFree(table->slots);
    PyMem_RawFree(table->filter);
    *table = (rule_table){0};
}

/* Add a merge to a table with a free slot, unless its pair has one already. */
static void put(rule_table *table, uint64_t pair, merge_rule rule)
{
    uint64_t hash = rules_hash(pair);
    size_t mask = ((size_t)1 << table->bits) - 1;
    size_t at = hash >> (64 - table->bits);
    while (table->slots[at].rule.rank != NO_RANK) {
        if (table->slots[at].pair == pair)
            return;
        at = (at + 1) & mask;
    }
    table->slots[at] = (rule_slot){pair, rule};
    uint64_t bit = hash >> (62 - table->bits);
    table->filter[bit >> 6] |= (uint64_t)1 << (bit & 63);
    table->n++;
}

static bool grow(rule_table *table)
{
    rule_table larger;
    if (!allocate(&larger, table->bits + 1))
        return false;
    size_t n_slots = (size_t)1 << table->bits;
    for (size_t at = 0; at < n_slots; at++) {
        const rule_slot *slot = &table->slots[at];
        if (slot->rule.rank != NO_RANK)
            put(&larger, slot->pair, slot->rule);
    }
    rules_free(table);
    *table = larger;
    return true;
}

bool rules_add(rule_table *table, uint32_t left, uint32_t right, merge_rule rule)
{
    if (table->n >= MOST_PAIRS(table->bits) && !grow(table))
        return false;
    put(table, (uint64_t)left << 32 | right, rule);
    return true;
}
