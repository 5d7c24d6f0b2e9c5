"""After any edits the ids of each lane are those that tiktoken gives the whole text."""

import random
from pathlib import Path

import pytest
from real import real_file

from bpe_core import Tokenizer, load, train
from bpe_core.content.samples import samples
from tests.nasty import nasty_texts
from tui.text.edited_text import EditedText

TYPED = ("a", "e", " ", "\n", "7", ")", "é", "中", "🙂", "the word ", *nasty_texts(60, seed=8))
CHECKS = 4


def prose(n_characters: int) -> str:
    text = "\n".join(sample.path.read_text("utf-8") for sample in samples() if sample.group != "Long")
    return (text * (n_characters // len(text) + 1))[:n_characters]


def edited_at_random(lanes: list[Tokenizer], text: str, n_edits: int) -> None:
    edited = EditedText(text, lanes[0])
    edited.use_lanes(lanes[1:])
    while (reading := edited.next_reading) is not None:
        reading.run()
        edited.take_reading(reading)
    theirs = [tokenizer.to_tiktoken() for tokenizer in lanes]
    rng, document = random.Random(n_edits), edited.document
    for number in range(n_edits):
        start = rng.randrange(document.n_characters)
        end = min(start + rng.choice((0, 0, 0, 1, 2, 40)), document.n_characters)
        edited.begin_edits()
        document.replace_range(*map(document.get_location_from_index, (start, end)), rng.choice(TYPED))
        for lane in edited.lanes:
            lane.end_edits()
        if number % (n_edits // CHECKS) == n_edits // CHECKS - 1:
            whole = document.text
            for lane, other in zip(edited.lanes, theirs, strict=True):
                assert lane.live is not None and lane.live.ids == other.encode_ordinary(whole)
                assert lane.n_tokens == len(lane.live.ids)


def test_lanes_of_small_vocabularies() -> None:
    text = prose(4_000)
    patterns = ("gpt2", "gpt4", "gpt4o")
    edited_at_random([train(text, vocab_size=400, pattern=pattern) for pattern in patterns], text, 80)


@pytest.mark.slow
def test_lanes_of_real_vocabularies(tmp_path: Path) -> None:
    n_edits = 2_000
    names = ("r50k_base", "cl100k_base", "o200k_base")
    text = prose(500 * n_edits)  # a million characters, where all is tried
    lanes = [load(real_file(f"{name}.tiktoken", tmp_path)) for name in names]
    edited_at_random([*lanes, train(text[:200_000], vocab_size=4_096)], text, n_edits)
