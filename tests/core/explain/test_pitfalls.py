"""What trips tokenizers is found, with its place and its reason, and an edit does not make the whole text be read."""

import random
from itertools import pairwise

import pytest

from bpe_core import LiveText, Tokenizer, train
from bpe_core.explain.pitfalls import KINDS, Pitfall, Pitfalls
from bpe_core.explain.unstable import unstable
from bpe_core.tokenizer import SpecialsAllowed
from bpe_core.vocabulary import Vocabulary

CORPUS = (
    "Don't we see? It's paypal, we don't use PayPal. Cells 123 123 1234 style styles\n"
    * 9
)
LEARNED = train(CORPUS, vocab_size=330, pattern="gpt4")
ELEVEN = (49, 49, LEARNED.n_vocab)
TOKENIZER = Tokenizer(
    Vocabulary(LEARNED.vocabulary.base, [*LEARNED.merges, ELEVEN], {"<|end|>": 400}),
    "gpt4",
)


# style = st + yle, so that "sty" is st + y
STYLE = Vocabulary.of_bytes().extended(
    [(121, 108, 256), (256, 101, 257), (115, 116, 258), (258, 257, 259)]
)


def found_in(text: str, tokenizer: Tokenizer = TOKENIZER) -> list[Pitfall]:
    live = LiveText(tokenizer, text)
    pitfalls = Pitfalls(live)
    assert pitfalls.search(1e9)
    return [*pitfalls, *pitfalls.of_the_whole(), *pitfalls.at_end(unstable(live))]


@pytest.mark.parametrize(
    ("kind", "text", "where"),
    [
        ("special token", "a <|end|> b\n", "<|end|>"),
        ("special token", "a <|im_start|> b\n", "<|im_start|>"),
        ("look-alike", "use pаypal here\n", "pаypal"),
        ("invisible", "one\u200btwo\n", "\u200b"),
        ("invisible", "\ufeffone\n", "\ufeff"),
        ("invisible", "five\xa0km\n", "\xa0"),
        ("invisible", "a\u202eb\n", "\u202e"),
        ("trailing space", "we see ", " "),
        ("newlines", "one\r\ntwo\r\nthree\nfour", "\n"),
        ("curly quote", "We don’t see\n", "don’t"),
        ("number", "in 1234567 cells\n", "1234567"),
        ("letters", "how many times is the letter r in strawberry?\n", "strawberry"),
        ("letters", "Count the 'l's in the word styles\n", "styles"),
        ("decimal", "Which is larger, 9.11 or 9.9?\n", "9.9"),
        ("indentation", "if we:\n      see\n", "      "),
        ("script", "see ภาษาไทย\n", "ภ"),
    ],
)
def test_a_pitfall_and_its_place(kind: str, text: str, where: str) -> None:
    assert kind in KINDS
    [pitfall] = [pitfall for pitfall in found_in(text) if pitfall.kind == kind]
    assert text[pitfall.start : pitfall.end] == where
    assert pitfall.reason.endswith((".", "…"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("five\xa0km\n", "U+00A0 (no-break space) looks like a plain space."),
        (
            "one\u200btwo\n",
            "U+200B (zero width space) is invisible.",
        ),
        ("one\u200b\u200btwo\n", "U+200B (zero width space) and 1 more are invisible."),
        (
            "five\xa0\xa0\xa0km\n",
            "U+00A0 (no-break space) and 2 more look like plain spaces.",
        ),
    ],
)
def test_the_reason_names_what_is_invisible(text: str, reason: str) -> None:
    [pitfall] = [one for one in found_in(text) if one.kind == "invisible"]
    assert pitfall.reason == reason


def test_half_a_token_at_the_end() -> None:
    style = Tokenizer(STYLE, "gpt4")
    [pitfall] = found_in("a\nsty", style)
    assert (pitfall.kind, pitfall.start, pitfall.end) == ("partial token", 2, 5)
    assert pitfall.reason == "The end is 2 tokens; style would be 1."
    assert (
        found_in("a\nst", style) == []
    )  # a token it is, though longer ones begin with it
    assert found_in("a\nsty\n", style) == []


def test_a_plain_text_has_none_and_nothing_in_a_reason_acts_on_a_terminal() -> None:
    assert all(
        pitfall.reason.isprintable()
        for pitfall in found_in("\x1b]0;x\x07 pа\x1bypal <|\x1b|> \x9b")
    )
    assert found_in("We see 12 cells, don't we?\n\tIt's 👩\u200d👧 style.\n") == []
    assert (
        found_in(
            "9.1 or 9.9, 8.15 or 8.25, 1.10.2 or 1.9.1, a list in order, b in cell\n"
        )
        == []
    )
    assert found_in("") == []


def test_what_is_said_of_letters_and_decimals() -> None:
    berry = Tokenizer(
        Vocabulary.of_bytes().extended([(114, 114, 256), (256, 121, 257)]), "gpt4"
    )
    [letters] = found_in("an r in strawberry\n", berry)
    assert letters.reason == "strawberry is 8 tokens: a model does not see its 3 r's."
    assert (
        found_in("an r in strawberry\n", Tokenizer(Vocabulary.of_bytes(), "gpt4")) == []
    )  # a token is a letter
    [decimal] = found_in("9.9 or 9.11\n")
    assert (
        decimal.reason
        == "9.11 is less than 9.9, but the tokens after the dot are 11 and 9."
    )


def test_what_holds_of_other_tokens_is_not_said_of_those_that_are_shown() -> None:
    for step in 0, TOKENIZER.step - 1:
        assert found_in("9.9 or 9.11\n", TOKENIZER.at(step)) == []
    assert found_in("we see ", TOKENIZER.at(0)) == [], (
        "no word would bring the space along"
    )
    assert found_in("a <|end|> b\n", SpecialsAllowed.of(TOKENIZER)) == []
    for text in "pаypal\n", "(don’t)\n", "We don’t see pаypal\n":
        for step in 0, 20, TOKENIZER.step:
            tokenizer = TOKENIZER.at(step)
            for found in found_in(text, tokenizer):
                other = text.translate(
                    {0x0430: "a"} if found.kind == "look-alike" else {0x2019: "'"}
                )
                n_tokens = len(
                    [
                        one
                        for one in LiveText(tokenizer, text).spans(
                            found.start, found.end
                        )
                        for _ in one.ids
                    ]
                )
                without = (
                    n_tokens
                    + len(tokenizer.encode(other))
                    - len(tokenizer.encode(text))
                )
                assert f": {n_tokens} tokens, {without} with" in found.reason


def test_what_holds_of_each_long_word_and_each_indented_line_is_said_once() -> None:
    code = "for l in styles:\n        for l in cells:\n" * 900
    letters, indentation = sorted(found_in(code), key=lambda one: one.start)
    assert (letters.start, code[letters.start : letters.end]) == (
        code.index("styles"),
        "styles",
    )
    assert (indentation.start, indentation.kind) == (code.index(" " * 8), "indentation")


def test_the_same_after_any_edit_as_in_a_fresh_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bpe_core.explain.pitfalls._MOST_OF_A_KIND", 1 << 20)
    monkeypatch.setattr("bpe_core.explain.pitfalls._BLOCK", 1 << 10)
    rng = random.Random(3)
    words = "We see /pаypal /don’t /1234 /\u200b/\r\n/\n/\r/ภาษา /<|end|>/0/9/3.9 3.10 /r in arrears "
    parts = words.split("/")
    text = "".join(rng.choices(parts, k=1500))
    live = LiveText(TOKENIZER, text)
    pitfalls = Pitfalls(live)
    pitfalls.search(1e9)
    for _ in range(12):
        start = rng.randrange(live.n_characters)
        end = min(live.n_characters, start + rng.choice((0, 1, 5, 3000)))
        new = "".join(rng.choices(parts, k=rng.choice((0, 1, 3))))
        live.splice(start, end, new)
        pitfalls.splice(start, end, len(new))
        pitfalls.search(1e9)
        fresh = Pitfalls(live)
        fresh.search(1e9)
        assert kinds_at(pitfalls) == kinds_at(fresh)


def kinds_at(pitfalls: Pitfalls) -> set[tuple[str, int]]:
    return {
        (pitfall.kind, pitfall.start)
        for pitfall in (*pitfalls, *pitfalls.of_the_whole())
    }


def test_their_order() -> None:
    live = LiveText(TOKENIZER, "1234 " * 4000 + "pаypal \u200b 1234\n")
    pitfalls = Pitfalls(live)
    pitfalls.search(1e9)
    found = list(pitfalls)
    assert {one.kind for one in found} == {"number", "look-alike", "invisible"}
    assert all(one.start < other.start for one, other in pairwise(found))


@pytest.mark.parametrize("letter", ["a", "1", " ", "\u0430", "\u200b", "'", "\r", "<|"])
def test_a_long_run_of_anything_is_no_trouble(letter: str) -> None:
    live = LiveText(Tokenizer(Vocabulary.of_bytes(), "words"), letter * 40_000)
    assert Pitfalls(live).search(1e9)


def test_a_big_text_is_looked_through_in_slices() -> None:
    live = LiveText(TOKENIZER, "we see\n" * 20_000 + "\u200b")
    pitfalls = Pitfalls(live)
    assert not pitfalls.search(0) and list(pitfalls) == []
    while not pitfalls.search(0):
        pass
    assert [pitfall.start for pitfall in pitfalls] == [140_000]
    live.splice(0, 0, "x")
    pitfalls.splice(0, 0, 1)
    assert [pitfall.start for pitfall in pitfalls] == [140_001]
    assert pitfalls.search(0)  # one block is read again, the others only move
