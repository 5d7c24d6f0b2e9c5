/* The function decimals: ids as decimal text. */

#include "kernel.h"

enum { MOST_DIGITS = 10 }; /* of 32 bits */

static size_t n_digits(uint32_t number)
{
    size_t n = 1;
    for (; number >= 10; number /= 10)
        n++;
    return n;
}

/* Write the digits of a number so that they end at `end`. Return where they begin. */
static char *write_before(char *end, uint32_t number)
{
    do
        *--end = (char)('0' + number % 10);
    while (number /= 10);
    return end;
}

PyObject *decimals(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *bytes, *between, *text = NULL; /* only bytes: other buffers could change meanwhile */
    if (!PyArg_ParseTuple(args, "SU:decimals", &bytes, &between))
        return NULL;
    const char *numbers = PyBytes_AS_STRING(bytes);
    size_t n = (size_t)PyBytes_GET_SIZE(bytes) / sizeof(uint32_t);
    size_t n_between = (size_t)PyUnicode_GET_LENGTH(between),
           n_characters = n ? (n - 1) * n_between : 0;
    if ((size_t)PyBytes_GET_SIZE(bytes) % sizeof(uint32_t) || !PyUnicode_IS_ASCII(between))
        PyErr_SetString(PyExc_ValueError,
                        "Invalid arguments. Pass 32-bit numbers and an ASCII separator.");
    else if (n > (size_t)PY_SSIZE_T_MAX / (MOST_DIGITS + n_between))
        PyErr_NoMemory();
    else {
        Py_BEGIN_ALLOW_THREADS
        for (size_t i = 0; i < n; i++)
            n_characters += n_digits(number_at(numbers, i));
        Py_END_ALLOW_THREADS
        text = PyUnicode_New((Py_ssize_t)n_characters, 127);
    }
    if (text && n) { /* the empty str is shared, so it must not be written to */
        char *at = (char *)PyUnicode_DATA(text) + n_characters;
        const char *separator = (const char *)PyUnicode_DATA(between);
        Py_BEGIN_ALLOW_THREADS
        for (size_t i = n - 1; i > 0; i--) {
            at = write_before(at, number_at(numbers, i)) - n_between;
            memcpy(at, separator, n_between);
        }
        write_before(at, number_at(numbers, 0));
        Py_END_ALLOW_THREADS
    }
    return text;
}
