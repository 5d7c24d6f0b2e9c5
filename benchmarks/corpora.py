"""Whole corpora encoded, from files on disk to what is wanted of them: ids in a file, or how often each token occurs.

Everybody gets the same vocabulary, pattern and documents, and takes special tokens for text.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from itertools import chain, islice
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.encoders import encoding_tiktoken
from benchmarks.measure import Measured

HEAD: Final = (
    "corpus, to",
    "who",
    "seconds",
    "MB/s",
    "times ours",
    "CPU seconds",
    "peak MB",
)
WISHES: Final = {"ids": "ids in a file", "usage": "counts of tokens"}
"""What is wanted -> what to call it."""

_BATCH: Final = 256
"""Texts that are handed over at once."""

Job = Callable[[str, list[Path], Path, Path], int]
"""(wish, files, vocabulary, where to write ids) -> tokens in all, if ids are not to be written."""


def bpescope(wish: str, paths: list[Path], vocabulary: Path, out: Path) -> int:
    """Ours: the command that a user types, and for counts of tokens what an audit does."""
    if wish == "usage":
        from bpe_core import Counts, load
        from bpe_core.auditing.usage import Usage
        from bpe_core.corpus import find_files

        tokenizer = load(vocabulary)
        return Usage.of(
            tokenizer, Counts.read(find_files(paths).files, tokenizer.pattern)
        ).n_tokens
    from bpe_core.cli.main import main

    with out.open("w") as file, redirect_stdout(file):
        main(["encode", "-t", str(vocabulary), "--special-as-text", *map(str, paths)])
    return 0


def bpescope_one(wish: str, paths: list[Path], vocabulary: Path, out: Path) -> int:
    """Ours, in one thread."""
    from bpe_core import process

    process.available_cores = lambda: 1
    return bpescope(wish, paths, vocabulary, out)


def tiktoken(wish: str, paths: list[Path], vocabulary: Path, out: Path) -> int:
    """tiktoken, with as many threads as the machine has cores."""
    from bpe_core.process import available_cores

    encode_batch = encoding_tiktoken(vocabulary).encode_ordinary_batch
    n = available_cores()
    return _taken(
        wish,
        out,
        (
            ids
            for batch in _batches(paths)
            for ids in encode_batch(batch, num_threads=n)
        ),
    )


def tiktoken_one(wish: str, paths: list[Path], vocabulary: Path, out: Path) -> int:
    """tiktoken, in one thread."""
    encode = encoding_tiktoken(vocabulary).encode_ordinary
    return _taken(wish, out, map(encode, _texts(paths)))


def _batches(paths: Sequence[Path]) -> Iterator[list[str]]:
    each = iter(paths)
    while some := list(islice(each, _BATCH)):
        yield list(_texts(some))


def _texts(paths: Sequence[Path]) -> Iterator[str]:
    """Each file a document; a byte order mark is no part of it, as ours has it."""
    return (path.read_bytes().decode("utf-8-sig") for path in paths)


def _taken(wish: str, out: Path, documents: Iterable[Sequence[int]]) -> int:
    if wish == "usage":
        return Counter(chain.from_iterable(documents)).total()
    with out.open("w") as file:
        file.writelines(" ".join(map(str, ids)) + "\n" for ids in documents)
    return 0


def written(out: Path) -> int:
    """How many ids a file holds."""
    with out.open() as file:
        return sum(len(line.split()) for line in file)


ENCODERS: Final[dict[str, tuple[str, Job]]] = {
    "bpescope": ("", bpescope),
    "bpescope, 1 thread": ("", bpescope_one),
    "tiktoken": ("tiktoken", tiktoken),
    "tiktoken, 1 thread": ("tiktoken", tiktoken_one),
}
"""Name -> the package it needs, and what encodes."""


def rows(
    what: str, n_bytes: int, runs: Mapping[str, Sequence[Measured]]
) -> Iterator[list[str]]:
    """A row for each peer; a word on stderr if they do not find the same number of tokens."""
    ours = runs["bpescope"]
    found: set[Any] = {run.extra["tokens"] for them in runs.values() for run in them}
    if len(found) > 1:
        print(f"{what}: not all find as many tokens: {sorted(found)}", file=sys.stderr)
    for name, them in runs.items():
        if not them:
            yield [what, f"{name} (fails)", *"-----"]
            continue
        seconds = median(run.seconds for run in them)
        ratio = median(
            run.seconds / mine.seconds for run, mine in zip(them, ours, strict=True)
        )
        cpu, peak = median(run.cpu for run in them), max(run.peak for run in them)
        speed = n_bytes / 1e6 / seconds
        yield [
            what,
            name,
            f"{seconds:.2f}",
            f"{speed:.1f}",
            f"{ratio:.2f}",
            f"{cpu:.2f}",
            f"{peak / 1e6:,.0f}",
        ]
