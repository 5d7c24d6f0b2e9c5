/* Declarations shared by the files that define what Python sees.

   The kernel is one extension module, in C11, with no dependency but Python. Each type has a file of glue, which checks
   what comes from Python, releases the GIL and turns failures into exceptions, and calls a file that knows nothing of
   Python objects. Three rules hold throughout:

   - Memory comes from PyMem_RawMalloc and its kin, which need no GIL, are seen by tracemalloc, and can be made to fail
     by a test. A function that fails to get memory leaves its structures as they were, or fit to be freed.
   - Every index and size that comes from Python is checked.
   - Long work is done without the GIL in slices of some milliseconds; after each PyErr_CheckSignals is asked. */

#ifndef BPESCOPE_KERNEL_H
#define BPESCOPE_KERNEL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "scan.h"

/* The state of the module: the types that the glue of another type has to recognise. */
typedef struct {
    PyTypeObject *scanner_type, *piece_table_type;
} kernel_state;

/* Each file of glue adds its type to the module: 0, or -1 with an exception. */
int add_scanner(PyObject *module);
int add_encoder(PyObject *module);
int add_learner(PyObject *module);
int add_piece_table(PyObject *module);

/* Functions of the module itself. */
PyObject *read_ranks(PyObject *module, PyObject *data);
PyObject *decimals(PyObject *module, PyObject *args);

/* What is inside of a Scanner, ready for a text in UTF-8: the sets of its characters are at hand. To be called with the
   GIL for each text; NULL with an exception for what is no Scanner. It lives as long as `object`. */
const scanner *scanner_for(const kernel_state *state, PyObject *object, const uint8_t *text, size_t n);

#endif
