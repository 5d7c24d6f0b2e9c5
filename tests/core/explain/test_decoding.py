"""Ids in, text out: every id has its place, invalid bytes are told, and why encoding gives other ids than came in."""

import random

import pytest
from real import real_part

from bpe_core import Tokenizer, train
from bpe_core.explain.decoding import decoded_spans, round_trip_difference
from bpe_core.token_ids import ids_in
from tests.nasty import nasty_texts

BYTES = train("", vocab_size=257, pattern="none")
LOW = train(
    "low lower lowest slow newest widest " * 20,
    vocab_size=300,
    pattern="gpt2",
    special_tokens=["<|end|>"],
)


@pytest.mark.parametrize(
    ("text", "ids", "odd"),
    [
        ("", [], []),
        ("1 2\n3", [1, 2, 3], []),
        ("[1, 2,3]", [1, 2, 3], []),
        ("[[1, 2], [3]],", [1, 2, 3], []),
        ("1;2\t 3\r\n", [1, 2, 3], []),
        ('{"ids": [1, 2]}', [1, 2], []),
        ('{"input_ids": [[1, 2]], "attention_mask": [[1, 1]]}', [1, 2], []),
        ("1 two 3", [1, 3], [(1, "two")]),
        (
            "tensor([1, -2, 1.0, 1_0])",
            [1],
            [(0, "tensor"), (1, "-2"), (1, "1.0"), (1, "1_0")],
        ),
        ("9" * 11, [], [(0, "9" * 11)]),
        ("١٢", [], [(0, "١٢")]),
        ('{"ids": [1, true, "2"]}', [1], [(1, "true"), (1, '"2"')]),
        ('["1", 2]', [2], [(0, '"1"')]),
        ("{'ids': ['1']}", [], [(0, '"1"')]),
        ('{"ids": 1}', [], [(0, '{"ids": 1}')]),
        ("{", [], [(0, "{")]),
        ("{'input_ids': [1, 2], 'attention_mask': [1, 1]}", [1, 2], []),
        ("{'text': \"don't\", 'input_ids': [1, 2]}", [1, 2], []),
        ('{"text": "x \'ids\': [97] y", "ids": [98, 99]}', [98, 99], []),
        ("{'text': \"ids': [97]\", 'ids': [98, 99]}", [98, 99], []),
        ('{"meta": {"ids": [97]}, "ids": [[98], [99]]}', [98, 99], []),
        ('{"ids": [1, 2]}\n{"ids": []}\n\n{"ids": [3]}\n', [1, 2, 3], []),
        ('{"ids": [1, 2.5, -3]}', [1], [(1, "2.5"), (1, "-3")]),
        ('{"ids": "97"}', [], [(0, '{"ids": "97"}')]),
        ('{"text": "\'ids\': [97]"}', [], [(0, '{"text": "\'ids\': [97]"}')]),
        ("{'it's': 1}", [], [(0, "{'it's': 1}")]),
    ],
)
def test_ids_are_found_in_whatever_was_pasted(text, ids, odd):
    assert ids_in(text) == (ids, odd)


def test_the_founding_asymmetry():
    """A single byte 80 is no text: it decodes to U+FFFD, and that encodes to three other bytes."""
    spans = list(decoded_spans(BYTES, [128]))
    assert [(span.ids, span.text, span.kind) for span in spans] == [
        ((128,), "\ufffd", "invalid")
    ]
    told = round_trip_difference(BYTES, [128], spans)
    assert told is not None
    assert (told.n_ids, told.index, told.given, told.encoded) == (
        3,
        0,
        (128,),
        (239, 191, 189),
    )
    assert told.why.startswith("The byte 80 is not valid UTF-8")
    torn = [0xE4, 0xBD]
    told = round_trip_difference(BYTES, torn, list(decoded_spans(BYTES, torn)))
    assert told is not None and told.why.startswith(
        "The bytes e4 bd are not valid UTF-8"
    )


def test_spans_are_what_decoding_gives_for_any_bytes():
    rng = random.Random(3)
    some = [
        0x41,
        0x80,
        0xBF,
        0xC2,
        0xE0,
        0xA0,
        0xE4,
        0xBD,
        0xED,
        0xF0,
        0x9F,
        0x98,
        0x8A,
        0xF4,
        0xFF,
        999,
    ]
    for _ in range(2000):
        ids = rng.choices(some, k=rng.randrange(9))
        spans = list(decoded_spans(BYTES, ids))
        assert "".join(span.text for span in spans) == BYTES.decode(ids)
        assert [token for span in spans for token in span.ids] == ids
        assert [span.start for span in spans[1:]] == [span.end for span in spans[:-1]]
        assert all(("\ufffd" in span.text) == (span.kind != "text") for span in spans)


def test_what_was_encoded_comes_back_and_has_no_difference():
    for tokenizer in (BYTES, LOW, real_part("cl100k_base")):
        for text in nasty_texts(60):
            ids = tokenizer.encode_ordinary(text)
            spans = list(decoded_spans(tokenizer, ids))
            assert "".join(span.text for span in spans) == text and {
                span.kind for span in spans
            } <= {"text"}
            assert round_trip_difference(tokenizer, ids, spans) is None
    ids = LOW.encode("low<|end|>low", allowed_special="all")
    assert round_trip_difference(LOW, ids, list(decoded_spans(LOW, ids))) is None


@pytest.mark.parametrize(
    ("tokenizer", "ids", "index", "given", "encoded", "why"),
    [
        (LOW, [*b"slow"], 1, b"l o w", b"low", "applies the earliest merge first"),
        (
            LOW,
            [*LOW.encode("low"), 32, *LOW.encode("low")],
            1,
            b"  low",
            b" low",
            "applies the earliest merge first",
        ),
        (
            LOW,
            [*b"<|end|>", LOW.special_tokens["<|end|>"]],
            0,
            None,
            None,
            "reads them as the special token",
        ),
        (LOW, [104, 4000], 1, None, None, "No token has the id 4,000"),
        (LOW, [], 0, None, None, ""),
    ],
)
def test_why_encoding_gives_other_ids(tokenizer, ids, index, given, encoded, why):
    told = round_trip_difference(tokenizer, ids, list(decoded_spans(tokenizer, ids)))
    if not why:
        assert told is None
        return
    assert told is not None and told.index == index and why in told.why
    if given is not None:
        assert b" ".join(map(tokenizer.token_bytes, told.given)) == given
        assert b" ".join(map(tokenizer.token_bytes, told.encoded)) == encoded


def test_a_token_across_two_pieces_never_comes_out_of_encoding():
    across = train("a b " * 9, vocab_size=259, pattern="none")
    split = Tokenizer(across.vocabulary, "gpt2")
    ids = across.encode("a b ")
    told = round_trip_difference(split, ids, list(decoded_spans(split, ids)))
    assert told is not None and "The pattern splits the text here: a |  b" in told.why
