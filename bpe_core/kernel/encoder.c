/* The Python type Encoder: encodes texts and pieces with the tables of a vocabulary.

   The tables never change, so any number of threads may encode at a time. Each call takes an idle
   cache for itself, and gives it back. The list of idle caches is used only with the GIL.

   tables.c and texts.c read the arguments, and encode.c encodes. */

#include "encoder.h"

#include <time.h>

enum {
    MOST_IDLE = 16,          /* caches that are kept between calls, one for each thread */
    MOST_NUMBERS = 1 << 20,  /* Python numbers are kept for ids below it */
    LOOK_AT_CLOCK = 1 << 16, /* bytes of text between two readings of the clock */
    LOOK_AT_SIGNALS = 20,    /* milliseconds between two checks for signals */
    FEW = 1 << 10,           /* up to this many ids, copying twice is faster than a view */
};

typedef struct {
    piece_cache cache;
    uint32_t limit; /* the limit with which it was filled */
} idle_cache;

typedef struct {
    PyObject_HEAD
    tables tables;
    idle_cache idle[MOST_IDLE];
    int n_idle;
    VECTOR(PyObject *) numbers; /* id -> its Python number, or NULL until it is needed */
} EncoderObject;

/* Interruption */

/* One call of a method that encodes. */
typedef struct {
    encoding encoding;
    EncoderObject *encoder;
    PyThreadState *thread; /* while the GIL is released */
    size_t n_since;        /* bytes since the last reading of the clock */
    struct timespec last_look;
} call;

static long long milliseconds_between(struct timespec earlier, struct timespec later)
{
    return (later.tv_sec - earlier.tv_sec) * 1000LL + (later.tv_nsec - earlier.tv_nsec) / 1000000;
}

/* Return whether a signal has raised an exception. Called without the GIL. */
static bool is_interrupted(void *caller, size_t n_bytes)
{
    call *call = caller;
    call->n_since += n_bytes;
    if (call->n_since < LOOK_AT_CLOCK)
        return false;
    call->n_since = 0;
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    long long passed = milliseconds_between(call->last_look, now);
    bool clock_was_set_back = passed < 0;
    if (passed < LOOK_AT_SIGNALS && !clock_was_set_back)
        return false;
    PyEval_RestoreThread(call->thread);
    bool is_interrupted = PyErr_CheckSignals() != 0;
    call->thread = PyEval_SaveThread();
    timespec_get(&call->last_look, TIME_UTC);
    return is_interrupted;
}

/* Return 0 for ENCODED, else -1 with an exception. */
static int raise_unless_encoded(outcome outcome)
{
    if (outcome == OUT_OF_MEMORY)
        PyErr_NoMemory();
    else if (outcome == UNKNOWN_SYMBOL)
        PyErr_SetString(PyExc_LookupError, "a byte of the text has no token");
    return outcome == ENCODED ? 0 : -1;
}

/* Making encoders */

static PyObject *new_encoder(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"byte_ids", "end",      "characters", "tokens",
                            "ranks",    "looks_up", "has_ranks",  NULL};
    PyObject *byte_ids;
    PyObject *end;
    PyObject *characters;
    PyObject *tokens;
    PyObject *ranks;
    int looks_up;
    int has_ranks;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOO!O!pp:Encoder", names, &byte_ids, &end,
                                     &characters, &PyDict_Type, &tokens, &PyDict_Type, &ranks,
                                     &looks_up, &has_ranks))
        return NULL;
    EncoderObject *self = (EncoderObject *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->tables.looks_up = looks_up;
    self->tables.has_ranks = has_ranks;
    self->tables.n_merges = has_ranks ? NO_RANK : 0;
    if (fill_tables(&self->tables, byte_ids, end, characters, tokens, ranks) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *encoder_extended(PyObject *object, PyObject *args)
{
    EncoderObject *self = (EncoderObject *)object;
    Py_buffer columns[3];
    if (!PyArg_ParseTuple(args, "y*y*y*:extended", &columns[0], &columns[1], &columns[2]))
        return NULL;
    EncoderObject *longer = (EncoderObject *)Py_TYPE(self)->tp_alloc(Py_TYPE(self), 0);
    if (longer && (copy_tables(&longer->tables, &self->tables) < 0 ||
                   add_merges(&longer->tables, columns) < 0))
        Py_CLEAR(longer);
    for (int i = 0; i < 3; i++)
        PyBuffer_Release(&columns[i]);
    return (PyObject *)longer;
}

static void dealloc(PyObject *object)
{
    EncoderObject *self = (EncoderObject *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (int i = 0; i < self->n_idle; i++)
        cache_free(&self->idle[i].cache);
    for (size_t id = 0; id < self->numbers.n; id++)
        Py_XDECREF(self->numbers.items[id]);
    PyMem_RawFree(self->numbers.items);
    free_tables(&self->tables);
    type->tp_free(object);
    Py_DECREF(type);
}

/* Calls */

static int read_limit(const tables *tables, PyObject *object, uint32_t *limit)
{
    *limit = tables->n_merges;
    if (object == Py_None)
        return 0;
    if (read_number(object, limit) < 0)
        return -1;
    if (*limit <= tables->n_merges)
        return 0;
    PyErr_SetString(PyExc_ValueError, "this encoder does not have so many merges");
    return -1;
}

/* Take an idle cache, preferably one with the same limit; empty any other. Make one if none is
   idle. */
static bool take_cache(EncoderObject *self, encoding *encoding)
{
    if (!self->n_idle)
        return cache_init(&encoding->cache);
    idle_cache *last = &self->idle[self->n_idle - 1];
    idle_cache *best = last;
    for (int i = 0; i < self->n_idle; i++)
        if (self->idle[i].limit == encoding->limit)
            best = &self->idle[i];
    encoding->cache = best->cache;
    if (best->limit != encoding->limit)
        cache_wipe(&encoding->cache);
    *best = *last;
    self->n_idle--;
    return true;
}

/* Begin a call. If it returns 0, `end` must follow. */
static int begin(call *call, PyObject *encoder, PyObject *limit)
{
    memset(call, 0, sizeof *call);
    call->encoder = (EncoderObject *)encoder;
    call->encoding.tables = &call->encoder->tables;
    call->encoding.space.interrupted = is_interrupted;
    call->encoding.space.caller = call;
    timespec_get(&call->last_look, TIME_UTC);
    if (read_limit(call->encoding.tables, limit, &call->encoding.limit) < 0)
        return -1;
    if (take_cache(call->encoder, &call->encoding))
        return 0;
    PyErr_NoMemory();
    return -1;
}

static void end(call *call)
{
    EncoderObject *self = call->encoder;
    workspace_free(&call->encoding.space);
    PyMem_RawFree(call->encoding.ids.items);
    if (self->n_idle == MOST_IDLE)
        cache_free(&call->encoding.cache);
    else
        self->idle[self->n_idle++] = (idle_cache){call->encoding.cache, call->encoding.limit};
}

/* Ids as Python's objects */

/* Return the Python number of an id, the same object each time: new objects would take most of the
   time and the memory of a list. Call with the GIL. */
static inline PyObject *number_for(EncoderObject *self, uint32_t id)
{
    if (id < self->numbers.n && self->numbers.items[id])
        return Py_NewRef(self->numbers.items[id]);
    PyObject *number = PyLong_FromUnsignedLong(id);
    bool is_after_last = id >= self->numbers.n && id < MOST_NUMBERS;
    if (is_after_last && ROOM(self->numbers, id + 1 - self->numbers.n))
        while (self->numbers.n <= id)
            self->numbers.items[self->numbers.n++] = NULL;
    if (id < self->numbers.n)
        self->numbers.items[id] = Py_XNewRef(number);
    return number;
}

/* Fill a new list or tuple of the right length with ids, and return it. Return NULL with an
   exception, also if `sequence` is NULL. */
static PyObject *fill_sequence(PyObject *sequence, EncoderObject *self, const id_list *ids)
{
    if (!sequence)
        return NULL;
    PyObject **items = PySequence_Fast_ITEMS(sequence);
    for (size_t i = 0; i < ids->n; i++) {
        items[i] = number_for(self, ids->items[i]);
        if (!items[i]) {
            Py_DECREF(sequence);
            return NULL;
        }
    }
    return sequence;
}

typedef PyObject *ids_as(EncoderObject *self, const id_list *ids);

static PyObject *as_tuple(EncoderObject *self, const id_list *ids)
{
    return fill_sequence(PyTuple_New((Py_ssize_t)ids->n), self, ids);
}

static PyObject *as_list(EncoderObject *self, const id_list *ids)
{
    return fill_sequence(PyList_New((Py_ssize_t)ids->n), self, ids);
}

static PyObject *as_bytes(EncoderObject *self, const id_list *ids)
{
    (void)self;
    return PyBytes_FromStringAndSize((const char *)ids->items,
                                     (Py_ssize_t)(ids->n * sizeof *ids->items));
}

static PyObject *as_array(EncoderObject *self, const id_list *ids)
{
    PyObject *type = ((const kernel_state *)PyType_GetModuleState(Py_TYPE(self)))->array_type;
    Py_ssize_t n = (Py_ssize_t)(ids->n * sizeof *ids->items);
    if (ids->n <= FEW)
        return PyObject_CallFunction(type, "Cy#", 'I', n ? (char *)ids->items : "", n);
    PyObject *array = PyObject_CallFunction(type, "C", 'I');
    PyObject *view = array ? PyMemoryView_FromMemory((char *)ids->items, n, PyBUF_READ) : NULL;
    PyObject *none = view ? PyObject_CallMethod(array, "frombytes", "O", view) : NULL;
    if (!none)
        Py_CLEAR(array);
    Py_XDECREF(none);
    Py_XDECREF(view);
    return array;
}

/* Encoding one piece: (piece, limit or None) */

/* Return the bytes of a piece, and set their number. They are its own for an ASCII str and for
   bytes, else those of a copy. NULL with an exception. */
static const uint8_t *bytes_of_piece(PyObject *piece, gathered_texts *copy, size_t *n)
{
    if (PyUnicode_Check(piece) && PyUnicode_IS_COMPACT_ASCII(piece)) {
        *n = (size_t)PyUnicode_GET_LENGTH(piece);
        return PyUnicode_DATA(piece);
    }
    if (PyBytes_Check(piece)) {
        *n = (size_t)PyBytes_GET_SIZE(piece);
        return (const uint8_t *)PyBytes_AS_STRING(piece);
    }
    if (gather(copy, piece) < 0)
        return NULL;
    *n = copy->bytes.n;
    return copy->bytes.items;
}

static PyObject *encode_one(PyObject *self, PyObject *args, bool is_part)
{
    PyObject *piece;
    PyObject *limit;
    if (!PyArg_ParseTuple(args, "OO", &piece, &limit))
        return NULL;
    gathered_texts copy = {0};
    size_t n;
    const uint8_t *bytes = bytes_of_piece(piece, &copy, &n);
    PyObject *ids = NULL;
    call call;
    if (bytes && begin(&call, self, limit) == 0) {
        call.thread = PyEval_SaveThread();
        outcome outcome = is_part ? encode_part(&call.encoding, bytes, n)
                                  : encode_text(&call.encoding, NULL, bytes, n);
        PyEval_RestoreThread(call.thread);
        if (raise_unless_encoded(outcome) == 0)
            ids = as_tuple(call.encoder, &call.encoding.ids);
        end(&call);
    }
    free_gathered(&copy);
    return ids;
}

static PyObject *encoder_piece(PyObject *self, PyObject *args)
{
    return encode_one(self, args, false);
}

static PyObject *encoder_part(PyObject *self, PyObject *args)
{
    return encode_one(self, args, true);
}

/* Encoding many: (list of texts, scanner or None, limit or None, whether as arrays), (list of
   pieces, limit or None), (list of tokens) */

/* Set `scanner` to the scanner of a Scanner, or to NULL for None. */
static int scanner_or_none(PyObject *encoder, PyObject *splitter, unsigned planes,
                           const scanner **scanner)
{
    *scanner = NULL;
    if (splitter == Py_None)
        return 0;
    *scanner = scanner_for(PyType_GetModuleState(Py_TYPE(encoder)), splitter, planes | 1);
    return *scanner ? 0 : -1;
}

/* Return a list with the ids of each of `n` texts. Those of text i end at ends[i]. */
static PyObject *list_of_each(EncoderObject *encoder, const id_list *ids, const size_t *ends,
                              size_t n, ids_as *as)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    size_t begin = 0;
    for (size_t i = 0; list && i < n; i++) {
        const id_list ids_of_text = {ids->items + begin, ends[i] - begin, 0};
        PyObject *item = as(encoder, &ids_of_text);
        PyList_SET_ITEM(list, (Py_ssize_t)i, item);
        begin = ends[i];
        if (!item)
            Py_CLEAR(list);
    }
    return list;
}

/* Return the ids of each text. If `as` is NULL, return all ids and their numbers up to each end. */
static PyObject *encode_many(PyObject *self, PyObject *list, PyObject *splitter, PyObject *limit,
                             encode_each *encode, ids_as *as)
{
    gathered_texts all = {0};
    const scanner *scanner;
    PyObject *n_ids = NULL;
    if (gather_all(&all, list) == 0 && scanner_or_none(self, splitter, all.planes, &scanner) == 0)
        n_ids = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((all.ends.n - 1) * sizeof(size_t)));
    PyObject *result = NULL;
    call call;
    if (n_ids && begin(&call, self, limit) == 0) {
        size_t n = all.ends.n - 1;
        size_t *ends = (size_t *)PyBytes_AS_STRING(n_ids);
        call.thread = PyEval_SaveThread();
        outcome outcome = encode(&call.encoding, scanner, all.bytes.items, all.ends.items, n, ends);
        PyEval_RestoreThread(call.thread);
        const id_list *ids = &call.encoding.ids;
        if (raise_unless_encoded(outcome) == 0)
            result = as ? list_of_each(call.encoder, ids, ends, n, as)
                        : Py_BuildValue("NO", as_bytes(call.encoder, ids), n_ids);
        end(&call);
    }
    free_gathered(&all);
    Py_XDECREF(n_ids);
    return result;
}

static PyObject *encoder_encode_batch(PyObject *self, PyObject *args)
{
    PyObject *texts;
    PyObject *splitter;
    PyObject *limit;
    int as_arrays;
    if (!PyArg_ParseTuple(args, "O!OOp", &PyList_Type, &texts, &splitter, &limit, &as_arrays))
        return NULL;
    return encode_many(self, texts, splitter, limit, encode_texts, as_arrays ? as_array : as_list);
}

static PyObject *encoder_pieces(PyObject *self, PyObject *args)
{
    PyObject *pieces;
    PyObject *limit;
    if (!PyArg_ParseTuple(args, "O!O", &PyList_Type, &pieces, &limit))
        return NULL;
    return encode_many(self, pieces, Py_None, limit, encode_texts, NULL);
}

static PyObject *encoder_parents(PyObject *self, PyObject *args)
{
    PyObject *tokens;
    if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &tokens))
        return NULL;
    return encode_many(self, tokens, Py_None, Py_None, encode_parents, NULL);
}

static PyMethodDef methods[] = {
    {"extended", encoder_extended, METH_VARARGS, "An encoder with merges added."},
    {"encode_batch", encoder_encode_batch, METH_VARARGS,
     "The ids of each of several texts, as lists or arrays."},
    {"piece", encoder_piece, METH_VARARGS, "The ids of a piece, as a tuple."},
    {"part", encoder_part, METH_VARARGS,
     "The ids of a part of a piece, which is merged without looking it up, as a tuple."},
    {"pieces", encoder_pieces, METH_VARARGS,
     "The ids of pieces, 4 bytes each, and their number up to the end of each piece, 8 bytes "
     "each."},
    {"parents", encoder_parents, METH_VARARGS,
     "As `pieces`, for tokens: each is merged by the tokens of lower rank."},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Encodes texts and pieces."},
    {Py_tp_new, new_encoder},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec encoder_spec = {
    .name = "bpe_core.kernel._kernel.Encoder",
    .basicsize = sizeof(EncoderObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
