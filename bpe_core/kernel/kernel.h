/* Declarations shared by the files that define what Python sees.

   The kernel is one extension module, in C11, with no dependency but Python. Each type has a file
   of glue, which checks what comes from Python, releases the GIL and turns failures into
   exceptions, and calls a file that knows nothing of Python objects. Three rules hold throughout:

   - Memory comes from PyMem_RawMalloc and its kin, which need no GIL, are seen by tracemalloc, and
   can be made to fail by a test. A function that fails to get memory leaves its structures as they
   were, or fit to be freed.
   - Every index and size that comes from Python is checked.
   - Long work is done without the GIL in slices of some milliseconds; after each PyErr_CheckSignals
   is asked. */

#ifndef BPESCOPE_KERNEL_H
#define BPESCOPE_KERNEL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "scan.h"

#include <string.h>

/* The state of the module: its types, and array.array. */
typedef struct {
    PyObject *scanner_type, *encoder_type, *learner_type, *piece_table_type, *array_type;
} kernel_state;

/* The types, each in a file of glue. */
extern PyType_Spec scanner_spec, encoder_spec, learner_spec, piece_table_spec;

/* A number of 32 bits in a buffer, which may begin anywhere. */
static inline uint32_t number_at(const char *numbers, size_t i)
{
    uint32_t number;
    memcpy(&number, numbers + i * sizeof number, sizeof number);
    return number;
}

/* Functions of the module itself. */
PyObject *read_ranks(PyObject *module, PyObject *data);
PyObject *decimals(PyObject *module, PyObject *args);

/* Write the UTF-8 of a str, which is at most four bytes a character, and add the planes of Unicode
   that it has characters of, bit by bit: where it ends, NULL with an exception for a surrogate. */
uint8_t *write_utf8(PyObject *text, uint8_t *to, unsigned *planes);

/* The planes that a text in UTF-8 has characters of, bit by bit. */
unsigned planes_of(const uint8_t *text, size_t n);

/* What is inside of a Scanner, the sets of the characters of these planes at hand. To be called
   with the GIL; NULL with an exception for what is no Scanner. It lives as long as `object`. */
const scanner *scanner_for(const kernel_state *state, PyObject *object, unsigned planes);

#endif
