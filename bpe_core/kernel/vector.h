/* Arrays that grow, and prefetching. VECTOR(int) v = {0}; if (!ROOM(v, 2)) no
   memory; v.items[v.n++] = 1; ... PyMem_RawFree(v.items). */

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

#define VECTOR(type)        \
    struct {                \
        type *items;        \
        size_t n, capacity; \
    }

/* Make room for `more` items. Return false without memory; the vector is then unchanged.
 */
#define ROOM(vector, more) \
    make_room(&(vector).items, &(vector).capacity, (vector).n, (more), sizeof *(vector).items)

static inline bool make_room(void *items, size_t *capacity, size_t n, size_t more, size_t size)
{
    if (more <= *capacity - n)
        return true;
    size_t most = SIZE_MAX / 2 / size;
    if (more > most - n)
        return false;
    size_t wanted = n + more,
           half_more = *capacity > most / 3 * 2 ? most : *capacity + *capacity / 2 + 8;
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
