"""After any edits the ids of each lane are those that tiktoken gives the whole text."""

import random
from pathlib import Path

import pytest
from real import real_file

from bpe_core import load, train
from bpe_core.content.samples import samples
from tests.nasty import nasty_texts
from tui.text.edited_text import EditedText

TYPED = ("a", "e", " ", "\n", "7", ")", "é", "中", "🙂", "the word ", *nasty_texts(60, seed=8))
EDITS, CHECKED_EACH = 2_000, 500


@pytest.mark.slow
def test_lanes_of_real_vocabularies(tmp_path: Path) -> None:
    text = "\n".join(sample.path.read_text("utf-8") for sample in samples())
    text = (text * (1_000_000 // len(text) + 1))[:1_000_000]
    names = ("r50k_base", "cl100k_base", "o200k_base")
    lanes = [load(real_file(f"{name}.tiktoken", tmp_path)) for name in names]
    lanes.append(train(text[:200_000], vocab_size=4_096))
    edited = EditedText(text, lanes[0])
    edited.use_lanes(lanes[1:])
    while (reading := edited.next_reading) is not None:
        reading.run()
        edited.take_reading(reading)
    theirs = [tokenizer.to_tiktoken() for tokenizer in lanes]
    rng, document = random.Random(1), edited.document
    for number in range(1, EDITS + 1):
        start = rng.randrange(document.n_characters)
        end = min(start + rng.choice((0, 0, 0, 1, 2, 40)), document.n_characters)
        document.replace_range(*map(document.get_location_from_index, (start, end)), rng.choice(TYPED))
        for lane in edited.lanes:
            lane.end_edits()
        if not number % CHECKED_EACH:
            whole = document.text
            for lane, other in zip(edited.lanes, theirs, strict=True):
                assert lane.live is not None and lane.live.ids == other.encode_ordinary(whole)
                assert lane.n_tokens == len(lane.live.ids)
