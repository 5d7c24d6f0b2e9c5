/* The first symbols of a piece, before any merge: its bytes, or its characters if the vocabulary is
   made of characters. */

#ifndef BPESCOPE_SYMBOLS_H
#define BPESCOPE_SYMBOLS_H

#include "tokens.h"

typedef struct {
    uint32_t byte_ids[256]; /* NO_TOKEN for a byte without an id */
    uint32_t end;           /* a symbol that ends every piece; NO_TOKEN if none does */
    /* Characters that are symbols. Any other character becomes its bytes; every one does if the
       table has no slots. */
    token_table characters;
} symbol_set;

/* Write the symbols of `n` bytes, where each begins, and where the last ends. Return their number;
   -1 if one has no id. `ids` needs room for n + 1, `starts` for n + 2. */
Py_ssize_t symbols_of(const symbol_set *symbols, const uint8_t *bytes, size_t n, bool ends_piece,
                      uint32_t *ids, uint32_t *starts);

/* Return the first place from `at` on that is not inside a character. */
size_t symbol_boundary(const symbol_set *symbols, const uint8_t *bytes, size_t at, size_t n);

#endif
