"""What the journeys begin with: a small corpus, two tokenizers that learned from it, and a longer corpus."""

import random
from pathlib import Path

import pytest

from bpe_core import save, train


@pytest.fixture
def small(home: Path, book: Path) -> Path:
    """A tokenizer of 24 merges."""
    save(train(book.read_text(), vocab_size=280), home / "small.json")
    return home / "small.json"


@pytest.fixture
def other(home: Path, book: Path) -> Path:
    """Another one of the same corpus, with 26 merges."""
    save(train(book.read_text(), vocab_size=282, ties="largest"), home / "other.json")
    return home / "other.json"


@pytest.fixture
def long_book(home: Path) -> Path:
    """Words of so little sense that a training finds thousands of merges in them."""
    letters = random.Random(7)
    words = ("".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=9)) for _ in range(3_000))
    (home / "long.txt").write_text(" ".join(words))
    return home / "long.txt"
