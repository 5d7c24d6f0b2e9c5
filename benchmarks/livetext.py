"""A keystroke in the engine: how long one edit of a text takes until its tokens are right again."""

import gc
import random
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.inputs import Input
from benchmarks.measure import Measured, measure

HEAD: Final = (
    "text",
    "pattern",
    "median µs",
    "99 % µs",
    "slowest ms",
    "1,000 additions, µs",
    "edits",
    "peak MB",
)

_TYPED: Final = (
    "a",
    "e",
    " ",
    "\n",
    "7",
    ")",
    "é",
    "中",
    "\N{GRINNING FACE}",
    "\N{MATHEMATICAL BOLD SMALL A}",
    "the word ",
)


def rows(
    texts: Iterable[Input], vocabularies: dict[str, Path], n_edits: int
) -> Iterator[list[str]]:
    """One row for each text and each pattern, to the vocabulary of which it is encoded."""
    for text in texts:
        for pattern, vocabulary in vocabularies.items():
            yield _row(
                text.name,
                pattern,
                n_edits,
                measure("edit", vocabulary, text.path, n_edits),
            )


def _row(text: str, pattern: str, n_edits: int, run: Measured) -> list[str]:
    typical, rare, slowest, additions = (
        run.extra[name] for name in ("median", "rare", "slowest", "additions")
    )
    figures = (
        f"{1e6 * typical:.0f}",
        f"{1e6 * rare:.0f}",
        f"{1e3 * slowest:.1f}",
        f"{1e6 * additions:.0f}",
        f"{n_edits:,}",
        f"{run.peak / 1e6:,.0f}",
    )
    return [text, pattern, *figures]


def edited(vocabulary: Path, path: Path, n_edits: int) -> dict[str, float]:
    """Half of the edits are typed at one place, as people type, half somewhere; a third of them delete as well."""
    from bpe_core import LiveText, load

    rng = random.Random(3)
    tokenizer = load(vocabulary)
    live = LiveText(tokenizer, path.read_bytes().decode())
    gc.freeze()  # as the app does, with what stays
    times: list[float] = []
    yardstick: list[float] = []
    at = 0
    for _ in range(n_edits):
        at = rng.choice((at, rng.randrange(live.n_characters)))
        end = min(live.n_characters, at + rng.choice((0, 0, 1)))
        typed = rng.choice(_TYPED)
        began = time.perf_counter()
        live.splice(at, end, typed)
        times.append(time.perf_counter() - began)
        if len(times) % 20 == 0:
            yardstick.append(_additions())
        at = min(at + len(typed), live.n_characters - 1)
    if live.ids != tokenizer.encode_ordinary(live.text):
        raise SystemExit(
            f"After {n_edits} edits the tokens of {path.name} are not what they should be."
        )
    times.sort()
    return {
        "seconds": sum(times),
        "median": median(times),
        "rare": times[int(0.99 * n_edits)],
        "slowest": times[-1],
        "additions": median(yardstick),
    }


def _additions() -> float:
    """How long a thousand additions take: a shared machine may be twice as fast a minute later, and edits with it."""
    began = time.perf_counter()
    total = 0
    for number in range(1000):
        total += number
    return time.perf_counter() - began
