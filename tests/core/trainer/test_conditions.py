"""Conditions on which a training waits: what they are called, and after which merge they hold."""

from itertools import pairwise
from types import SimpleNamespace

import pytest

from bpe_core.errors import OptionError
from bpe_core.trainer import Trainer
from bpe_core.trainer.conditions import (
    WORDINGS,
    Condition,
    CountBelow,
    Longer,
    PowerOfTwo,
    Ratio,
    Step,
    Token,
    Tokens,
    condition,
)

TEXT = "the theme of the other thesis, the thing that they thought through " * 5


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("512", Step(512)),
        ("1,024", Step(1024)),
        ("Step 3", Step(3)),
        ("the next power of two", PowerOfTwo()),
        ("tokens below 100_000", Tokens(100_000)),
        ("ratio 3", Ratio(3.0)),
        ("first token longer than 12 bytes", Longer(12)),
        ("counts below 10", CountBelow(10)),
        ("token ␣the", Token(b" the")),
        ('token " the"', Token(b" the")),
        ('token "␣"', Token("␣".encode())),
        ("token 0x2074 68", Token(b" th")),
        ("token hex e6 97 a5", Token("日".encode())),
        ("token 0x2", Token(b"0x2")),
    ],
)
def test_a_condition_is_told_in_words(words: str, meant: Condition) -> None:
    assert condition(words) == meant
    assert condition(meant.words) == meant and meant.words.isascii() and meant.told.isprintable()


def test_the_examples_are_conditions() -> None:
    assert len({type(condition(words)) for words in WORDINGS}) == 7


@pytest.mark.parametrize("words", ["", "step", "step 0", "step 1.5", "9" * 5000, "ratio 0", "ratio x", "token ", "٣"])
def test_what_is_none_is_refused_in_one_sentence(words: str) -> None:
    with pytest.raises(OptionError) as told:
        condition(words)
    assert len(str(told.value)) < 400 and "\n" not in str(told.value)


@pytest.mark.parametrize(
    "words", ["step 7", "power of two", "tokens 200", "ratio 2.5", "longer than 3", "token ␣the", "count below 9"]
)
def test_it_holds_after_the_first_merge_of_which_that_is_so(words: str) -> None:
    """Each is worked out from the text itself, as the tokenizer of that many merges splits it."""
    trainer = Trainer(TEXT, vocab_size=290)
    merges = list(trainer)
    tokenizer = trainer.tokenizer()
    wanted = condition(words)
    held = [merge.step for merge in merges if wanted.holds(merge, trainer.n_bytes)]

    def is_so(step: int) -> bool:
        at = tokenizer.at(step)
        length, made = len(at.encode(TEXT)), at.token_bytes(at.merges[-1][2])
        before = tokenizer.at(step - 1).encode(TEXT)
        return {
            "step": step >= 7,
            "powe": step in (1, 2, 4, 8, 16, 32),
            "toke": length <= 200 if words == "tokens 200" else made == b" the",
            "rati": len(TEXT) / length >= 2.5,
            "long": len(made) > 3,
            "coun": sum(pair == at.merges[-1][:2] for pair in pairwise(before)) < 9,
        }[words[:4]]

    assert held == [merge.step for merge in merges if is_so(merge.step)] != []


@pytest.mark.parametrize(
    ("words", "last", "next_to_it"),
    [
        ("step 7", {"step": 7}, {"step": 6}),
        ("power of two", {"step": 8}, {"step": 9}),
        ("tokens 40", {"n_tokens": 40}, {"n_tokens": 41}),
        ("ratio 2.5", {"n_tokens": 40}, {"n_tokens": 41}),
        ("longer than 3", {"token_bytes": b"four"}, {"token_bytes": b"two"}),
        ("token two", {"token_bytes": b"two"}, {"token_bytes": b"tw"}),
        ("count below 9", {"count": 8}, {"count": 9}),
    ],
)
def test_of_two_neighboring_values_only_one_meets_it(
    words: str, last: dict[str, object], next_to_it: dict[str, object]
) -> None:
    unknown = {"step": 3, "token_bytes": b"", "count": 0, "n_tokens": 0}
    holds = [condition(words).holds(SimpleNamespace(**unknown | one), 100) for one in (last, next_to_it, {})]
    assert holds == [True, False, False]


def test_what_is_not_known_of_a_corpus_never_holds() -> None:
    merge = next(Trainer("aab", vocab_size=257, pattern="none"))
    assert not Ratio(0.1).holds(merge, 0)
