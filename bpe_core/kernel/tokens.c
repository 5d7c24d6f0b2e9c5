/* The table of tokens by their bytes. */

#include "tokens.h"

#include "piece_cache.h"

static bool allocate(token_table *table, size_t n_tokens, size_t n_bytes, int bits)
{
    *table = (token_table){.bits = bits};
    table->tokens = PyMem_RawCalloc(n_tokens + 1, sizeof *table->tokens);
    table->bytes = PyMem_RawMalloc(n_bytes + 1);
    table->slots = PyMem_RawCalloc((size_t)1 << bits, sizeof *table->slots);
    if (table->tokens && table->bytes && table->slots)
        return true;
    tokens_free(table);
    return false;
}

bool tokens_init(token_table *table, size_t n_tokens, size_t n_bytes)
{
    int bits = 4;
    while ((size_t)1 << bits < 2 * n_tokens)
        bits++;
    return allocate(table, n_tokens, n_bytes, bits);
}

bool tokens_copy(token_table *table, const token_table *from)
{
    if (!allocate(table, from->n_tokens, from->n_bytes, from->bits))
        return false;
    table->n_tokens = from->n_tokens;
    table->n_bytes = from->n_bytes;
    table->longest = from->longest;
    memcpy(table->tokens, from->tokens, from->n_tokens * sizeof *from->tokens);
    memcpy(table->bytes, from->bytes, from->n_bytes);
    memcpy(table->slots, from->slots, sizeof *from->slots << from->bits);
    return true;
}

void tokens_free(token_table *table)
{
    PyMem_RawFree(table->tokens);
    PyMem_RawFree(table->bytes);
    PyMem_RawFree(table->slots);
    *table = (token_table){0};
}

/* The slot of these bytes, or the empty one where they would stand. */
static struct token_slot *slot_of(const token_table *table, const uint8_t *bytes, size_t n, uint64_t hash)
{
    size_t mask = ((size_t)1 << table->bits) - 1;
    for (size_t at = hash >> (64 - table->bits);; at = (at + 1) & mask) {
        struct token_slot *slot = &table->slots[at];
        if (!slot->index)
            return slot;
        const token *token = &table->tokens[slot->index - 1];
        if (slot->hash == (uint32_t)hash && token->n == n && !memcmp(table->bytes + token->start, bytes, n))
            return slot;
    }
}

void tokens_add(token_table *table, const uint8_t *bytes, size_t n, uint32_t id, uint32_t rank)
{
    uint64_t hash = hash_of(bytes, n);
    struct token_slot *slot = slot_of(table, bytes, n, hash);
    if (slot->index)
        return;
    memcpy(table->bytes + table->n_bytes, bytes, n);
    table->tokens[table->n_tokens++] = (token){table->n_bytes, n, id, rank};
    table->n_bytes += n;
    table->longest = n > table->longest ? n : table->longest;
    *slot = (struct token_slot){(uint32_t)hash, (uint32_t)table->n_tokens};
}

const token *tokens_find(const token_table *table, const uint8_t *bytes, size_t n)
{
    if (!n || n > table->longest)
        return NULL;
    const struct token_slot *slot = slot_of(table, bytes, n, hash_of(bytes, n));
    return slot->index ? &table->tokens[slot->index - 1] : NULL;
}
