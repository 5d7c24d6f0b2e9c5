/* Fill, grow and empty the cache of pieces. piece_cache.h has the look-up, for encode.c. */

#include "piece_cache.h"

enum {
    LINE = 64, /* bytes of a cache line */
    FIRST_BITS = 12,
    MOST_BITS = 20,       /* 32 MB of slots */
    MOST_WORDS = 4 << 20, /* 16 MB of arena */
};

static bool allocate(piece_cache *cache, int bits)
{
    void *memory = PyMem_RawCalloc(((size_t)1 << bits) + 2, sizeof *cache->slots);
    if (!memory)
        return false;
    prefer_large_pages(memory, sizeof *cache->slots << bits);
    cache->memory = memory;
    cache->slots = (cache_slot *)(((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1));
    cache->bits = bits;
    cache->n = 0;
    return true;
}

bool cache_init(piece_cache *cache)
{
    *cache = (piece_cache){0};
    return allocate(cache, FIRST_BITS);
}

void cache_free(piece_cache *cache)
{
    PyMem_RawFree(cache->memory);
    PyMem_RawFree(cache->arena.items);
    PyMem_RawFree(cache->pairs);
    *cache = (piece_cache){0};
}

void cache_wipe(piece_cache *cache)
{
    memset(cache->slots, 0, sizeof *cache->slots << cache->bits);
    cache->n = 0;
    cache->arena.n = 0;
}

/* Write a slot: into the first free one of the NEAR slots, or over its home slot. */
static void place(piece_cache *cache, const cache_slot *slot)
{
    size_t mask = ((size_t)1 << cache->bits) - 1;
    size_t home = home_of(key_hash(slot->key), cache->bits);
    for (size_t i = 0; i < NEAR; i++) {
        cache_slot *near = &cache->slots[(home + i) & mask];
        if (!near->key.high) {
            *near = *slot;
            cache->n++;
            return;
        }
    }
    cache->slots[home] = *slot;
}

static bool grow(piece_cache *cache)
{
    piece_cache old = *cache;
    if (old.bits == MOST_BITS || !allocate(cache, old.bits + 2))
        return false;
    for (size_t i = 0; i < (size_t)1 << old.bits; i++)
        if (old.slots[i].key.high)
            place(cache, &old.slots[i]);
    PyMem_RawFree(old.memory);
    return true;
}

/* Make room in the arena, by emptying the cache if it is full. Return false without memory. */
static bool reserve_words(piece_cache *cache, size_t n_more)
{
    if (cache->arena.n + n_more <= MOST_WORDS && ROOM(cache->arena, n_more))
        return true;
    cache_wipe(cache);
    return n_more <= MOST_WORDS && ROOM(cache->arena, n_more);
}

/* Write the ids, and the bytes of a long piece, into the arena, and their place into the slot.
   Return false without memory. */
static bool put_in_arena(piece_cache *cache, cache_slot *slot, const uint8_t *piece, size_t n,
                         const uint32_t *ids, size_t n_ids)
{
    size_t n_long_bytes = n > INLINE_BYTES ? n : 0;
    size_t n_words = n_ids + (n_long_bytes + 3) / 4;
    if (!reserve_words(cache, n_words))
        return false;
    uint32_t *words = cache->arena.items + cache->arena.n;
    memcpy(words, ids, n_ids * sizeof *ids);
    memcpy(words + n_ids, piece, n_long_bytes);
    slot->ids[0] = IN_ARENA;
    slot->ids[1] = (uint32_t)cache->arena.n;
    slot->ids[2] = (uint32_t)n_ids;
    cache->arena.n += n_words;
    return true;
}

void cache_put(piece_cache *cache, key key, const uint8_t *piece, size_t n, const uint32_t *ids,
               size_t n_ids)
{
    cache_slot slot = {key, {NO_TOKEN, NO_TOKEN, NO_TOKEN, NO_TOKEN}};
    bool is_full = cache->n >= (size_t)3 << cache->bits >> 2; /* three quarters */
    if (is_full && !grow(cache))
        cache_wipe(cache);
    if (n <= INLINE_BYTES && n_ids <= INLINE_IDS)
        memcpy(slot.ids, ids, n_ids * sizeof *ids);
    else if (!put_in_arena(cache, &slot, piece, n, ids, n_ids))
        return;
    place(cache, &slot);
}
