/* The extension module: its stamp, its state, and the types that the other files add. No work is done here. */

#include "kernel.h"

static int execute(PyObject *module)
{
    PyObject *stamp = PyLong_FromUnsignedLong(KERNEL_STAMP);
    int failed = PyModule_AddObjectRef(module, "STAMP", stamp);
    Py_XDECREF(stamp);
    return failed || add_scanner(module) || add_encoder(module) || add_learner(module) || add_piece_table(module) ? -1 : 0;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    kernel_state *state = PyModule_GetState(module);
    Py_VISIT(state->scanner_type);
    Py_VISIT(state->piece_table_type);
    return 0;
}

static int clear(PyObject *module)
{
    kernel_state *state = PyModule_GetState(module);
    Py_CLEAR(state->scanner_type);
    Py_CLEAR(state->piece_table_type);
    return 0;
}

static PyMethodDef functions[] = {
    {"read_ranks", read_ranks, METH_O, "The two mappings that a rank file holds; None if it is in an unusual form."},
    {"decimals", decimals, METH_VARARGS, "The digits of numbers of 32 bits, with a text between each two."},
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
