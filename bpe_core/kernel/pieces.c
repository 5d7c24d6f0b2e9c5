/* The table of pieces: finding one by its bytes, and taking in another table. */

#include "pieces.h"

static bool grow_table(piece_table *t)
{
    size_t size = t->table.n ? 4 * t->table.n : 1 << 12;
    uint64_t *table = size > SIZE_MAX / 2 / sizeof *table ? NULL : PyMem_RawCalloc(size, sizeof *table);
    if (!table)
        return false;
    for (size_t old = 0; old < t->table.n; old++) {
        uint64_t entry = t->table.items[old];
        size_t slot = (entry >> 32) & (size - 1);
        while (entry && table[slot])
            slot = (slot + 1) & (size - 1);
        if (entry)
            table[slot] = entry;
    }
    PyMem_RawFree(t->table.items);
    t->table.items = table;
    t->table.n = t->table.capacity = size;
    return true;
}

static bool is_piece(const piece_table *t, const piece *piece, key key, const uint8_t *bytes, size_t n)
{
    if (piece->key.high != key.high)
        return false;
    return n <= INLINE_BYTES ? piece->key.low == key.low : !memcmp(t->bytes.items + piece->key.low, bytes, n);
}

/* A new piece, which the table does not lead to yet; NULL without memory. */
static piece *add_piece(piece_table *t, key key, const uint8_t *bytes, size_t n)
{
    size_t n_apart = n <= INLINE_BYTES ? 0 : n;
    if (t->pieces.n == UINT32_MAX - 1 || !ROOM(t->pieces, 1) || !ROOM(t->bytes, n_apart))
        return NULL;
    if (n_apart) {
        memcpy(t->bytes.items + t->bytes.n, bytes, n);
        key.low = t->bytes.n;
        t->bytes.n += n;
    }
    piece *new = &t->pieces.items[t->pieces.n++];
    *new = (piece){key, 0, MANY_DOCUMENTS, UINT32_MAX};
    return new;
}

/* The piece of these bytes, added if it is not there; NULL without memory. */
static piece *piece_of_bytes(piece_table *t, const uint8_t *bytes, size_t n, size_t n_readable)
{
    if (t->pieces.n >= t->table.n / 2 && !grow_table(t))
        return NULL;
    key key = key_of(bytes, n, n_readable);
    uint64_t hash = key_hash(key);
    size_t mask = t->table.n - 1, slot = hash >> 32 & mask;
    for (uint64_t entry; (entry = t->table.items[slot]); slot = (slot + 1) & mask) {
        piece *piece = &t->pieces.items[(uint32_t)entry - 1];
        if (entry >> 32 == hash >> 32 && is_piece(t, piece, key, bytes, n))
            return piece;
    }
    piece *new = add_piece(t, key, bytes, n);
    if (new)
        t->table.items[slot] = hash >> 32 << 32 | t->pieces.n;
    return new;
}

static void note_document(piece *piece, uint32_t document)
{
    if (piece->last == document)
        return;
    uint32_t n = n_documents(piece);
    piece->last = document;
    if (n != 1)
        piece->first = n ? MANY_DOCUMENTS | (n + 1) : document;
}

bool count_piece(piece_table *t, const uint8_t *bytes, size_t n, size_t n_readable, uint32_t document)
{
    piece *piece = piece_of_bytes(t, bytes, n, n_readable);
    if (!piece)
        return false;
    piece->count++;
    t->n_counted++;
    note_document(piece, document);
    return true;
}

bool append_piece(piece_table *t, const piece *from, const uint8_t *bytes, size_t n, size_t n_readable,
                  uint32_t document, uint64_t weight)
{
    piece *to = piece_of_bytes(t, bytes, n, n_readable);
    if (!to || from->count > (UINT64_MAX - to->count) / weight)
        return false;
    to->count += from->count * weight;
    if (n_documents(from) <= 2) {
        note_document(to, document + from->first);
        note_document(to, document + from->last);
    } else {
        to->first = MANY_DOCUMENTS | (n_documents(to) + n_documents(from));
        to->last = document + from->last;
    }
    return true;
}

void free_pieces(piece_table *t)
{
    PyMem_RawFree(t->pieces.items);
    PyMem_RawFree(t->bytes.items);
    PyMem_RawFree(t->table.items);
}
