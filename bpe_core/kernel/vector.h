/* Arrays that grow, and prefetching. An example:

       VECTOR(int) numbers = {0};
       if (!ROOM(numbers, 2))
           return NO_MEMORY;
       numbers.items[numbers.n++] = 1;
       PyMem_RawFree(numbers.items); */

#ifndef BPESCOPE_VECTOR_H
#define BPESCOPE_VECTOR_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __GNUC__
#define FETCH(place) __builtin_prefetch(place) /* load it into the cache ahead of its use */
#else
#define FETCH(place) ((void)(place))
#endif

#define VECTOR(type)     \
    struct {             \
        type *items;     \
        size_t n;        \
        size_t capacity; \
    }

/* Make room for `more` items. Return false without memory; the vector is then unchanged. */
#define ROOM(vector, more) \
    make_room(&(vector).items, &(vector).capacity, (vector).n, (more), sizeof *(vector).items)

/* ROOM for items of any type: `items` is the address of the pointer to them, so it is read and
   written by memcpy. Grow by at least a half, so that adding items one by one takes linear time. */
static inline bool make_room(void *items, size_t *capacity, size_t n, size_t more, size_t size)
{
    if (more <= *capacity - n)
        return true;
    size_t most = SIZE_MAX / 2 / size;
    if (more > most - n)
        return false;
    size_t wanted = n + more;
    size_t half_more = most;
    if (*capacity <= most / 3 * 2)
        half_more = *capacity + *capacity / 2 + 8;
    if (wanted < half_more)
        wanted = half_more;
    void *block;
    memcpy(&block, items, sizeof block);
    block = PyMem_RawRealloc(block, wanted * size);
    if (!block)
        return false;
    memcpy(items, &block, sizeof block);
    *capacity = wanted;
    return true;
}

#endif
