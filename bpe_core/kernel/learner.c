/* The Python type Learner: learns merges from pieces and their counts, in slices of work. */

#include "pieces.h"
#include "train.h"

#include <structmember.h>

enum { SLICE = 1 << 16 }; /* steps, slots or bytes between two checks for signals */

typedef struct {
    PyObject_HEAD
    trainer trainer;
    VECTOR(merge) learned; /* all merges made, in order */
    bool busy;
} LearnerObject;

/* Whether to continue after a slice of work: no signal and no call of `report` raised an exception.
 */
static bool may_go_on(PyObject *report, size_t done, size_t total)
{
    if (PyErr_CheckSignals() < 0)
        return false;
    if (report == Py_None)
        return true;
    PyObject *answer = PyObject_CallFunction(report, "nn", (Py_ssize_t)done, (Py_ssize_t)total);
    Py_XDECREF(answer);
    return answer != NULL;
}

/* Add the pieces of a table to the corpus, slice by slice. */
static int add_pieces(trainer *trainer, const piece_table *table, const uint8_t *symbol_of)
{
    bool added = true;
    for (size_t number = 0, at = 0; added && number < table->pieces.n;) {
        Py_BEGIN_ALLOW_THREADS
        for (size_t left = SLICE; added && left && number < table->pieces.n;) {
            const piece *piece = &table->pieces.items[number];
            size_t n = length_of(piece) - at, n_now = n < left ? n : left;
            added = add_to_piece(trainer, bytes_of(table, piece) + at, n_now, symbol_of);
            left -= n_now;
            at += n_now;
            if (added && n_now == n) {
                added = end_piece(trainer, piece->count);
                number++, at = 0;
            }
        }
        Py_END_ALLOW_THREADS
        if (added && !may_go_on(Py_None, 0, 0))
            return -1;
    }
    if (!added)
        PyErr_NoMemory();
    return added ? 0 : -1;
}

static int index_all(trainer *trainer, PyObject *report)
{
    size_t last = trainer->slots.n - 1;
    if (!begin_index(trainer))
        goto no_memory;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t at = 0; at < last; at += SLICE) {
            size_t until = last - at > SLICE ? at + SLICE : last;
            Py_BEGIN_ALLOW_THREADS(pass ? place_pairs : count_pairs)
            (trainer, at, until);
            Py_END_ALLOW_THREADS
            if (!may_go_on(until < last ? report : Py_None, pass * last + until, 2 * last))
                return -1;
        }
        if (!pass && !add_counted_pairs(trainer))
            goto no_memory;
    }
    return 0;
no_memory:
    PyErr_NoMemory();
    return -1;
}

static int set_up(trainer *trainer, const piece_table *pieces, Py_buffer *alphabet, Py_buffer *end,
                  PyObject *report)
{
    uint8_t symbol_of[256] = {0};
    const uint8_t *bytes = alphabet->buf;
    for (int number = 0; alphabet->len == 256 && number < 256; number++)
        symbol_of[bytes[number]] = (uint8_t)number;
    for (int byte = 0; byte < 256; byte++)
        if (alphabet->len != 256 || bytes[symbol_of[byte]] != byte) {
            PyErr_SetString(PyExc_ValueError, "Invalid alphabet: pass each of the 256 bytes once");
            return -1;
        }
    bool has_end = end->len > 0, has_memory = begin_trainer(trainer);
    for (int number = 0; number < 256 && has_memory; number++)
        has_memory = add_symbol(trainer, bytes + number, 1);
    if (!has_memory || (has_end && !add_symbol(trainer, end->buf, (size_t)end->len))) {
        PyErr_NoMemory();
        return -1;
    }
    return add_pieces(trainer, pieces, symbol_of) || index_all(trainer, report) ? -1 : 0;
}

static PyObject *new_learner(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"pieces",   "ties",        "min_count", "max_length",
                            "alphabet", "end_of_word", "progress",  NULL};
    PyObject *table, *progress = Py_None;
    Py_ssize_t ties, min_count, max_length;
    Py_buffer alphabet, end;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Onnny*y*|O:Learner", names, &table, &ties,
                                     &min_count, &max_length, &alphabet, &end, &progress))
        return NULL;
    LearnerObject *self = NULL;
    if (ties < 0 || ties >= N_TIES || min_count < 1 || max_length < 1)
        PyErr_SetString(PyExc_ValueError, "ties is 0 to 2, min_count and max_length are 1 or more");
    else
        self = (LearnerObject *)type->tp_alloc(type, 0);
    const piece_table *pieces = self ? lend_pieces(PyType_GetModuleState(type), table) : NULL;
    if (pieces) {
        trainer *trainer = &self->trainer;
        trainer->ties = (enum ties)ties;
        trainer->min_count = (uint64_t)min_count;
        trainer->max_length = (uint64_t)max_length;
        if (set_up(trainer, pieces, &alphabet, &end, progress) < 0)
            Py_CLEAR(self);
        give_back_pieces(table);
    } else {
        Py_CLEAR(self);
    }
    PyBuffer_Release(&alphabet);
    PyBuffer_Release(&end);
    return (PyObject *)self;
}

static void dealloc(PyObject *object)
{
    LearnerObject *self = (LearnerObject *)object;
    PyTypeObject *type = Py_TYPE(object);
    free_trainer(&self->trainer);
    PyMem_RawFree(self->learned.items);
    type->tp_free(object);
    Py_DECREF(type);
}

/* Continue with one merge for about `steps` of work. */
static enum progress learn_one(LearnerObject *self, size_t *steps)
{
    if (!ROOM(self->learned, 1))
        return NO_MEMORY;
    enum progress progress =
        learn_merge(&self->trainer, steps, self->learned.items + self->learned.n);
    self->learned.n += progress == LEARNED;
    *steps -= *steps > 0;
    return progress;
}

/* Learn until there are `until` merges. Return false with an exception, after finishing a merge
   that has begun. */
static bool learn_all(LearnerObject *self, size_t until)
{
    enum progress progress = UNDER_WAY;
    self->busy = true;
    while (self->learned.n < until && (progress == UNDER_WAY || progress == LEARNED)) {
        size_t steps = SLICE;
        Py_BEGIN_ALLOW_THREADS
        do
            progress = learn_one(self, &steps);
        while (progress == LEARNED && self->learned.n < until && steps);
        Py_END_ALLOW_THREADS
        if (!may_go_on(Py_None, 0, 0)) {
            steps = SIZE_MAX;
            if (self->trainer.merging)
                learn_one(self, &steps);
            self->busy = false;
            return false;
        }
    }
    self->busy = false;
    if (progress == NO_MEMORY)
        PyErr_NoMemory();
    return progress != NO_MEMORY;
}

static PyObject *learn(PyObject *object, PyObject *argument)
{
    LearnerObject *self = (LearnerObject *)object;
    Py_ssize_t until = PyLong_AsSsize_t(argument);
    if (until == -1 && PyErr_Occurred())
        return NULL;
    if (until < 0 || self->busy) {
        PyErr_SetString(PyExc_ValueError, until < 0 ? "a number of merges is 0 or more"
                                                    : "another thread is using this learner");
        return NULL;
    }
    end_giving(&self->trainer);
    if (!learn_all(self, (size_t)until))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *merge_given(PyObject *object, PyObject *args)
{
    LearnerObject *self = (LearnerObject *)object;
    unsigned long long left, right;
    if (!PyArg_ParseTuple(args, "KK:merge", &left, &right))
        return NULL;
    if (self->busy || !may_be_given(&self->trainer, left, right)) {
        PyErr_SetString(PyExc_ValueError,
                        "a merge of known symbols can be given before the first that is learned");
        return NULL;
    }
    if (!give_merge(&self->trainer, (uint32_t)left, (uint32_t)right))
        return PyErr_NoMemory();
    if (!learn_all(self, self->learned.n + 1))
        return NULL;
    Py_RETURN_NONE;
}

/* Append a new object, and release it. Return false with an exception. */
static bool append(PyObject *list, PyObject *object)
{
    bool appended = object && PyList_Append(list, object) == 0;
    Py_XDECREF(object);
    return appended;
}

static PyObject *merges(PyObject *object, PyObject *argument)
{
    const LearnerObject *self = (LearnerObject *)object;
    size_t start = PyLong_AsSize_t(argument);
    if (start == (size_t)-1 && PyErr_Occurred())
        return NULL;
    PyObject *rows = PyList_New(0);
    for (size_t i = start; rows && i < self->learned.n; i++) {
        const merge *merge = &self->learned.items[i];
        if (!append(rows, Py_BuildValue("KKKKK", merge->left, merge->right, merge->count,
                                        merge->n_tied, merge->n_tokens)))
            Py_CLEAR(rows);
    }
    return rows;
}

/* Return an empty list; NULL with an exception if the learner is learning. */
static PyObject *rows_unless_busy(const LearnerObject *self)
{
    if (self->busy || self->trainer.merging) {
        PyErr_SetString(PyExc_ValueError, "another thread is using this learner");
        return NULL;
    }
    return PyList_New(0);
}

static PyObject *pairs(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    const trainer *trainer = &((LearnerObject *)object)->trainer;
    PyObject *rows = rows_unless_busy((LearnerObject *)object);
    for (size_t number = 0; rows && number < trainer->pairs.n; number++) {
        const pair *pair = &trainer->pairs.items[number];
        bool is_short = trainer->spans.items[pair->left] + trainer->spans.items[pair->right] <=
                        trainer->max_length;
        if (pair->count && is_short &&
            !append(rows, Py_BuildValue("IIK", pair->left, pair->right, pair->count)))
            Py_CLEAR(rows);
    }
    return rows;
}

static PyObject *symbol_counts(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    const trainer *trainer = &((LearnerObject *)object)->trainer;
    PyObject *rows = rows_unless_busy((LearnerObject *)object);
    if (!rows)
        return NULL;
    uint64_t *counts = PyMem_RawMalloc(trainer->spans.n * sizeof(uint64_t));
    if (!counts) {
        Py_DECREF(rows);
        return PyErr_NoMemory();
    }
    count_symbols(trainer, counts);
    for (size_t symbol = 0; rows && symbol < trainer->spans.n; symbol++)
        if (!append(rows, PyLong_FromUnsignedLongLong(counts[symbol])))
            Py_CLEAR(rows);
    PyMem_RawFree(counts);
    return rows;
}

static PyMethodDef methods[] = {
    {"learn", learn, METH_O, "Learn until so many merges are made in all."},
    {"merge", merge_given, METH_VARARGS,
     "Merge this pair, chosen or not; it counts as tied with 0 pairs."},
    {"merges", merges, METH_O,
     "The merges made from this index on: (left, right, count, tied, tokens after it)."},
    {"pairs", pairs, METH_NOARGS,
     "Every pair there is now that may be merged: (left, right, count)."},
    {"symbol_counts", symbol_counts, METH_NOARGS,
     "How often each symbol stands in the corpus now."},
    {0},
};

static PyMemberDef members[] = {
    {"n_tokens", T_ULONGLONG, offsetof(LearnerObject, trainer.n_tokens), READONLY,
     "Tokens in the corpus now."},
    {"n_merges", T_PYSSIZET, offsetof(LearnerObject, learned.n), READONLY,
     "How many merges are made."},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Learns merges from pieces and their counts."},
    {Py_tp_new, new_learner},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {0, NULL},
};

PyType_Spec learner_spec = {
    .name = "bpe_core.kernel._kernel.Learner",
    .basicsize = sizeof(LearnerObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
