"""`python -m tests.attack.fuzz_kernel`: the compiled kernel held against Python, `regex`, tiktoken, the reference.

Prints a line for each thing that is tried, and what differs, if anything does, after which that thing is tried no more.
Ctrl+C or a kill ends it, and it says how far it came. What is tried depends on the seed alone.
"""

import multiprocessing
import os
import random
import signal
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from bpe_core import kernel
from bpe_core.trainer.ties import TIES
from tests.attack.fuzz_kernel import encoding, splitting, training

_VOCABULARIES: Final = os.environ.get("BPESCOPE_VOCABS", "")
"""A folder with published rank files, such as cl100k_base.tiktoken; without it, texts are not encoded."""

_BATCH: Final = 250
"""Tries for which a process is asked at a time, with a random generator of their own."""

_PROGRESS_EVERY: Final = 10
"""Seconds between two lines that say how far it is."""

Tries = Callable[[random.Random], Iterator[str]]
"""A random generator -> what differs in one try after the other, "" where nothing does."""


def _things() -> Iterator[tuple[str, Tries, bool]]:
    """(name, tries, whether these are corpora and not texts) of each thing that is tried."""
    for name in splitting.SCANNED:
        yield f"split {name}", partial(splitting.splits, name), False
    for name in splitting.SCANNED if _VOCABULARIES else ():
        yield f"encode {name}", partial(encoding.published, name, Path(_VOCABULARIES)), False
    for name in splitting.SCANNED:
        yield f"count {name}", partial(splitting.counts, name), True
    for ties in TIES:
        yield f"train {ties}", partial(training.trainings, ties), True
    yield "merge", encoding.merges, True


def main() -> int:
    """Try everything; the exit code: 1 if anything differs or it was stopped."""
    parser = ArgumentParser(prog="python -m tests.attack.fuzz_kernel", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("--texts", type=int, default=100_000, help="of each pattern, at most (100,000)")
    parser.add_argument("--corpora", type=int, default=10_000, help="of each pattern or tie rule, at most (10,000)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each thing, at most (no limit)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="things whose name holds this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (one a core)")
    asked = parser.parse_args()
    print(f"The engine is {kernel.description}. Seed {asked.seed}.", flush=True)
    for stop in (signal.SIGINT, signal.SIGTERM):  # the first is ignored by what a script has put into the background
        signal.signal(stop, signal.default_int_handler)
    failed = 0
    for name, tries, are_corpora in _things():
        if asked.only in name:
            n = asked.corpora if are_corpora else asked.texts
            try:
                failed += _try(name, tries, n, asked.seed, asked.jobs, asked.seconds)
            except KeyboardInterrupt:
                return 1
    return 1 if failed else 0


def _try(name: str, tries: Tries, n: int, seed: int, jobs: int, seconds: float) -> bool:
    """Whether anything differs in `n` tries, or as many as can be made in time."""
    batches = [(name, tries, seed, first, min(first + _BATCH, n)) for first in range(0, n, _BATCH)]
    began, n_agree, difference = time.monotonic(), 0, ""
    shown = began
    with multiprocessing.Pool(jobs, _leave_stopping_to_the_parent) as pool:
        try:
            for n_more, difference in pool.imap_unordered(_batch, batches):
                n_agree += n_more
                if difference or time.monotonic() > began + seconds:
                    break
                if time.monotonic() > shown + _PROGRESS_EVERY:
                    shown = time.monotonic()
                    print(f"{name}: {n_agree:,} of {n:,}, {n_agree / (shown - began):,.0f} a second", file=sys.stderr)
        finally:
            print(f"{name}: {n_agree:,} agree, {time.monotonic() - began:,.0f} s", flush=True)
    if difference:
        print(f"{name} differs: {difference}", flush=True)
    return bool(difference)


def _leave_stopping_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _batch(batch: tuple[str, Tries, int, int, int]) -> tuple[int, str]:
    """(tries that agree, what differs in the next one) of those from the first number to the last."""
    name, tries, seed, first, last = batch
    differences = islice(tries(random.Random(f"{seed} {name} {first}")), last - first)
    for n_agree, difference in enumerate(differences):
        if difference:
            return n_agree, f"number {first + n_agree:,} of seed {seed}: {difference}"
    return last - first, ""


if __name__ == "__main__":
    sys.exit(main())
