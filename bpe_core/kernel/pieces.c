/* The table of pieces: find a piece by its bytes, and add another table. */

#include "pieces.h"

static bool grow_table(piece_table *t)
{
    size_t size = t->table.n ? 4 * t->table.n : 1 << 12;
    uint64_t *table =
        size > SIZE_MAX / 2 / sizeof *table ? NULL : PyMem_RawCalloc(size, sizeof *table);
    if (!table)
        return false;
    prefer_large_pages(table, size * sizeof *table);
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

/* Make room for the next pieces, write their hashes, and prefetch their slots: memory is slow, but
   it answers many requests at once. Return false without memory. */
static bool expect_pieces(piece_table *t, const piece *pieces, size_t n, const uint8_t *bytes,
                          uint64_t *hashes)
{
    while (t->pieces.n + n > t->table.n / 2)
        if (!grow_table(t))
            return false;
    size_t mask = t->table.n - 1;
    for (size_t i = 0; i < n; i++) {
        hashes[i] = hash_of_piece(&pieces[i], bytes);
        FETCH(&t->table.items[hashes[i] >> 32 & mask]);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t number = (uint32_t)t->table.items[hashes[i] >> 32 & mask];
        if (number)
            FETCH(&t->pieces.items[number - 1]);
    }
    return true;
}

/* Return the piece with the bytes of `from`, after adding it if it is new; NULL without memory.
   expect_pieces has made room in the table. */
static piece *piece_of(piece_table *t, const piece *from, const uint8_t *bytes, uint64_t hash)
{
    size_t mask = t->table.n - 1, slot = hash >> 32 & mask,
           n_long_bytes = length_of(from) > INLINE_BYTES ? length_of(from) : 0;
    for (uint64_t entry; (entry = t->table.items[slot]); slot = (slot + 1) & mask) {
        piece *piece = &t->pieces.items[(uint32_t)entry - 1];
        if (entry >> 32 != hash >> 32 || piece->key.high != from->key.high)
            continue;
        if (n_long_bytes
                ? !memcmp(t->bytes.items + piece->key.low, bytes + from->key.low, n_long_bytes)
                : piece->key.low == from->key.low)
            return piece;
    }
    if (t->pieces.n == UINT32_MAX - 1 || !ROOM(t->pieces, 1) || !ROOM(t->bytes, n_long_bytes))
        return NULL;
    piece *new = &t->pieces.items[t->pieces.n++];
    *new = (piece){from->key, 0, MANY_DOCUMENTS, UINT32_MAX};
    if (n_long_bytes) {
        memcpy(t->bytes.items + t->bytes.n, bytes + from->key.low, n_long_bytes);
        new->key.low = t->bytes.n;
        t->bytes.n += n_long_bytes;
    }
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

bool append_pieces(piece_table *t, const piece *from, size_t n, const uint8_t *bytes,
                   uint32_t document, uint64_t weight, char *is_new)
{
    uint64_t hashes[256], most = UINT64_MAX / weight;
    const size_t at_once = sizeof hashes / sizeof *hashes;
    for (size_t i = 0; i < n; i++, from++) {
        if (i % at_once == 0 &&
            !expect_pieces(t, from, n - i < at_once ? n - i : at_once, bytes, hashes))
            return false;
        piece *to = piece_of(t, from, bytes, hashes[i % at_once]);
        if (!to || from->count > most || from->count * weight > UINT64_MAX - to->count)
            return false;
        if (is_new)
            is_new[i] = !n_documents(to);
        to->count += from->count * weight;
        if (n_documents(from) <= 2) {
            note_document(to, document + from->first);
            note_document(to, document + from->last);
        } else {
            to->first = MANY_DOCUMENTS | (n_documents(to) + n_documents(from));
            to->last = document + from->last;
        }
    }
    return true;
}

void free_pieces(piece_table *t)
{
    PyMem_RawFree(t->pieces.items);
    PyMem_RawFree(t->bytes.items);
    PyMem_RawFree(t->table.items);
}
