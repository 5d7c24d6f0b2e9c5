/* The table of pieces: finding one by its bytes, and taking in another table. */

#include "pieces.h"

typedef struct {
    uint64_t word; /* the bytes of a piece of at most 8, in the order of memory, and zeros */
    uint32_t hash;
} piece_key;

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

static piece_key key_of_piece(const uint8_t *bytes, size_t n, size_t n_readable)
{
    static const uint8_t ones[16] = {255, 255, 255, 255, 255, 255, 255, 255};
    uint64_t word = 0, mask, hash = n;
    size_t left = n;
    for (; left > sizeof word; bytes += sizeof word, left -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = mix(hash, word);
    }
    if (n > sizeof word) {
        memcpy(&word, bytes + left - sizeof word, sizeof word);
    } else if (n_readable >= sizeof word) {
        memcpy(&word, bytes, sizeof word); /* a copy of unknown length would cost more than all the rest */
        memcpy(&mask, ones + sizeof word - n, sizeof mask);
        word &= mask;
    } else {
        memcpy(&word, bytes, n);
    }
    hash = mix(hash, word);
    return (piece_key){word, (uint32_t)(hash ^ hash >> 29)};
}

static bool is_piece(const piece_table *t, const piece *piece, piece_key key, const uint8_t *bytes, size_t n)
{
    uint64_t word;
    if (piece->length != n)
        return false;
    memcpy(&word, piece->head, sizeof word);
    return n <= sizeof word ? word == key.word : !memcmp(bytes_of(t, piece), bytes, n);
}

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

/* A new piece, which the table does not lead to yet; NULL without memory. */
static piece *add_piece(piece_table *t, const uint8_t *bytes, size_t n)
{
    bool is_long = n > HEAD;
    if (t->pieces.n == UINT32_MAX - 1 || !ROOM(t->pieces, 1) || !ROOM(t->bytes, is_long ? n : 0))
        return NULL;
    piece *new = &t->pieces.items[t->pieces.n++];
    *new = (piece){.length = n, .start = t->bytes.n, .first = NO_DOCUMENT, .second = NO_DOCUMENT};
    memcpy(is_long ? t->bytes.items + t->bytes.n : new->head, bytes, n);
    t->bytes.n += is_long ? n : 0;
    return new;
}

/* The piece of these bytes, added if it is not there; NULL without memory. */
static piece *piece_of_bytes(piece_table *t, const uint8_t *bytes, size_t n, size_t n_readable)
{
    if (t->pieces.n >= t->table.n / 2 && !grow_table(t))
        return NULL;
    piece_key key = key_of_piece(bytes, n, n_readable);
    size_t mask = t->table.n - 1, slot = key.hash & mask;
    for (uint64_t entry; (entry = t->table.items[slot]); slot = (slot + 1) & mask) {
        piece *piece = &t->pieces.items[(uint32_t)entry - 1];
        if (entry >> 32 == key.hash && is_piece(t, piece, key, bytes, n))
            return piece;
    }
    piece *new = add_piece(t, bytes, n);
    if (new)
        t->table.items[slot] = (uint64_t)key.hash << 32 | t->pieces.n;
    return new;
}

static void note_document(piece *piece, uint32_t document)
{
    if (piece->first == NO_DOCUMENT)
        piece->first = document;
    else if (piece->first != document && piece->second != document && piece->second != MANY_DOCUMENTS)
        piece->second = piece->second == NO_DOCUMENT ? document : MANY_DOCUMENTS;
}

bool count_piece(piece_table *t, const uint8_t *bytes, size_t n, size_t n_readable)
{
    piece *piece = piece_of_bytes(t, bytes, n, n_readable);
    if (!piece)
        return false;
    piece->count++;
    t->n_counted++;
    note_document(piece, t->n_documents);
    return true;
}

bool append_pieces(piece_table *t, const piece_table *other, size_t first, size_t last, uint32_t document)
{
    for (size_t number = first; number < last; number++) {
        const piece *from = &other->pieces.items[number];
        piece *to = piece_of_bytes(t, bytes_of(other, from), from->length, from->length < HEAD ? HEAD : from->length);
        if (!to)
            return false;
        to->count += from->count;
        t->n_counted += from->count;
        note_document(to, document + from->first);
        if (from->second == MANY_DOCUMENTS)
            to->second = MANY_DOCUMENTS;
        else if (from->second != NO_DOCUMENT)
            note_document(to, document + from->second);
    }
    return true;
}

void free_pieces(piece_table *t)
{
    PyMem_RawFree(t->pieces.items);
    PyMem_RawFree(t->bytes.items);
    PyMem_RawFree(t->table.items);
}
