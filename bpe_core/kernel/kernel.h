/* Declarations shared by the files that define Python's types and functions.

   The kernel is one extension module, in C11, with no dependency but Python. Each type has a file
   of glue, which checks arguments, releases the GIL, turns failures into exceptions, and calls a
   file that does not use Python objects:

       type or function   glue            work
       Scanner            scanner.c       scan.c, windows.c
       PieceTable         piece_table.c   pieces.c
       Learner            learner.c       train.c, pairs.c, candidates.c
       Encoder            encoder.c,      encode.c, piece_cache.c, merge.c, long_pieces.c,
                          tables.c,       rules.c, tokens.c, symbols.c
                          texts.c
       read_ranks         rank_file.c
       decimals           decimals.c

   module.c makes the module of them, and utf8.c reads str. Three rules hold everywhere:

   - Memory comes from PyMem_RawMalloc and its kin, which need no GIL, appear in tracemalloc, and
     can be made to fail by a test. A function that gets no memory leaves its structures unchanged,
     or ready to be freed.
   - Every index and size that comes from Python is checked.
   - Long work runs without the GIL in slices of some milliseconds, with PyErr_CheckSignals after
     each. */

#ifndef BPESCOPE_KERNEL_H
#define BPESCOPE_KERNEL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "scan.h"

#include <string.h>

/* The state of the module: its types, and array.array. module.c also reads it as an array of
   objects. */
typedef struct {
    PyObject *scanner_type;
    PyObject *encoder_type;
    PyObject *learner_type;
    PyObject *piece_table_type;
    PyObject *array_type;
} kernel_state;

/* The types, each in a file of glue. */
extern PyType_Spec scanner_spec;
extern PyType_Spec encoder_spec;
extern PyType_Spec learner_spec;
extern PyType_Spec piece_table_spec;

/* Functions of the module itself. */
PyObject *read_ranks(PyObject *module, PyObject *data);
PyObject *decimals(PyObject *module, PyObject *args);

/* Return the 32-bit number with index `i` in a buffer that need not be aligned. */
static inline uint32_t number_at(const char *numbers, size_t i)
{
    uint32_t number;
    memcpy(&number, numbers + i * sizeof number, sizeof number);
    return number;
}

/* Write the UTF-8 of a str, at most four bytes a character. Return its end; NULL with an exception
   for a surrogate. Set the bit of each Unicode plane that has a character of the str. */
uint8_t *write_utf8(PyObject *text, uint8_t *to, unsigned *planes);

/* Return the Unicode planes of the characters of a text in UTF-8, as bits. */
unsigned planes_of(const uint8_t *text, size_t n);

/* Return the scanner of a Scanner, after loading the character sets of `planes`. It lives as long
   as `object`. NULL with an exception for another type. Call with the GIL. */
const scanner *scanner_for(const kernel_state *state, PyObject *object, unsigned planes);

#endif
