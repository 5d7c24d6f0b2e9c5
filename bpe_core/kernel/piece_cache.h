/* What pieces became: a cache of one thread, for one number of merges, bounded in bytes.

   A slot has 32 bytes, half a cache line: a piece of up to 15 bytes with its length, and up to four ids. Where either is
   longer, the slot tells where both stand in an arena; a long piece is then found by its hash, and its bytes compared.
   A key has its place among the NEAR slots from the one that its hash names, so that no choice of pieces makes the
   search long; if all are taken, the first is overwritten. What is full grows, up to a bound, and is wiped there. */

#ifndef BPESCOPE_PIECE_CACHE_H
#define BPESCOPE_PIECE_CACHE_H

#include "rules.h"

#include <string.h>

enum { NEAR = 16, INLINE_BYTES = 15, INLINE_IDS = 4, LONGEST_CACHED = 512 };

#define IN_ARENA UINT32_MAX

typedef struct {
    uint64_t low, high; /* the bytes of a piece and its length, or its hash and its length; both 0 in an empty slot */
} piece_key;

typedef struct {
    piece_key key;
    uint32_t ids[INLINE_IDS]; /* NO_TOKEN behind the last; or IN_ARENA, where, and how many there */
} cache_slot;

typedef struct {
    void *memory;      /* of the slots, which begin at a cache line in it */
    cache_slot *slots;
    int bits; /* there are 1 << bits slots */
    size_t n;
    uint32_t *arena; /* ids, then the bytes of a long piece */
    size_t arena_n, arena_room;
} piece_cache;

bool cache_init(piece_cache *cache);
void cache_wipe(piece_cache *cache);
void cache_free(piece_cache *cache);

/* Remember the ids of a piece of at most LONGEST_CACHED bytes; without memory, forget it. */
void cache_put(piece_cache *cache, piece_key key, const uint8_t *piece, size_t n, const uint32_t *ids, size_t n_ids);

uint64_t hash_of(const uint8_t *bytes, size_t n);

#if PY_BIG_ENDIAN
enum { LENGTH_SHIFT = 0 };
#else
enum { LENGTH_SHIFT = 56 };
#endif

/* The key of a piece of `n` bytes, of which `n_readable` may be read; n > 0. */
static inline piece_key key_of(const uint8_t *piece, size_t n, size_t n_readable)
{
    static const uint8_t ones[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    if (n > INLINE_BYTES)
        return (piece_key){hash_of(piece, n), (uint64_t)255 << LENGTH_SHIFT | (uint64_t)n << 8};
    uint64_t words[2] = {0, 0}, mask[2];
    memcpy(words, piece, n_readable < 16 ? n : 16);
    memcpy(mask, ones + 16 - n, 16);
    return (piece_key){words[0] & mask[0], (words[1] & mask[1]) | (uint64_t)n << LENGTH_SHIFT};
}

static inline size_t home_of(const piece_cache *cache, piece_key key)
{
    uint64_t hash = key.low * 0x9e3779b97f4a7c15u ^ key.high * 0xc2b2ae3d27d4eb4fu;
    return (size_t)((hash ^ hash >> 32) * 0xd6e8feb86659fd93u >> (64 - cache->bits));
}

/* The ids of a piece and how many they are, to be used before the next is put in; NULL if it is not known. Where they
   are no more than INLINE_IDS, as many may be read. */
static inline const uint32_t *cache_find(const piece_cache *cache, piece_key key, const uint8_t *piece, size_t n,
                                         size_t *n_ids)
{
    size_t mask = ((size_t)1 << cache->bits) - 1, home = home_of(cache, key);
    for (size_t i = 0; i < NEAR; i++) {
        const cache_slot *slot = &cache->slots[(home + i) & mask];
        if (slot->key.low == key.low && slot->key.high == key.high) {
            const uint32_t *ids = slot->ids;
            if (ids[0] != IN_ARENA) {
                *n_ids = 1 + (ids[1] != NO_TOKEN) + (ids[2] != NO_TOKEN) + (ids[3] != NO_TOKEN);
                return ids;
            }
            *n_ids = ids[2];
            ids = cache->arena + ids[1];
            return n <= INLINE_BYTES || !memcmp(ids + *n_ids, piece, n) ? ids : NULL;
        }
        if (!slot->key.high)
            return NULL;
    }
    return NULL;
}

#endif
