"""Small random vocabularies of the letters a, b and c, and what encoding is by definition."""

from itertools import pairwise, product

from hypothesis import strategies as st

from bpe_core import Tokenizer, reference
from bpe_core.vocabulary.paths import vocabulary_of
from bpe_core.vocabulary.ranked import RankedVocabulary
from bpe_core.vocabulary.symbols import ByteSymbols

BYTES = {byte: bytes([byte]) for byte in range(256)}
SHORT_TEXTS = [
    "".join(letters) for n in range(1, 7) for letters in product("abc", repeat=n)
]
TEXTS = st.text("abc", max_size=12)


def of_merges(merges, whole_pieces=None, special_tokens=None):
    """A tokenizer of merges as a file lists them, without a split."""
    tokens = dict(BYTES)
    for left, right, token in (
        merges * 2
    ):  # a part may be made after a merge that uses it
        if left in tokens and right in tokens:
            tokens[token] = tokens[left] + tokens[right]
    vocabulary = vocabulary_of(
        tokens,
        merges,
        special_tokens or {},
        symbols=ByteSymbols({byte: byte for byte in BYTES}),
        whole_pieces=whole_pieces or {},
    )
    return Tokenizer(vocabulary, "none")


def of_ranks(tokens, looks_up=True):
    """A tokenizer of ranks, without a split: the bytes, then `tokens`."""
    ranks = BYTES | dict(enumerate(tokens, 256))
    return Tokenizer(RankedVocabulary(ranks, whole_pieces=looks_up), "none")


@st.composite
def merge_lists(draw, several=False):
    """Merges of random tokens. With `several`, each token has all ways to split it, as in Llama 3's file."""
    tokens = {data: data[0] for data in (b"a", b"b", b"c")}
    merges = []
    for _ in range(draw(st.integers(1, 10))):
        left, right = draw(st.tuples(*[st.sampled_from(sorted(tokens))] * 2))
        if left + right in tokens or len(left + right) > 6:
            continue
        token = 253 + len(tokens)
        splits = [(left, right)]
        if several:
            cuts = range(1, len(left + right))
            splits = [((left + right)[:cut], (left + right)[cut:]) for cut in cuts]
            splits = [pair for pair in splits if tokens.keys() >= set(pair)]
        merges += [(tokens[one], tokens[other], token) for one, other in splits]
        tokens[left + right] = token
    return merges


RANKS = st.lists(
    st.text("abc", min_size=2, max_size=5).map(str.encode),
    min_size=1,
    max_size=12,
    unique=True,
)


def encoded_by_merges(data, merges, removed=frozenset()):
    """The ids of a piece by the definition, and all tokens that are formed."""
    ids = list(data)
    formed = set(ids)
    for left, right, token in merges:
        if not removed.isdisjoint((left, right, token)):
            continue
        if (left, right) in pairwise(ids):
            formed.add(token)
        ids = reference.merged(ids, (left, right), token)
    return ids, formed


def encoded_by_ranks(data, id_of, looks_up):
    """The same for ranks; `id_of` is bytes -> id."""
    if looks_up and data in id_of:
        return [id_of[data]], {id_of[data]}
    parts = [bytes([byte]) for byte in data]
    formed = set(data)
    while True:
        joined = [left + right for left, right in pairwise(parts)]
        possible = [data for data in joined if data in id_of]
        if not possible:
            return [id_of[part] for part in parts], formed
        place = joined.index(min(possible, key=id_of.__getitem__))
        parts[place : place + 2] = [joined[place]]
        formed.add(id_of[joined[place]])
