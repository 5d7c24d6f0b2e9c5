/* The Python type Learner: learns merges from pieces and their counts, in slices of work. train.h
   has the algorithm. */

#include "pieces.h"
#include "train.h"

#include <structmember.h>

enum { SLICE = 1 << 16 }; /* steps, slots or bytes between two checks for signals */

typedef struct {
    PyObject_HEAD
    trainer trainer;
    VECTOR(merge) learned; /* all merges made, in order */
    bool busy;             /* a thread is learning */
} LearnerObject;

/* Return whether to continue after a slice of work; false with an exception after a signal. */
static bool may_go_on(void) { return PyErr_CheckSignals() == 0; }

/* Call `report`, unless it is None. Return false with an exception if it raised one. */
static bool report_progress(PyObject *report, size_t done, size_t total)
{
    if (report == Py_None)
        return true;
    PyObject *answer = PyObject_CallFunction(report, "nn", (Py_ssize_t)done, (Py_ssize_t)total);
    Py_XDECREF(answer);
    return answer != NULL;
}

/* The corpus and its index */

/* Where to read on in the pieces of a table. */
typedef struct {
    size_t piece;
    size_t byte;
} position;

/* Add the next bytes of the pieces, at most SLICE, to the corpus. Return false without memory. */
static bool add_slice(trainer *trainer, const piece_table *table, const uint8_t *symbol_of,
                      position *at)
{
    size_t room = SLICE;
    while (room && at->piece < table->pieces.n) {
        const piece *piece = &table->pieces.items[at->piece];
        size_t n_left = length_of(piece) - at->byte;
        size_t n = n_left < room ? n_left : room;
        if (!add_to_piece(trainer, bytes_of(table, piece) + at->byte, n, symbol_of))
            return false;
        room -= n;
        at->byte += n;
        if (n == n_left) {
            if (!end_piece(trainer, piece->count))
                return false;
            at->piece++;
            at->byte = 0;
        }
    }
    return true;
}

/* Add the pieces of a table to the corpus. Return -1 with an exception. */
static int add_pieces(trainer *trainer, const piece_table *table, const uint8_t *symbol_of)
{
    position at = {0};
    while (at.piece < table->pieces.n) {
        bool is_added;
        Py_BEGIN_ALLOW_THREADS
        is_added = add_slice(trainer, table, symbol_of, &at);
        Py_END_ALLOW_THREADS
        if (!is_added) {
            PyErr_NoMemory();
            return -1;
        }
        if (!may_go_on())
            return -1;
    }
    return 0;
}

typedef void index_pass(trainer *trainer, size_t first_slot, size_t last_slot);

/* Make a pass over all slots. It is the second one if `n_done` is not 0. Return -1 with an
   exception. */
static int run_pass(trainer *trainer, index_pass *pass, size_t n_done, PyObject *report)
{
    size_t last = trainer->slots.n - 1;
    for (size_t at = 0; at < last; at += SLICE) {
        size_t until = last - at > SLICE ? at + SLICE : last;
        Py_BEGIN_ALLOW_THREADS
        pass(trainer, at, until);
        Py_END_ALLOW_THREADS
        if (!may_go_on())
            return -1;
        if (until < last && !report_progress(report, n_done + until, 2 * last))
            return -1;
    }
    return 0;
}

static int index_all(trainer *trainer, PyObject *report)
{
    if (!begin_index(trainer)) {
        PyErr_NoMemory();
        return -1;
    }
    if (run_pass(trainer, count_pairs, 0, report) < 0)
        return -1;
    if (!add_counted_pairs(trainer)) {
        PyErr_NoMemory();
        return -1;
    }
    return run_pass(trainer, place_pairs, trainer->slots.n - 1, report);
}

/* Set the symbol of each byte: its index in the alphabet. Return -1 with an exception unless the
   alphabet has each of the 256 bytes once. */
static int read_alphabet(const Py_buffer *alphabet, uint8_t symbol_of[256])
{
    const uint8_t *bytes = alphabet->buf;
    bool is_valid = alphabet->len == 256;
    memset(symbol_of, 0, 256);
    for (int symbol = 0; is_valid && symbol < 256; symbol++)
        symbol_of[bytes[symbol]] = (uint8_t)symbol;
    for (int byte = 0; is_valid && byte < 256; byte++)
        is_valid = bytes[symbol_of[byte]] == byte;
    if (is_valid)
        return 0;
    PyErr_SetString(PyExc_ValueError, "Invalid alphabet: pass each of the 256 bytes once");
    return -1;
}

/* Add the 256 bytes, and the end-of-word marker unless it is empty. Return false without memory. */
static bool add_first_symbols(trainer *trainer, const Py_buffer *alphabet, const Py_buffer *end)
{
    const uint8_t *bytes = alphabet->buf;
    for (int symbol = 0; symbol < 256; symbol++)
        if (!add_symbol(trainer, bytes + symbol, 1))
            return false;
    return end->len == 0 || add_symbol(trainer, end->buf, (size_t)end->len);
}

/* Fill a trainer with options. Return -1 with an exception. */
static int set_up(trainer *trainer, const piece_table *pieces, const Py_buffer *alphabet,
                  const Py_buffer *end, PyObject *report)
{
    uint8_t symbol_of[256];
    if (read_alphabet(alphabet, symbol_of) < 0)
        return -1;
    if (!begin_trainer(trainer) || !add_first_symbols(trainer, alphabet, end)) {
        PyErr_NoMemory();
        return -1;
    }
    if (add_pieces(trainer, pieces, symbol_of) < 0)
        return -1;
    return index_all(trainer, report);
}

static PyObject *new_learner(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"pieces",   "ties",        "min_count", "max_length",
                            "alphabet", "end_of_word", "progress",  NULL};
    PyObject *table;
    PyObject *progress = Py_None;
    Py_ssize_t ties;
    Py_ssize_t min_count;
    Py_ssize_t max_length;
    Py_buffer alphabet;
    Py_buffer end;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Onnny*y*|O:Learner", names, &table, &ties,
                                     &min_count, &max_length, &alphabet, &end, &progress))
        return NULL;
    LearnerObject *self = NULL;
    const piece_table *pieces = NULL;
    if (ties < 0 || ties >= N_TIES || min_count < 1 || max_length < 1)
        PyErr_SetString(PyExc_ValueError, "ties is 0 to 2, min_count and max_length are 1 or more");
    else
        pieces = lend_pieces(PyType_GetModuleState(type), table);
    if (pieces) {
        self = (LearnerObject *)type->tp_alloc(type, 0);
        if (self) {
            self->trainer.ties = (enum ties)ties;
            self->trainer.min_count = (uint64_t)min_count;
            self->trainer.max_length = (uint64_t)max_length;
            if (set_up(&self->trainer, pieces, &alphabet, &end, progress) < 0)
                Py_CLEAR(self);
        }
        give_back_pieces(table);
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

/* Learning */

/* Continue with one merge for about `steps` of work. */
static enum progress learn_one(LearnerObject *self, size_t *steps)
{
    if (!ROOM(self->learned, 1))
        return NO_MEMORY;
    merge *next = self->learned.items + self->learned.n;
    enum progress progress = learn_merge(&self->trainer, steps, next);
    if (progress == LEARNED)
        self->learned.n++;
    if (*steps > 0)
        --*steps;
    return progress;
}

/* Learn for a slice of work, or until there are `until` merges. Called without the GIL. */
static enum progress learn_slice(LearnerObject *self, size_t until)
{
    size_t steps = SLICE;
    enum progress progress;
    do
        progress = learn_one(self, &steps);
    while (progress == LEARNED && self->learned.n < until && steps);
    return progress;
}

/* Learn until there are `until` merges. Return false with an exception, after finishing a merge
   that has begun. */
static bool learn_all(LearnerObject *self, size_t until)
{
    enum progress progress = UNDER_WAY;
    bool is_interrupted = false;
    self->busy = true;
    while (self->learned.n < until && !is_interrupted &&
           (progress == UNDER_WAY || progress == LEARNED)) {
        Py_BEGIN_ALLOW_THREADS
        progress = learn_slice(self, until);
        Py_END_ALLOW_THREADS
        is_interrupted = !may_go_on();
    }
    if (is_interrupted && self->trainer.merging) {
        size_t steps = SIZE_MAX;
        learn_one(self, &steps);
    }
    self->busy = false;
    if (is_interrupted)
        return false;
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
    if (until < 0) {
        PyErr_SetString(PyExc_ValueError, "a number of merges is 0 or more");
        return NULL;
    }
    if (self->busy) {
        PyErr_SetString(PyExc_ValueError, "another thread is using this learner");
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
    unsigned long long left;
    unsigned long long right;
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

/* Results as lists */

/* Append a new object, and release it. Return false with an exception. */
static bool append(PyObject *list, PyObject *object)
{
    bool appended = object && PyList_Append(list, object) == 0;
    Py_XDECREF(object);
    return appended;
}

static PyObject *row_of_merge(const merge *merge)
{
    return Py_BuildValue("KKKKK", merge->left, merge->right, merge->count, merge->n_tied,
                         merge->n_tokens);
}

static PyObject *merges(PyObject *object, PyObject *argument)
{
    const LearnerObject *self = (LearnerObject *)object;
    size_t start = PyLong_AsSize_t(argument);
    if (start == (size_t)-1 && PyErr_Occurred())
        return NULL;
    PyObject *rows = PyList_New(0);
    for (size_t i = start; rows && i < self->learned.n; i++)
        if (!append(rows, row_of_merge(&self->learned.items[i])))
            Py_CLEAR(rows);
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
        bool may_be_merged = pair->count && is_short(trainer, pair->left, pair->right);
        if (may_be_merged &&
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
    {"learn", learn, METH_O, "Learn until this many merges are made in all."},
    {"merge", merge_given, METH_VARARGS,
     "Merge this pair, which need not be the most frequent one; it counts as tied with 0."},
    {"merges", merges, METH_O,
     "The merges made from this index on: (left, right, count, tied, tokens after it)."},
    {"pairs", pairs, METH_NOARGS, "All pairs that may be merged now: (left, right, count)."},
    {"symbol_counts", symbol_counts, METH_NOARGS,
     "How often each symbol occurs in the corpus now."},
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
