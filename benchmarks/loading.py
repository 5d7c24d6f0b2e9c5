"""From a tokenizer's file to the first token: ours beside the libraries whose files these are."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks import peers
from benchmarks.measure import Measured, measure

HEAD: Final = ("file", "who", "ms", "times ours", "peak MB")

_OWN: Final = {
    "native": ("bpescope",),
    "tiktoken": ("bpescope", "tiktoken"),
    "huggingface": ("bpescope", "tokenizers"),
}
"""Format -> who reads it."""
_PUBLISHED: Final = ("bpescope", "tiktoken", "gigatoken", "quicktok")
_ENDINGS: Final = {"tiktoken": ".tiktoken"}


def rows(vocabulary: Path, folder: Path, rounds: int) -> Iterator[list[str]]:
    """One row for each format that the vocabulary is saved in, and each who reads it."""
    from bpe_core import load, save

    tokenizer = load(vocabulary)
    for format, readers in _OWN.items():
        path = folder / f"saved{_ENDINGS.get(format, '.json')}"
        save(tokenizer, path, format=format)
        who = [name for name in readers if peers.installed(peers.LOADERS[name][0])]
        yield from _rows(f"{format}, {tokenizer.n_tokens:,} tokens", path, who, rounds)


def published_rows(ranks: Path, rounds: int) -> Iterator[list[str]]:
    """One row for each who reads a published file of ranks."""
    who = [name for name in _PUBLISHED if peers.installed(peers.LOADERS[name][0])]
    yield from _rows(ranks.name, ranks, who, rounds)


def _rows(
    file: str, path: Path, who: Sequence[str], rounds: int
) -> Iterator[list[str]]:
    turns = [{name: measure("load", name, path) for name in who} for _ in range(rounds)]
    for name in who:
        yield _row(file, name, turns)


def _row(file: str, name: str, turns: list[dict[str, Measured]]) -> list[str]:
    seconds = median(turn[name].seconds for turn in turns)
    ratio = median(turn[name].seconds / turn["bpescope"].seconds for turn in turns)
    return [
        file,
        name,
        f"{1e3 * seconds:.0f}",
        f"{ratio:.2f}",
        f"{max(turn[name].peak for turn in turns) / 1e6:,.0f}",
    ]
