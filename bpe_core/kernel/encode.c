/* Encode pieces: cache, whole pieces, merging. encoder.c calls this, and merge.c merges. */

#include "encode.h"

enum { BATCH = 256 }; /* pieces that are looked up together, between two calls of `interrupted` */

/* One piece */

static outcome encode_uncached(encoding *encoding, const uint8_t *piece, size_t n)
{
    const tables *tables = encoding->tables;
    if (tables->looks_up && tables->tokens.slots) {
        merge_rule whole = tokens_find(&tables->tokens, piece, n, n);
        if (whole.rank != NO_RANK && whole.rank <= encoding->limit) {
            encoding->ids.items[encoding->ids.n++] = whole.token;
            return ENCODED;
        }
    }
    return encode_part(encoding, piece, n);
}

outcome encode_part(encoding *encoding, const uint8_t *part, size_t n)
{
    const tables *tables = encoding->tables;
    piece_cache *cache = &encoding->cache;
    if (tables->has_ranks && !cache->pairs) {
        cache->pairs = PyMem_RawCalloc((size_t)1 << PAIR_BITS, sizeof *cache->pairs);
        if (!cache->pairs)
            return OUT_OF_MEMORY;
    }
    const merges merges = {
        .rules = tables->has_ranks ? NULL : &tables->rules,
        .ranks = &tables->tokens,
        .symbols = &tables->symbols,
        .limit = encoding->limit,
        .pairs = cache->pairs,
    };
    return merge_piece(&merges, part, n, &encoding->space, &encoding->ids);
}

/* Append the ids of a piece whose home slot of the cache does not have them. */
static outcome encode_not_at_home(encoding *encoding, key key, uint64_t hash, const uint8_t *piece,
                                  size_t n)
{
    id_list *ids = &encoding->ids;
    if (n == 0)
        return ENCODED;
    if (n > LONGEST_CACHED)
        return encode_uncached(encoding, piece, n);
    size_t n_known;
    const uint32_t *known = cache_find(&encoding->cache, key, hash, piece, n, &n_known);
    if (known) {
        if (!ROOM(*ids, n_known))
            return OUT_OF_MEMORY;
        memcpy(ids->items + ids->n, known, n_known * sizeof *known);
        ids->n += n_known;
        return ENCODED;
    }
    size_t n_before = ids->n;
    outcome outcome = encode_uncached(encoding, piece, n);
    if (outcome == ENCODED)
        cache_put(&encoding->cache, key, piece, n, ids->items + n_before, ids->n - n_before);
    return outcome;
}

/* Many pieces */

/* Write the keys and hashes of pieces, and prefetch their home slots, which are far apart in
   memory. `ends` is as in encode_batch. */
static inline void fetch_homes(const piece_cache *cache, const uint8_t *text, size_t n,
                               const size_t *ends, size_t n_pieces, key *keys, uint64_t *hashes)
{
    for (size_t i = 0; i < n_pieces; i++) {
        keys[i] = key_of(text + ends[i], ends[i + 1] - ends[i], n - ends[i]);
        hashes[i] = key_hash(keys[i]);
        FETCH(&cache->slots[home_of(hashes[i], cache->bits)]);
    }
}

/* Append the ids of at most BATCH pieces of a text of `n` bytes. `ends` has n_pieces + 1 places:
   the first is where the pieces begin. Most pieces are in their home slots of the cache. */
static outcome encode_batch(encoding *encoding, const uint8_t *text, size_t n, const size_t *ends,
                            size_t n_pieces, size_t *n_ids)
{
    key keys[BATCH];
    uint64_t hashes[BATCH];
    fetch_homes(&encoding->cache, text, n, ends, n_pieces, keys, hashes);
    if (!ROOM(encoding->ids, n_pieces * INLINE_IDS))
        return OUT_OF_MEMORY;
    const cache_slot *slots = encoding->cache.slots;
    int bits = encoding->cache.bits;
    uint32_t *to = encoding->ids.items + encoding->ids.n;
    for (size_t i = 0; i < n_pieces; i++) {
        const cache_slot *home = &slots[home_of(hashes[i], bits)];
        bool is_empty = !keys[i].high;
        if (same_key(home->key, keys[i]) && home->ids[0] != IN_ARENA && !is_empty) {
            memcpy(to, home->ids, sizeof home->ids);
            to += n_inline(home);
        } else {
            encoding->ids.n = (size_t)(to - encoding->ids.items);
            const uint8_t *piece = text + ends[i];
            size_t n_bytes = ends[i + 1] - ends[i];
            outcome outcome = encode_not_at_home(encoding, keys[i], hashes[i], piece, n_bytes);
            if (outcome != ENCODED)
                return outcome;
            if (!ROOM(encoding->ids, (n_pieces - i) * INLINE_IDS))
                return OUT_OF_MEMORY;
            slots = encoding->cache.slots;
            bits = encoding->cache.bits;
            to = encoding->ids.items + encoding->ids.n;
        }
        if (n_ids)
            n_ids[i] = (size_t)(to - encoding->ids.items);
    }
    encoding->ids.n = (size_t)(to - encoding->ids.items);
    return ENCODED;
}

outcome encode_text(encoding *encoding, const scanner *scanner, const uint8_t *text, size_t n)
{
    /* Room for a token of three bytes or more each; memory is used only as far as ids are
       written. */
    size_t usual_room = n > LARGE ? n / 3 : 0;
    if (!ROOM(encoding->ids, usual_room))
        return OUT_OF_MEMORY;
    prefer_large_pages(encoding->ids.items + encoding->ids.n,
                       usual_room * sizeof *encoding->ids.items);
    size_t ends[BATCH + 1] = {0, n}; /* without a scanner, one piece */
    while (ends[0] < n) {
        size_t n_pieces = 1;
        if (scanner)
            n_pieces = piece_ends(scanner, text, ends[0], n, ends + 1, BATCH);
        outcome outcome = encode_batch(encoding, text, n, ends, n_pieces, NULL);
        if (outcome != ENCODED)
            return outcome;
        if (encoding->space.interrupted(encoding->space.caller, ends[n_pieces] - ends[0]))
            return INTERRUPTED;
        ends[0] = ends[n_pieces];
    }
    return ENCODED;
}

static outcome encode_pieces(encoding *encoding, const uint8_t *bytes, const size_t *ends,
                             size_t n_pieces, size_t *n_ids)
{
    size_t n;
    for (size_t i = 0; i < n_pieces; i += n) {
        n = n_pieces - i < BATCH ? n_pieces - i : BATCH;
        outcome outcome = encode_batch(encoding, bytes, ends[n_pieces], ends + i, n, n_ids + i);
        if (outcome != ENCODED)
            return outcome;
        if (encoding->space.interrupted(encoding->space.caller, ends[i + n] - ends[i]))
            return INTERRUPTED;
    }
    return ENCODED;
}

outcome encode_texts(encoding *encoding, const scanner *scanner, const uint8_t *bytes,
                     const size_t *ends, size_t n, size_t *n_ids)
{
    if (!scanner)
        return encode_pieces(encoding, bytes, ends, n, n_ids);
    for (size_t i = 0; i < n; i++) {
        outcome outcome = encode_text(encoding, scanner, bytes + ends[i], ends[i + 1] - ends[i]);
        if (outcome != ENCODED)
            return outcome;
        n_ids[i] = encoding->ids.n;
    }
    return ENCODED;
}

outcome encode_parents(encoding *encoding, const scanner *scanner, const uint8_t *bytes,
                       const size_t *ends, size_t n_tokens, size_t *n_ids)
{
    (void)scanner;
    uint32_t limit = encoding->limit; /* the cache's pieces were merged with it */
    outcome outcome = ENCODED;
    for (size_t i = 0; i < n_tokens && outcome == ENCODED; i++) {
        const uint8_t *token = bytes + ends[i];
        size_t n = ends[i + 1] - ends[i];
        encoding->limit = tokens_find(&encoding->tables->tokens, token, n, n).rank;
        outcome = encode_part(encoding, token, n);
        n_ids[i] = encoding->ids.n;
        if (outcome == ENCODED && encoding->space.interrupted(encoding->space.caller, n))
            outcome = INTERRUPTED;
    }
    encoding->limit = limit;
    return outcome;
}
