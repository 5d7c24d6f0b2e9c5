/* The function read_ranks: reads a rank file of tiktoken in its usual form into two dicts.

   A line is the bytes of a token in base64, a space, its rank, and a line feed; the ranks ascend.
   For a file in any other form, broken or not, the caller uses its Python code, which reports
   errors. */

#include "kernel.h"

enum {
    NO_DIGIT = 0xFF,
    MOST_DECIMALS = 10,
    LINES = 1 << 14
}; /* lines between two checks for signals */

#define LARGEST_RANK 0x7FFFFFFFu

typedef struct {
    const uint8_t *at, *end;
    uint8_t values[256]; /* character -> the value of this base64 digit, or NO_DIGIT */
} rank_file;

static void set_digits(rank_file *file)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    memset(file->values, NO_DIGIT, sizeof file->values);
    for (uint8_t i = 0; i < 64; i++)
        file->values[(uint8_t)digits[i]] = i;
}

/* Read the token at `file->at`, and move the place after it. Return NULL for another form, or with
   an exception. */
static PyObject *read_token(rank_file *file)
{
    const uint8_t *begin = file->at, *end = memchr(begin, ' ', (size_t)(file->end - begin));
    size_t n = end ? (size_t)(end - begin) : 0;
    if (!n || n % 4)
        return NULL;
    size_t n_padding = (end[-1] == '=') + (end[-1] == '=' && end[-2] == '=');
    PyObject *token = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n / 4 * 3 - n_padding));
    if (!token)
        return NULL;
    uint8_t *bytes = (uint8_t *)PyBytes_AS_STRING(token);
    for (size_t i = 0, n_bytes = 0; i < n; i += 4) {
        size_t n_digits = i + 4 < n ? 4 : 4 - n_padding;
        uint32_t group = 0;
        for (size_t j = 0; j < n_digits; j++) {
            uint8_t value = file->values[begin[i + j]];
            if (value == NO_DIGIT) {
                Py_DECREF(token);
                return NULL;
            }
            group |= (uint32_t)value << (18 - 6 * j);
        }
        for (size_t j = 0; j + 1 < n_digits; j++)
            bytes[n_bytes++] = (uint8_t)(group >> (16 - 8 * j));
    }
    file->at = end + 1;
    return token;
}

/* Read the rank at `file->at` and the end of its line, and move the place after it. Return false
   for another form. */
static bool read_rank(rank_file *file, uint64_t *rank)
{
    const uint8_t *begin = file->at;
    *rank = 0;
    while (file->at < file->end && '0' <= *file->at && *file->at <= '9' &&
           file->at - begin < MOST_DECIMALS)
        *rank = 10 * *rank + (uint64_t)(*file->at++ - '0');
    bool is_number = file->at > begin && *rank <= LARGEST_RANK;
    if (file->at == file->end)
        return is_number;
    return is_number && *file->at++ == '\n';
}

/* Read all lines. Return 0 on success, 1 for another form, -1 with an exception. */
static int read_lines(rank_file *file, PyObject *bytes_of, PyObject *id_of)
{
    uint64_t last = 0, rank = 0;
    for (bool is_first = true; file->at < file->end; is_first = false, last = rank) {
        PyObject *token = read_token(file), *id = NULL;
        bool is_usual = token && read_rank(file, &rank) && (is_first || rank > last);
        int failed = token || !PyErr_Occurred() ? 0 : -1;
        if (is_usual && (id = PyLong_FromUnsignedLongLong(rank)))
            failed = PyDict_SetItem(bytes_of, id, token) < 0 || PyDict_SetItem(id_of, token, id) < 0
                         ? -1
                         : 0;
        else if (is_usual)
            failed = -1;
        Py_XDECREF(token);
        Py_XDECREF(id);
        if (!failed && PyDict_GET_SIZE(bytes_of) % LINES == 0)
            failed = PyErr_CheckSignals();
        if (failed || !is_usual)
            return failed ? -1 : 1;
    }
    return PyDict_GET_SIZE(bytes_of) == PyDict_GET_SIZE(id_of)
               ? 0
               : 1; /* else two tokens have the same bytes */
}

PyObject *read_ranks(PyObject *module, PyObject *data)
{
    (void)module;
    rank_file file;
    Py_buffer view;
    if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    file.at = view.buf;
    file.end = file.at + view.len;
    set_digits(&file);
    PyObject *bytes_of = PyDict_New(), *id_of = PyDict_New(), *both = NULL;
    int failed = bytes_of && id_of ? read_lines(&file, bytes_of, id_of) : -1;
    if (failed >= 0)
        both = failed || !view.len ? Py_NewRef(Py_None) : PyTuple_Pack(2, bytes_of, id_of);
    Py_XDECREF(bytes_of);
    Py_XDECREF(id_of);
    PyBuffer_Release(&view);
    return both;
}
