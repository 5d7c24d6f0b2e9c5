/* A cache of the ids of pieces, for one thread and one number of merges, bounded in bytes.

   A slot has 32 bytes, half a cache line: a piece of up to 15 bytes with its length, and up to four
   ids. Where either is longer, the slot tells where both stand in an arena; a long piece is then
   found by its hash, and its bytes compared. A key has its place among the NEAR slots from the one
   that its hash names, so that no choice of pieces makes the search long; if all are taken, the
   first is overwritten. A full table or arena grows up to a bound; beyond, the cache is emptied. */

#ifndef BPESCOPE_PIECE_CACHE_H
#define BPESCOPE_PIECE_CACHE_H

#include "keys.h"
#include "rules.h"
#include "vector.h"

enum { NEAR = 16, INLINE_IDS = 4, LONGEST_CACHED = 512 };

#define IN_ARENA UINT32_MAX

typedef struct {
    key key;                  /* all 0 in an empty slot */
    uint32_t ids[INLINE_IDS]; /* NO_TOKEN behind the last; or IN_ARENA, where, and how many there */
} cache_slot;

typedef struct {
    void *memory; /* of the slots, which begin at a cache line in it */
    cache_slot *slots;
    int bits; /* there are 1 << bits slots */
    size_t n;
    VECTOR(uint32_t) arena; /* ids, then the bytes of a long piece */
    rule_slot *pairs;       /* see merges; NULL as long as nothing was merged by ranks */
} piece_cache;

bool cache_init(piece_cache *cache);
void cache_wipe(piece_cache *cache);
void cache_free(piece_cache *cache);

/* Put in the ids of a piece of at most LONGEST_CACHED bytes; does nothing without memory. */
void cache_put(piece_cache *cache, key key, const uint8_t *piece, size_t n, const uint32_t *ids,
               size_t n_ids);

static inline size_t home_of(uint64_t hash, int bits) { return hash >> (64 - bits); }

static inline size_t n_inline(const cache_slot *slot)
{
    return 1 + (slot->ids[1] != NO_TOKEN) + (slot->ids[2] != NO_TOKEN) + (slot->ids[3] != NO_TOKEN);
}

/* The ids of a piece and how many they are, to be used before the next is put in; NULL if it is not
   known. Where they are no more than INLINE_IDS, as many may be read. */
static inline const uint32_t *cache_find(const piece_cache *cache, key key, uint64_t hash,
                                         const uint8_t *piece, size_t n, size_t *n_ids)
{
    size_t mask = ((size_t)1 << cache->bits) - 1, home = home_of(hash, cache->bits);
    for (size_t i = 0; i < NEAR; i++) {
        const cache_slot *slot = &cache->slots[(home + i) & mask];
        if (same_key(slot->key, key)) {
            const uint32_t *ids = slot->ids;
            if (ids[0] != IN_ARENA) {
                *n_ids = n_inline(slot);
                return ids;
            }
            *n_ids = ids[2];
            ids = cache->arena.items + ids[1];
            return n <= INLINE_BYTES || !memcmp(ids + *n_ids, piece, n) ? ids : NULL;
        }
        if (!slot->key.high)
            return NULL;
    }
    return NULL;
}

#endif
