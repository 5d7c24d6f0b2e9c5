/* The Python type Encoder: encodes texts and pieces with the tables of a vocabulary.

   The tables never change, so any number of threads may encode at a time. Each call takes an idle
   cache for itself, and gives it back. The list of idle caches is used only with the GIL. */

#include "kernel.h"

#include "encode.h"

#include <time.h>

enum {
    MOST_IDLE = 16,          /* caches that are kept between calls, one for each thread */
    MOST_NUMBERS = 1 << 20,  /* Python numbers are kept for ids below it */
    LOOK_AT_CLOCK = 1 << 16, /* bytes of text between two readings of the clock */
    LOOK_AT_SIGNALS = 20,    /* milliseconds between two checks for signals */
    PIECES = 1 << 14,        /* pieces gathered between two checks for signals */
    FEW = 1 << 10,           /* up to this many ids, copying twice is faster than a view */
};

typedef struct {
    PyObject_HEAD
    tables tables;
    struct {
        piece_cache cache;
        uint32_t limit; /* the limit with which it was filled */
    } idle[MOST_IDLE];
    int n_idle;
    VECTOR(PyObject *) numbers; /* id -> its Python number, or NULL until it is needed */
} EncoderObject;

/* A call */

typedef struct {
    encoding encoding;
    EncoderObject *encoder;
    PyThreadState *thread; /* while the GIL is released */
    size_t n_since;        /* bytes since the last reading of the clock */
    struct timespec last_look;
} call;

/* Return whether a signal has raised an exception. Called without the GIL. */
static bool is_interrupted(void *caller, size_t n_bytes)
{
    call *call = caller;
    struct timespec now;
    call->n_since += n_bytes;
    if (call->n_since < LOOK_AT_CLOCK)
        return false;
    call->n_since = 0;
    timespec_get(&now, TIME_UTC);
    long long passed = (now.tv_sec - call->last_look.tv_sec) * 1000LL +
                       (now.tv_nsec - call->last_look.tv_nsec) / 1000000;
    if (0 <= passed && passed < LOOK_AT_SIGNALS)
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

/* Tables from Python's objects */

static bool is_id(long long id) { return 0 <= id && id < NO_TOKEN; }

/* Add merges from three columns of the same length: lefts, rights, tokens. */
static int add_merges(tables *tables, const Py_buffer columns[3])
{
    size_t n = (size_t)columns[0].len / sizeof(uint32_t);
    if ((size_t)columns[0].len % sizeof(uint32_t) || columns[1].len != columns[0].len ||
        columns[2].len != columns[0].len || n >= NO_RANK - tables->n_merges) {
        PyErr_SetString(PyExc_ValueError, "merges are three columns of as many numbers of 32 bits");
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t left = number_at(columns[0].buf, i), right = number_at(columns[1].buf, i);
        uint32_t token = number_at(columns[2].buf, i);
        if (!is_id(left) || !is_id(right) || !is_id(token)) {
            PyErr_SetString(PyExc_ValueError, "an id is too large");
            return -1;
        }
        if (!rules_add(&tables->rules, left, right, (merge_rule){tables->n_merges, token})) {
            PyErr_NoMemory();
            return -1;
        }
        tables->n_merges++;
    }
    return 0;
}

static int number_of(PyObject *object, uint32_t *number)
{
    long long value = object && PyLong_Check(object) ? PyLong_AsLongLong(object) : -1;
    if (object &&
        !PyLong_Check(object)) /* its own conversion could run code that changes our dict */
        PyErr_SetString(PyExc_TypeError, "ids and ranks are numbers");
    if (!PyErr_Occurred() && !is_id(value))
        PyErr_SetString(PyExc_ValueError, "ids and ranks are numbers below 2**31 - 1");
    *number = (uint32_t)value;
    return PyErr_Occurred() ? -1 : 0;
}

/* Fill a table from `ids`, {bytes: id}, and `ranks`, {bytes: rank}. */
static int fill_tokens(token_table *table, PyObject *ids, PyObject *ranks)
{
    PyObject *key, *value;
    bool has_memory = tokens_init(table, (size_t)PyDict_GET_SIZE(ids));
    for (Py_ssize_t at = 0;
         has_memory && !PyErr_Occurred() && PyDict_Next(ids, &at, &key, &value);) {
        merge_rule rule;
        /* Looking it up in `ranks` may run another key's code, which could empty `ids`. */
        Py_INCREF(key);
        if (!PyBytes_Check(key))
            PyErr_SetString(PyExc_TypeError, "tokens are bytes");
        else if (number_of(value, &rule.token) == 0 &&
                 number_of(ranks == ids ? value : PyDict_GetItemWithError(ranks, key),
                           &rule.rank) == 0)
            has_memory = tokens_add(table, (const uint8_t *)PyBytes_AS_STRING(key),
                                    (size_t)PyBytes_GET_SIZE(key), rule);
        Py_DECREF(key);
    }
    if (!has_memory)
        PyErr_NoMemory();
    return PyErr_Occurred() ? -1 : 0;
}

/* Fill the symbols. `characters` is {bytes: id}, or None if every byte is a symbol. */
static int fill_symbols(symbol_set *symbols, PyObject *byte_ids, PyObject *end,
                        PyObject *characters)
{
    if (!PyTuple_Check(byte_ids) || PyTuple_GET_SIZE(byte_ids) != 256) {
        PyErr_SetString(PyExc_ValueError, "the ids of the bytes are a tuple of 256");
        return -1;
    }
    for (int byte = 0; byte < 256; byte++) {
        PyObject *id = PyTuple_GET_ITEM(byte_ids, byte);
        symbols->byte_ids[byte] = NO_TOKEN;
        if (id != Py_None && number_of(id, &symbols->byte_ids[byte]) < 0)
            return -1;
    }
    symbols->end = NO_TOKEN;
    if (end != Py_None && number_of(end, &symbols->end) < 0)
        return -1;
    if (characters == Py_None)
        return 0;
    if (!PyDict_Check(characters)) {
        PyErr_SetString(PyExc_TypeError, "characters are a dict");
        return -1;
    }
    return fill_tokens(&symbols->characters, characters, characters);
}

static PyObject *new_encoder(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"byte_ids", "end",      "characters", "tokens",
                            "ranks",    "looks_up", "has_ranks",  NULL};
    PyObject *byte_ids, *end, *characters, *tokens, *ranks;
    int looks_up, has_ranks;
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
    bool has_room = rules_init(&self->tables.rules, 0);
    if (!has_room)
        PyErr_NoMemory();
    if (!has_room || fill_symbols(&self->tables.symbols, byte_ids, end, characters) < 0 ||
        fill_tokens(&self->tables.tokens, tokens, ranks) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static bool copy_tables(tables *tables, const struct tables *from)
{
    tables->symbols = from->symbols;
    tables->symbols.characters = (token_table){0};
    tables->n_merges = from->n_merges;
    tables->looks_up = from->looks_up;
    tables->has_ranks = from->has_ranks;
    return rules_copy(&tables->rules, &from->rules) &&
           (!from->tokens.slots || tokens_copy(&tables->tokens, &from->tokens)) &&
           (!from->symbols.characters.slots ||
            tokens_copy(&tables->symbols.characters, &from->symbols.characters));
}

static PyObject *encoder_extended(PyObject *object, PyObject *args)
{
    EncoderObject *self = (EncoderObject *)object;
    Py_buffer columns[3];
    if (!PyArg_ParseTuple(args, "y*y*y*:extended", &columns[0], &columns[1], &columns[2]))
        return NULL;
    EncoderObject *longer = (EncoderObject *)Py_TYPE(self)->tp_alloc(Py_TYPE(self), 0);
    if (longer && !copy_tables(&longer->tables, &self->tables)) {
        PyErr_NoMemory();
        Py_CLEAR(longer);
    }
    if (longer && add_merges(&longer->tables, columns) < 0)
        Py_CLEAR(longer);
    for (int i = 0; i < 3; i++)
        PyBuffer_Release(&columns[i]);
    return (PyObject *)longer;
}

static void dealloc(PyObject *object)
{
    EncoderObject *self = (EncoderObject *)object;
    PyTypeObject *type = Py_TYPE(object);
    while (self->n_idle)
        cache_free(&self->idle[--self->n_idle].cache);
    while (self->numbers.n)
        Py_XDECREF(self->numbers.items[--self->numbers.n]);
    PyMem_RawFree(self->numbers.items);
    rules_free(&self->tables.rules);
    tokens_free(&self->tables.tokens);
    tokens_free(&self->tables.symbols.characters);
    type->tp_free(object);
    Py_DECREF(type);
}

static int limit_of(const tables *tables, PyObject *object, uint32_t *limit)
{
    *limit = tables->n_merges;
    if (object == Py_None)
        return 0;
    if (number_of(object, limit) < 0)
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
    int found = self->n_idle - 1;
    for (int i = 0; i < self->n_idle; i++)
        if (self->idle[i].limit == encoding->limit)
            found = i;
    encoding->cache = self->idle[found].cache;
    if (self->idle[found].limit != encoding->limit)
        cache_wipe(&encoding->cache);
    self->idle[found] = self->idle[--self->n_idle];
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
    if (limit_of(call->encoding.tables, limit, &call->encoding.limit) < 0)
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
    if (self->n_idle == MOST_IDLE) {
        cache_free(&call->encoding.cache);
    } else {
        self->idle[self->n_idle].cache = call->encoding.cache;
        self->idle[self->n_idle++].limit = call->encoding.limit;
    }
}

/* Return the Python number of an id, the same object each time: new objects would take most of the
   time and the memory of a list. Call with the GIL. */
static inline PyObject *number_for(EncoderObject *self, uint32_t id)
{
    if (id < self->numbers.n && self->numbers.items[id])
        return Py_NewRef(self->numbers.items[id]);
    PyObject *number = PyLong_FromUnsignedLong(id);
    if (id >= self->numbers.n && id < MOST_NUMBERS && ROOM(self->numbers, id + 1 - self->numbers.n))
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
    PyObject **items = sequence ? PySequence_Fast_ITEMS(sequence) : NULL;
    for (size_t i = 0; sequence && i < ids->n; i++)
        if (!(items[i] = number_for(self, ids->items[i])))
            Py_CLEAR(sequence);
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

/* Texts to encode */

typedef struct {
    VECTOR(uint8_t) bytes;
    VECTOR(size_t) ends; /* 0, then where each text ends in `bytes` */
    unsigned planes;     /* of Unicode, as bits */
} gathered_texts;

static void free_gathered(gathered_texts *all)
{
    PyMem_RawFree(all->bytes.items);
    PyMem_RawFree(all->ends.items);
}

/* Append a text: a str as UTF-8, or the bytes of a buffer. A surrogate raises UnicodeEncodeError.
 */
static int gather(gathered_texts *all, PyObject *text)
{
    Py_buffer view = {0};
    bool is_str = PyUnicode_Check(text);
    if (is_str ? PyUnicode_READY(text) < 0 : PyObject_GetBuffer(text, &view, PyBUF_SIMPLE) < 0)
        return -1;
    size_t n = is_str ? (size_t)PyUnicode_GET_LENGTH(text) : (size_t)view.len;
    size_t each = !is_str || PyUnicode_IS_ASCII(text) ? 1 : 4;
    uint8_t *end = NULL;
    if (n > SIZE_MAX / each - 1 || !ROOM(all->bytes, n * each + 1) || !ROOM(all->ends, 1)) {
        PyErr_NoMemory();
    } else {
        uint8_t *begin = all->bytes.items + all->bytes.n;
        prefer_large_pages(begin, n);
        end = begin + n;
        if (each > 1)
            end = write_utf8(text, begin, &all->planes);
        else if (n)
            memcpy(begin, is_str ? PyUnicode_DATA(text) : view.buf, n);
        if (!is_str)
            all->planes |= planes_of(begin, n);
        all->ends.items[all->ends.n++] = all->bytes.n = end ? (size_t)(end - all->bytes.items) : 0;
    }
    PyBuffer_Release(&view);
    return end ? 0 : -1;
}

/* Set `scanner` to the scanner of a Scanner, or to NULL for None. */
static int scanner_or_none(PyObject *encoder, PyObject *splitter, unsigned planes,
                           const scanner **scanner)
{
    if (splitter != Py_None)
        *scanner = scanner_for(PyType_GetModuleState(Py_TYPE(encoder)), splitter, planes | 1);
    return splitter != Py_None && !*scanner ? -1 : 0;
}

/* One piece: (piece, limit or None) */

static PyObject *encode_one(PyObject *self, PyObject *args, bool is_part)
{
    gathered_texts copy = {0};
    PyObject *piece, *limit, *ids = NULL;
    call call;
    const uint8_t *bytes;
    size_t n;
    if (!PyArg_ParseTuple(args, "OO", &piece, &limit))
        return NULL;
    if (PyUnicode_Check(piece) && PyUnicode_IS_COMPACT_ASCII(piece)) {
        bytes = PyUnicode_DATA(piece), n = (size_t)PyUnicode_GET_LENGTH(piece);
    } else if (PyBytes_Check(piece)) {
        bytes = (const uint8_t *)PyBytes_AS_STRING(piece), n = (size_t)PyBytes_GET_SIZE(piece);
    } else {
        if (gather(&copy, piece) < 0)
            goto done;
        bytes = copy.bytes.items, n = copy.bytes.n;
    }
    if (begin(&call, self, limit) == 0) {
        call.thread = PyEval_SaveThread();
        outcome outcome = is_part ? encode_part(&call.encoding, bytes, n)
                                  : encode_text(&call.encoding, NULL, bytes, n);
        PyEval_RestoreThread(call.thread);
        if (raise_unless_encoded(outcome) == 0)
            ids = as_tuple(call.encoder, &call.encoding.ids);
        end(&call);
    }
done:
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

/* Many: (list, scanner or None, limit or None, as arrays), (list of pieces, limit or None), (list
   of tokens) */

static int gather_all(gathered_texts *all, PyObject *list)
{
    if (!ROOM(all->ends, 1)) {
        PyErr_NoMemory();
        return -1;
    }
    all->ends.items[all->ends.n++] = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list);
         i++) /* its length may change: a buffer may run Python code */
        if (gather(all, PyList_GET_ITEM(list, i)) < 0 ||
            (i % PIECES == 0 && PyErr_CheckSignals() < 0))
            return -1;
    return 0;
}

/* Return the ids of each text. If `as` is NULL, return all ids and their numbers up to each end. */
static PyObject *encode_many(PyObject *self, PyObject *list, PyObject *splitter, PyObject *limit,
                             encode_each *encode, ids_as *as)
{
    gathered_texts all = {0};
    const scanner *scanner = NULL;
    PyObject *n_ids = NULL, *found = NULL;
    call call;
    if (gather_all(&all, list) == 0 && scanner_or_none(self, splitter, all.planes, &scanner) == 0)
        n_ids = PyBytes_FromStringAndSize(NULL,
                                          (Py_ssize_t)((all.ends.n - 1) * sizeof *all.ends.items));
    if (n_ids && begin(&call, self, limit) == 0) {
        id_list *ids = &call.encoding.ids;
        size_t n = all.ends.n - 1, *ends = (size_t *)PyBytes_AS_STRING(n_ids);
        call.thread = PyEval_SaveThread();
        outcome outcome = encode(&call.encoding, scanner, all.bytes.items, all.ends.items, n, ends);
        PyEval_RestoreThread(call.thread);
        if (raise_unless_encoded(outcome) == 0)
            found = as ? PyList_New((Py_ssize_t)n)
                       : Py_BuildValue("NO", as_bytes(call.encoder, ids), n_ids);
        for (size_t i = 0, begin = 0; as && found && i < n; begin = ends[i++]) {
            id_list some = {ids->items + begin, ends[i] - begin, 0};
            PyObject *one = as(call.encoder, &some);
            PyList_SET_ITEM(found, (Py_ssize_t)i, one);
            if (!one)
                Py_CLEAR(found);
        }
        end(&call);
    }
    free_gathered(&all);
    Py_XDECREF(n_ids);
    return found;
}

static PyObject *encoder_encode_batch(PyObject *self, PyObject *args)
{
    PyObject *texts, *splitter, *limit;
    int as_arrays;
    if (!PyArg_ParseTuple(args, "O!OOp", &PyList_Type, &texts, &splitter, &limit, &as_arrays))
        return NULL;
    return encode_many(self, texts, splitter, limit, encode_texts, as_arrays ? as_array : as_list);
}

static PyObject *encoder_pieces(PyObject *self, PyObject *args)
{
    PyObject *pieces, *limit;
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
     "The ids of a part of a piece, nothing looked up whole, as a tuple."},
    {"pieces", encoder_pieces, METH_VARARGS,
     "The ids of pieces, 4 bytes each, and how many up to each, 8 bytes each."},
    {"parents", encoder_parents, METH_VARARGS,
     "The same of tokens, each merged by those of lower rank than its own."},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Makes ids of texts and pieces."},
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
