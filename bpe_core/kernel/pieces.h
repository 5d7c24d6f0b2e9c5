/* Counts of the pieces of a corpus, in the order in which they first appear: how often each occurs,
   and in how many documents.

   A hash table with open addressing, at most half full, finds a piece by its bytes. */

#ifndef BPESCOPE_PIECES_H
#define BPESCOPE_PIECES_H

#include <stdint.h>

#include "keys.h"
#include "vector.h"

#define MANY_DOCUMENTS (1u << 31) /* document numbers are below it */

typedef struct {
    key key;        /* of its bytes; for a long piece, `low` is their offset in the table's bytes */
    uint64_t count; /* how often it occurs, with weights */
    uint32_t
        first; /* its first document; MANY_DOCUMENTS | their number unless it is in one or two */
    uint32_t last; /* its last document */
} piece;

typedef struct {
    VECTOR(piece) pieces;
    VECTOR(uint8_t) bytes; /* of long pieces */
    /* Half of a piece's hash << 32 | its number + 1; 0 in an empty slot. */
    VECTOR(uint64_t) table;
    uint64_t n_counted; /* pieces, with repetition and without weights */
} piece_table;

static inline size_t length_of(const piece *piece)
{
    size_t n = piece->key.high >> LENGTH_SHIFT & 255;
    return n <= INLINE_BYTES ? n : (size_t)(piece->key.high >> 8 & UINT64_MAX >> 16);
}

static inline uint32_t n_documents(const piece *piece)
{
    if (piece->first & MANY_DOCUMENTS)
        return piece->first & ~MANY_DOCUMENTS;
    return piece->first < piece->last ? 2 : 1;
}

static inline const uint8_t *bytes_of(const piece_table *table, const piece *piece)
{
    if (length_of(piece) <= INLINE_BYTES)
        return (const uint8_t *)&piece->key;
    return table->bytes.items + piece->key.low;
}

/* Return a hash of the bytes of a piece. `bytes` has those of a long piece. */
static inline uint64_t hash_of_piece(const piece *piece, const uint8_t *bytes)
{
    size_t n = length_of(piece);
    return key_hash(n <= INLINE_BYTES ? piece->key : key_of(bytes + piece->key.low, n, n));
}

/* Return the key of a piece of a text of `n` bytes, as in a table whose `bytes` are the text. */
static inline key key_in(const uint8_t *text, size_t n, size_t begin, size_t end)
{
    key key = key_of(text + begin, end - begin, n - begin);
    if (end - begin > INLINE_BYTES)
        key.low = begin;
    return key;
}

/* Add the counts of `n` pieces, multiplied by `weight`. `bytes` has the bytes of the long pieces.
   Their document 0 is number `document` here. It comes after all documents in the table, or is the
   last of them and the only document of `from`. Write into `is_new`, unless it is NULL, whether
   each piece is new. Return false without memory, or if a count is too large. */
bool append_pieces(piece_table *table, const piece *from, size_t n, const uint8_t *bytes,
                   uint32_t document, uint64_t weight, char *is_new);

void free_pieces(piece_table *table);

/* Return the table of a PieceTable. No other thread may use it until give_back_pieces. NULL with an
   exception for another type, or if it is in use. */
piece_table *lend_pieces(const kernel_state *state, PyObject *object);
void give_back_pieces(PyObject *object);

#endif
