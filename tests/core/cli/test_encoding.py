"""Encoding by several threads: whatever the texts are divided into, the ids are those of the whole, in order."""

import json
import random
from itertools import count, islice
from pathlib import Path
from threading import Event

import pytest

from bpe_core import SpecialTokenError, TextError, kernel, load, save, train
from bpe_core.cli import encode
from bpe_core.cli.encode import encode_documents
from bpe_core.process import AHEAD, in_order
from bpe_core.vocabulary.encoding import Encoding

SPECIALS = ["<|end|>", "a b", "\n<x>\n"]
WORDS = ("low ", "lower\n", "newest, ", "é😀 ", "  \n", "it's 123", "a", " ", "b")


@pytest.fixture
def tokenizer(tmp_path):
    """The file of a small tokenizer, two of whose special tokens hold places that the pattern would cut at."""
    path = tmp_path / "mine.json"
    save(
        train("low lower newest widest " * 9, vocab_size=280, special_tokens=SPECIALS),
        path,
    )
    return path


@pytest.fixture
def small(monkeypatch):
    """Shares of a few characters, and two threads for them."""
    monkeypatch.setattr(encode, "SHARE", 60)
    monkeypatch.setattr(encode, "LARGEST_SHARE", 120)
    monkeypatch.setattr(encode, "most_threads", lambda: 2)


def texts(rng, *more):
    """A few documents, one of them empty."""
    lengths = (0, 3, 40, 200)
    return [
        "".join(rng.choices([*WORDS, *more], k=rng.choice(lengths))) for _ in range(6)
    ] + ["", "the end"]


def in_blocks(text, size=30):
    return [text[i : i + size] for i in range(0, len(text), size)]


def last_document(end):
    yield "low lower " * 29
    if end == "a special token":
        yield from ("<|e", "nd|> and more " * 9)
    if end == "an error":
        raise TextError("It ends here.")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("by_python", [False, True])
def test_the_ids_are_those_of_the_whole_for_any_number_of_threads(
    tokenizer, small, monkeypatch, seed, by_python
):
    loaded = load(tokenizer)
    if by_python:  # as if each text had a symbol without a token
        monkeypatch.setattr(Encoding, "encode_texts", lambda *_: None)
    documents = texts(random.Random(seed), *SPECIALS)
    lines = [
        " ".join(map(str, loaded.encode(text, allowed_special="all")))
        for text in documents
    ]
    for n_threads in (1, 2, 5):
        monkeypatch.setattr(encode, "most_threads", lambda n=n_threads: n)
        parts = list(
            encode_documents(
                loaded,
                map(in_blocks, documents),
                " ",
                allowed_special=SPECIALS,
                disallowed_special=(),
            )
        )
        assert all(n == len(text.split()) for n, text in filter(None, parts))
        found = "|".join(
            " | " if part is None else part[1]
            for part in parts
            if part is None or part[1]
        )
        assert [" ".join(line.split("|")).strip() for line in found.split(" | ")][
            :-1
        ] == lines


@pytest.mark.parametrize("end", ["a special token", "an error"])
def test_what_goes_wrong_is_the_same_for_any_number_of_threads(
    tokenizer, small, monkeypatch, end
):
    for n_threads in (1, 2, 5):
        monkeypatch.setattr(encode, "most_threads", lambda n=n_threads: n)
        documents = [
            *map(in_blocks, texts(random.Random(3))),
            last_document(end),
            ["never reached"],
        ]
        with pytest.raises(
            (SpecialTokenError, TextError),
            match=r"It ends here|'<\|end\|>' at offset 290",
        ):
            list(
                encode_documents(
                    load(tokenizer), documents, " ", disallowed_special=["<|end|>"]
                )
            )


def test_results_come_in_order_and_no_more_is_taken_ahead_than_is_told():
    taken, second = count(), Event()

    def work(n):
        if n == 0:
            assert second.wait(60)
        if n == 1:
            second.set()
        return n

    results = in_order(work, islice(taken, 40), 2, in_this_thread=lambda n: n % 10 == 7)
    assert next(results) == 0
    assert next(taken) == AHEAD * 2 + 1
    assert list(results) == [*range(1, 5), *range(6, 41)]


def test_an_interruption_waits_for_no_thread(tokenizer, small, monkeypatch):
    begun, held = Event(), Event()

    def at_work(*_):
        begun.set()
        held.wait(60)

    def blocks():
        yield "some words\n" * 90
        assert begun.wait(60) or not kernel.available
        raise KeyboardInterrupt

    loaded = load(tokenizer)
    monkeypatch.setattr(encode, "LARGEST_SHARE", 1 << 20)
    if kernel.available:
        monkeypatch.setattr(type(loaded), "encode_to_array", at_work)
    else:
        begun.set()
    try:
        with pytest.raises(KeyboardInterrupt):
            list(
                encode_documents(
                    loaded, [blocks(), blocks()], " ", disallowed_special=()
                )
            )
        assert not held.is_set()
    finally:
        held.set()


def test_each_document_has_a_line_of_its_own(bpescope, tokenizer, small):
    documents = texts(random.Random(1))
    Path("texts").mkdir()
    for number, text in enumerate(documents):
        Path(f"texts/{number}.txt").write_bytes(text.encode())
    expected = [load(tokenizer).encode_ordinary(text) for text in documents]
    command = "encode -t mine.json --special-as-text texts"
    assert bpescope(command)[1] == "".join(
        " ".join(map(str, ids)) + "\n" for ids in expected
    )
    assert [
        json.loads(line)["ids"]
        for line in bpescope(f"{command} --json")[1].splitlines()
    ] == expected
    lines = [*(f"{len(ids)}" for ids in expected), f"{sum(map(len, expected))} total"]
    assert bpescope(f"{command} --count")[1].splitlines() == lines
    assert bpescope(f"{command}/0.txt --count")[1].splitlines() == lines[:1], (
        "no total of a single text"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            b"low lower, " * 40 + b"<|end|>",
            "holds the special token '<|end|>' at offset 440; allow it with --allow-s",
        ),
        (
            b"low lower\n" * 900 + b"\xff",
            "one.txt cannot be read: byte 0xff at offset 9,000 is not UTF-8",
        ),
    ],
)
def test_what_is_wrong_further_on_is_told_with_its_place_in_the_whole_text(
    bpescope, tokenizer, small, text, sentence
):
    Path("one.txt").write_bytes(text)
    code, _, error = bpescope("encode -t mine.json one.txt")
    assert code == 2 and sentence in error
