/* Bytes and characters as symbols. Invalid UTF-8 becomes the symbols of its bytes. */

#include "symbols.h"

static bool continues(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/* Return the number of bytes of the character that begins here; 1 for invalid UTF-8. */
static size_t length_of(const uint8_t *bytes, size_t n)
{
    size_t length = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : bytes[0] >= 0xC0 ? 2 : 1;
    if (length > n)
        return 1;
    for (size_t i = 1; i < length; i++)
        if (!continues(bytes[i]))
            return 1;
    return length;
}

Py_ssize_t symbols_of(const symbol_set *symbols, const uint8_t *bytes, size_t n, bool ends_piece,
                      uint32_t *ids, uint32_t *starts)
{
    bool has_characters = symbols->characters.slots != NULL;
    Py_ssize_t n_symbols = 0;
    for (size_t i = 0, length; i < n; i += length) {
        length = has_characters ? length_of(bytes + i, n - i) : 1;
        uint32_t character = has_characters
                                 ? tokens_find(&symbols->characters, bytes + i, length, n - i).token
                                 : NO_TOKEN;
        if (character != NO_TOKEN) {
            ids[n_symbols] = character;
            starts[n_symbols++] = (uint32_t)i;
            continue;
        }
        for (size_t at = i; at < i + length; at++) {
            ids[n_symbols] = symbols->byte_ids[bytes[at]];
            starts[n_symbols] = (uint32_t)at;
            if (ids[n_symbols++] == NO_TOKEN)
                return -1;
        }
    }
    if (ends_piece && n && symbols->end != NO_TOKEN) {
        ids[n_symbols] = symbols->end;
        starts[n_symbols++] = (uint32_t)n;
    }
    starts[n_symbols] = (uint32_t)n;
    return n_symbols;
}

size_t symbol_boundary(const symbol_set *symbols, const uint8_t *bytes, size_t at, size_t n)
{
    for (int i = 0; symbols->characters.slots && i < 3 && at < n && continues(bytes[at]); i++)
        at++;
    return at;
}
