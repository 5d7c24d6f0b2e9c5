"""`python -m tests.attack.fuzz_kernel`: the compiled kernel held against Python, `regex`, tiktoken, the reference.

Prints a line for each thing that is tried, and what differs, if anything does, after which that thing is tried no more.
What is tried depends on the seed alone. Ctrl+C ends it, and it says how far it came.
"""

import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from bpe_core import kernel
from bpe_core.tokenizer.tie_rules import TIES
from tests.attack.fuzz_kernel import encoding, splitting, training
from tests.attack.published import not_attacked, unpacked

_BATCH: Final = 250
"""Tries for which a process is asked at a time, with a random generator of their own."""

Tries = Callable[[random.Random], Iterator[str]]
"""A random generator -> what differs in one try after the other, "" where nothing does."""


def things(vocabularies: Path | None) -> Iterator[tuple[str, Tries, bool]]:
    """(name, tries, whether these are corpora and not texts) of each; the folder holds published ranks."""
    for name in splitting.SCANNED:
        yield f"split {name}", partial(splitting.splits, name), False
    for name in splitting.SCANNED if vocabularies else ():
        yield f"encode {name}", partial(encoding.published, name, vocabularies), False
    for name in splitting.SCANNED:
        yield f"count {name}", partial(splitting.counts, name), True
    for ties in TIES:
        yield f"train {ties}", partial(training.trainings, ties), True
    yield "merge", encoding.merges, True


def main() -> int:
    """Try everything; the exit code: 1 if anything differs or it was stopped."""
    parser = ArgumentParser(
        prog="python -m tests.attack.fuzz_kernel",
        description=(__doc__ or "").partition("\n\n")[2],
    )
    parser.add_argument(
        "--texts", type=int, default=100_000, help="of each pattern (100,000)"
    )
    parser.add_argument(
        "--corpora",
        type=int,
        default=10_000,
        help="of each pattern or tie rule (10,000)",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="things whose name holds this")
    asked = parser.parse_args()
    print(f"The engine is {kernel.description}. Seed {asked.seed}.", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        encodings = unpacked(Path(folder))
        there = len(encodings) >= 4
        for name, tries, are_corpora in things(Path(folder) if there else None):
            if asked.only in name:
                failed += _try(
                    name,
                    tries,
                    asked.corpora if are_corpora else asked.texts,
                    asked.seed,
                )
    if not there:
        print("No text was encoded with published ranks.", not_attacked(encodings))
    return 1 if failed else 0


def _try(name: str, tries: Tries, n: int, seed: int) -> bool:
    """Whether anything differs in `n` tries."""
    batches = [
        (name, tries, seed, first, min(first + _BATCH, n))
        for first in range(0, n, _BATCH)
    ]
    began, n_agree, difference = time.monotonic(), 0, ""
    with multiprocessing.Pool(
        os.cpu_count(), signal.signal, (signal.SIGINT, signal.SIG_IGN)
    ) as pool:
        try:
            for n_more, difference in pool.imap_unordered(batch, batches):
                n_agree += n_more
                if difference:
                    break
        finally:
            print(
                f"{name}: {n_agree:,} agree, {time.monotonic() - began:,.0f} s",
                flush=True,
            )
    if difference:
        print(f"{name} differs: {difference}", flush=True)
    return bool(difference)


def batch(asked: tuple[str, Tries, int, int, int]) -> tuple[int, str]:
    """(tries that agree, what differs in the next one) of those from the first number to the last."""
    name, tries, seed, first, last = asked
    differences = islice(tries(random.Random(f"{seed} {name} {first}")), last - first)
    for n_agree, difference in enumerate(differences):
        if difference:
            return n_agree, f"number {first + n_agree:,} of seed {seed}: {difference}"
    return last - first, ""


if __name__ == "__main__":
    sys.exit(main())
