/* The texts that an Encoder encodes: copied from Python's objects, so that the GIL can be released
   while they are encoded. */

#include "encoder.h"

enum { AT_ONCE = 1 << 14 }; /* texts gathered between two checks for signals */

void free_gathered(gathered_texts *all)
{
    PyMem_RawFree(all->bytes.items);
    PyMem_RawFree(all->ends.items);
}

/* Make room for a text of `n` characters of at most `n_each` bytes. Return where it begins; NULL
   with an exception without memory. */
static uint8_t *begin_text(gathered_texts *all, size_t n, size_t n_each)
{
    bool is_too_long = n > SIZE_MAX / n_each - 1;
    if (is_too_long || !ROOM(all->bytes, n * n_each + 1) || !ROOM(all->ends, 1)) {
        PyErr_NoMemory();
        return NULL;
    }
    uint8_t *begin = all->bytes.items + all->bytes.n;
    prefer_large_pages(begin, n);
    return begin;
}

static void end_text(gathered_texts *all, const uint8_t *end)
{
    all->bytes.n = (size_t)(end - all->bytes.items);
    all->ends.items[all->ends.n++] = all->bytes.n;
}

static int gather_str(gathered_texts *all, PyObject *text)
{
    if (PyUnicode_READY(text) < 0)
        return -1;
    size_t n = (size_t)PyUnicode_GET_LENGTH(text);
    bool is_ascii = PyUnicode_IS_ASCII(text);
    uint8_t *begin = begin_text(all, n, is_ascii ? 1 : 4);
    if (!begin)
        return -1;
    uint8_t *end = begin + n;
    if (is_ascii)
        memcpy(begin, PyUnicode_DATA(text), n);
    else
        end = write_utf8(text, begin, &all->planes);
    if (!end)
        return -1;
    end_text(all, end);
    return 0;
}

static int gather_buffer(gathered_texts *all, PyObject *object)
{
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) < 0)
        return -1;
    size_t n = (size_t)view.len;
    uint8_t *begin = begin_text(all, n, 1);
    if (begin) {
        if (n) /* `buf` may be NULL if n is 0 */
            memcpy(begin, view.buf, n);
        all->planes |= planes_of(begin, n);
        end_text(all, begin + n);
    }
    PyBuffer_Release(&view);
    return begin ? 0 : -1;
}

int gather(gathered_texts *all, PyObject *text)
{
    return PyUnicode_Check(text) ? gather_str(all, text) : gather_buffer(all, text);
}

int gather_all(gathered_texts *all, PyObject *list)
{
    if (!ROOM(all->ends, 1)) {
        PyErr_NoMemory();
        return -1;
    }
    all->ends.items[all->ends.n++] = 0;
    /* The length of the list may change: a buffer may run Python code. */
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        if (gather(all, PyList_GET_ITEM(list, i)) < 0)
            return -1;
        if (i % AT_ONCE == 0 && PyErr_CheckSignals() < 0)
            return -1;
    }
    return 0;
}
