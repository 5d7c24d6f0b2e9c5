"""Time travel: a tokenizer at step k encodes as one that was trained for k steps and no more."""

import random
from pathlib import Path

import pytest

from bpe_core import train
from bpe_core.corpus import Counts, find_files
from bpe_core.tokenizer.training_record import TIES

SAMPLES = Path(__file__).parents[3] / "sample_texts"


@pytest.mark.parametrize("ties", TIES)
def test_at_every_step_of_a_small_training(ties):
    text = "she sells sea shells by the sea shore;\nthe shells she sells are sea shells, I'm sure. 東京 héron " * 2
    whole = train(text, vocab_size=340, ties=ties, special_tokens=["<s>"])
    for k in range(1, whole.step + 1):
        short = train(text, vocab_size=257 + k, ties=ties, special_tokens=["<s>"])
        then = whole.at(k)
        assert then.merges == short.merges
        assert then.encode(text) == short.encode(text)
        assert then.encode("unseen: seashells 京都") == short.encode("unseen: seashells 京都")


def test_at_a_random_step_of_a_large_one():
    files = find_files([SAMPLES]).files
    text = "".join(block for file in files for block in file.blocks())
    counts = Counts.read(files, "gpt4")
    whole = train(counts, vocab_size=1000)
    k = random.Random(7).randint(1, whole.step)
    assert whole.at(k).encode(text, disallowed_special=()) == train(counts, vocab_size=256 + k).encode(text)
