/* The extension module: its stamp, its state, and the types from the other files. The stamp says
   from which sources the module was compiled; kernel/__init__.py compares it. */

#include "kernel.h"

static int add_type(PyObject *module, PyType_Spec *spec, PyObject **type)
{
    *type = PyType_FromModuleAndSpec(module, spec, NULL);
    return *type ? PyModule_AddType(module, (PyTypeObject *)*type) : -1;
}

static int add_stamp(PyObject *module)
{
    PyObject *stamp = PyLong_FromUnsignedLong(KERNEL_STAMP);
    int failed = stamp ? PyModule_AddObjectRef(module, "STAMP", stamp) : -1;
    Py_XDECREF(stamp);
    return failed;
}

static int find_array_type(kernel_state *state)
{
    PyObject *array = PyImport_ImportModule("array");
    state->array_type = array ? PyObject_GetAttrString(array, "array") : NULL;
    Py_XDECREF(array);
    return state->array_type ? 0 : -1;
}

/* Fill the module when it is imported. */
static int execute(PyObject *module)
{
    kernel_state *state = PyModule_GetState(module);
    bool has_failed = find_array_type(state) < 0 || add_stamp(module) < 0 ||
                      add_type(module, &scanner_spec, &state->scanner_type) < 0 ||
                      add_type(module, &encoder_spec, &state->encoder_type) < 0 ||
                      add_type(module, &learner_spec, &state->learner_type) < 0 ||
                      add_type(module, &piece_table_spec, &state->piece_table_type) < 0;
    return has_failed ? -1 : 0;
}

/* The state as an array of objects, for the garbage collector. */
enum { N_OBJECTS = sizeof(kernel_state) / sizeof(PyObject *) };

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    PyObject **objects = PyModule_GetState(module);
    for (int i = 0; i < N_OBJECTS; i++)
        Py_VISIT(objects[i]);
    return 0;
}

static int clear(PyObject *module)
{
    PyObject **objects = PyModule_GetState(module);
    for (int i = 0; i < N_OBJECTS; i++)
        Py_CLEAR(objects[i]);
    return 0;
}

static PyMethodDef functions[] = {
    {"read_ranks", read_ranks, METH_O,
     "The dicts {rank: token} and {token: rank} of a rank file; None if its form is unusual."},
    {"decimals", decimals, METH_VARARGS,
     "Numbers of 32 bits as decimal text, with a separator between each two."},
    {0},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "bpe_core.kernel._kernel",
    .m_size = sizeof(kernel_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&definition); }
