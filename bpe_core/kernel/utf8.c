/* Write a str in UTF-8, from the three forms in which Python stores it; ASCII sixteen characters at
   a time. */

#include "kernel.h"

#include <string.h>

enum { TOGETHER = 16 }; /* characters of ASCII */

/* Return how many bytes follow the first byte of a character. */
static inline int n_more_bytes(Py_UCS4 code)
{
    if (code < 0x80)
        return 0;
    if (code < 0x800)
        return 1;
    return code < 0x10000 ? 2 : 3;
}

static inline uint8_t *write_character(Py_UCS4 code, uint8_t *to)
{
    int n_more = n_more_bytes(code);
    if (n_more == 0) {
        *to++ = (uint8_t)code;
        return to;
    }
    *to++ = (uint8_t)(0xFF00 >> (n_more + 1) | code >> 6 * n_more);
    while (n_more--)
        *to++ = (uint8_t)(0x80 | (code >> 6 * n_more & 0x3F));
    return to;
}

/* Write the next TOGETHER characters if they are ASCII, and return whether they are. */
static inline bool write_ascii(int kind, const void *data, size_t at, uint8_t *to)
{
    Py_UCS4 all = 0;
    for (size_t i = 0; i < TOGETHER && all < 0x80; i++)
        all |= PyUnicode_READ(kind, data, at + i);
    if (all >= 0x80)
        return false;
    uint8_t ascii[TOGETHER];
    for (size_t i = 0; i < TOGETHER; i++)
        ascii[i] = (uint8_t)PyUnicode_READ(kind, data, at + i);
    memcpy(to, ascii, TOGETHER);
    return true;
}

/* write_utf8 for one of the forms, which the compiler knows. Return NULL for a surrogate. */
static inline uint8_t *write_characters(int kind, const void *data, size_t n, uint8_t *to,
                                        unsigned *planes)
{
    size_t at = 0;
    while (at < n) {
        bool has_many = n - at >= TOGETHER;
        if (has_many && write_ascii(kind, data, at, to)) {
            to += TOGETHER;
            at += TOGETHER;
            continue;
        }
        size_t end = has_many ? at + TOGETHER : n;
        for (; at < end; at++) {
            Py_UCS4 code = PyUnicode_READ(kind, data, at);
            if (Py_UNICODE_IS_SURROGATE(code))
                return NULL;
            *planes |= 1u << (code >> 16);
            to = write_character(code, to);
        }
    }
    return to;
}

uint8_t *write_utf8(PyObject *text, uint8_t *to, unsigned *planes)
{
    const void *data = PyUnicode_DATA(text);
    size_t n = (size_t)PyUnicode_GET_LENGTH(text);
    uint8_t *end;
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        end = write_characters(PyUnicode_1BYTE_KIND, data, n, to, planes);
        break;
    case PyUnicode_2BYTE_KIND:
        end = write_characters(PyUnicode_2BYTE_KIND, data, n, to, planes);
        break;
    default:
        end = write_characters(PyUnicode_4BYTE_KIND, data, n, to, planes);
    }
    if (!end) /* raise an exception with the surrogate's place */
        Py_XDECREF(PyUnicode_AsUTF8String(text));
    return end;
}
