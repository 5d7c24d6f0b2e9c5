/* The Python type Trainer: learns merges from pieces and their counts, some at a time. */

#include "pieces.h"
#include "train.h"

enum { SLICE = 1 << 16 }; /* steps, slots or bytes between two looks at signals */

typedef struct {
    PyObject_HEAD
    trainer trainer;
    VECTOR(merge) learned; /* and not handed over yet */
    bool busy;
} TrainerObject;

/* Whether to go on after a slice of work: nobody has interrupted, and `look`, told what is done, does not object. */
static bool may_go_on(PyObject *look, size_t done, size_t total)
{
    if (PyErr_CheckSignals() < 0)
        return false;
    if (look == Py_None)
        return true;
    PyObject *answer = PyObject_CallFunction(look, "nn", (Py_ssize_t)done, (Py_ssize_t)total);
    Py_XDECREF(answer);
    return answer != NULL;
}

/* Add the pieces of a table, slice by slice. */
static int add_pieces(trainer *trainer, const piece_table *table, const uint8_t *symbol_of)
{
    bool added = true;
    for (size_t number = 0, at = 0; added && number < table->pieces.n;) {
        Py_BEGIN_ALLOW_THREADS
        for (size_t left = SLICE; added && left && number < table->pieces.n;) {
            const piece *piece = &table->pieces.items[number];
            size_t n = length_of(piece) - at, some = n < left ? n : left;
            added = add_to_piece(trainer, bytes_of(table, piece) + at, some, symbol_of);
            left -= some;
            at += some;
            if (added && some == n) {
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

static int index_all(trainer *trainer, PyObject *look)
{
    size_t last = trainer->slots.n - 1;
    if (!begin_index(trainer))
        goto no_memory;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t at = 0; at < last; at += SLICE) {
            size_t until = last - at > SLICE ? at + SLICE : last;
            Py_BEGIN_ALLOW_THREADS
            (pass ? place_pairs : count_pairs)(trainer, at, until);
            Py_END_ALLOW_THREADS
            if (!may_go_on(until < last ? look : Py_None, pass * last + until, 2 * last))
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

static int set_up(trainer *trainer, const piece_table *pieces, Py_buffer *alphabet, Py_buffer *end, PyObject *look)
{
    uint8_t symbol_of[256] = {0};
    const uint8_t *bytes = alphabet->buf;
    for (int number = 0; alphabet->len == 256 && number < 256; number++)
        symbol_of[bytes[number]] = (uint8_t)number;
    for (int byte = 0; byte < 256; byte++)
        if (alphabet->len != 256 || bytes[symbol_of[byte]] != byte) {
            PyErr_SetString(PyExc_ValueError, "the alphabet is the 256 bytes in some order");
            return -1;
        }
    bool has_end = end->len > 0, has_memory = begin_trainer(trainer);
    for (int number = 0; number < 256 && has_memory; number++)
        has_memory = add_symbol(trainer, bytes + number, 1);
    if (!has_memory || (has_end && !add_symbol(trainer, end->buf, (size_t)end->len))) {
        PyErr_NoMemory();
        return -1;
    }
    return add_pieces(trainer, pieces, symbol_of) || index_all(trainer, look) ? -1 : 0;
}

static PyObject *new_trainer(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"pieces", "ties", "min_count", "max_length", "alphabet", "end_of_word", "look", NULL};
    PyObject *table, *look = Py_None;
    Py_ssize_t ties, min_count, max_length;
    Py_buffer alphabet, end;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Onnny*y*|O:Trainer", names, &table, &ties, &min_count, &max_length,
                                     &alphabet, &end, &look))
        return NULL;
    TrainerObject *self = NULL;
    if (ties < 0 || ties >= N_TIES || min_count < 1 || max_length < 1)
        PyErr_SetString(PyExc_ValueError, "ties is 0 to 2, min_count and max_length are 1 or more");
    else
        self = (TrainerObject *)type->tp_alloc(type, 0);
    const piece_table *pieces = self ? lend_pieces(PyType_GetModuleState(type), table) : NULL;
    if (pieces) {
        trainer *trainer = &self->trainer;
        trainer->ties = (enum ties)ties;
        trainer->min_count = (uint64_t)min_count;
        trainer->max_length = (uint64_t)max_length;
        if (set_up(trainer, pieces, &alphabet, &end, look) < 0)
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
    TrainerObject *self = (TrainerObject *)object;
    PyTypeObject *type = Py_TYPE(object);
    free_trainer(&self->trainer);
    PyMem_RawFree(self->learned.items);
    type->tp_free(object);
    Py_DECREF(type);
}

/* Learn until so many merges wait to be handed over, or a slice of work is done. */
static enum progress learn_some(TrainerObject *self, size_t wanted)
{
    size_t steps = SLICE;
    enum progress progress = UNDER_WAY;
    while (steps && self->learned.n < wanted) {
        if (!ROOM(self->learned, 1))
            return NO_MEMORY;
        progress = learn_merge(&self->trainer, &steps, self->learned.items + self->learned.n);
        if (progress != LEARNED)
            return progress;
        self->learned.n++;
        steps -= steps > 0;
    }
    return progress;
}

/* Learn until so many merges are there to be handed over, and hand them over; NULL with an exception. */
static PyObject *learn_all(TrainerObject *self, Py_ssize_t wanted)
{
    enum progress progress = UNDER_WAY;
    self->busy = true;
    while (self->learned.n < (size_t)wanted && (progress == UNDER_WAY || progress == LEARNED)) {
        Py_BEGIN_ALLOW_THREADS
        progress = learn_some(self, (size_t)wanted);
        Py_END_ALLOW_THREADS
        if (!may_go_on(Py_None, 0, 0)) {
            self->busy = false;
            return NULL;
        }
    }
    self->busy = false;
    if (progress == NO_MEMORY)
        return PyErr_NoMemory();
    size_t n = self->learned.n < (size_t)wanted ? self->learned.n : (size_t)wanted;
    const char *items = n ? (const char *)self->learned.items : "";
    PyObject *merges = PyBytes_FromStringAndSize(items, (Py_ssize_t)(n * sizeof(merge)));
    if (merges && n) {
        self->learned.n -= n;
        memmove(self->learned.items, self->learned.items + n, self->learned.n * sizeof(merge));
    }
    return merges;
}

static PyObject *learn(PyObject *object, PyObject *argument)
{
    TrainerObject *self = (TrainerObject *)object;
    Py_ssize_t wanted = PyLong_AsSsize_t(argument);
    if (wanted == -1 && PyErr_Occurred())
        return NULL;
    if (wanted < 0 || self->busy) {
        PyErr_SetString(PyExc_ValueError, wanted < 0 ? "a number of merges is 0 or more" : "it is learning already");
        return NULL;
    }
    end_giving(&self->trainer);
    return learn_all(self, wanted);
}

static PyObject *merge_given(PyObject *object, PyObject *args)
{
    TrainerObject *self = (TrainerObject *)object;
    unsigned long long left, right;
    if (!PyArg_ParseTuple(args, "KK:merge", &left, &right))
        return NULL;
    if (self->busy || !may_be_given(&self->trainer, left, right)) {
        PyErr_SetString(PyExc_ValueError, "a merge of known symbols can be given before the first that is learned");
        return NULL;
    }
    /* After an interruption the merge may be made already, and not handed over. */
    if (!self->learned.n && !give_merge(&self->trainer, (uint32_t)left, (uint32_t)right))
        return PyErr_NoMemory();
    return learn_all(self, 1);
}

static PyObject *pair_table(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    const trainer *trainer = &((TrainerObject *)object)->trainer;
    if (((TrainerObject *)object)->busy) {
        PyErr_SetString(PyExc_ValueError, "it is learning");
        return NULL;
    }
    PyObject *rows = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(trainer->n_live * 3 * sizeof(uint64_t)));
    if (!rows)
        return NULL;
    char *row = PyBytes_AS_STRING(rows);
    for (size_t number = 0; number < trainer->pairs.n; number++) {
        const pair *pair = &trainer->pairs.items[number];
        uint64_t values[3] = {pair->left, pair->right, pair->count};
        if (pair->count) {
            memcpy(row, values, sizeof values);
            row += sizeof values;
        }
    }
    return rows;
}

static PyObject *symbol_counts(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    const trainer *trainer = &((TrainerObject *)object)->trainer;
    if (((TrainerObject *)object)->busy || trainer->merging) {
        PyErr_SetString(PyExc_ValueError, "it is learning");
        return NULL;
    }
    PyObject *counts = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(trainer->spans.n * sizeof(uint64_t)));
    if (!counts)
        return NULL;
    count_symbols(trainer, (uint64_t *)PyBytes_AS_STRING(counts));
    return counts;
}

static PyObject *n_tokens(PyObject *object, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLongLong(((TrainerObject *)object)->trainer.n_tokens);
}

static PyMethodDef methods[] = {
    {"learn", learn, METH_O, "Up to n merges, five 8-byte numbers each: left, right, count, tied, tokens after it."},
    {"merge", merge_given, METH_VARARGS, "Merge this pair, chosen or not; its row, as learn gives it, with tied 0."},
    {"pair_table", pair_table, METH_NOARGS, "Every pair there is now, three 8-byte numbers each: left, right, count."},
    {"symbol_counts", symbol_counts, METH_NOARGS, "How often each symbol stands in the corpus now, 8 bytes each."},
    {0},
};

static PyGetSetDef properties[] = {
    {"n_tokens", n_tokens, NULL, "Tokens in the corpus now.", NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Learns merges from pieces and their counts."},
    {Py_tp_new, new_trainer},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "bpe_core.kernel._kernel.Trainer",
    .basicsize = sizeof(TrainerObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

int add_trainer(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    int failed = type ? PyModule_AddType(module, (PyTypeObject *)type) : -1;
    Py_XDECREF(type);
    return failed;
}
