/* Write a str in UTF-8, from the three forms in which Python stores it; ASCII sixteen characters at
   a time. */

#include "kernel.h"

#include <string.h>

enum { TOGETHER = 16 };

static inline uint8_t *write_character(Py_UCS4 code, uint8_t *to)
{
    int n_more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *to++ = (uint8_t)(n_more ? 0xFF00 >> (n_more + 1) | code >> 6 * n_more : code);
    while (n_more--)
        *to++ = (uint8_t)(0x80 | (code >> 6 * n_more & 0x3F));
    return to;
}

/* write_utf8 for one of the forms, which the compiler knows. Return NULL for a surrogate. */
static inline uint8_t *write_characters(int kind, const void *data, size_t n, uint8_t *to,
                                        unsigned *planes)
{
    for (size_t at = 0, end; at < n; at = end) {
        uint8_t ascii[TOGETHER];
        Py_UCS4 all = n - at < TOGETHER ? 0x80 : 0;
        end = n - at < TOGETHER ? n : at + TOGETHER;
        for (size_t i = 0; i < TOGETHER && all < 0x80; i++)
            all |= PyUnicode_READ(kind, data, at + i);
        if (all < 0x80) {
            for (size_t i = 0; i < TOGETHER; i++)
                ascii[i] = (uint8_t)PyUnicode_READ(kind, data, at + i);
            memcpy(to, ascii, TOGETHER);
            to += TOGETHER;
            continue;
        }
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
    uint8_t *end = PyUnicode_KIND(text) == PyUnicode_1BYTE_KIND
                       ? write_characters(PyUnicode_1BYTE_KIND, data, n, to, planes)
                   : PyUnicode_KIND(text) == PyUnicode_2BYTE_KIND
                       ? write_characters(PyUnicode_2BYTE_KIND, data, n, to, planes)
                       : write_characters(PyUnicode_4BYTE_KIND, data, n, to, planes);
    if (!end)
        Py_XDECREF(
            PyUnicode_AsUTF8String(text)); /* raises an exception with the surrogate's place */
    return end;
}
