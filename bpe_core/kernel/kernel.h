/* What the files of the kernel share that face Python.

   The kernel is one extension module, in C11, with no dependency but Python. Each type has a file of glue, which checks
   what comes from Python, releases the GIL and turns failures into exceptions, and calls a file that knows nothing of
   Python objects. Three rules hold throughout:

   - Memory comes from PyMem_RawMalloc and its kin, which need no GIL, are seen by tracemalloc, and can be made to fail
     by a test. A function that fails to get memory leaves its structures as they were, or fit to be freed.
   - Nobody is trusted with an index: whatever comes from Python is checked against the sizes known here.
   - Long work is done without the GIL in slices of some milliseconds; after each PyErr_CheckSignals is asked. */

#ifndef BPESCOPE_KERNEL_H
#define BPESCOPE_KERNEL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* The types that glue of another file has to recognise; see PyModule_GetState. */
typedef struct {
    PyTypeObject *scanner_type;
} kernel_state;

#endif
