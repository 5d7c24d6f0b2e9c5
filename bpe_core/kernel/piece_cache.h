/* A cache of the ids of pieces, for one thread and one number of merges, with a limit in bytes.

   A slot has 32 bytes, half a cache line: a piece of up to 15 bytes with its length, and up to four
   ids. If either is longer, both are in an arena, and the slot has their place; the key of a long
   piece is a hash, so its bytes are compared. A key is in one of NEAR slots from its home slot on,
   so that no choice of pieces makes the search long. If all are taken, the home slot is
   overwritten. A full table or arena grows up to a limit; then the cache is emptied. */

#ifndef BPESCOPE_PIECE_CACHE_H
#define BPESCOPE_PIECE_CACHE_H

#include "keys.h"
#include "rules.h"
#include "vector.h"

enum {
    NEAR = 16,            /* slots in which a key may be */
    INLINE_IDS = 4,       /* ids in a slot */
    LONGEST_CACHED = 512, /* bytes of a piece */
};

#define IN_ARENA UINT32_MAX

typedef struct {
    key key; /* all 0 in an empty slot */
    /* Up to INLINE_IDS ids, followed by NO_TOKEN; or IN_ARENA, the offset of the ids in the arena,
       and their number. */
    uint32_t ids[INLINE_IDS];
} cache_slot;

typedef struct {
    void *memory;           /* the block of the slots, which begin at a cache line */
    cache_slot *slots;      /* there are 1 << bits */
    int bits;               /* of the number of slots */
    size_t n;               /* slots that are taken */
    VECTOR(uint32_t) arena; /* ids, then the bytes of a long piece */
    rule_slot *pairs;       /* see `merges`; NULL until something is merged by ranks */
} piece_cache;

bool cache_init(piece_cache *cache);
void cache_wipe(piece_cache *cache);
void cache_free(piece_cache *cache);

/* Store the ids of a piece of at most LONGEST_CACHED bytes. Do nothing without memory. */
void cache_put(piece_cache *cache, key key, const uint8_t *piece, size_t n, const uint32_t *ids,
               size_t n_ids);

static inline size_t home_of(uint64_t hash, int bits) { return hash >> (64 - bits); }

static inline size_t n_inline(const cache_slot *slot)
{
    return 1 + (slot->ids[1] != NO_TOKEN) + (slot->ids[2] != NO_TOKEN) + (slot->ids[3] != NO_TOKEN);
}

/* Return the ids in a slot that has the key of a piece, and set their number; NULL if the slot has
   another piece. */
static inline const uint32_t *ids_in_slot(const piece_cache *cache, const cache_slot *slot,
                                          const uint8_t *piece, size_t n, size_t *n_ids)
{
    if (slot->ids[0] != IN_ARENA) {
        *n_ids = n_inline(slot);
        return slot->ids;
    }
    const uint32_t *ids = cache->arena.items + slot->ids[1];
    *n_ids = slot->ids[2];
    bool is_same = n <= INLINE_BYTES || !memcmp(ids + *n_ids, piece, n);
    return is_same ? ids : NULL;
}

/* Return the ids of a piece, and set their number; NULL if the piece is unknown. The pointer is
   valid until the next cache_put. INLINE_IDS ids may be read even if there are fewer. */
static inline const uint32_t *cache_find(const piece_cache *cache, key key, uint64_t hash,
                                         const uint8_t *piece, size_t n, size_t *n_ids)
{
    size_t mask = ((size_t)1 << cache->bits) - 1;
    size_t home = home_of(hash, cache->bits);
    for (size_t i = 0; i < NEAR; i++) {
        const cache_slot *slot = &cache->slots[(home + i) & mask];
        if (same_key(slot->key, key))
            return ids_in_slot(cache, slot, piece, n, n_ids);
        if (!slot->key.high)
            return NULL;
    }
    return NULL;
}

#endif
