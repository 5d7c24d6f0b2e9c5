/* The Python type PieceTable: counts the pieces of texts, document by document. scan.h finds the
   pieces, and pieces.h counts them. */

#include "pieces.h"

#include <structmember.h>

enum {
    SLICE = 1 << 18,  /* bytes counted between two checks for signals */
    PIECES = 1 << 14, /* pieces added between two checks for signals */
    BATCH = 256,      /* pieces found together */
};

typedef struct {
    PyObject_HEAD
    PyObject *scanner; /* or None */
    piece_table table;
    bool busy; /* a thread is using it without the GIL */
} PieceTableObject;

piece_table *lend_pieces(const kernel_state *state, PyObject *object)
{
    if (!Py_IS_TYPE(object, (PyTypeObject *)state->piece_table_type)) {
        PyErr_Format(PyExc_TypeError, "a PieceTable is needed, not %.100s",
                     Py_TYPE(object)->tp_name);
        return NULL;
    }
    PieceTableObject *self = (PieceTableObject *)object;
    if (self->busy) {
        PyErr_SetString(PyExc_ValueError, "another thread is using this table");
        return NULL;
    }
    self->busy = true;
    return &self->table;
}

void give_back_pieces(PyObject *object) { ((PieceTableObject *)object)->busy = false; }

static PyObject *new_table(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"scanner", NULL};
    PyObject *scanner;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:PieceTable", names, &scanner))
        return NULL;
    if (scanner != Py_None && !scanner_for(PyType_GetModuleState(type), scanner, 1))
        return NULL;
    PieceTableObject *self = (PieceTableObject *)type->tp_alloc(type, 0);
    if (self)
        self->scanner = Py_NewRef(scanner);
    return (PyObject *)self;
}

static void dealloc(PyObject *object)
{
    PieceTableObject *self = (PieceTableObject *)object;
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF(self->scanner);
    free_pieces(&self->table);
    type->tp_free(object);
    Py_DECREF(type);
}

/* Read the number of a document, and check its weight. Return -1 with an exception if either is
   invalid. */
static int read_document(PyObject *object, Py_ssize_t weight, uint32_t *number)
{
    unsigned long value = PyLong_AsUnsignedLong(object);
    if (!PyErr_Occurred() && (value >= MANY_DOCUMENTS || weight < 1))
        PyErr_SetString(PyExc_OverflowError,
                        "there are too many documents, or a weight is below 1");
    *number = (uint32_t)value;
    return PyErr_Occurred() ? -1 : 0;
}

/* Return whether to continue; false with an exception without memory or after a signal. */
static bool may_go_on(bool has_memory)
{
    if (!has_memory)
        PyErr_NoMemory();
    return has_memory && PyErr_CheckSignals() == 0;
}

/* Count the pieces of a text from `at` on until at least `until`, and return where they end. Set
   `has_memory` to false if there was not enough. Called without the GIL. */
static size_t count_slice(piece_table *table, const scanner *scanner, const uint8_t *text, size_t n,
                          size_t at, size_t until, uint32_t document, bool *has_memory)
{
    size_t ends[BATCH];
    piece pieces[BATCH];
    while (at < until && *has_memory) {
        size_t n_pieces = piece_ends(scanner, text, at, n, ends, BATCH);
        for (size_t i = 0; i < n_pieces; i++) {
            pieces[i] = (piece){key_in(text, n, at, ends[i]), 1, 0, 0};
            at = ends[i];
        }
        *has_memory = append_pieces(table, pieces, n_pieces, text, document, 1, NULL);
        table->n_counted += n_pieces;
    }
    return at;
}

static PyObject *add(PyObject *object, PyObject *args)
{
    PieceTableObject *self = (PieceTableObject *)object;
    const kernel_state *state = PyType_GetModuleState(Py_TYPE(object));
    PyObject *text;
    PyObject *number;
    uint32_t document;
    if (!PyArg_ParseTuple(args, "SO:add", &text, &number) ||
        read_document(number, 1, &document) < 0)
        return NULL;
    const uint8_t *bytes = (const uint8_t *)PyBytes_AS_STRING(text);
    size_t n = (size_t)PyBytes_GET_SIZE(text);
    const scanner *scanner = scanner_for(state, self->scanner, planes_of(bytes, n));
    piece_table *table = scanner ? lend_pieces(state, object) : NULL;
    if (!table)
        return NULL;
    bool is_counted = true;
    for (size_t at = 0; is_counted && at < n;) {
        size_t until = n - at > SLICE ? at + SLICE : n;
        Py_BEGIN_ALLOW_THREADS
        at = count_slice(table, scanner, bytes, n, at, until, document, &is_counted);
        Py_END_ALLOW_THREADS
        is_counted = may_go_on(is_counted);
    }
    give_back_pieces(object);
    return is_counted ? Py_NewRef(Py_None) : NULL;
}

/* Append the pieces of another table, slice by slice. Return false with an exception. */
static bool append_slices(piece_table *table, const piece_table *other, uint32_t document,
                          uint64_t weight)
{
    bool is_appended = true;
    for (size_t at = 0; is_appended && at < other->pieces.n; at += PIECES) {
        const piece *pieces = &other->pieces.items[at];
        size_t n = other->pieces.n - at;
        if (n > PIECES)
            n = PIECES;
        Py_BEGIN_ALLOW_THREADS
        is_appended = append_pieces(table, pieces, n, other->bytes.items, document, weight, NULL);
        Py_END_ALLOW_THREADS
        is_appended = may_go_on(is_appended);
    }
    table->n_counted += other->n_counted;
    return is_appended;
}

static PyObject *append(PyObject *object, PyObject *args)
{
    const kernel_state *state = PyType_GetModuleState(Py_TYPE(object));
    PyObject *argument;
    PyObject *number;
    Py_ssize_t weight = 1;
    uint32_t document;
    if (!PyArg_ParseTuple(args, "OO|n:append", &argument, &number, &weight) ||
        read_document(number, weight, &document) < 0)
        return NULL;
    piece_table *table = lend_pieces(state, object);
    if (!table)
        return NULL;
    bool is_appended = false;
    const piece_table *other = lend_pieces(state, argument);
    if (other) {
        is_appended = append_slices(table, other, document, (uint64_t)weight);
        give_back_pieces(argument);
    }
    give_back_pieces(object);
    return is_appended ? Py_NewRef(Py_None) : NULL;
}

/* Set dict[text of a piece] to its count. Return false with an exception. */
static bool set_count(PyObject *dict, const piece_table *table, const piece *piece)
{
    const char *bytes = (const char *)bytes_of(table, piece);
    PyObject *text = PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)length_of(piece), "strict");
    PyObject *count = text ? PyLong_FromUnsignedLongLong(piece->count) : NULL;
    bool is_set = count && PyDict_SetItem(dict, text, count) == 0;
    Py_XDECREF(text);
    Py_XDECREF(count);
    return is_set;
}

static PyObject *counts(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    const piece_table *table = lend_pieces(PyType_GetModuleState(Py_TYPE(object)), object);
    if (!table)
        return NULL;
    PyObject *dict = PyDict_New();
    for (size_t number = 0; dict && number < table->pieces.n; number++)
        if (!set_count(dict, table, &table->pieces.items[number]) || !may_go_on(true))
            Py_CLEAR(dict);
    give_back_pieces(object);
    return dict;
}

/* The columns of numbers. Column c of row i of n is number 1 + c * n + i: a 0 before all of them is
   where the first piece begins. */
enum { ENDS, COUNTS, DOCUMENTS, FIRSTS, LASTS, N_COLUMNS };

/* Write the bytes of `n` pieces one after another, their numbers in columns, and a byte of each
   hash. */
static void write_columns(const piece_table *table, const piece *pieces, size_t n, uint8_t *bytes,
                          uint64_t *numbers, char *hashes)
{
    size_t end = 0;
    numbers[0] = 0;
    for (size_t i = 0; i < n; i++) {
        const piece *piece = &pieces[i];
        size_t length = length_of(piece);
        memcpy(bytes + end, bytes_of(table, piece), length);
        end += length;
        uint32_t documents = n_documents(piece);
        uint64_t *row = numbers + 1 + i;
        row[ENDS * n] = end;
        row[COUNTS * n] = piece->count;
        row[DOCUMENTS * n] = documents;
        row[FIRSTS * n] = documents > 2 ? 0 : piece->first;
        row[LASTS * n] = piece->last;
        hashes[i] = (char)hash_of_piece(piece, table->bytes.items);
    }
}

static PyObject *columns(PyObject *object, PyObject *args)
{
    size_t start;
    size_t last;
    if (!PyArg_ParseTuple(args, "nn:columns", &start, &last))
        return NULL;
    const piece_table *table = lend_pieces(PyType_GetModuleState(Py_TYPE(object)), object);
    if (!table)
        return NULL;
    last = last < table->pieces.n ? last : table->pieces.n;
    start = start < last ? start : last;
    size_t n = last - start;
    size_t n_bytes = 0;
    for (size_t number = start; number < last; number++)
        n_bytes += length_of(&table->pieces.items[number]);
    size_t n_numbers = 1 + N_COLUMNS * n;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n_bytes);
    PyObject *numbers = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n_numbers * sizeof(uint64_t)));
    PyObject *hashes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n);
    if (bytes && numbers && hashes)
        write_columns(table, n ? &table->pieces.items[start] : NULL, n,
                      (uint8_t *)PyBytes_AS_STRING(bytes), (uint64_t *)PyBytes_AS_STRING(numbers),
                      PyBytes_AS_STRING(hashes));
    give_back_pieces(object);
    return Py_BuildValue("(NNN)", bytes, numbers, hashes);
}

/* Rows of pieces from Python, whose documents are numbered from `document` on. */
typedef struct {
    const uint64_t *numbers; /* in columns */
    size_t n;                /* rows */
    const Py_buffer *bytes;  /* of the pieces, one after another */
    uint32_t document;
} row_source;

/* Read row `at` as a piece. A long piece refers to `bytes`. Return false with an exception for an
   invalid row. */
static bool read_row(const row_source *rows, size_t at, piece *to)
{
    size_t n = rows->n;
    uint64_t begin = rows->numbers[at]; /* the end of the row before it, or the first 0 */
    const uint64_t *row = rows->numbers + 1 + at;
    uint64_t end = row[ENDS * n];
    uint64_t documents = row[DOCUMENTS * n];
    uint64_t first = row[FIRSTS * n];
    uint64_t last = row[LASTS * n];
    bool has_bytes = begin < end && end <= (uint64_t)rows->bytes->len;
    bool has_documents = 0 < documents && documents < MANY_DOCUMENTS && first <= last &&
                         last < MANY_DOCUMENTS - rows->document;
    if (!has_bytes || !has_documents) {
        PyErr_SetString(PyExc_ValueError, "Invalid rows of pieces. Pass what `columns` returns.");
        return false;
    }
    if (documents > 2)
        first = MANY_DOCUMENTS | documents;
    key key = key_in(rows->bytes->buf, (size_t)rows->bytes->len, begin, end);
    *to = (piece){key, row[COUNTS * n], (uint32_t)first, (uint32_t)last};
    return true;
}

/* Append `n` rows from row `at` on, at most BATCH. Return false with an exception. */
static bool append_rows(piece_table *table, const row_source *rows, size_t at, size_t n,
                        uint64_t weight, char *is_new)
{
    piece pieces[BATCH];
    for (size_t i = 0; i < n; i++) {
        if (!read_row(rows, at + i, &pieces[i]))
            return false;
        table->n_counted += pieces[i].count;
    }
    return may_go_on(
        append_pieces(table, pieces, n, rows->bytes->buf, rows->document, weight, is_new));
}

static PyObject *extend(PyObject *object, PyObject *args)
{
    Py_buffer bytes;
    Py_buffer numbers;
    PyObject *number;
    Py_ssize_t weight = 1;
    uint32_t document;
    if (!PyArg_ParseTuple(args, "y*y*O|n:extend", &bytes, &numbers, &number, &weight))
        return NULL;
    PyObject *is_new = NULL;
    piece_table *table = NULL;
    if (read_document(number, weight, &document) == 0)
        table = lend_pieces(PyType_GetModuleState(Py_TYPE(object)), object);
    if (table) {
        size_t n_numbers = (size_t)numbers.len / sizeof(uint64_t);
        size_t n = n_numbers ? (n_numbers - 1) / N_COLUMNS : 0;
        const row_source rows = {numbers.buf, n, &bytes, document};
        is_new = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n);
        for (size_t at = 0; is_new && at < n; at += BATCH) {
            size_t n_rows = n - at < BATCH ? n - at : BATCH;
            char *is_new_from_here = PyBytes_AS_STRING(is_new) + at;
            if (!append_rows(table, &rows, at, n_rows, (uint64_t)weight, is_new_from_here))
                Py_CLEAR(is_new);
        }
        give_back_pieces(object);
    }
    PyBuffer_Release(&bytes);
    PyBuffer_Release(&numbers);
    return is_new;
}

static Py_ssize_t n_different(PyObject *object)
{
    return (Py_ssize_t)((PieceTableObject *)object)->table.pieces.n;
}

static PyMethodDef methods[] = {
    {"add", add, METH_VARARGS,
     "Count the pieces of a text in UTF-8, which belongs to the document with this number."},
    {"append", append, METH_VARARGS,
     "Add another table, whose documents are numbered from here on, with a weight."},
    {"counts", counts, METH_NOARGS,
     "Piece -> how often it occurs, in the order in which they first appear."},
    {"columns", columns, METH_VARARGS,
     "The pieces with numbers from start to stop, and their counts, in columns."},
    {"extend", extend, METH_VARARGS,
     "Add pieces that `columns` of another table returned, with a weight."},
    {0},
};

static PyMemberDef members[] = {
    {"n_pieces", T_ULONGLONG, offsetof(PieceTableObject, table.n_counted), 0,
     "All pieces, including repeated ones."},
    {"long_bytes", T_PYSSIZET, offsetof(PieceTableObject, table.bytes.n), READONLY,
     "Bytes of the long pieces."},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Counts the pieces of texts, document by document."},
    {Py_tp_new, new_table},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_sq_length, n_different},
    {0, NULL},
};

PyType_Spec piece_table_spec = {
    .name = "bpe_core.kernel._kernel.PieceTable",
    .basicsize = sizeof(PieceTableObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
