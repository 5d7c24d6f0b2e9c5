/* The table of tokens by their bytes: how it is filled. */

#include "tokens.h"

#define FILTER_BYTES(bits) ((size_t)1 << (bits))

static bool allocate(token_table *table, size_t n_bytes, int bits)
{
    *table = (token_table){.bits = bits};
    table->bytes = PyMem_RawMalloc(n_bytes + 1);
    table->slots = PyMem_RawCalloc((size_t)1 << bits, sizeof *table->slots);
    table->filter = PyMem_RawCalloc(1, FILTER_BYTES(bits));
    if (!table->bytes || !table->slots || !table->filter) {
        tokens_free(table);
        return false;
    }
    prefer_large_pages(table->slots, sizeof *table->slots << bits);
    return true;
}

bool tokens_init(token_table *table, size_t n_tokens, size_t n_bytes)
{
    int bits = 6;
    while (bits < 40 && n_tokens > ((size_t)7 << bits >> 3))
        bits++;
    return allocate(table, n_bytes, bits);
}

bool tokens_copy(token_table *table, const token_table *from)
{
    if (!allocate(table, from->n_bytes, from->bits))
        return false;
    table->n = from->n;
    table->n_bytes = from->n_bytes;
    table->longest = from->longest;
    memcpy(table->bytes, from->bytes, from->n_bytes);
    memcpy(table->slots, from->slots, sizeof *from->slots << from->bits);
    memcpy(table->filter, from->filter, FILTER_BYTES(from->bits));
    return true;
}

void tokens_free(token_table *table)
{
    PyMem_RawFree(table->bytes);
    PyMem_RawFree(table->slots);
    PyMem_RawFree(table->filter);
    *table = (token_table){0};
}

void tokens_add(token_table *table, const uint8_t *bytes, size_t n, merge_rule rule)
{
    key key = key_of(bytes, n, n);
    uint64_t hash = key_hash(key), bit = hash >> (61 - table->bits);
    size_t mask = ((size_t)1 << table->bits) - 1, at = hash >> (64 - table->bits);
    if (!n)
        return;
    table->longest = n > table->longest ? n : table->longest;
    if (tokens_find(table, bytes, n, n).rank != NO_RANK)
        return;
    while (table->slots[at].key.high)
        at = (at + 1) & mask;
    table->slots[at] = (token_slot){key, rule, table->n_bytes};
    table->filter[bit >> 6] |= (uint64_t)1 << (bit & 63);
    table->n++;
    if (n > INLINE_BYTES) {
        memcpy(table->bytes + table->n_bytes, bytes, n);
        table->n_bytes += n;
    }
}
