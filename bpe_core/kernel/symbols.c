/* Bytes and characters as symbols. Invalid UTF-8 becomes the symbols of its bytes. */

#include "symbols.h"

static bool continues(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/* Return how many bytes a character has by its first byte. */
static size_t expected_length(uint8_t first)
{
    if (first >= 0xF0)
        return 4;
    if (first >= 0xE0)
        return 3;
    return first >= 0xC0 ? 2 : 1;
}

/* Return the number of bytes of the character that begins here; 1 for invalid UTF-8. */
static size_t length_of(const uint8_t *bytes, size_t n)
{
    size_t length = expected_length(bytes[0]);
    if (length > n)
        return 1;
    for (size_t i = 1; i < length; i++)
        if (!continues(bytes[i]))
            return 1;
    return length;
}

/* Symbols that are written one after another. */
typedef struct {
    uint32_t *ids;
    uint32_t *starts;
    size_t n;
} symbol_list;

static inline void append(symbol_list *list, uint32_t id, size_t start)
{
    list->ids[list->n] = id;
    list->starts[list->n] = (uint32_t)start;
    list->n++;
}

/* Append the symbols of the bytes from `begin` to `end`. Return false if one has no id. */
static inline bool append_bytes(symbol_list *list, const symbol_set *symbols, const uint8_t *bytes,
                                size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at++) {
        uint32_t id = symbols->byte_ids[bytes[at]];
        if (id == NO_TOKEN)
            return false;
        append(list, id, at);
    }
    return true;
}

/* Append the symbols of text that is made of characters. Return false if one has no id. */
static bool append_characters(symbol_list *list, const symbol_set *symbols, const uint8_t *bytes,
                              size_t n)
{
    size_t length;
    for (size_t at = 0; at < n; at += length) {
        length = length_of(bytes + at, n - at);
        merge_rule character = tokens_find(&symbols->characters, bytes + at, length, n - at);
        if (character.token != NO_TOKEN)
            append(list, character.token, at);
        else if (!append_bytes(list, symbols, bytes, at, at + length))
            return false;
    }
    return true;
}

Py_ssize_t symbols_of(const symbol_set *symbols, const uint8_t *bytes, size_t n, bool ends_piece,
                      uint32_t *ids, uint32_t *starts)
{
    symbol_list list = {ids, starts, 0};
    bool has_characters = symbols->characters.slots != NULL;
    bool is_known = has_characters ? append_characters(&list, symbols, bytes, n)
                                   : append_bytes(&list, symbols, bytes, 0, n);
    if (!is_known)
        return -1;
    if (ends_piece && n && symbols->end != NO_TOKEN)
        append(&list, symbols->end, n);
    starts[list.n] = (uint32_t)n;
    return (Py_ssize_t)list.n;
}

size_t symbol_boundary(const symbol_set *symbols, const uint8_t *bytes, size_t at, size_t n)
{
    if (!symbols->characters.slots)
        return at;
    size_t last = n - at < 3 ? n : at + 3;
    while (at < last && continues(bytes[at]))
        at++;
    return at;
}
