"""Very long stretches without a safe cut: exact as soon as they are edited, by little work."""

import random

import pytest

from bpe_core import LiveText, Tokenizer, Vocabulary, train
from bpe_core.live import giant, plain

LONGEST = 2_048
"""Characters that make a giant here: an eighth of what does in use."""
RUNS = [
    *" \n\t'/.a日\u0301",
    "A",
    "ab",
    "\r\n",
    "'s",
    "x'",
    "12",
    "Aa",
    "  \n",
    "a\u0301",
    "aA日",
    "/\n",
    "!/",
    " \t",
]
"""What long runs are made of, in turn or at random."""
TYPED = [
    *"ax7 \n'/.日\u0301",
    "",
    "",
    "'ll",
    "  ",
    "\r\n",
    "B",
    "a" * 300,
    "the word \n" * 400,
]


@pytest.fixture(scope="module")
def vocabulary():
    rng = random.Random(0)
    text = "".join(rng.choices(RUNS, k=1500)) + "ab" * 80 + "a" * 90 + " " * 70
    return train(text, vocab_size=600, pattern="none").vocabulary


@pytest.fixture(autouse=True)
def smaller_giants(monkeypatch):
    monkeypatch.setattr(plain, "LONGEST", LONGEST)
    monkeypatch.setattr(giant, "LONG", LONGEST)


def run(rng):
    bits, n = rng.choice(RUNS), rng.choice((3, LONGEST // 20, LONGEST))
    return bits * n if rng.random() < 0.5 else "".join(rng.choices(bits, k=2 * n))


@pytest.mark.parametrize(
    "pattern",
    ["gpt4", "gpt4o", "none", r"\p{N}{1,3}|\p{L}+|(?s:.)", r"(?#only)\w+|[^\w\s]{3}"],
)
def test_edits_in_long_runs(vocabulary, pattern):
    rng = random.Random(pattern)
    tokenizer, fresh = Tokenizer(vocabulary, pattern), Tokenizer(vocabulary, pattern)
    text = "x".join(run(rng) for _ in range(4))
    live, places = LiveText(tokenizer, text), [0, len(text)]
    for _ in range(8):
        at = min(
            len(text),
            max(
                0, rng.choice((*places, rng.randint(0, len(text)))) + rng.randint(-2, 2)
            ),
        )
        end = min(len(text), at + rng.choice((0, 0, 1, 1, 3, 600)))
        places += at, end
        typed = rng.choice(TYPED)
        live.splice(at, end, typed)
        text = text[:at] + typed + text[end:]
        ids = fresh.encode_ordinary(text)
        assert live.text == text and live.ids == ids
        assert [token for span in live.spans(0, len(text)) for token in span.ids] == ids
        low, high = sorted((at, min(len(text), rng.choice(places))))
        assert live.n_tokens_between(low, high) == sum(
            len(span.ids) for span in live.spans(low, high)
        )
    assert live.settle(float("inf")) and live.n_tokens == len(ids)


@pytest.mark.parametrize("pattern", ["gpt4", "none"])
@pytest.mark.parametrize("bits", ["abcdefgh", "日本語", " \t\n"])
def test_an_edit_in_a_long_piece_encodes_little_of_it(
    vocabulary, monkeypatch, pattern, bits
):
    rng = random.Random(pattern + bits)
    live = LiveText(
        Tokenizer(vocabulary, pattern), "".join(rng.choices(bits, k=20_000))
    )
    live.settle(float("inf"))
    encoded = []
    join = Vocabulary.join
    monkeypatch.setattr(
        Vocabulary,
        "join",
        lambda self, data: encoded.append(len(data)) or join(self, data),
    )
    for typed in bits[0], "x", bits[-1]:
        at = rng.randrange(8_000, 12_000)
        change = live.splice(at, at + 1, typed)
        assert live.settled and abs(change.start - at) < 500
    assert 0 < sum(encoded) < 3_000


def test_one_digit_more_and_every_later_piece_ends_elsewhere(vocabulary):
    tokenizer = Tokenizer(vocabulary, "gpt4")
    text = "1234567" * 2000
    live = LiveText(tokenizer, text)
    live.settle(float("inf"))
    change = live.splice(9000, 9000, "0")
    pieces = [live.piece_at(at)[:2] for at in (8999, 9000, 9003)]
    assert live.settled and pieces == [(8997, 9000), (9000, 9003), (9003, 9006)]
    assert len(change.removed) > 500 and change.n_tokens == live.n_tokens - len(
        tokenizer.encode_ordinary(text)
    )
    live.splice(9000, 9001, "")
    assert live.ids == tokenizer.encode_ordinary(text)
    live.splice(0, len(text), "")
    assert (live.text, live.ids) == ("", [])


def test_pieces_that_changed_are_encoded_with_what_comes_behind_them(vocabulary):
    """Two blanks are two pieces before a digit, but one piece at the end of a text."""
    tokenizer = Tokenizer(vocabulary, "gpt4")
    live = LiveText(tokenizer, "7" * 3000)
    live.splice(1500, 1500, " \n")
    live.splice(1501, 1502, " ")
    assert live.ids == tokenizer.encode_ordinary(live.text)


def test_what_is_not_encoded_yet_is_shown_and_settles_stretch_by_stretch(
    vocabulary, monkeypatch
):
    monkeypatch.setattr(giant, "STRETCH", 1500)
    text = "".join(random.Random(0).choices(["ab", "ba", "aab", "日"], k=6_000))
    tokenizer = Tokenizer(vocabulary, "gpt4")
    live = LiveText(tokenizer, text)
    spans = live.spans(9000, 9100)
    assert not live.settled and spans[0].start <= 9000 and spans[-1].end >= 9100
    n_steps = 1
    while not live.settle(0):
        n_steps += 1
        assert not live.settled
    assert n_steps > 5 and live.ids == tokenizer.encode_ordinary(text)


def test_tokens_longer_than_what_is_encoded_again():
    merges = [
        (97 if n == 0 else 255 + n, 97 if n == 0 else 255 + n, 256 + n)
        for n in range(11)
    ]
    tokenizer = Tokenizer(
        Vocabulary({byte: bytes([byte]) for byte in range(256)}, merges), "none"
    )
    rng, live = random.Random(0), LiveText(tokenizer, "b" + "a" * 10_000)
    for _ in range(4):
        live.splice(
            at := rng.randrange(live.n_characters),
            at + rng.choice((0, 1)),
            rng.choice("ab"),
        )
        assert live.ids == tokenizer.encode_ordinary(live.text)


@pytest.mark.parametrize("pattern", [r"(?#only)(?<=a)b|c", r"(?#only)c(?=[cb]*a)|b"])
def test_what_is_dropped_beside_an_edit_may_change_though_it_ends_where_it_did(
    vocabulary, pattern
):
    tokenizer = Tokenizer(vocabulary, pattern)
    text = "cb" * LONGEST
    live = LiveText(tokenizer, text)
    for at, typed in (2000, "a"), (2000, "c"), (LONGEST, "a"):
        live.splice(at, at + 1, typed)
        text = text[:at] + typed + text[at + 1 :]
        assert live.ids == tokenizer.encode_ordinary(text)


def test_what_is_dropped_may_be_other_characters_of_as_many_bytes(vocabulary):
    live = LiveText(Tokenizer(vocabulary, r"(?#only)(?<=a)b|c"), "c日" * LONGEST)
    live.settle(float("inf"))
    live.splice(1, 2, "éx")
    assert live.between(3000, 3010) == live.text[3000:3010]
    live.splice(3000, 3000, "a")
    assert live.n_characters == len(live.text) == 2 * LONGEST + 2
