/* Fill the table of tokens. */

#include "tokens.h"

#define FILTER_BYTES(bits) ((size_t)1 << (bits))

static bool allocate(token_table *table, int bits)
{
    *table = (token_table){.bits = bits};
    table->slots = PyMem_RawCalloc((size_t)1 << bits, sizeof *table->slots);
    table->filter = PyMem_RawCalloc(1, FILTER_BYTES(bits));
    if (!table->slots || !table->filter) {
        tokens_free(table);
        return false;
    }
    prefer_large_pages(table->slots, sizeof *table->slots << bits);
    return true;
}

bool tokens_init(token_table *table, size_t n_tokens)
{
    int bits = 6;
    while (bits < 40 && n_tokens > ((size_t)7 << bits >> 3))
        bits++;
    return allocate(table, bits);
}

bool tokens_copy(token_table *table, const token_table *from)
{
    if (!allocate(table, from->bits) || !ROOM(table->bytes, from->bytes.n))
        return false;
    table->n = from->n;
    table->longest = from->longest;
    memcpy(table->slots, from->slots, sizeof *from->slots << from->bits);
    memcpy(table->filter, from->filter, FILTER_BYTES(from->bits));
    if (from->bytes.n)
        memcpy(table->bytes.items, from->bytes.items, from->bytes.n);
    table->bytes.n = from->bytes.n;
    return true;
}

void tokens_free(token_table *table)
{
    PyMem_RawFree(table->bytes.items);
    PyMem_RawFree(table->slots);
    PyMem_RawFree(table->filter);
    *table = (token_table){0};
}

bool tokens_add(token_table *table, const uint8_t *bytes, size_t n, merge_rule rule)
{
    key key = key_of(bytes, n, n);
    uint64_t hash = key_hash(key), bit = hash >> (61 - table->bits);
    size_t mask = ((size_t)1 << table->bits) - 1, at = hash >> (64 - table->bits),
           n_apart = n > INLINE_BYTES ? n : 0;
    for (; table->slots[at].key.high; at = (at + 1) & mask)
        if (is_token(table, &table->slots[at], key, bytes, n))
            return true;
    if (!n)
        return true; /* the key of no bytes marks an empty slot */
    if (table->n >= (size_t)7 << table->bits >> 3 || !ROOM(table->bytes, n_apart))
        return false;
    table->n++;
    table->slots[at] = (token_slot){key, rule, table->bytes.n};
    table->filter[bit >> 6] |= (uint64_t)1 << (bit & 63);
    table->longest = n > table->longest ? n : table->longest;
    if (n_apart)
        memcpy(table->bytes.items + table->bytes.n, bytes, n_apart);
    table->bytes.n += n_apart;
    return true;
}
