/* The function decimals: ids as decimal text, such as "12, 345". The length of the text is counted
   first, so that it is written once, from its end. */

#include "kernel.h"

enum { MOST_DIGITS = 10 }; /* of a 32-bit number */

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

/* Numbers of 32 bits, and the text between each two. */
typedef struct {
    const char *numbers;
    size_t n;
    const char *separator;
    size_t n_separator; /* characters, all ASCII */
} number_list;

/* Return the number of characters of a list that is not empty. */
static size_t length_of(const number_list *list)
{
    size_t length = (list->n - 1) * list->n_separator;
    for (size_t i = 0; i < list->n; i++)
        length += n_digits(number_at(list->numbers, i));
    return length;
}

/* Write a list that is not empty so that it ends at `end`. */
static void write_list(const number_list *list, char *end)
{
    char *at = end;
    for (size_t i = list->n - 1; i > 0; i--) {
        at = write_before(at, number_at(list->numbers, i)) - list->n_separator;
        memcpy(at, list->separator, list->n_separator);
    }
    write_before(at, number_at(list->numbers, 0));
}

PyObject *decimals(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *bytes; /* only bytes: other buffers could change meanwhile */
    PyObject *between;
    if (!PyArg_ParseTuple(args, "SU:decimals", &bytes, &between))
        return NULL;
    size_t n_bytes = (size_t)PyBytes_GET_SIZE(bytes);
    if (n_bytes % sizeof(uint32_t) || !PyUnicode_IS_ASCII(between)) {
        PyErr_SetString(PyExc_ValueError,
                        "Invalid arguments. Pass 32-bit numbers and an ASCII separator.");
        return NULL;
    }
    const number_list list = {
        .numbers = PyBytes_AS_STRING(bytes),
        .n = n_bytes / sizeof(uint32_t),
        .separator = PyUnicode_DATA(between),
        .n_separator = (size_t)PyUnicode_GET_LENGTH(between),
    };
    if (list.n == 0)
        return PyUnicode_New(0, 127); /* it is shared, so it must not be written to */
    if (list.n > (size_t)PY_SSIZE_T_MAX / (MOST_DIGITS + list.n_separator))
        return PyErr_NoMemory();
    size_t length;
    Py_BEGIN_ALLOW_THREADS
    length = length_of(&list);
    Py_END_ALLOW_THREADS
    PyObject *text = PyUnicode_New((Py_ssize_t)length, 127);
    if (!text)
        return NULL;
    char *end = (char *)PyUnicode_DATA(text) + length;
    Py_BEGIN_ALLOW_THREADS
    write_list(&list, end);
    Py_END_ALLOW_THREADS
    return text;
}
