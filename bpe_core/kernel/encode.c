/* Encode pieces: cache, whole pieces, merging. */

#include "encode.h"

enum {
    BATCH = 256, /* pieces that are looked up together, between two calls of `interrupted` */
};

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
    rule_slot **pairs = &encoding->cache.pairs;
    if (tables->has_ranks && !*pairs &&
        !(*pairs = PyMem_RawCalloc((size_t)1 << PAIR_BITS, sizeof **pairs)))
        return OUT_OF_MEMORY;
    merges merges = {tables->has_ranks ? NULL : &tables->rules, &tables->tokens, &tables->symbols,
                     encoding->limit, *pairs};
    return merge_piece(&merges, part, n, &encoding->space, &encoding->ids);
}

/* Append the ids of a piece whose home slot of the cache does not have them, and make room for
   `n_room` more. */
static outcome encode_not_at_home(encoding *encoding, key key, uint64_t hash, const uint8_t *piece,
                                  size_t n, size_t n_room)
{
    id_list *ids = &encoding->ids;
    size_t before = ids->n, n_ids;
    bool is_short = n - 1 < LONGEST_CACHED;
    const uint32_t *known =
        is_short ? cache_find(&encoding->cache, key, hash, piece, n, &n_ids) : NULL;
    outcome outcome = ENCODED;
    if (known && !ROOM(*ids, n_ids))
        return OUT_OF_MEMORY;
    if (known) {
        memcpy(ids->items + ids->n, known, n_ids * sizeof *known);
        ids->n += n_ids;
    } else if (n) {
        outcome = encode_uncached(encoding, piece, n);
        if (outcome == ENCODED && is_short)
            cache_put(&encoding->cache, key, piece, n, ids->items + before, ids->n - before);
    }
    return outcome != ENCODED || ROOM(*ids, n_room) ? outcome : OUT_OF_MEMORY;
}

/* Append the ids of `n_pieces` pieces of a text of `n` bytes. `ends` has n_pieces + 1 places, the
   first where the pieces begin. Prefetch the slots of all pieces before using the first: they are
   far apart, and memory is slow. */
static outcome encode_batch(encoding *encoding, const uint8_t *text, size_t n, const size_t *ends,
                            size_t n_pieces, size_t *n_ids)
{
    key keys[BATCH];
    uint64_t hashes[BATCH];
    const cache_slot *slots = encoding->cache.slots;
    int bits = encoding->cache.bits;
    for (size_t i = 0; i < n_pieces; i++) {
        keys[i] = key_of(text + ends[i], ends[i + 1] - ends[i], n - ends[i]);
        hashes[i] = key_hash(keys[i]);
        FETCH(&slots[home_of(hashes[i], bits)]);
    }
    if (!ROOM(encoding->ids, n_pieces * INLINE_IDS))
        return OUT_OF_MEMORY;
    uint32_t *to = encoding->ids.items + encoding->ids.n;
    for (size_t i = 0; i < n_pieces; i++) {
        const cache_slot *home = &slots[home_of(hashes[i], bits)];
        if (same_key(home->key, keys[i]) && home->ids[0] != IN_ARENA && keys[i].high) {
            memcpy(to, home->ids, sizeof home->ids);
            to += n_inline(home);
        } else {
            encoding->ids.n = (size_t)(to - encoding->ids.items);
            outcome outcome =
                encode_not_at_home(encoding, keys[i], hashes[i], text + ends[i],
                                   ends[i + 1] - ends[i], (n_pieces - i) * INLINE_IDS);
            if (outcome != ENCODED)
                return outcome;
            slots = encoding->cache.slots, bits = encoding->cache.bits;
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
    size_t ends[BATCH + 1] = {0, n};
    /* Room for a token of three bytes or more each; memory is used only as far as ids are written.
     */
    size_t usual_room = n > LARGE ? n / 3 : 0;
    if (!ROOM(encoding->ids, usual_room))
        return OUT_OF_MEMORY;
    prefer_large_pages(encoding->ids.items + encoding->ids.n,
                       usual_room * sizeof *encoding->ids.items);
    while (ends[0] < n) {
        size_t n_pieces = scanner ? piece_ends(scanner, text, ends[0], n, ends + 1, BATCH) : 1;
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
    outcome outcome = ENCODED;
    for (size_t i = 0, n; i < n_pieces && outcome == ENCODED; i += n) {
        n = n_pieces - i < BATCH ? n_pieces - i : BATCH;
        outcome = encode_batch(encoding, bytes, ends[n_pieces], ends + i, n, n_ids + i);
        if (outcome == ENCODED &&
            encoding->space.interrupted(encoding->space.caller, ends[i + n] - ends[i]))
            outcome = INTERRUPTED;
    }
    return outcome;
}

outcome encode_texts(encoding *encoding, const scanner *scanner, const uint8_t *bytes,
                     const size_t *ends, size_t n, size_t *n_ids)
{
    if (!scanner)
        return encode_pieces(encoding, bytes, ends, n, n_ids);
    outcome outcome = ENCODED;
    for (size_t i = 0; i < n && outcome == ENCODED; i++) {
        outcome = encode_text(encoding, scanner, bytes + ends[i], ends[i + 1] - ends[i]);
        n_ids[i] = encoding->ids.n;
    }
    return outcome;
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
        if (outcome == ENCODED && encoding->space.interrupted(encoding->space.caller, n))
            outcome = INTERRUPTED;
        n_ids[i] = encoding->ids.n;
    }
    encoding->limit = limit;
    return outcome;
}
