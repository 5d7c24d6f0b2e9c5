/* Encoding pieces: cache, whole pieces, merging. */

#include "encode.h"

enum {
    SLICE = 1 << 16, /* bytes of pieces encoded between two checks whether to stop */
    BATCH = 16,      /* pieces that are looked up together */
};

static outcome encode_new(encoding *encoding, const uint8_t *piece, size_t n)
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
    merges merges = {tables->has_ranks ? NULL : &tables->rules, &tables->tokens, &tables->symbols, encoding->limit};
    return merge_piece(&merges, part, n, &encoding->space, &encoding->ids);
}

/* Append the ids of a piece that is not in the cache. */
static outcome encode_and_remember(encoding *encoding, key key, const uint8_t *piece, size_t n)
{
    size_t before = encoding->ids.n;
    outcome outcome = encode_new(encoding, piece, n);
    id_list *ids = &encoding->ids;
    if (outcome == ENCODED)
        cache_put(&encoding->cache, key, piece, n, ids->items + before, ids->n - before);
    return outcome;
}

static inline outcome encode_keyed(encoding *encoding, key key, const uint8_t *piece, size_t n)
{
    id_list *ids = &encoding->ids;
    size_t n_ids;
    const uint32_t *known = cache_find(&encoding->cache, key, piece, n, &n_ids);
    if (!known)
        return encode_and_remember(encoding, key, piece, n);
    if (n_ids > INLINE_IDS) {
        if (!ROOM(*ids, n_ids))
            return OUT_OF_MEMORY;
        memcpy(ids->items + ids->n, known, n_ids * sizeof *known);
    } else {
        memcpy(ids->items + ids->n, known, INLINE_IDS * sizeof *known);
    }
    ids->n += n_ids;
    return ENCODED;
}

/* Append the ids of pieces of a text of `n` bytes; `ends` has their number + 1 places, the first where they begin. The
   slots of all are asked for before the first is looked at: they are far apart, and memory answers late. */
static outcome encode_batch(encoding *encoding, const uint8_t *text, size_t n, const size_t *ends, size_t n_pieces,
                            size_t *n_ids)
{
    key keys[BATCH];
    for (size_t i = 0; i < n_pieces; i++) {
        keys[i] = key_of(text + ends[i], ends[i + 1] - ends[i], n - ends[i]);
        FETCH(&encoding->cache.slots[home_of(&encoding->cache, keys[i])]);
    }
    for (size_t i = 0; i < n_pieces; i++) {
        const uint8_t *piece = text + ends[i];
        size_t length = ends[i + 1] - ends[i];
        if (!ROOM(encoding->ids, INLINE_IDS))
            return OUT_OF_MEMORY;
        outcome outcome = length - 1 < LONGEST_CACHED ? encode_keyed(encoding, keys[i], piece, length)
                          : length                    ? encode_new(encoding, piece, length)
                                                      : ENCODED;
        if (outcome != ENCODED)
            return outcome;
        if (n_ids)
            n_ids[i] = encoding->ids.n;
    }
    return ENCODED;
}

outcome encode_piece(encoding *encoding, const uint8_t *piece, size_t n)
{
    size_t ends[2] = {0, n};
    return encode_batch(encoding, piece, n, ends, 1, NULL);
}

/* To be called now and then, with the bytes done since the last call. */
static bool is_interrupted(encoding *encoding, size_t n_bytes)
{
    return encoding->space.interrupted(encoding->space.caller, n_bytes);
}

outcome encode_text(encoding *encoding, const scanner *scanner, const uint8_t *text, size_t n)
{
    size_t ends[BATCH + 1] = {0}, looked = 0;
    while (ends[0] < n) {
        size_t n_pieces = 0;
        for (; n_pieces < BATCH && ends[n_pieces] < n; n_pieces++)
            ends[n_pieces + 1] = scanner ? piece_end(scanner, text, ends[n_pieces], n) : n;
        outcome outcome = encode_batch(encoding, text, n, ends, n_pieces, NULL);
        if (outcome != ENCODED)
            return outcome;
        ends[0] = ends[n_pieces];
        if (ends[0] - looked >= SLICE) {
            if (is_interrupted(encoding, ends[0] - looked))
                return INTERRUPTED;
            looked = ends[0];
        }
    }
    return ENCODED;
}

outcome encode_pieces(encoding *encoding, const uint8_t *bytes, const size_t *ends, size_t n_pieces, size_t *n_ids)
{
    for (size_t i = 0, looked = 0; i < n_pieces; i += BATCH) {
        size_t n_batch = n_pieces - i < BATCH ? n_pieces - i : BATCH;
        outcome outcome = encode_batch(encoding, bytes, ends[n_pieces], ends + i, n_batch, n_ids + i);
        if (outcome != ENCODED)
            return outcome;
        if (ends[i + n_batch] - looked >= SLICE) {
            if (is_interrupted(encoding, ends[i + n_batch] - looked))
                return INTERRUPTED;
            looked = ends[i + n_batch];
        }
    }
    return ENCODED;
}

outcome encode_parents(encoding *encoding, const uint8_t *bytes, const size_t *ends, size_t n_tokens, size_t *n_ids)
{
    uint32_t limit = encoding->limit; /* what the cache holds was merged below it */
    outcome outcome = ENCODED;
    for (size_t i = 0; i < n_tokens && outcome == ENCODED; i++) {
        const uint8_t *token = bytes + ends[i];
        size_t n = ends[i + 1] - ends[i];
        encoding->limit = tokens_find(&encoding->tables->tokens, token, n, n).rank;
        outcome = encode_part(encoding, token, n);
        if (outcome == ENCODED && is_interrupted(encoding, n))
            outcome = INTERRUPTED;
        n_ids[i] = encoding->ids.n;
    }
    encoding->limit = limit;
    return outcome;
}
