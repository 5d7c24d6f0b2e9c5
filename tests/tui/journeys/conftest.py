"""What the journeys begin with: two tokenizers that learned from a small corpus."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from bpe_core import save, train


@pytest.fixture(autouse=True)
def small_heap() -> Iterator[None]:
    """Hide what is left of an app from the garbage collector.

    The app collects garbage whenever it changes tokenizers. That took 20 ms in the first journey
    and 150 ms in the thirtieth.
    """
    yield
    gc.collect()
    gc.freeze()


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
