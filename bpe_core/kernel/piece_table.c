/* The Python type PieceTable: counts the pieces of texts, document by document. */

#include "kernel.h"
#include "pieces.h"

enum { SLICE = 1 << 18, PIECES = 1 << 14 }; /* bytes counted, or pieces taken in, between two looks at signals */

typedef struct {
    PyObject_HEAD
    PyObject *scanner;
    piece_table table;
    bool busy; /* some thread works with it, without the GIL */
} PieceTableObject;

static bool is_free(const PieceTableObject *self)
{
    if (self->busy)
        PyErr_SetString(PyExc_ValueError, "another thread is using this table");
    return !self->busy;
}

static PyObject *new_table(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"scanner", NULL};
    PyObject *scanner;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:PieceTable", names, &scanner) ||
        !scanner_for(PyType_GetModuleState(type), scanner, NULL, 0))
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

/* Count pieces from `at` on, up to the first end at or past `until`, which is returned; SIZE_MAX without memory. */
static size_t count_some(piece_table *table, const scanner *scanner, const uint8_t *text, size_t at, size_t until, size_t n)
{
    while (at < until) {
        size_t end = piece_end(scanner, text, at, n);
        if (!count_piece(table, text + at, end - at, n - at))
            return SIZE_MAX;
        at = end;
    }
    return at;
}

static PyObject *add(PyObject *object, PyObject *text)
{
    PieceTableObject *self = (PieceTableObject *)object;
    Py_ssize_t length;
    const uint8_t *bytes = (const uint8_t *)PyUnicode_AsUTF8AndSize(text, &length);
    if (!bytes || !is_free(self))
        return NULL;
    const scanner *scanner = scanner_for(PyType_GetModuleState(Py_TYPE(object)), self->scanner, bytes, (size_t)length);
    size_t n = (size_t)length, at = 0;
    bool may_go_on = scanner != NULL;
    self->busy = true;
    while (may_go_on && at < n) {
        size_t until = n - at > SLICE ? at + SLICE : n;
        Py_BEGIN_ALLOW_THREADS
        at = count_some(&self->table, scanner, bytes, at, until, n);
        Py_END_ALLOW_THREADS
        may_go_on = at != SIZE_MAX && PyErr_CheckSignals() == 0;
    }
    self->busy = false;
    if (at == SIZE_MAX)
        return PyErr_NoMemory();
    return may_go_on ? Py_NewRef(Py_None) : NULL;
}

static PyObject *end_document(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    PieceTableObject *self = (PieceTableObject *)object;
    if (!is_free(self))
        return NULL;
    if (self->table.n_documents == MANY_DOCUMENTS - 1)
        return PyErr_NoMemory();
    self->table.n_documents++;
    return Py_NewRef(Py_None);
}

/* Take in another table, whose first document has the number `document` here. */
static PyObject *take_in(PyObject *object, PyObject *argument, uint32_t document)
{
    PieceTableObject *self = (PieceTableObject *)object, *other = (PieceTableObject *)argument;
    if (!Py_IS_TYPE(argument, Py_TYPE(object)) || object == argument) {
        PyErr_SetString(PyExc_TypeError, "another PieceTable is needed");
        return NULL;
    }
    if (!is_free(self) || !is_free(other))
        return NULL;
    if (other->table.n_documents >= MANY_DOCUMENTS - document)
        return PyErr_NoMemory();
    bool has_memory = true, may_go_on = true;
    self->busy = other->busy = true;
    for (size_t at = 0; has_memory && may_go_on && at < other->table.pieces.n; at += PIECES) {
        size_t left = other->table.pieces.n - at;
        Py_BEGIN_ALLOW_THREADS
        has_memory = append_pieces(&self->table, &other->table, at, at + (left < PIECES ? left : PIECES), document);
        Py_END_ALLOW_THREADS
        may_go_on = PyErr_CheckSignals() == 0;
    }
    self->busy = other->busy = false;
    if (!may_go_on)
        return NULL;
    if (!has_memory)
        return PyErr_NoMemory();
    self->table.n_documents = document + other->table.n_documents;
    return Py_NewRef(Py_None);
}

static PyObject *append(PyObject *object, PyObject *other)
{
    return take_in(object, other, ((PieceTableObject *)object)->table.n_documents);
}

static PyObject *append_to_last(PyObject *object, PyObject *other)
{
    uint32_t n_documents = ((PieceTableObject *)object)->table.n_documents;
    return take_in(object, other, n_documents ? n_documents - 1 : 0);
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
    PieceTableObject *self = (PieceTableObject *)object;
    PyObject *dict = is_free(self) ? PyDict_New() : NULL;
    for (size_t number = 0; dict && number < self->table.pieces.n; number++) {
        const piece *piece = &self->table.pieces.items[number];
        const char *bytes = (const char *)bytes_of(&self->table, piece);
        PyObject *key = PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)piece->length, "strict");
        PyObject *value = key ? told_of(piece) : NULL;
        bool is_set = value && (value == Py_None || PyDict_SetItem(dict, key, value) == 0);
        Py_XDECREF(key);
        Py_XDECREF(value);
        if (!is_set || (number % PIECES == 0 && PyErr_CheckSignals() < 0))
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *counts(PyObject *object, PyObject *Py_UNUSED(ignored)) { return dict_of(object, count_of); }

static PyObject *few_documents(PyObject *object, PyObject *Py_UNUSED(ignored)) { return dict_of(object, documents_of); }

static PyObject *n_documents(PyObject *object, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLong(((PieceTableObject *)object)->table.n_documents);
}

static PyObject *n_pieces(PyObject *object, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLongLong(((PieceTableObject *)object)->table.n_counted);
}

static PyMethodDef methods[] = {
    {"add", add, METH_O, "Count the pieces of a text, which belongs to the document at hand."},
    {"end_document", end_document, METH_NOARGS, "What comes next belongs to another document."},
    {"append", append, METH_O, "Take in another table, whose documents follow."},
    {"append_to_last", append_to_last, METH_O, "Take in another table, whose documents follow but for the first."},
    {"counts", counts, METH_NOARGS, "Piece -> how often it occurs, in the order in which they first appear."},
    {"few_documents", few_documents, METH_NOARGS, "Piece -> the one or two documents it occurs in, if they are so few."},
    {0},
};

static PyGetSetDef properties[] = {
    {"n_documents", n_documents, NULL, "Documents that have ended.", NULL},
    {"n_pieces", n_pieces, NULL, "Pieces, with repetition.", NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Counts the pieces of texts, document by document."},
    {Py_tp_new, new_table},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "bpe_core.kernel._kernel.PieceTable",
    .basicsize = sizeof(PieceTableObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

int add_piece_table(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    int failed = type ? PyModule_AddType(module, (PyTypeObject *)type) : -1;
    Py_XDECREF(type);
    return failed;
}
