/* The function read_ranks: reads a rank file of tiktoken in its usual form into two dicts.

   A line is the bytes of a token in base64, a space, its rank, and a line feed; the ranks ascend.
   An example: "IHRoZQ== 279" is b" the" with rank 279. For a file in any other form, broken or not,
   the caller uses its Python code, which reports errors. */

#include "kernel.h"

enum {
    NO_DIGIT = 0xFF,
    MOST_DECIMALS = 10,
    LINES = 1 << 14, /* lines between two checks for signals */
};

#define LARGEST_RANK 0x7FFFFFFFu

/* What a line or a file turned out to be. FAILED: with an exception. */
typedef enum { USUAL, UNUSUAL, FAILED } form;

typedef struct {
    const uint8_t *at; /* the next byte to read */
    const uint8_t *end;
    uint8_t values[256]; /* character -> the value of this base64 digit, or NO_DIGIT */
} rank_file;

static void set_digits(rank_file *file)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    memset(file->values, NO_DIGIT, sizeof file->values);
    for (uint8_t i = 0; i < 64; i++)
        file->values[(uint8_t)digits[i]] = i;
}

/* Decode up to four base64 digits into one byte less. Return false if one is not a digit. */
static bool decode_group(const uint8_t values[256], const uint8_t *digits, size_t n_digits,
                         uint8_t *bytes)
{
    uint32_t group = 0;
    for (size_t i = 0; i < n_digits; i++) {
        uint8_t value = values[digits[i]];
        if (value == NO_DIGIT)
            return false;
        group |= (uint32_t)value << (18 - 6 * i);
    }
    for (size_t i = 0; i + 1 < n_digits; i++)
        bytes[i] = (uint8_t)(group >> (16 - 8 * i));
    return true;
}

/* Read the token at `file->at`, and move the place after it and its space. Return NULL for another
   form, or with an exception. */
static PyObject *read_token(rank_file *file)
{
    const uint8_t *begin = file->at;
    const uint8_t *end = memchr(begin, ' ', (size_t)(file->end - begin));
    size_t n = end ? (size_t)(end - begin) : 0;
    if (!n || n % 4)
        return NULL;
    size_t n_padding = 0;
    if (end[-1] == '=')
        n_padding = end[-2] == '=' ? 2 : 1;
    PyObject *token = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n / 4 * 3 - n_padding));
    if (!token)
        return NULL;
    uint8_t *bytes = (uint8_t *)PyBytes_AS_STRING(token);
    for (size_t i = 0; i < n; i += 4) {
        bool is_last = i + 4 == n;
        size_t n_digits = is_last ? 4 - n_padding : 4;
        if (!decode_group(file->values, begin + i, n_digits, bytes + i / 4 * 3)) {
            Py_DECREF(token);
            return NULL;
        }
    }
    file->at = end + 1;
    return token;
}

/* Read the rank at `file->at` and the end of its line, and move the place after it. Return false
   for another form. */
static bool read_rank(rank_file *file, uint64_t *rank)
{
    const uint8_t *begin = file->at;
    const uint8_t *at = begin;
    *rank = 0;
    while (at < file->end && '0' <= *at && *at <= '9' && at - begin < MOST_DECIMALS) {
        *rank = 10 * *rank + (uint64_t)(*at - '0');
        at++;
    }
    file->at = at;
    if (at == begin || *rank > LARGEST_RANK)
        return false;
    if (at == file->end)
        return true;
    file->at++;
    return *at == '\n';
}

/* Set bytes_of[rank] to the token, and id_of[token] to the rank. Return -1 with an exception. */
static int set_rank(PyObject *bytes_of, PyObject *id_of, PyObject *token, uint64_t rank)
{
    PyObject *id = PyLong_FromUnsignedLongLong(rank);
    if (!id)
        return -1;
    int failed = PyDict_SetItem(bytes_of, id, token);
    if (!failed)
        failed = PyDict_SetItem(id_of, token, id);
    Py_DECREF(id);
    return failed;
}

/* Read a line, whose rank must be at least `least`, and set its rank. */
static form read_line(rank_file *file, PyObject *bytes_of, PyObject *id_of, uint64_t least,
                      uint64_t *rank)
{
    PyObject *token = read_token(file);
    if (!token)
        return PyErr_Occurred() ? FAILED : UNUSUAL;
    form form = UNUSUAL;
    if (read_rank(file, rank) && *rank >= least)
        form = set_rank(bytes_of, id_of, token, *rank) < 0 ? FAILED : USUAL;
    Py_DECREF(token);
    return form;
}

static form read_lines(rank_file *file, PyObject *bytes_of, PyObject *id_of)
{
    uint64_t least = 0;
    while (file->at < file->end) {
        uint64_t rank;
        form form = read_line(file, bytes_of, id_of, least, &rank);
        if (form != USUAL)
            return form;
        least = rank + 1;
        if (PyDict_GET_SIZE(bytes_of) % LINES == 0 && PyErr_CheckSignals() < 0)
            return FAILED;
    }
    bool has_repeated_bytes = PyDict_GET_SIZE(id_of) < PyDict_GET_SIZE(bytes_of);
    return has_repeated_bytes ? UNUSUAL : USUAL;
}

PyObject *read_ranks(PyObject *module, PyObject *data)
{
    (void)module;
    Py_buffer view;
    if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    rank_file file = {.at = view.buf, .end = (const uint8_t *)view.buf + view.len};
    set_digits(&file);
    PyObject *bytes_of = PyDict_New();
    PyObject *id_of = PyDict_New();
    form form = FAILED;
    if (bytes_of && id_of)
        form = read_lines(&file, bytes_of, id_of);
    bool is_empty = view.len == 0;
    PyObject *result = NULL;
    if (form == UNUSUAL || (form == USUAL && is_empty))
        result = Py_NewRef(Py_None);
    else if (form == USUAL)
        result = PyTuple_Pack(2, bytes_of, id_of);
    Py_XDECREF(bytes_of);
    Py_XDECREF(id_of);
    PyBuffer_Release(&view);
    return result;
}
