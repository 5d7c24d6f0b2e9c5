/* The first symbols of a piece, before any merge: its bytes, or its characters where a vocabulary
 * is made of those. */

#ifndef BPESCOPE_SYMBOLS_H
#define BPESCOPE_SYMBOLS_H

#include "tokens.h"

typedef struct {
    uint32_t byte_ids[256]; /* NO_TOKEN where a byte has none */
    uint32_t end;           /* a symbol that ends every piece; NO_TOKEN if none does */
    token_table
        characters; /* a character that is not in here is its bytes; without slots, every one is */
} symbol_set;

/* Write the symbols of `n` bytes, and where each begins and the last ends; -1 if one has no id.
   Room for n + 1 symbols and n + 2 places is needed. */
Py_ssize_t symbols_of(const symbol_set *symbols, const uint8_t *bytes, size_t n, bool ends_piece,
                      uint32_t *ids, uint32_t *starts);

/* The first place from `at` on where a piece of `n` bytes may be cut without cutting a character.
 */
size_t symbol_boundary(const symbol_set *symbols, const uint8_t *bytes, size_t at, size_t n);

#endif
