"""The kernel's encoder against the slow definition and the encoders in Python: the same ids for every piece."""

import random
import threading
from array import array
from itertools import chain
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core import PATTERNS, kernel, train
from bpe_core.patterns import splitter
from bpe_core.tokenizer import SpecialsAllowed
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.ranked import RankedVocabulary, recovered
from bpe_core.vocabulary.symbols import ByteSymbols, CharacterSymbols, bytes_among

if not kernel.available:
    pytest.skip(f"the kernel is {kernel.why_not}", allow_module_level=True)

from bpe_core.kernel import fallback
from bpe_core.kernel.grammars import scanner
from tests.attack.fuzz_kernel.encoding import merges_of_few_letters

BYTES = {byte: bytes([byte]) for byte in range(256)}
BYTE_IDS = tuple(range(256))
FEW_LETTERS = st.text(st.sampled_from("ab"), max_size=400).map(str.encode)
PIECES = (
    FEW_LETTERS
    | st.text(st.sampled_from("abc é中"), max_size=90).map(str.encode)
    | st.binary(max_size=90)
)


def columns(merges: list[tuple[int, int, int]]) -> list[array]:
    return (
        [array("I", column) for column in zip(*merges, strict=True)]
        if merges
        else [array("I")] * 3
    )


def encoder_of(
    merges: list[tuple[int, int, int]], whole: dict[bytes, int] | None = None
) -> kernel.Encoder:
    return kernel.Encoder(
        BYTE_IDS, None, None, whole or {}, dict.fromkeys(whole or {}, 0), True, False
    ).extended(*columns(merges))


@given(st.integers(0, 1 << 30), PIECES)
def test_ranks_in_any_order_join_what_the_encoder_in_python_joins(
    seed: int, piece: bytes
) -> None:
    rng = random.Random(seed)
    tokens = {bytes([byte]) for byte in range(256)}
    while len(tokens) < 290:
        tokens.add(
            b"".join(
                rng.choices(
                    [b"a", b"b", b"c", b" ", "é".encode(), "中".encode()],
                    k=rng.randint(2, 6),
                )
            )
        )
    order = [*BYTES.values(), *rng.sample(sorted(tokens - set(BYTES.values())), 34)]
    looks_up = rng.random() < 0.5
    vocabulary = RankedVocabulary(dict(enumerate(order)), whole_pieces=looks_up)
    assert vocabulary.encoding.compiled
    whole = vocabulary.encoding.whole(piece)
    assert vocabulary.join(piece) == vocabulary.encoding.merge_in_python(piece)
    assert vocabulary.encode(piece) == (
        vocabulary.encoding.merge_in_python(piece) if whole is None else (whole,)
    )


@given(st.integers(0, 1 << 30))
def test_merges_recovered_by_the_kernel_are_those_recovered_in_python(
    seed: int,
) -> None:
    rng = random.Random(seed)
    longer = {bytes(rng.choices(b"ab", k=rng.randint(2, 6))) for _ in range(20)} - {
        b"ab"
    }
    tokens = [
        *BYTES.values(),
        b"ab",
        *rng.sample(sorted(longer), len(longer)),
        b"ab" * 80,
    ]
    id_of = {token: 3 * rank for rank, token in enumerate(tokens)}
    symbols = ByteSymbols({byte: 3 * byte for byte in range(256)})
    by_kernel = list(recovered(symbols, id_of))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "Encoder", fallback.Encoder)
        assert list(recovered(symbols, id_of)) == by_kernel
    assert by_kernel[256] == (3 * ord("a"), 3 * ord("b"), 3 * 256)


def test_ids_of_any_size_are_the_same_numbers_in_lists_tuples_and_arrays() -> None:
    ids = (0, 5, (1 << 20) - 1, 1 << 20, (1 << 31) - 2, 70_000, *range(300, 550))
    encoder = kernel.Encoder(ids, None, None, {}, {}, False, False)
    for data in (b"\x04", bytes(range(256)), bytes(reversed(range(256)))):
        expected = [ids[byte] for byte in data]
        for _ in range(2):
            assert (
                encoder.encode_batch([data], None, None, False)
                == [[*encoder.piece(data, None)]]
                == [expected]
            )
        assert encoder.encode_batch([data], None, None, True) == [array("I", expected)]


def test_parents_of_what_is_no_token_are_all_it_is_made_of_and_those_of_nothing_are_none() -> (
    None
):
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abab": 257}
    of_ranks = kernel.Encoder(BYTE_IDS, None, None, ranks, ranks, True, True)
    assert of_ranks.piece("abab", None) == (257,)
    parents = of_ranks.parents([b"", b"abab", b"ababab", b"ab", b"a"])
    assert parents == (
        pack("=7I", 256, 256, 257, 256, *b"aba"),
        pack("=5Q", 0, 2, 4, 6, 7),
    )
    assert of_ranks.piece("abab", None) == (257,) and of_ranks.piece(
        "abab", 256
    ) == tuple(b"abab")
    assert encoder_of([]).parents([b"", b"xy"]) == (
        pack("=2I", *b"xy"),
        pack("=2Q", 0, 2),
    )


@given(st.integers(0, 1 << 30), st.text(st.sampled_from("aböä中💚"), max_size=200))
def test_ranks_that_are_equal_and_characters_as_symbols(seed: int, text: str) -> None:
    rng = random.Random(seed)
    singles = {"a": 256, "b": 257, "ö": 258, "中": 259}
    longer = {"".join(rng.choices("abö中", k=rng.randint(2, 5))) for _ in range(12)}
    id_of = {
        text.encode(): token
        for token, text in enumerate([*singles, *sorted(longer)], 256)
    }
    ranks = {data: 0 if len(data.decode()) == 1 else rng.randrange(4) for data in id_of}
    vocabulary = RankedVocabulary(
        {**BYTES, **{token: data for data, token in id_of.items()}},
        symbols=CharacterSymbols(singles, dict(enumerate(range(256))), None),
        id_of=id_of,
        rank_of=ranks,
        whole_pieces=False,
    )
    assert vocabulary.encoding.compiled
    for data in (text.encode(), text.encode()[1:], text.encode()[:-1]):
        assert vocabulary.encode(data) == vocabulary.encoding.merge_in_python(data)


@given(st.integers(0, 1 << 30), PIECES)
def test_a_mark_ends_every_piece(seed: int, piece: bytes) -> None:
    base = {**BYTES, 256: b"</w>"}
    few = merges_of_few_letters(random.Random(seed), 12)
    merges = [
        (left, right, token + 1) for left, right, token in few if max(left, right) < 256
    ]
    merges.append((ord("a"), 256, 300))
    vocabulary = Vocabulary(
        base, merges, symbols=ByteSymbols(bytes_among(BYTES), 256), whole_pieces={}
    )
    assert vocabulary.encode(piece) == vocabulary.encoding.merge_in_python(piece)


def test_a_piece_is_looked_up_whole_only_where_that_is_right() -> None:
    merges = [
        (ord("a"), ord("b"), 256),
        (ord("b"), ord("c"), 257),
        (256, ord("c"), 258),
    ]
    assert encoder_of(merges).piece("abc", None) == (258,)
    assert encoder_of([*merges[1:2], (ord("a"), 257, 256)], {b"xyz": 999}).piece(
        "xyz", None
    ) == (999,)
    looked_up = encoder_of(merges, {b"xyz": 999})
    assert looked_up.piece("xyz", None) == (999,)
    assert looked_up.part("xyz", None) == tuple(b"xyz")


@pytest.mark.parametrize(
    "pattern", ["none", *(name for name in PATTERNS if scanner(PATTERNS[name]))]
)
def test_texts_are_the_ids_of_their_pieces_in_every_form(pattern: str) -> None:
    text = "the cat sat on the mat, isn't it 12345 Größe 日本語 \n\n  x"
    tokenizer = train([text] * 3, vocab_size=290, pattern=pattern)
    vocabulary = tokenizer.vocabulary
    assert vocabulary.encoding.compiled
    rng = random.Random(pattern)
    for length in (0, 1, 5, 40, 3000):
        text = "".join(rng.choices("the at cs'1 \nöß日本🙂", k=length))
        pieces = splitter(pattern).split(text)
        expected = list(
            chain.from_iterable(
                vocabulary.encoding.merge_in_python(piece.encode()) for piece in pieces
            )
        )
        assert tokenizer.encode_ordinary(text) == expected
        ids, ends = vocabulary.encoding.encode_pieces(pieces)
        assert list(ids) == expected
        assert [*ends][-1:] == [len(expected)][: len(pieces)]
        assert list(tokenizer.encode_to_array(text)) == expected


@pytest.mark.slow
def test_a_cache_that_is_full_many_times_over_remembers_nothing_wrong() -> None:
    merges = [(ord("a"), ord("b"), 256)]
    encoder = encoder_of(merges)
    pieces = [f"{number:x}ab{'ab' * (number % 40)}" for number in range(300_000)]
    for _ in range(2):
        ids, ends = encoder.pieces(pieces, None)
        ids, ends = memoryview(ids).cast("I"), memoryview(ends).cast("Q")
        for i in range(1, len(pieces), 997):
            assert tuple(ids[ends[i - 1] : ends[i]]) == encoder.part(pieces[i], None)


def test_threads_that_encode_at_a_time_get_the_right_ids() -> None:
    tokenizer = train(["the cat sat on the mat"] * 3, vocab_size=280)
    texts = [
        "".join(random.Random(n).choices("the cat\n", k=100_000)) for n in range(8)
    ]
    expected = [tokenizer.encode_ordinary(text) for text in texts]
    found: dict[int, list[int]] = {}

    def work(number: int) -> None:
        found[number] = tokenizer.at(tokenizer.step).encode_ordinary(texts[number])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number] for number in range(8)] == expected


@pytest.mark.parametrize(
    "data",
    [
        b"\xff",
        b"\xe4\xb8",
        b"a\xf0\x9f",
        b"\x80" * 100,
        b"\xed\xa0\x80",
        b"\xf8\x88\x80\x80\x80",
        b"",
    ],
)
@pytest.mark.parametrize("pattern", ["gpt2", "gpt4", "gpt4o"])
def test_bytes_that_are_no_text_become_ids_all_the_same(
    data: bytes, pattern: str
) -> None:
    encoder = encoder_of([(ord("a"), ord("b"), 256)])
    assert encoder.encode_batch([data], scanner(PATTERNS[pattern]), None, False) == [
        list(data)
    ]
    assert encoder.piece(data, None) == tuple(data)
    characters = kernel.Encoder(
        BYTE_IDS, None, {"中".encode(): 300}, {}, {}, True, False
    )
    assert characters.encode_batch([data], None, None, False) == [list(data)]


def test_special_tokens_that_are_allowed_are_found_among_pieces_encoded_together() -> (
    None
):
    tokenizer = SpecialsAllowed.of(
        train(["ab ab"], vocab_size=260, special_tokens=["<|s|>"])
    )
    pieces = ["ab", "<|s|>", " x"]
    assert [tuple(ids) for ids in tokenizer.encode_pieces(pieces)] == [
        tokenizer.encode_piece(piece) for piece in pieces
    ]
    assert list(tokenizer.encode_to_array("ab<|s|>")) == tokenizer.encode_ordinary(
        "ab<|s|>"
    )
