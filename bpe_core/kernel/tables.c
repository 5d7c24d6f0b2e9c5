/* The tables of an Encoder, from Python's objects. */

#include "encoder.h"

int read_number(PyObject *object, uint32_t *number)
{
    if (!PyLong_Check(object)) { /* its own conversion could run code that changes our dict */
        PyErr_SetString(PyExc_TypeError, "ids and ranks are numbers");
        return -1;
    }
    long long value = PyLong_AsLongLong(object);
    if (value == -1 && PyErr_Occurred())
        return -1;
    if (value < 0 || value >= NO_TOKEN) {
        PyErr_SetString(PyExc_ValueError, "ids and ranks are numbers below 2**31 - 1");
        return -1;
    }
    *number = (uint32_t)value;
    return 0;
}

/* Read the rank of a token, whose id is `id`. */
static int read_rank(PyObject *token, PyObject *id, PyObject *ids, PyObject *ranks, uint32_t *rank)
{
    if (ranks == ids)
        return read_number(id, rank);
    PyObject *value = PyDict_GetItemWithError(ranks, token);
    if (value)
        return read_number(value, rank);
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "ids and ranks are numbers below 2**31 - 1");
    return -1;
}

static int fill_token(token_table *table, PyObject *token, PyObject *id, PyObject *ids,
                      PyObject *ranks)
{
    merge_rule rule;
    if (!PyBytes_Check(token)) {
        PyErr_SetString(PyExc_TypeError, "tokens are bytes");
        return -1;
    }
    if (read_number(id, &rule.token) < 0 || read_rank(token, id, ids, ranks, &rule.rank) < 0)
        return -1;
    const uint8_t *bytes = (const uint8_t *)PyBytes_AS_STRING(token);
    if (tokens_add(table, bytes, (size_t)PyBytes_GET_SIZE(token), rule))
        return 0;
    PyErr_NoMemory();
    return -1;
}

/* Fill a table from `ids`, {bytes: id}, and `ranks`, {bytes: rank}. */
static int fill_tokens(token_table *table, PyObject *ids, PyObject *ranks)
{
    if (!tokens_init(table, (size_t)PyDict_GET_SIZE(ids))) {
        PyErr_NoMemory();
        return -1;
    }
    PyObject *token;
    PyObject *id;
    Py_ssize_t at = 0;
    while (PyDict_Next(ids, &at, &token, &id)) {
        /* Looking it up in `ranks` may run another key's code, which could empty `ids`. */
        Py_INCREF(token);
        int failed = fill_token(table, token, id, ids, ranks);
        Py_DECREF(token);
        if (failed)
            return -1;
    }
    return 0;
}

static int read_number_or_none(PyObject *object, uint32_t *number)
{
    *number = NO_TOKEN;
    return object == Py_None ? 0 : read_number(object, number);
}

static int fill_symbols(symbol_set *symbols, PyObject *byte_ids, PyObject *end,
                        PyObject *characters)
{
    if (!PyTuple_Check(byte_ids) || PyTuple_GET_SIZE(byte_ids) != 256) {
        PyErr_SetString(PyExc_ValueError, "the ids of the bytes are a tuple of 256");
        return -1;
    }
    for (int byte = 0; byte < 256; byte++)
        if (read_number_or_none(PyTuple_GET_ITEM(byte_ids, byte), &symbols->byte_ids[byte]) < 0)
            return -1;
    if (read_number_or_none(end, &symbols->end) < 0)
        return -1;
    if (characters == Py_None)
        return 0;
    if (!PyDict_Check(characters)) {
        PyErr_SetString(PyExc_TypeError, "characters are a dict");
        return -1;
    }
    return fill_tokens(&symbols->characters, characters, characters);
}

int fill_tables(tables *tables, PyObject *byte_ids, PyObject *end, PyObject *characters,
                PyObject *ids, PyObject *ranks)
{
    if (!rules_init(&tables->rules, 0)) {
        PyErr_NoMemory();
        return -1;
    }
    if (fill_symbols(&tables->symbols, byte_ids, end, characters) < 0)
        return -1;
    return fill_tokens(&tables->tokens, ids, ranks);
}

/* Copy a table, unless it has no slots. Return false without memory. */
static bool copy_tokens(token_table *table, const token_table *from)
{
    return !from->slots || tokens_copy(table, from);
}

int copy_tables(tables *tables, const struct tables *from)
{
    tables->symbols = from->symbols;
    tables->symbols.characters = (token_table){0};
    tables->n_merges = from->n_merges;
    tables->looks_up = from->looks_up;
    tables->has_ranks = from->has_ranks;
    if (rules_copy(&tables->rules, &from->rules) && copy_tokens(&tables->tokens, &from->tokens) &&
        copy_tokens(&tables->symbols.characters, &from->symbols.characters))
        return 0;
    PyErr_NoMemory();
    return -1;
}

int add_merges(tables *tables, const Py_buffer columns[3])
{
    Py_ssize_t size = columns[0].len;
    size_t n = (size_t)size / sizeof(uint32_t);
    bool has_whole_numbers = (size_t)size % sizeof(uint32_t) == 0;
    bool has_same_lengths = columns[1].len == size && columns[2].len == size;
    if (!has_whole_numbers || !has_same_lengths || n >= NO_RANK - tables->n_merges) {
        PyErr_SetString(PyExc_ValueError, "merges are three columns of as many numbers of 32 bits");
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t left = number_at(columns[0].buf, i);
        uint32_t right = number_at(columns[1].buf, i);
        uint32_t token = number_at(columns[2].buf, i);
        if (left >= NO_TOKEN || right >= NO_TOKEN || token >= NO_TOKEN) {
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

void free_tables(tables *tables)
{
    rules_free(&tables->rules);
    tokens_free(&tables->tokens);
    tokens_free(&tables->symbols.characters);
}
