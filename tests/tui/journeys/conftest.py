"""What the journeys begin with: two tokenizers that learned from a small corpus."""

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
