/* The table of pieces: find a piece by its bytes, and add another table. */

#include "pieces.h"

enum {
    FIRST_SLOTS = 1 << 12,
    AT_ONCE = 256, /* pieces whose slots are prefetched together */
};

/* Replace the table by one four times as large. Return false without memory. */
static bool grow_table(piece_table *t)
{
    size_t size = t->table.n ? 4 * t->table.n : FIRST_SLOTS;
    size_t mask = size - 1;
    if (size > SIZE_MAX / 2 / sizeof *t->table.items)
        return false;
    uint64_t *table = PyMem_RawCalloc(size, sizeof *table);
    if (!table)
        return false;
    prefer_large_pages(table, size * sizeof *table);
    for (size_t old = 0; old < t->table.n; old++) {
        uint64_t entry = t->table.items[old];
        if (!entry)
            continue;
        size_t slot = (entry >> 32) & mask;
        while (table[slot])
            slot = (slot + 1) & mask;
        table[slot] = entry;
    }
    PyMem_RawFree(t->table.items);
    t->table.items = table;
    t->table.n = size;
    t->table.capacity = size;
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

/* Whether a piece of the table has the bytes of `other`, of which `n_long_bytes` are in `bytes`. */
static inline bool same_bytes(const piece_table *t, const piece *known, const piece *other,
                              const uint8_t *bytes, size_t n_long_bytes)
{
    if (known->key.high != other->key.high)
        return false;
    if (!n_long_bytes)
        return known->key.low == other->key.low;
    return !memcmp(t->bytes.items + known->key.low, bytes + other->key.low, n_long_bytes);
}

/* Return the piece with the bytes of `from`, after adding it if it is new; NULL without memory.
   expect_pieces has made room in the table. */
static piece *piece_of(piece_table *t, const piece *from, const uint8_t *bytes, uint64_t hash)
{
    size_t n_long_bytes = length_of(from) > INLINE_BYTES ? length_of(from) : 0;
    size_t mask = t->table.n - 1;
    size_t slot = hash >> 32 & mask;
    for (; t->table.items[slot]; slot = (slot + 1) & mask) {
        uint64_t entry = t->table.items[slot];
        piece *known = &t->pieces.items[(uint32_t)entry - 1];
        if (entry >> 32 == hash >> 32 && same_bytes(t, known, from, bytes, n_long_bytes))
            return known;
    }
    bool is_full = t->pieces.n == UINT32_MAX - 1;
    if (is_full || !ROOM(t->pieces, 1) || !ROOM(t->bytes, n_long_bytes))
        return NULL;
    piece *new = &t->pieces.items[t->pieces.n++];
    *new = (piece){from->key, 0, MANY_DOCUMENTS, UINT32_MAX}; /* in 0 documents */
    if (n_long_bytes) {
        memcpy(t->bytes.items + t->bytes.n, bytes + from->key.low, n_long_bytes);
        new->key.low = t->bytes.n;
        t->bytes.n += n_long_bytes;
    }
    t->table.items[slot] = hash >> 32 << 32 | t->pieces.n;
    return new;
}

/* Note that a piece is in a document, which comes after those noted before or is the last one. */
static void note_document(piece *piece, uint32_t document)
{
    if (piece->last == document)
        return;
    uint32_t n_before = n_documents(piece);
    piece->last = document;
    if (n_before == 0)
        piece->first = document;
    else if (n_before > 1)
        piece->first = MANY_DOCUMENTS | (n_before + 1);
}

/* Note that a piece is in the documents in which `from` is, whose document 0 is `document`. */
static void note_documents_of(piece *to, const piece *from, uint32_t document)
{
    if (n_documents(from) <= 2) {
        note_document(to, document + from->first);
        note_document(to, document + from->last);
    } else {
        to->first = MANY_DOCUMENTS | (n_documents(to) + n_documents(from));
        to->last = document + from->last;
    }
}

bool append_pieces(piece_table *t, const piece *from, size_t n, const uint8_t *bytes,
                   uint32_t document, uint64_t weight, char *is_new)
{
    uint64_t hashes[AT_ONCE];
    uint64_t largest_count = UINT64_MAX / weight;
    for (size_t i = 0; i < n; i++, from++) {
        if (i % AT_ONCE == 0) {
            size_t n_next = n - i < AT_ONCE ? n - i : AT_ONCE;
            if (!expect_pieces(t, from, n_next, bytes, hashes))
                return false;
        }
        piece *to = piece_of(t, from, bytes, hashes[i % AT_ONCE]);
        if (!to || from->count > largest_count || from->count * weight > UINT64_MAX - to->count)
            return false;
        if (is_new)
            is_new[i] = !n_documents(to);
        to->count += from->count * weight;
        note_documents_of(to, from, document);
    }
    return true;
}

void free_pieces(piece_table *t)
{
    PyMem_RawFree(t->pieces.items);
    PyMem_RawFree(t->bytes.items);
    PyMem_RawFree(t->table.items);
}
