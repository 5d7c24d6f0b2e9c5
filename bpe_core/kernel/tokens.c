/* Fill the table of tokens. tokens.h has the look-up, so that the merge loop can inline it. */

#include "tokens.h"

#define LEAST_BITS 6
#define MOST_BITS 40
#define FILTER_BYTES(bits) ((size_t)1 << (bits))     /* eight bits a slot */
#define MOST_TOKENS(bits) ((size_t)7 << (bits) >> 3) /* seven eighths of the slots */

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
    int bits = LEAST_BITS;
    while (bits < MOST_BITS && n_tokens > MOST_TOKENS(bits))
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
    if (!n)
        return true; /* the key of no bytes marks an empty slot */
    key key = key_of(bytes, n, n);
    uint64_t hash = key_hash(key);
    size_t mask = ((size_t)1 << table->bits) - 1;
    size_t at = hash >> (64 - table->bits);
    for (; table->slots[at].key.high; at = (at + 1) & mask)
        if (is_token(table, &table->slots[at], key, bytes, n))
            return true;
    size_t n_long_bytes = n > INLINE_BYTES ? n : 0;
    if (table->n >= MOST_TOKENS(table->bits) || !ROOM(table->bytes, n_long_bytes))
        return false;
    table->slots[at] = (token_slot){key, rule, table->bytes.n};
    uint64_t bit = hash >> (61 - table->bits);
    table->filter[bit >> 6] |= (uint64_t)1 << (bit & 63);
    table->n++;
    if (n > table->longest)
        table->longest = n;
    if (n_long_bytes)
        memcpy(table->bytes.items + table->bytes.n, bytes, n_long_bytes);
    table->bytes.n += n_long_bytes;
    return true;
}
