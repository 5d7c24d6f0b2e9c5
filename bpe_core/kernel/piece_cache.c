/* Fill, grow and empty the cache of pieces. */

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
    cache->n = cache->arena.n = 0;
}

static void place(piece_cache *cache, const cache_slot *slot)
{
    size_t mask = ((size_t)1 << cache->bits) - 1, home = home_of(key_hash(slot->key), cache->bits),
           at = home;
    while (cache->slots[at].key.high && at - home < NEAR)
        at = (at + 1) & mask;
    if (cache->slots[at].key.high)
        at = home;
    else
        cache->n++;
    cache->slots[at] = *slot;
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

static bool reserve_words(piece_cache *cache, size_t n_more)
{
    return cache->arena.n + n_more <= MOST_WORDS && ROOM(cache->arena, n_more);
}

void cache_put(piece_cache *cache, key key, const uint8_t *piece, size_t n, const uint32_t *ids,
               size_t n_ids)
{
    bool is_long = n > INLINE_BYTES;
    size_t n_words = n_ids + (is_long ? (n + 3) / 4 : 0);
    cache_slot slot = {key, {NO_TOKEN, NO_TOKEN, NO_TOKEN, NO_TOKEN}};
    if (cache->n >= (size_t)3 << cache->bits >> 2 && !grow(cache))
        cache_wipe(cache);
    if (!is_long && n_ids <= INLINE_IDS) {
        memcpy(slot.ids, ids, n_ids * sizeof *ids);
    } else {
        if (!reserve_words(cache, n_words)) {
            cache_wipe(cache);
            if (!reserve_words(cache, n_words))
                return;
        }
        uint32_t *words = cache->arena.items + cache->arena.n;
        memcpy(words, ids, n_ids * sizeof *ids);
        if (is_long)
            memcpy(words + n_ids, piece, n);
        slot.ids[0] = IN_ARENA;
        slot.ids[1] = (uint32_t)cache->arena.n;
        slot.ids[2] = (uint32_t)n_ids;
        cache->arena.n += n_words;
    }
    place(cache, &slot);
}
