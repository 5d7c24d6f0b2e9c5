/* Fill the table of merges. */

#include "rules.h"

#include <string.h>

#define LEAST_BITS 8
#define FILTER_BYTES(bits) ((size_t)1 << (bits) >> 1) /* four bits a slot */

static bool allocate(rule_table *table, int bits)
{
    size_t n_slots = (size_t)1 << bits;
    *table = (rule_table){PyMem_RawMalloc(n_slots * sizeof(rule_slot)),
                          PyMem_RawCalloc(1, FILTER_BYTES(bits)), bits, 0};
    if (!table->slots || !table->filter) {
        rules_free(table);
        return false;
    }
    memset(table->slots, 0xff, n_slots * sizeof(rule_slot));
    return true;
}

bool rules_init(rule_table *table, size_t n_expected)
{
    int bits = LEAST_BITS;
    while (bits < 40 && n_expected > ((size_t)3 << bits >> 2))
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

static void put(rule_table *table, uint64_t pair, merge_rule rule)
{
    uint64_t hash = rules_hash(pair), bit = hash >> (62 - table->bits);
    size_t mask = ((size_t)1 << table->bits) - 1, at = hash >> (64 - table->bits);
    while (table->slots[at].rule.rank != NO_RANK) {
        if (table->slots[at].pair == pair)
            return;
        at = (at + 1) & mask;
    }
    table->slots[at] = (rule_slot){pair, rule};
    table->filter[bit >> 6] |= (uint64_t)1 << (bit & 63);
    table->n++;
}

static bool grow(rule_table *table)
{
    rule_table larger;
    if (!allocate(&larger, table->bits + 1))
        return false;
    for (size_t at = 0; at < (size_t)1 << table->bits; at++)
        if (table->slots[at].rule.rank != NO_RANK)
            put(&larger, table->slots[at].pair, table->slots[at].rule);
    rules_free(table);
    *table = larger;
    return true;
}

bool rules_add(rule_table *table, uint32_t left, uint32_t right, merge_rule rule)
{
    if (table->n >= ((size_t)3 << table->bits >> 2) && !grow(table))
        return false;
    put(table, (uint64_t)left << 32 | right, rule);
    return true;
}
