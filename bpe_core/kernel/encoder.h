/* Between encoder.c and the files that read its arguments: tables.c and texts.c. */

#ifndef BPESCOPE_ENCODER_H
#define BPESCOPE_ENCODER_H

#include "kernel.h"

#include "encode.h"

/* tables.c. Each function returns -1 with an exception, for a wrong argument or without memory. */

/* Read an id, a rank or a limit, which is below NO_TOKEN. */
int read_number(PyObject *object, uint32_t *number);

/* Fill tables of zeros. `byte_ids` is a tuple of 256 ids or None, `end` is an id or None,
   `characters` is {bytes: id}, or None if every byte is a symbol; `ids` and `ranks` are {bytes: id}
   and {bytes: rank} of the tokens. */
int fill_tables(tables *tables, PyObject *byte_ids, PyObject *end, PyObject *characters,
                PyObject *ids, PyObject *ranks);

/* Copy tables into tables of zeros. */
int copy_tables(tables *tables, const struct tables *from);

/* Add merges from three columns of the same length: lefts, rights, tokens. */
int add_merges(tables *tables, const Py_buffer columns[3]);

void free_tables(tables *tables);

/* texts.c */

/* Texts to encode, in UTF-8, one after another. */
typedef struct {
    VECTOR(uint8_t) bytes;
    VECTOR(size_t) ends; /* 0, then where each text ends in `bytes` */
    unsigned planes;     /* of Unicode, as bits */
} gathered_texts;

/* Append a text: a str as UTF-8, or the bytes of a buffer. A surrogate raises UnicodeEncodeError.
   Return -1 with an exception. */
int gather(gathered_texts *all, PyObject *text);

/* Gather all texts of a list, after a 0 in `ends`. Return -1 with an exception. */
int gather_all(gathered_texts *all, PyObject *list);

void free_gathered(gathered_texts *all);

#endif
