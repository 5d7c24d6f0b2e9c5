/* The Python type PieceTable: counts the pieces of texts, document by document. */

#include "pieces.h"

#include <structmember.h>

enum {
    SLICE = 1 << 18,  /* bytes counted, */
    PIECES = 1 << 14, /* or pieces taken in, between two looks at signals */
    BATCH = 256,      /* pieces found together */
};

typedef struct {
    PyObject_HEAD
    PyObject *scanner; /* or None */
    piece_table table;
    bool busy; /* some thread works with it, without the GIL */
} PieceTableObject;

piece_table *lend_pieces(const kernel_state *state, PyObject *object)
{
    PieceTableObject *self = (PieceTableObject *)object;
    if (!Py_IS_TYPE(object, (PyTypeObject *)state->piece_table_type))
        PyErr_Format(PyExc_TypeError, "a PieceTable is needed, not %.100s", Py_TYPE(object)->tp_name);
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

/* The number of a document; -1 with an exception for what is none. */
static int document_number(PyObject *object, uint32_t *number)
{
    unsigned long value = PyLong_AsUnsignedLong(object);
    if (value == (unsigned long)-1 && PyErr_Occurred())
        return -1;
    if (value >= MANY_DOCUMENTS) {
        PyErr_SetString(PyExc_OverflowError, "there are too many documents");
        return -1;
    }
    *number = (uint32_t)value;
    return 0;
}

/* Count the pieces of a text, slice by slice; -1 with an exception. */
static int count_text(piece_table *table, const scanner *scanner, const uint8_t *text, size_t n, uint32_t document)
{
    size_t ends[BATCH];
    bool counted = true;
    for (size_t at = 0; at < n;) {
        size_t until = n - at > SLICE ? at + SLICE : n;
        Py_BEGIN_ALLOW_THREADS
        while (at < until && counted) {
            size_t n_ends = piece_ends(scanner, text, at, n, ends, BATCH);
            for (size_t i = 0; i < n_ends && counted; at = ends[i++])
                counted = count_piece(table, text + at, ends[i] - at, n - at, document);
        }
        Py_END_ALLOW_THREADS
        if (!counted)
            PyErr_NoMemory();
        if (!counted || PyErr_CheckSignals() < 0)
            return -1;
    }
    return 0;
}

static PyObject *add(PyObject *object, PyObject *args)
{
    PieceTableObject *self = (PieceTableObject *)object;
    const kernel_state *state = PyType_GetModuleState(Py_TYPE(object));
    PyObject *text, *number;
    uint32_t document;
    if (!PyArg_ParseTuple(args, "SO:add", &text, &number) || document_number(number, &document) < 0)
        return NULL;
    const uint8_t *bytes = (const uint8_t *)PyBytes_AS_STRING(text);
    size_t n = (size_t)PyBytes_GET_SIZE(text);
    const scanner *scanner = scanner_for(state, self->scanner, planes_of(bytes, n));
    piece_table *table = scanner ? lend_pieces(state, object) : NULL;
    if (!table)
        return NULL;
    int failed = count_text(table, scanner, bytes, n, document);
    give_back_pieces(object);
    return failed ? NULL : Py_NewRef(Py_None);
}

static int count_one(piece_table *table, PyObject *piece, uint32_t document)
{
    if (!PyUnicode_Check(piece)) {
        PyErr_Format(PyExc_TypeError, "a piece is a str, not %.100s", Py_TYPE(piece)->tp_name);
        return -1;
    }
    PyObject *utf8 = PyUnicode_AsUTF8String(piece);
    if (!utf8)
        return -1;
    const uint8_t *bytes = (const uint8_t *)PyBytes_AS_STRING(utf8);
    size_t n = (size_t)PyBytes_GET_SIZE(utf8);
    bool counted = !n || count_piece(table, bytes, n, n, document);
    Py_DECREF(utf8);
    if (!counted)
        PyErr_NoMemory();
    return counted ? 0 : -1;
}

static PyObject *add_pieces(PyObject *object, PyObject *args)
{
    PyObject *pieces, *number;
    uint32_t document;
    if (!PyArg_ParseTuple(args, "O!O:add_pieces", &PyList_Type, &pieces, &number) ||
        document_number(number, &document) < 0)
        return NULL;
    piece_table *table = lend_pieces(PyType_GetModuleState(Py_TYPE(object)), object);
    if (!table)
        return NULL;
    int failed = 0;
    for (Py_ssize_t at = 0; !failed && at < PyList_GET_SIZE(pieces); at++) {
        PyObject *piece = Py_NewRef(PyList_GET_ITEM(pieces, at));
        failed = count_one(table, piece, document) || (at % PIECES == 0 && PyErr_CheckSignals() < 0);
        Py_DECREF(piece);
    }
    give_back_pieces(object);
    return failed ? NULL : Py_NewRef(Py_None);
}

/* Take in pieces of another table, slice by slice; -1 with an exception. */
static int append_slices(piece_table *table, const piece_table *other, uint32_t document, uint64_t weight)
{
    for (size_t at = 0; at < other->pieces.n; at += PIECES) {
        size_t left = other->pieces.n - at;
        bool appended;
        Py_BEGIN_ALLOW_THREADS
        appended = append_pieces(table, other, at, at + (left < PIECES ? left : PIECES), document, weight);
        Py_END_ALLOW_THREADS
        if (!appended)
            PyErr_NoMemory();
        if (!appended || PyErr_CheckSignals() < 0)
            return -1;
    }
    return 0;
}

static PyObject *append(PyObject *object, PyObject *args)
{
    const kernel_state *state = PyType_GetModuleState(Py_TYPE(object));
    PyObject *argument, *number;
    Py_ssize_t weight = 1;
    uint32_t document;
    if (!PyArg_ParseTuple(args, "OO|n:append", &argument, &number, &weight) || document_number(number, &document) < 0)
        return NULL;
    if (weight < 1) {
        PyErr_SetString(PyExc_ValueError, "a weight is 1 or more");
        return NULL;
    }
    piece_table *table = lend_pieces(state, object), *other = table ? lend_pieces(state, argument) : NULL;
    int failed = other ? append_slices(table, other, document, (uint64_t)weight) : -1;
    if (other)
        give_back_pieces(argument);
    if (table)
        give_back_pieces(object);
    return failed ? NULL : Py_NewRef(Py_None);
}

static PyObject *count_of(const piece *piece) { return PyLong_FromUnsignedLongLong(piece->count); }

/* The few documents of a piece; None for a piece that is in many. */
static PyObject *documents_of(const piece *piece)
{
    if (piece->second == MANY_DOCUMENTS)
        return Py_NewRef(Py_None);
    if (piece->second == NO_DOCUMENT)
        return Py_BuildValue("(I)", (unsigned int)piece->first);
    return Py_BuildValue("(II)", (unsigned int)piece->first, (unsigned int)piece->second);
}

/* Piece -> what is told of it, for each of which that is not None. */
static PyObject *dict_of(PyObject *object, PyObject *(*told_of)(const piece *))
{
    const piece_table *table = lend_pieces(PyType_GetModuleState(Py_TYPE(object)), object);
    PyObject *dict = table ? PyDict_New() : NULL;
    for (size_t number = 0; dict && number < table->pieces.n; number++) {
        const piece *piece = &table->pieces.items[number];
        PyObject *key = PyUnicode_DecodeUTF8((const char *)bytes_of(table, piece), (Py_ssize_t)length_of(piece), "strict");
        PyObject *value = key ? told_of(piece) : NULL;
        bool is_set = value && (value == Py_None || PyDict_SetItem(dict, key, value) == 0);
        Py_XDECREF(key);
        Py_XDECREF(value);
        if (!is_set || (number % PIECES == 0 && PyErr_CheckSignals() < 0))
            Py_CLEAR(dict);
    }
    if (table)
        give_back_pieces(object);
    return dict;
}

static PyObject *counts(PyObject *object, PyObject *Py_UNUSED(ignored)) { return dict_of(object, count_of); }

static PyObject *few_documents(PyObject *object, PyObject *Py_UNUSED(ignored)) { return dict_of(object, documents_of); }

static Py_ssize_t n_different(PyObject *object) { return (Py_ssize_t)((PieceTableObject *)object)->table.pieces.n; }

static PyMethodDef methods[] = {
    {"add", add, METH_VARARGS, "Count the pieces of a text in UTF-8, which belongs to the document of this number."},
    {"add_pieces", add_pieces, METH_VARARGS, "Count pieces of the document of this number."},
    {"append", append, METH_VARARGS, "Take in another table, whose documents are numbered from here on, with a weight."},
    {"counts", counts, METH_NOARGS, "Piece -> how often it occurs, in the order in which they first appear."},
    {"few_documents", few_documents, METH_NOARGS, "Piece -> the one or two documents it occurs in, if they are so few."},
    {0},
};

static PyMemberDef members[] = {
    {"n_pieces", T_ULONGLONG, offsetof(PieceTableObject, table.n_counted), READONLY, "Pieces, repeated ones, too."},
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
