/* The Python type Scanner: finds where pieces end, by sets of characters. */

#include "kernel.h"
#include "vector.h"

enum {
    SLICE = 1 << 20,
    BATCH = 256
}; /* bytes of text between two checks for signals; pieces found together */

typedef struct {
    PyObject_HEAD
    PyObject *ranges_of; /* a function: plane -> the argument of set_ranges */
    unsigned planes;     /* whose sets are loaded, as bits */
    scanner scanner;
} ScannerObject;

/* Set the sets of code points of a plane. `ranges` has triples (first, last + 1, sets); later ones
   override earlier ones. */
static int set_ranges(scanner *scanner, unsigned plane, const uint8_t *ranges, size_t size)
{
    uint32_t range[3];
    size_t at = 0;
    for (; at + sizeof range <= size; at += sizeof range) {
        memcpy(range, ranges + at, sizeof range);
        if (range[0] >> 16 != plane || range[0] >= range[1] || (range[1] - 1) >> 16 != plane ||
            range[2] > 0xFF)
            break;
        memset(scanner->sets + range[0], (int)range[2], range[1] - range[0]);
    }
    if (at == size)
        return 0;
    PyErr_SetString(PyExc_ValueError,
                    "ranges are triples (first, last + 1, sets) of code points of the plane");
    return -1;
}

static int load_plane(ScannerObject *self, unsigned plane)
{
    PyObject *ranges = PyObject_CallFunction(self->ranges_of, "I", plane);
    Py_buffer buffer;
    if (!ranges || PyObject_GetBuffer(ranges, &buffer, PyBUF_SIMPLE) < 0) {
        Py_XDECREF(ranges);
        return -1;
    }
    /* Another thread may have loaded the plane while Python ran, and use these sets now. */
    bool is_known = self->planes >> plane & 1;
    int failed = is_known ? 0 : set_ranges(&self->scanner, plane, buffer.buf, (size_t)buffer.len);
    if (!failed)
        self->planes |= 1u << plane;
    PyBuffer_Release(&buffer);
    Py_DECREF(ranges);
    return failed;
}

unsigned planes_of(const uint8_t *text, size_t n)
{
    unsigned planes = 1;
    for (size_t at = 0; at < n; at++) {
        for (uint64_t word; n - at > sizeof word; at += sizeof word) {
            memcpy(&word, text + at, sizeof word);
            if (word & 0x8080808080808080u) /* not ASCII */
                break;
        }
        if (text[at] >= 0xF0 && n - at > 1)
            planes |= 1u << ((text[at] & 7) << 2 | (text[at + 1] >> 4 & 3));
    }
    return planes & ((1u << 17) - 1);
}

static int load_planes(ScannerObject *self, unsigned planes)
{
    planes &= ~self->planes;
    for (unsigned plane = 0; planes >> plane; plane++)
        if (planes >> plane & 1 && load_plane(self, plane) < 0)
            return -1;
    return 0;
}

const scanner *scanner_for(const kernel_state *state, PyObject *object, unsigned planes)
{
    if (!Py_IS_TYPE(object, (PyTypeObject *)state->scanner_type)) {
        PyErr_Format(PyExc_TypeError, "a Scanner is needed, not %.100s", Py_TYPE(object)->tp_name);
        return NULL;
    }
    ScannerObject *self = (ScannerObject *)object;
    return load_planes(self, planes) < 0 ? NULL : &self->scanner;
}

static PyObject *new_scanner(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"ranges_of", "contractions", "max_digits", "lines",
                            "end_first", "usual",        NULL};
    PyObject *ranges_of;
    Py_ssize_t contractions, max_digits;
    int lines, end_first, usual;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Onnppp:Scanner", names, &ranges_of,
                                     &contractions, &max_digits, &lines, &end_first, &usual))
        return NULL;
    if (contractions < 0 || contractions > CONTRACTION_SUFFIXES || max_digits < 0 ||
        !PyCallable_Check(ranges_of)) {
        PyErr_SetString(PyExc_ValueError,
                        "ranges_of is a function, contractions is 0 to 3, max_digits 0 or more");
        return NULL;
    }
    ScannerObject *self = (ScannerObject *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->ranges_of = Py_NewRef(ranges_of);
    self->scanner.contractions = (enum contractions)contractions;
    self->scanner.max_digits = (size_t)max_digits;
    self->scanner.lines = lines;
    self->scanner.end_first = end_first;
    self->scanner.usual = usual;
    memset(self->scanner.sets, SIGN, N_CODE_POINTS);
    return (PyObject *)self;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((ScannerObject *)self)->ranges_of);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *scanner_ends(PyObject *self, PyObject *object)
{
    Py_buffer text;
    if (PyObject_GetBuffer(object, &text, PyBUF_SIMPLE) < 0)
        return NULL;
    const scanner *scanner = &((ScannerObject *)self)->scanner;
    VECTOR(size_t) ends = {0};
    size_t n = (size_t)text.len, at = 0;
    bool has_room = true;
    PyObject *result = NULL;
    if (load_planes((ScannerObject *)self, planes_of(text.buf, n)) < 0)
        goto done;
    do {
        size_t until = n - at > SLICE ? at + SLICE : n;
        Py_BEGIN_ALLOW_THREADS
        while (at < until && (has_room = ROOM(ends, BATCH))) {
            ends.n += piece_ends(scanner, text.buf, at, n, ends.items + ends.n, BATCH);
            at = ends.items[ends.n - 1];
        }
        Py_END_ALLOW_THREADS
    } while (at < n && has_room && PyErr_CheckSignals() == 0);
    if (!has_room)
        PyErr_NoMemory();
    else if (at == n)
        result = PyBytes_FromStringAndSize((const char *)ends.items,
                                           (Py_ssize_t)(ends.n * sizeof *ends.items));
done:
    PyMem_RawFree(ends.items);
    PyBuffer_Release(&text);
    return result;
}

static PyObject *scanner_last_cut(PyObject *self, PyObject *object)
{
    Py_buffer text;
    if (PyObject_GetBuffer(object, &text, PyBUF_SIMPLE) < 0)
        return NULL;
    ScannerObject *scanner = (ScannerObject *)self;
    int failed = load_planes(scanner, 1); /* white space is in the first plane */
    size_t at = failed ? 0 : last_cut(&scanner->scanner, text.buf, (size_t)text.len);
    PyBuffer_Release(&text);
    return failed ? NULL : PyLong_FromSize_t(at);
}

static PyMethodDef methods[] = {
    {"last_cut", scanner_last_cut, METH_O,
     "The last place seen where a part of a text may be cut, in bytes; 0 for none."},
    {"ends", scanner_ends, METH_O,
     "Where each piece of a text in UTF-8 ends, in bytes; 8 bytes for each."},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Splits texts in UTF-8 into pieces."},
    {Py_tp_new, new_scanner},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec scanner_spec = {
    .name = "bpe_core.kernel._kernel.Scanner",
    .basicsize = sizeof(ScannerObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
