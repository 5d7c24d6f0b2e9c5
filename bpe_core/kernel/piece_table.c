/* The Python type PieceTable: counts the pieces of texts, document by document. */

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
    PieceTableObject *self = (PieceTableObject *)object;
    if (!Py_IS_TYPE(object, (PyTypeObject *)state->piece_table_type))
        PyErr_Format(PyExc_TypeError, "a PieceTable is needed, not %.100s",
                     Py_TYPE(object)->tp_name);
    else if (self->busy)
        PyErr_SetString(PyExc_ValueError, "another thread is using this table");
    else
        self->busy = true;
    return PyErr_Occurred() ? NULL : &self->table;
}

void give_back_pieces(PyObject *object) { ((PieceTableObject *)object)->busy = false; }

static PyObject *new_table(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"scanner", NULL};
    PyObject *scanner;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:PieceTable", names, &scanner) ||
        (scanner != Py_None && !scanner_for(PyType_GetModuleState(type), scanner, 1)))
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

/* Set the number of a document, and check its weight. Return -1 with an exception if either is
   invalid. */
static int place_of(PyObject *object, Py_ssize_t weight, uint32_t *number)
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

static PyObject *add(PyObject *object, PyObject *args)
{
    PieceTableObject *self = (PieceTableObject *)object;
    const kernel_state *state = PyType_GetModuleState(Py_TYPE(object));
    PyObject *text, *number;
    uint32_t document;
    if (!PyArg_ParseTuple(args, "SO:add", &text, &number) || place_of(number, 1, &document) < 0)
        return NULL;
    const uint8_t *bytes = (const uint8_t *)PyBytes_AS_STRING(text);
    size_t n = (size_t)PyBytes_GET_SIZE(text), ends[BATCH];
    piece pieces[BATCH];
    const scanner *scanner = scanner_for(state, self->scanner, planes_of(bytes, n));
    piece_table *table = scanner ? lend_pieces(state, object) : NULL;
    bool counted = table;
    for (size_t at = 0; counted && at < n; counted = may_go_on(counted)) {
        size_t until = n - at > SLICE ? at + SLICE : n;
        Py_BEGIN_ALLOW_THREADS
        while (at < until && counted) {
            size_t n_pieces = piece_ends(scanner, bytes, at, n, ends, BATCH);
            for (size_t i = 0; i < n_pieces; at = ends[i++])
                pieces[i] = (piece){key_in(bytes, n, at, ends[i]), 1, 0, 0};
            counted = append_pieces(table, pieces, n_pieces, bytes, document, 1, NULL);
            table->n_counted += n_pieces;
        }
        Py_END_ALLOW_THREADS
    }
    if (table)
        give_back_pieces(object);
    return counted ? Py_NewRef(Py_None) : NULL;
}

static PyObject *append(PyObject *object, PyObject *args)
{
    const kernel_state *state = PyType_GetModuleState(Py_TYPE(object));
    PyObject *argument, *number;
    Py_ssize_t weight = 1;
    uint32_t document;
    if (!PyArg_ParseTuple(args, "OO|n:append", &argument, &number, &weight) ||
        place_of(number, weight, &document) < 0)
        return NULL;
    piece_table *table = lend_pieces(state, object),
                *other = table ? lend_pieces(state, argument) : NULL;
    bool appended = other;
    for (size_t at = 0; appended && at < other->pieces.n; at += PIECES) {
        size_t n = other->pieces.n - at > PIECES ? PIECES : other->pieces.n - at;
        Py_BEGIN_ALLOW_THREADS
        appended = append_pieces(table, &other->pieces.items[at], n, other->bytes.items, document,
                                 (uint64_t)weight, NULL);
        Py_END_ALLOW_THREADS
        appended = may_go_on(appended);
    }
    if (other) {
        table->n_counted += other->n_counted;
        give_back_pieces(argument);
    }
    if (table)
        give_back_pieces(object);
    return appended ? Py_NewRef(Py_None) : NULL;
}

static PyObject *counts(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    const piece_table *table = lend_pieces(PyType_GetModuleState(Py_TYPE(object)), object);
    PyObject *dict = table ? PyDict_New() : NULL;
    for (size_t number = 0; dict && number < table->pieces.n; number++) {
        const piece *piece = &table->pieces.items[number];
        PyObject *key = PyUnicode_DecodeUTF8((const char *)bytes_of(table, piece),
                                             (Py_ssize_t)length_of(piece), "strict");
        PyObject *count = key ? PyLong_FromUnsignedLongLong(piece->count) : NULL;
        bool is_set = count && PyDict_SetItem(dict, key, count) == 0;
        Py_XDECREF(key);
        Py_XDECREF(count);
        if (!is_set || !may_go_on(true))
            Py_CLEAR(dict);
    }
    if (table)
        give_back_pieces(object);
    return dict;
}

enum { ENDS, COUNTS, DOCUMENTS, FIRSTS, LASTS, N_COLUMNS };

static PyObject *columns(PyObject *object, PyObject *args)
{
    size_t start, last, size = 0;
    if (!PyArg_ParseTuple(args, "nn:columns", &start, &last))
        return NULL;
    const piece_table *table = lend_pieces(PyType_GetModuleState(Py_TYPE(object)), object);
    if (!table)
        return NULL;
    last = last < table->pieces.n ? last : table->pieces.n;
    start = start < last ? start : last;
    for (size_t number = start; number < last; number++)
        size += length_of(&table->pieces.items[number]);
    size_t n = last - start;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    PyObject *numbers =
        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((1 + N_COLUMNS * n) * sizeof(uint64_t)));
    PyObject *hashes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n);
    if (bytes && numbers && hashes) {
        uint8_t *to = (uint8_t *)PyBytes_AS_STRING(bytes), *end = to;
        uint64_t *row = (uint64_t *)PyBytes_AS_STRING(numbers);
        char *hash = PyBytes_AS_STRING(hashes);
        *row++ = 0;
        for (const piece *piece = table->pieces.items + start;
             n && piece < table->pieces.items + last; piece++, row++) {
            size_t length = length_of(piece);
            memcpy(end, bytes_of(table, piece), length);
            *hash++ = (char)hash_of_piece(piece, table->bytes.items);
            end += length;
            row[ENDS * n] = (uint64_t)(end - to);
            row[COUNTS * n] = piece->count;
            row[DOCUMENTS * n] = n_documents(piece);
            row[FIRSTS * n] = n_documents(piece) > 2 ? 0 : piece->first;
            row[LASTS * n] = piece->last;
        }
    }
    give_back_pieces(object);
    return Py_BuildValue("(NNN)", bytes, numbers, hashes);
}

/* Read row `at` of `n` as a piece. A long piece refers to `bytes`. Return false with an exception
   for an invalid row. */
static bool read_row(const uint64_t *columns, size_t n, size_t at, const Py_buffer *bytes,
                     uint32_t document, piece *to)
{
    const uint64_t *row = columns + 1 + at;
    uint64_t begin = columns[at], end = row[ENDS * n], documents = row[DOCUMENTS * n],
             last = row[LASTS * n];
    if (begin >= end || end > (uint64_t)bytes->len || !documents || documents >= MANY_DOCUMENTS ||
        row[FIRSTS * n] > last || last >= MANY_DOCUMENTS - document) {
        PyErr_SetString(PyExc_ValueError, "Invalid rows of pieces. Pass what `columns` returns.");
        return false;
    }
    uint64_t first = documents > 2 ? MANY_DOCUMENTS | documents : row[FIRSTS * n];
    *to = (piece){key_in(bytes->buf, (size_t)bytes->len, begin, end), row[COUNTS * n],
                  (uint32_t)first, (uint32_t)last};
    return true;
}

static PyObject *extend(PyObject *object, PyObject *args)
{
    Py_buffer bytes, numbers;
    PyObject *number, *is_new = NULL;
    Py_ssize_t weight = 1;
    uint32_t document;
    if (!PyArg_ParseTuple(args, "y*y*O|n:extend", &bytes, &numbers, &number, &weight))
        return NULL;
    piece_table *table = place_of(number, weight, &document) < 0
                             ? NULL
                             : lend_pieces(PyType_GetModuleState(Py_TYPE(object)), object);
    size_t n_numbers = (size_t)numbers.len / sizeof(uint64_t),
           n = n_numbers ? (n_numbers - 1) / N_COLUMNS : 0;
    if (table)
        is_new = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n);
    for (size_t at = 0; is_new && at < n;) {
        piece pieces[BATCH];
        char *to = PyBytes_AS_STRING(is_new) + at;
        size_t n_rows = 0;
        for (; n_rows < BATCH && at < n &&
               read_row(numbers.buf, n, at, &bytes, document, &pieces[n_rows]);
             at++)
            table->n_counted += pieces[n_rows++].count;
        if (PyErr_Occurred() || !may_go_on(append_pieces(table, pieces, n_rows, bytes.buf, document,
                                                         (uint64_t)weight, to)))
            Py_CLEAR(is_new);
    }
    if (table)
        give_back_pieces(object);
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
     "Count the pieces of a text in UTF-8, which belongs to the document of this number."},
    {"append", append, METH_VARARGS,
     "Take in another table, whose documents are numbered from here on, with a weight."},
    {"counts", counts, METH_NOARGS,
     "Piece -> how often it occurs, in the order in which they first appear."},
    {"columns", columns, METH_VARARGS,
     "The pieces of some numbers and what is known of them, in columns."},
    {"extend", extend, METH_VARARGS,
     "Take in what `columns` gives of another table, with a weight."},
    {0},
};

static PyMemberDef members[] = {
    {"n_pieces", T_ULONGLONG, offsetof(PieceTableObject, table.n_counted), 0,
     "Pieces, repeated ones, too."},
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
