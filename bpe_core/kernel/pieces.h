/* How often each piece of a corpus occurs, in the order in which they first appear, and in which documents.

   A table of open addressing, at most half full, leads from a hash to a piece, whose numbers and bytes, if it is not long,
   take one cache line, since counting waits for memory most of the time. Of the documents of a piece only the first two
   are kept; of more it is only known that they are many. */

#ifndef BPESCOPE_PIECES_H
#define BPESCOPE_PIECES_H

#include <stdint.h>

#include "vector.h"

#define NO_DOCUMENT UINT32_MAX
#define MANY_DOCUMENTS (UINT32_MAX - 1)

enum { HEAD = 32 };

typedef struct {
    uint64_t count;
    size_t length;
    size_t start;           /* of its bytes in the table's, where they are more than HEAD */
    uint32_t first, second; /* documents; `second` may be one of the above instead */
    uint8_t head[HEAD];     /* its bytes, where they are no more, and zeros */
} piece;

typedef struct {
    VECTOR(piece) pieces;
    VECTOR(uint8_t) bytes;  /* of long pieces */
    VECTOR(uint64_t) table; /* a piece's hash in the upper half, its number + 1 in the lower one */
    uint64_t n_counted;     /* pieces, with repetition */
    uint32_t n_documents;   /* that have ended; the one that is being counted has this number */
} piece_table;

static inline const uint8_t *bytes_of(const piece_table *table, const piece *piece)
{
    return piece->length <= HEAD ? piece->head : table->bytes.items + piece->start;
}

/* Count an occurrence of a piece of n > 0 bytes in the current document; at least n bytes, `n_readable`, may be read
   from `bytes`. False without memory. */
bool count_piece(piece_table *table, const uint8_t *bytes, size_t n, size_t n_readable);

/* Add the counts of the pieces `first` up to `last` of another table, whose documents are numbered from `document` on
   here; false without memory. */
bool append_pieces(piece_table *table, const piece_table *other, size_t first, size_t last, uint32_t document);

void free_pieces(piece_table *table);

#endif
