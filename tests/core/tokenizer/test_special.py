"""Special tokens as tokens: found before the text is split, followed through every edit."""

import random

import pytest

from bpe_core import LiveText, Tokenizer, train
from bpe_core.explain.unstable import unstable
from bpe_core.tokenizer import SpecialsAllowed
from bpe_core.tokenizer.preparation import AddedToken, Finder
from bpe_core.vocabulary import Vocabulary

SPECIALS = {"<|end|>": 400, "<|end|><|": 401, "abab": 402, "</s>": 403}


def tokenizer(pattern: str) -> Tokenizer:
    learned = train("the ab end, <| |> ends s\n" * 9, vocab_size=290, pattern=pattern)
    return Tokenizer(
        Vocabulary(learned.vocabulary.base, learned.merges, SPECIALS), pattern
    )


def test_the_text_of_a_special_token_is_that_token() -> None:
    plain = tokenizer("gpt4")
    allowed = SpecialsAllowed.of(plain)
    assert plain.encode_ordinary("<|end|>") != [400]
    assert allowed.encode_ordinary("the<|end|>s") == plain.encode(
        "the<|end|>s", allowed_special="all"
    )
    assert 400 in allowed.encode_ordinary("the<|end|>s")
    assert SpecialsAllowed.of(allowed) is allowed
    without = train("ab", vocab_size=257)
    assert SpecialsAllowed.of(without) is without


@pytest.mark.parametrize("pattern", ["gpt2", "gpt4", "gpt4o", "llama3", "none"])
def test_a_live_text_minds_them_in_every_edit(pattern: str) -> None:
    rng = random.Random(pattern)
    plain = tokenizer(pattern)
    allowed = SpecialsAllowed.of(plain)
    parts = (
        "<|end|>",
        "<|",
        "|>",
        "end",
        "ab",
        "a",
        "b",
        " ",
        "\n",
        "</s>",
        "<",
        "/",
        "the ",
    )
    live = LiveText(allowed, "".join(rng.choices(parts, k=300)))
    for _ in range(100):
        start = rng.randrange(live.n_characters + 1)
        end = min(live.n_characters, start + rng.choice((0, 0, 1, 3, 9)))
        live.splice(start, end, "".join(rng.choices(parts, k=rng.choice((0, 1, 1, 2)))))
        assert live.ids == plain.encode(live.text, allowed_special="all")
    assert live.n_tokens == len(live.ids)


def found_in(text: str, finder: Finder) -> list[str | int]:
    parts = finder.parts(text, frozenset())
    return [text[start:end] if token is None else token for start, end, token in parts]


def test_of_added_tokens_that_normalization_makes_equal_the_first_is_found() -> None:
    """Hugging Face's library takes any of them, in each run another."""
    tokens = [
        AddedToken(text, token, normalized=True)
        for token, text in enumerate(("AB", "ab", "Ab"), 300)
    ]
    assert found_in("xab", Finder(tokens, str.casefold)) == ["x", 300]
    assert found_in("xabAB", Finder(tokens)) == ["x", 301, 300]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ab", [300]),
        ("xab", ["xab"]),
        ("abx", ["abx"]),
        ("x ab-", ["x ", 300, "-"]),
        (" <> <> x", [301, 301, "x"]),
        ("a <>", ["a", 301]),
    ],
)
def test_added_tokens_find_what_their_flags_say(
    text: str, found: list[str | int]
) -> None:
    word, spaced = (
        AddedToken("ab", 300, single_word=True),
        AddedToken("<>", 301, lstrip=True, rstrip=True),
    )
    assert found_in(text, Finder([word, spaced])) == found


def test_half_a_special_token_is_not_final() -> None:
    allowed = SpecialsAllowed.of(tokenizer("gpt4"))
    end = unstable(LiveText(allowed, "the <|en"))
    assert end is not None and end.start <= 4
    ids = allowed.encode_ordinary("the <|en")
    kept = ids[: len(ids) - len(end.ids)]
    assert allowed.encode_ordinary("the <|end|>")[: len(kept)] == kept
