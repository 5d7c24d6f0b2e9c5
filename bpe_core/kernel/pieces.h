/* How often each piece of a corpus occurs, in the order in which they first appear, and in how many
   documents.

   A table of open addressing, at most half full, leads from a hash to a piece. */

#ifndef BPESCOPE_PIECES_H
#define BPESCOPE_PIECES_H

#include <stdint.h>

#include "keys.h"
#include "vector.h"

#define MANY_DOCUMENTS (1u << 31) /* no document has so large a number */

typedef struct {
    key key; /* of its bytes; if there are more than INLINE_BYTES, `low` is where they begin in the
                table's */
    uint64_t count;
    uint32_t first,
        last; /* documents; `first` is MANY_DOCUMENTS and how many, if that is not one or two */
} piece;

typedef struct {
    VECTOR(piece) pieces;
    VECTOR(uint8_t) bytes; /* of long pieces */
    VECTOR(uint64_t)
    table; /* half of a piece's hash in the upper half, its number + 1 in the lower one */
    uint64_t n_counted; /* pieces, with repetition and without weights */
} piece_table;

static inline size_t length_of(const piece *piece)
{
    size_t n = piece->key.high >> LENGTH_SHIFT & 255;
    return n <= INLINE_BYTES ? n : (size_t)(piece->key.high >> 8 & UINT64_MAX >> 16);
}

static inline uint32_t n_documents(const piece *piece)
{
    return piece->first & MANY_DOCUMENTS ? piece->first & ~MANY_DOCUMENTS
                                         : 1 + (piece->first < piece->last);
}

static inline const uint8_t *bytes_of(const piece_table *table, const piece *piece)
{
    return length_of(piece) <= INLINE_BYTES ? (const uint8_t *)&piece->key
                                            : table->bytes.items + piece->key.low;
}

static inline uint64_t hash_of_piece(const piece *piece, const uint8_t *bytes)
{
    size_t n = length_of(piece);
    return key_hash(n <= INLINE_BYTES ? piece->key : key_of(bytes + piece->key.low, n, n));
}

/* The key of a piece of a text of `n` bytes, as it is in a table whose `bytes` are the text. */
static inline key key_in(const uint8_t *text, size_t n, size_t begin, size_t end)
{
    key key = key_of(text + begin, end - begin, n - begin);
    if (end - begin > INLINE_BYTES)
        key.low = begin;
    return key;
}

/* Add what is known of some pieces, the long ones of which are in `bytes`, each occurrence `weight`
   times; document 0 of them is number `document` here, and stands behind all that are known of a
   piece here, or is the last of them and the only one there. Write into `is_new`, if it is not
   NULL, whether each was not known here. False without memory, or if a count gets too large. */
bool append_pieces(piece_table *table, const piece *from, size_t n, const uint8_t *bytes,
                   uint32_t document, uint64_t weight, char *is_new);

void free_pieces(piece_table *table);

/* What is inside of a PieceTable, which no other thread may use until it is given back; NULL with
   an exception for what is none, or is in use. */
piece_table *lend_pieces(const kernel_state *state, PyObject *object);
void give_back_pieces(PyObject *object);

#endif
