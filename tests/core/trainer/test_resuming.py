"""`train` as a library: interrupted, resumed from its checkpoint, and what it refuses to resume."""

from dataclasses import replace
from pathlib import Path

import pytest

from bpe_core import OptionError, Tokenizer, load, train
from bpe_core.corpus import Counts

TEXT = (
    "she sells sea shells by the sea shore; the shells she sells are sea shells, I am sure "
    * 3
)


class Enough(Exception):
    """Raised by who does not want to wait."""


def test_a_training_that_was_interrupted_ends_as_if_it_had_not_been(
    tmp_path: Path,
) -> None:
    place, told = tmp_path / "learned.json", []

    def progress(done: int, wanted: int) -> None:
        told.append((done, wanted))
        raise Enough

    with pytest.raises(Enough):
        train(TEXT, vocab_size=300, checkpoint=place, progress=progress)
    ((done, wanted),) = told
    kept = load(place)
    assert kept.step == done > 0 and wanted == 44
    resumed, whole = (
        train(TEXT, vocab_size=300, resume=kept),
        train(TEXT, vocab_size=300),
    )
    assert resumed.merges == whole.merges and resumed.record and whole.record
    assert resumed.record.steps == whole.record.steps


def test_a_tokenizer_is_extended_with_its_own_pattern() -> None:
    old = train(TEXT, vocab_size=270, pattern="words", special_tokens=["<s>"])
    new = train(TEXT, vocab_size=280, start=old)
    assert (
        new.pattern == "words"
        and new.merges[: old.step] == old.merges
        and new.special_tokens == old.special_tokens
    )
    assert train(TEXT, vocab_size=280, start=old, pattern="none").pattern == "none"


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"ties": "lowest"}, "used ties 'first', not 'lowest'"),
        ({"pattern": "words"}, "used pattern 'gpt4', not 'words'"),
        ({"max_token_length": 5}, "used longest token none, not 5"),
        ({"end_of_word": "_"}, "used end of word none, not '_'"),
        ({"special_tokens": ["<e>"]}, "used specials none, not '<e>'"),
        ({"vocab_size": 270}, "already has 280 tokens"),
    ],
)
def test_other_options_are_refused(asked: dict[str, object], sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        train(
            TEXT, **{"vocab_size": 300, "resume": train(TEXT, vocab_size=280), **asked}
        )


def test_options_that_only_end_the_learning_may_differ() -> None:
    earlier = train(TEXT, vocab_size=270)
    longer = train(
        TEXT, vocab_size=290, resume=earlier, min_count=2, min_share="1/10000"
    )
    assert longer.merges[:14] == earlier.merges and longer.step > 14


def test_other_texts_weights_and_merges_are_refused() -> None:
    earlier = train([TEXT], vocab_size=280)
    for texts, sentence in (
        ([TEXT + "!"], "has changed since"),
        ([TEXT, TEXT], "is read in place of"),
        (
            Counts.weighted([(Counts.of([TEXT]), 3)]),
            "counted 1 times in the run to resume, not 3",
        ),
    ):
        with pytest.raises(OptionError, match=sentence):
            train(texts, vocab_size=280, resume=earlier)
    assert earlier.record
    steps = (*earlier.record.steps[:5], (1, 1, 1), *earlier.record.steps[6:])
    other = Tokenizer(
        earlier.vocabulary, earlier.pattern, record=replace(earlier.record, steps=steps)
    )
    with pytest.raises(
        OptionError, match="Step 6 of the run to resume does not follow"
    ):
        train([TEXT], vocab_size=280, resume=other)
    with pytest.raises(OptionError, match="no record"):
        train(
            [TEXT],
            vocab_size=280,
            resume=Tokenizer(earlier.vocabulary, earlier.pattern),
        )
