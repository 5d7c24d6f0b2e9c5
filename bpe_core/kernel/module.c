/* The extension module: its stamp, its state, and the types from the other files. */

#include "kernel.h"

static int add_type(PyObject *module, PyType_Spec *spec, PyObject **type)
{
    *type = PyType_FromModuleAndSpec(module, spec, NULL);
    return *type ? PyModule_AddType(module, (PyTypeObject *)*type) : -1;
}

static int execute(PyObject *module)
{
    kernel_state *state = PyModule_GetState(module);
    PyObject *array = PyImport_ImportModule("array");
    state->array_type = array ? PyObject_GetAttrString(array, "array") : NULL;
    Py_XDECREF(array);
    PyObject *stamp = state->array_type ? PyLong_FromUnsignedLong(KERNEL_STAMP) : NULL;
    int failed = stamp ? PyModule_AddObjectRef(module, "STAMP", stamp) : -1;
    Py_XDECREF(stamp);
    return failed || add_type(module, &scanner_spec, &state->scanner_type) ||
                   add_type(module, &encoder_spec, &state->encoder_type) ||
                   add_type(module, &learner_spec, &state->learner_type) ||
                   add_type(module, &piece_table_spec, &state->piece_table_type)
               ? -1
               : 0;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    PyObject **types = PyModule_GetState(module);
    for (size_t i = 0; i < sizeof(kernel_state) / sizeof *types; i++)
        Py_VISIT(types[i]);
    return 0;
}

static int clear(PyObject *module)
{
    PyObject **types = PyModule_GetState(module);
    for (size_t i = 0; i < sizeof(kernel_state) / sizeof *types; i++)
        Py_CLEAR(types[i]);
    return 0;
}

static PyMethodDef functions[] = {
    {"read_ranks", read_ranks, METH_O,
     "The two mappings that a rank file holds; None if it is in an unusual form."},
    {"decimals", decimals, METH_VARARGS,
     "The digits of numbers of 32 bits, with a text between each two."},
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
