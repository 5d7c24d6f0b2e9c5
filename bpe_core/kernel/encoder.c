/* The Python type Encoder: the tables of a vocabulary, and texts and pieces made into ids by them.

   Its tables never change, so that any number of threads may encode at a time; each call takes a cache of its own from
   those that are idle, and gives it back. That list is only touched with the GIL. */

#include "kernel.h"

#include "encode.h"

#include <time.h>

enum {
    MOST_IDLE = 4,           /* caches that are kept while nobody encodes */
    MOST_NUMBERS = 1 << 20,  /* ids whose Python numbers are kept */
    LOOK_AT_CLOCK = 1 << 16, /* bytes of text between two looks at the clock */
    LOOK_AT_SIGNALS = 20,    /* milliseconds between two looks at signals */
    PIECES = 1 << 14,        /* pieces gathered between two looks at signals */
};

typedef struct {
    PyObject_HEAD
    tables tables;
    struct {
        piece_cache cache;
        uint32_t limit; /* of the merges by which it was filled */
    } idle[MOST_IDLE];
    int n_idle;
    VECTOR(PyObject *) numbers; /* by id, those that were asked for, else NULL */
} EncoderObject;

/* A call */

typedef struct {
    encoding encoding;
    EncoderObject *encoder;
    PyThreadState *thread; /* while the GIL is free */
    size_t n_since;        /* bytes since the last look at the clock */
    struct timespec looked;
} call;

/* Called without the GIL; whether a signal has raised an exception. */
static bool is_interrupted(void *caller, size_t n_bytes)
{
    call *call = caller;
    struct timespec now;
    call->n_since += n_bytes;
    if (call->n_since < LOOK_AT_CLOCK)
        return false;
    call->n_since = 0;
    timespec_get(&now, TIME_UTC);
    long long passed = (now.tv_sec - call->looked.tv_sec) * 1000LL + (now.tv_nsec - call->looked.tv_nsec) / 1000000;
    if (0 <= passed && passed < LOOK_AT_SIGNALS)
        return false;
    PyEval_RestoreThread(call->thread);
    bool is_interrupted = PyErr_CheckSignals() != 0;
    call->thread = PyEval_SaveThread();
    timespec_get(&call->looked, TIME_UTC);
    return is_interrupted;
}

/* 0 where all was encoded; otherwise -1 and an exception. */
static int check(outcome outcome)
{
    if (outcome == OUT_OF_MEMORY)
        PyErr_NoMemory();
    else if (outcome == UNKNOWN_SYMBOL)
        PyErr_SetString(PyExc_LookupError, "a byte of the text has no token");
    return outcome == ENCODED ? 0 : -1;
}

/* Tables, from what Python has */

static bool is_id(long long id) { return 0 <= id && id < NO_TOKEN; }

static uint32_t item(const Py_buffer *column, size_t i)
{
    uint32_t number; /* a buffer may begin anywhere */
    memcpy(&number, (const char *)column->buf + i * sizeof number, sizeof number);
    return number;
}

/* Three columns of merges, as long as each other. */
static int add_merges(tables *tables, const Py_buffer columns[3])
{
    size_t n = (size_t)columns[0].len / sizeof(uint32_t);
    if ((size_t)columns[0].len % sizeof(uint32_t) || columns[1].len != columns[0].len ||
        columns[2].len != columns[0].len || n >= NO_RANK - tables->n_merges) {
        PyErr_SetString(PyExc_ValueError, "merges are three columns of as many numbers of 32 bits");
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t left = item(&columns[0], i), right = item(&columns[1], i), token = item(&columns[2], i);
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
    if (object && !PyLong_Check(object)) /* what only can be made one has code of its own, which might change our dict */
        PyErr_SetString(PyExc_TypeError, "ids and ranks are numbers");
    if (!PyErr_Occurred() && !is_id(value))
        PyErr_SetString(PyExc_ValueError, "ids and ranks are numbers below 2**31 - 1");
    *number = (uint32_t)value;
    return PyErr_Occurred() ? -1 : 0;
}

/* `ids` is {bytes: id}, `ranks` {bytes: rank}. */
static int fill_tokens(token_table *table, PyObject *ids, PyObject *ranks)
{
    PyObject *key, *value;
    bool has_memory = tokens_init(table, (size_t)PyDict_GET_SIZE(ids));
    for (Py_ssize_t at = 0; has_memory && !PyErr_Occurred() && PyDict_Next(ids, &at, &key, &value);) {
        merge_rule rule;
        Py_INCREF(key); /* to find it may run code of its own, or of another key, which empties `ids` */
        if (!PyBytes_Check(key))
            PyErr_SetString(PyExc_TypeError, "tokens are bytes");
        else if (number_of(value, &rule.token) == 0 &&
                 number_of(ranks == ids ? value : PyDict_GetItemWithError(ranks, key), &rule.rank) == 0)
            has_memory =
                tokens_add(table, (const uint8_t *)PyBytes_AS_STRING(key), (size_t)PyBytes_GET_SIZE(key), rule);
        Py_DECREF(key);
    }
    if (!has_memory)
        PyErr_NoMemory();
    return PyErr_Occurred() ? -1 : 0;
}

/* `characters` is {bytes: id}, or None where every byte is a symbol. */
static int fill_symbols(symbol_set *symbols, PyObject *byte_ids, PyObject *end, PyObject *characters)
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
    static char *names[] = {"byte_ids", "end", "characters", "tokens", "ranks", "looks_up", "has_ranks", NULL};
    PyObject *byte_ids, *end, *characters, *tokens, *ranks;
    int looks_up, has_ranks;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOO!O!pp:Encoder", names, &byte_ids, &end, &characters,
                                     &PyDict_Type, &tokens, &PyDict_Type, &ranks, &looks_up, &has_ranks))
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
    return rules_copy(&tables->rules, &from->rules) && (!from->tokens.slots || tokens_copy(&tables->tokens, &from->tokens)) &&
           (!from->symbols.characters.slots || tokens_copy(&tables->symbols.characters, &from->symbols.characters));
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

/* Take an idle cache, if there is one of the same limit that, and empty any other; make one if none is idle. */
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

/* Every begin that returns 0 is followed by an end. */
static int begin(call *call, PyObject *encoder, PyObject *limit)
{
    memset(call, 0, sizeof *call);
    call->encoder = (EncoderObject *)encoder;
    call->encoding.tables = &call->encoder->tables;
    call->encoding.space.interrupted = is_interrupted;
    call->encoding.space.caller = call;
    timespec_get(&call->looked, TIME_UTC);
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

/* The bytes of a text in `view`, which is to be released: of a str in UTF-8, or of any buffer as they are. A str with a
   surrogate raises UnicodeEncodeError. */
static int view_text(PyObject *text, Py_buffer *view)
{
    if (!PyUnicode_Check(text))
        return PyObject_GetBuffer(text, view, PyBUF_SIMPLE);
    if (PyUnicode_IS_COMPACT_ASCII(text))
        return PyBuffer_FillInfo(view, text, PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text), 1, PyBUF_SIMPLE);
    PyObject *bytes = PyUnicode_AsUTF8String(text); /* not PyUnicode_AsUTF8: it would stay with the text */
    int failed = bytes ? PyObject_GetBuffer(bytes, view, PyBUF_SIMPLE) : -1;
    Py_XDECREF(bytes);
    return failed;
}

/* The Python number of an id, the same object each time: made anew for each, they would take most of the time and of the
   memory of a list. To be called with the GIL. */
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

/* A list or a tuple that is new, and as long as there are ids, filled with them; NULL with an exception if it is NULL. */
static PyObject *filled(PyObject *sequence, EncoderObject *self, const id_list *ids)
{
    PyObject **items = sequence ? PySequence_Fast_ITEMS(sequence) : NULL;
    for (size_t i = 0; sequence && i < ids->n; i++)
        if (!(items[i] = number_for(self, ids->items[i])))
            Py_CLEAR(sequence);
    return sequence;
}

static PyObject *as_bytes(const id_list *ids)
{
    return PyBytes_FromStringAndSize((const char *)ids->items, (Py_ssize_t)(ids->n * sizeof *ids->items));
}

/* Texts: (text, scanner or None, limit or None) */

static int encode_arguments(call *call, PyObject *encoder, PyObject *args)
{
    PyObject *text, *splitter, *limit;
    const scanner *scanner = NULL;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "OOO", &text, &splitter, &limit))
        return -1;
    if (view_text(text, &view) < 0)
        return -1;
    if (splitter != Py_None)
        scanner = scanner_for(PyType_GetModuleState(Py_TYPE(encoder)), splitter, view.buf, (size_t)view.len);
    int failed = splitter != Py_None && !scanner ? -1 : begin(call, encoder, limit);
    if (!failed) {
        call->thread = PyEval_SaveThread();
        outcome outcome = encode_text(&call->encoding, scanner, view.buf, (size_t)view.len);
        PyEval_RestoreThread(call->thread);
        failed = check(outcome);
        if (failed)
            end(call);
    }
    PyBuffer_Release(&view);
    return failed;
}

static PyObject *encoder_encode(PyObject *self, PyObject *args)
{
    call call;
    if (encode_arguments(&call, self, args) < 0)
        return NULL;
    PyObject *ids = filled(PyList_New((Py_ssize_t)call.encoding.ids.n), call.encoder, &call.encoding.ids);
    end(&call);
    return ids;
}

static PyObject *encoder_encode_bytes(PyObject *self, PyObject *args)
{
    call call;
    if (encode_arguments(&call, self, args) < 0)
        return NULL;
    PyObject *ids = as_bytes(&call.encoding.ids);
    end(&call);
    return ids;
}

/* Pieces: (piece, limit or None), (list of pieces, limit or None), (list of tokens) */

static PyObject *encode_one(PyObject *self, PyObject *args, bool looks_up)
{
    PyObject *piece, *limit, *ids = NULL;
    Py_buffer view;
    call call;
    if (!PyArg_ParseTuple(args, "OO", &piece, &limit) || view_text(piece, &view) < 0)
        return NULL;
    if (begin(&call, self, limit) == 0) {
        encoding *encoding = &call.encoding;
        size_t n = (size_t)view.len;
        call.thread = PyEval_SaveThread();
        outcome outcome = looks_up ? encode_piece(encoding, view.buf, n) : encode_part(encoding, view.buf, n);
        PyEval_RestoreThread(call.thread);
        if (check(outcome) == 0)
            ids = filled(PyTuple_New((Py_ssize_t)encoding->ids.n), call.encoder, &encoding->ids);
        end(&call);
    }
    PyBuffer_Release(&view);
    return ids;
}

static PyObject *encoder_piece(PyObject *self, PyObject *args) { return encode_one(self, args, true); }
static PyObject *encoder_part(PyObject *self, PyObject *args) { return encode_one(self, args, false); }

typedef struct {
    VECTOR(uint8_t) bytes;
    size_t n, *ends; /* n + 1, the first 0 */
} gathered;

static int gather(gathered *all, PyObject *piece)
{
    Py_buffer view;
    if (view_text(piece, &view) < 0)
        return -1;
    bool has_room = ROOM(all->bytes, (size_t)view.len);
    if (has_room && view.len)
        memcpy(all->bytes.items + all->bytes.n, view.buf, (size_t)view.len);
    if (has_room)
        all->ends[++all->n] = all->bytes.n += (size_t)view.len;
    else
        PyErr_NoMemory();
    PyBuffer_Release(&view);
    return has_room ? 0 : -1;
}

static int gather_all(gathered *all, PyObject *pieces)
{
    size_t n = (size_t)PyList_GET_SIZE(pieces);
    memset(all, 0, sizeof *all);
    all->ends = PyMem_RawCalloc(n + 1, sizeof *all->ends);
    if (!all->ends) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < n && i < (size_t)PyList_GET_SIZE(pieces); i++) /* a buffer's own code may run meanwhile */
        if (gather(all, PyList_GET_ITEM(pieces, (Py_ssize_t)i)) < 0 || (i % PIECES == 0 && PyErr_CheckSignals() < 0))
            return -1;
    return 0;
}

static PyObject *encode_each(PyObject *self, PyObject *args,
                             outcome encode(encoding *, const uint8_t *, const size_t *, size_t, size_t *))
{
    PyObject *pieces, *limit = Py_None, *n_ids = NULL, *ids = NULL;
    gathered all;
    call call;
    if (!PyArg_ParseTuple(args, "O!|O", &PyList_Type, &pieces, &limit))
        return NULL;
    if (gather_all(&all, pieces) == 0)
        n_ids = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(all.n * sizeof *all.ends));
    if (n_ids && begin(&call, self, limit) == 0) {
        size_t *numbers = (size_t *)PyBytes_AS_STRING(n_ids);
        call.thread = PyEval_SaveThread();
        outcome outcome = encode(&call.encoding, all.bytes.items, all.ends, all.n, numbers);
        PyEval_RestoreThread(call.thread);
        if (check(outcome) == 0)
            ids = as_bytes(&call.encoding.ids);
        end(&call);
    }
    PyMem_RawFree(all.bytes.items);
    PyMem_RawFree(all.ends);
    PyObject *result = ids ? PyTuple_Pack(2, ids, n_ids) : NULL;
    Py_XDECREF(ids);
    Py_XDECREF(n_ids);
    return result;
}

static PyObject *encoder_pieces(PyObject *self, PyObject *args) { return encode_each(self, args, encode_pieces); }
static PyObject *encoder_parents(PyObject *self, PyObject *args) { return encode_each(self, args, encode_parents); }

static PyMethodDef methods[] = {
    {"extended", encoder_extended, METH_VARARGS, "An encoder with merges added."},
    {"encode", encoder_encode, METH_VARARGS, "The ids of a text, as a list."},
    {"encode_bytes", encoder_encode_bytes, METH_VARARGS, "The ids of a text, 4 bytes each."},
    {"piece", encoder_piece, METH_VARARGS, "The ids of a piece, as a tuple."},
    {"part", encoder_part, METH_VARARGS, "The ids of a part of a piece, nothing looked up whole, as a tuple."},
    {"pieces", encoder_pieces, METH_VARARGS, "The ids of pieces, 4 bytes each, and how many up to each, 8 bytes each."},
    {"parents", encoder_parents, METH_VARARGS, "The same of tokens, each merged by those of lower rank than its own."},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Makes ids of texts and pieces."},
    {Py_tp_new, new_encoder},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "bpe_core.kernel._kernel.Encoder",
    .basicsize = sizeof(EncoderObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

int add_encoder(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    int failed = type ? PyModule_AddType(module, (PyTypeObject *)type) : -1;
    Py_XDECREF(type);
    return failed;
}
