/* Keys of bytes in hash tables: up to 15 bytes with their length, or a hash of more bytes.

   Pieces, tokens and cached pieces are found by such keys. Most have at most 15 bytes, and are then
   compared by two numbers. */

#ifndef BPESCOPE_KEYS_H
#define BPESCOPE_KEYS_H

#include "kernel.h"

#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

enum { INLINE_BYTES = 15 };

/* Up to INLINE_BYTES bytes and their number, or a hash of more bytes and their number. No key is
   all 0, except the key of no bytes. */
typedef struct {
    /* The first eight bytes, or the hash. */
    uint64_t low;
    /* The other bytes and, in the last one, their number. With a hash: 255 in the last byte, and
       the number << 8. */
    uint64_t high;
} key;

static inline uint64_t hash_of(const uint8_t *bytes, size_t n)
{
    uint64_t hash = n;
    uint64_t word;
    for (; n >= sizeof word; bytes += sizeof word, n -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, bytes, n);
    hash = (hash ^ word) * 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

/* How far to shift a length so that it is in the last byte of a word in memory. */
#if PY_BIG_ENDIAN
enum { LENGTH_SHIFT = 0 };
#else
enum { LENGTH_SHIFT = 56 };
#endif

/* Return the key of `n` bytes. `n_readable` bytes may be read, which is faster from 16 on. */
static inline key key_of(const uint8_t *bytes, size_t n, size_t n_readable)
{
    static const uint8_t ones[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                     255, 255, 255, 255, 255, 255, 255, 255};
    if (n > INLINE_BYTES)
        return (key){hash_of(bytes, n), (uint64_t)255 << LENGTH_SHIFT | (uint64_t)n << 8};
    uint64_t words[2] = {0, 0};
    if (n_readable >= 16)
        memcpy(words, bytes, 16);
    else if (n) /* `bytes` may be NULL if n is 0 */
        memcpy(words, bytes, n);
    uint64_t mask[2]; /* n bytes of 255, then zeros */
    memcpy(mask, ones + 16 - n, 16);
    return (key){words[0] & mask[0], (words[1] & mask[1]) | (uint64_t)n << LENGTH_SHIFT};
}

static inline bool same_key(key one, key other)
{
    return one.low == other.low && one.high == other.high;
}

/* Return a hash of a key. All bits are usable; the highest are the best. */
static inline uint64_t key_hash(key key)
{
    uint64_t hash = key.low * 0x9e3779b97f4a7c15u ^ key.high * 0xc2b2ae3d27d4eb4fu;
    return (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
}

enum { LARGE = 2 << 20 }; /* bytes of a large page */

/* Ask the system for large pages for a table before its first use, so that a look-up seldom waits
   for an entry of the page table. */
static inline void prefer_large_pages(void *table, size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (size <= LARGE)
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first_page = ((uintptr_t)table + page - 1) / page * page;
    uintptr_t end = (uintptr_t)table + size;
    (void)madvise((void *)first_page, end - first_page, MADV_HUGEPAGE);
#else
    (void)table;
    (void)size;
#endif
}

#endif
