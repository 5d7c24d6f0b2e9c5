/* The Python type Scanner: finds where pieces end, by sets of characters. It asks Python for the
   sets of a Unicode plane when a text first has a character of that plane. scan.h has the
   grammar. */

#include "kernel.h"
#include "vector.h"

enum {
    SLICE = 1 << 20, /* bytes of text between two checks for signals */
    BATCH = 256,     /* pieces found together */
};

typedef struct {
    PyObject_HEAD
    PyObject *ranges_of; /* a function: plane -> the argument of set_ranges */
    unsigned planes;     /* the planes whose sets are loaded, as bits */
    scanner scanner;
} ScannerObject;

/* Code points with the same sets. */
typedef struct {
    uint32_t first;
    uint32_t end; /* the last one + 1 */
    uint32_t sets;
} code_range;

static bool is_valid_range(const code_range *range, unsigned plane)
{
    bool is_in_plane = range->first >> 16 == plane && (range->end - 1) >> 16 == plane;
    return is_in_plane && range->first < range->end && range->sets <= 0xFF;
}

/* Set the sets of code points of a plane. `ranges` has the bytes of ranges; later ones override
   earlier ones. Return -1 with an exception for an invalid one. */
static int set_ranges(scanner *scanner, unsigned plane, const uint8_t *ranges, size_t size)
{
    code_range range;
    size_t at = 0;
    for (; at + sizeof range <= size; at += sizeof range) {
        memcpy(&range, ranges + at, sizeof range);
        if (!is_valid_range(&range, plane))
            break;
        memset(scanner->sets + range.first, (int)range.sets, range.end - range.first);
    }
    if (at == size)
        return 0;
    PyErr_SetString(PyExc_ValueError,
                    "ranges are triples (first, last + 1, sets) of code points of the plane");
    return -1;
}

static bool has_plane(unsigned planes, unsigned plane) { return planes >> plane & 1; }

/* Ask Python for the sets of a plane. Return -1 with an exception. */
static int load_plane(ScannerObject *self, unsigned plane)
{
    PyObject *ranges = PyObject_CallFunction(self->ranges_of, "I", plane);
    if (!ranges)
        return -1;
    Py_buffer buffer;
    int failed = PyObject_GetBuffer(ranges, &buffer, PyBUF_SIMPLE);
    if (!failed) {
        /* Another thread may have loaded the plane while Python ran, and use these sets now. */
        if (!has_plane(self->planes, plane))
            failed = set_ranges(&self->scanner, plane, buffer.buf, (size_t)buffer.len);
        if (!failed)
            self->planes |= 1u << plane;
        PyBuffer_Release(&buffer);
    }
    Py_DECREF(ranges);
    return failed;
}

static int load_planes(ScannerObject *self, unsigned planes)
{
    for (unsigned plane = 0; planes >> plane; plane++) {
        bool is_missing = has_plane(planes, plane) && !has_plane(self->planes, plane);
        if (is_missing && load_plane(self, plane) < 0)
            return -1;
    }
    return 0;
}

enum { N_PLANES = 17 };

/* Return a place from `at` < n on such that all bytes before it are ASCII. It is less than n. */
static inline size_t skip_ascii(const uint8_t *text, size_t at, size_t n)
{
    uint64_t word;
    for (; n - at > sizeof word; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        bool is_ascii = !(word & 0x8080808080808080u);
        if (!is_ascii)
            break;
    }
    return at;
}

unsigned planes_of(const uint8_t *text, size_t n)
{
    unsigned planes = 1;
    for (size_t at = 0; at < n; at++) {
        at = skip_ascii(text, at, n);
        bool begins_four_bytes = text[at] >= 0xF0 && n - at > 1;
        if (begins_four_bytes)
            planes |= 1u << ((text[at] & 7) << 2 | (text[at + 1] >> 4 & 3));
    }
    return planes & ((1u << N_PLANES) - 1);
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
    Py_ssize_t contractions;
    Py_ssize_t max_digits;
    int lines;
    int end_first;
    int usual;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Onnppp:Scanner", names, &ranges_of,
                                     &contractions, &max_digits, &lines, &end_first, &usual))
        return NULL;
    bool is_valid = 0 <= contractions && contractions <= CONTRACTION_SUFFIXES && max_digits >= 0;
    if (!is_valid || !PyCallable_Check(ranges_of)) {
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

typedef VECTOR(size_t) end_list;

/* Append the ends of pieces until one is at `until` or later. Return false without memory. Called
   without the GIL. */
static bool append_ends(const scanner *scanner, const uint8_t *text, size_t n, size_t until,
                        end_list *ends)
{
    size_t at = ends->n ? ends->items[ends->n - 1] : 0;
    while (at < until) {
        if (!ROOM(*ends, BATCH))
            return false;
        ends->n += piece_ends(scanner, text, at, n, ends->items + ends->n, BATCH);
        at = ends->items[ends->n - 1];
    }
    return true;
}

/* Find the ends of all pieces, slice by slice. Return -1 with an exception. */
static int find_ends(const scanner *scanner, const uint8_t *text, size_t n, end_list *ends)
{
    size_t at = 0;
    while (at < n) {
        size_t until = n - at > SLICE ? at + SLICE : n;
        bool has_room;
        Py_BEGIN_ALLOW_THREADS
        has_room = append_ends(scanner, text, n, until, ends);
        Py_END_ALLOW_THREADS
        if (!has_room) {
            PyErr_NoMemory();
            return -1;
        }
        if (PyErr_CheckSignals() < 0)
            return -1;
        at = ends->items[ends->n - 1];
    }
    return 0;
}

static PyObject *scanner_ends(PyObject *object, PyObject *argument)
{
    ScannerObject *self = (ScannerObject *)object;
    Py_buffer text;
    if (PyObject_GetBuffer(argument, &text, PyBUF_SIMPLE) < 0)
        return NULL;
    size_t n = (size_t)text.len;
    end_list ends = {0};
    PyObject *result = NULL;
    if (load_planes(self, planes_of(text.buf, n)) == 0 &&
        find_ends(&self->scanner, text.buf, n, &ends) == 0)
        result = PyBytes_FromStringAndSize((const char *)ends.items,
                                           (Py_ssize_t)(ends.n * sizeof *ends.items));
    PyMem_RawFree(ends.items);
    PyBuffer_Release(&text);
    return result;
}

static PyObject *scanner_last_cut(PyObject *object, PyObject *argument)
{
    ScannerObject *self = (ScannerObject *)object;
    Py_buffer text;
    if (PyObject_GetBuffer(argument, &text, PyBUF_SIMPLE) < 0)
        return NULL;
    PyObject *cut = NULL;
    if (load_planes(self, 1) == 0) /* white space is in the first plane */
        cut = PyLong_FromSize_t(last_cut(&self->scanner, text.buf, (size_t)text.len));
    PyBuffer_Release(&text);
    return cut;
}

static PyMethodDef methods[] = {
    {"last_cut", scanner_last_cut, METH_O,
     "The last place where a text may be cut, whatever follows it, in bytes; 0 for none."},
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
