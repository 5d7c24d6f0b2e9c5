"""The values of a training: what is chosen for it, how far it is, and why each of its merges was made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_core.explain.merge_choice import Explanation
    from bpe_core.explain.places import CorpusPlace
    from bpe_core.metrics.training_curve import CurvePoint

Phase = Literal["idle", "counting", "preparing", "merging", "paused", "done", "stopped", "failed"]
BUSY: Final[frozenset[Phase]] = frozenset({"counting", "preparing", "merging", "paused"})
"""The phases in which a worker process is alive."""
PACES: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 0)
"""How many merges a second can be asked for; 0 is as many as the machine can make."""


def pace_told(pace: int) -> str:
    """A pace as it is shown.

    >>> pace_told(1000), pace_told(0)
    ('1,000/s', 'full')
    """
    return f"{pace:,}/s" if pace else "full"


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """What a training is asked for."""

    vocab_size: int = 1024
    pattern: str = "gpt4"
    ties: str = "first"
    min_count: int = 1
    special_tokens: tuple[str, ...] = ()
    more: dict[str, str] = field(default_factory=dict)
    """What is rarely asked for: arguments of `bpescope train` without their dashes, and what is typed for them."""
    weights: dict[str, str] = field(default_factory=dict)
    """Path of a text or folder -> how many times each piece of it counts, as typed; 1 for all others."""


@dataclass(frozen=True, slots=True)
class UnfinishedTraining:
    """A training that has begun: what is needed to go on with it after any end of the app."""

    title: str = ""
    options: TrainingOptions = field(default_factory=TrainingOptions)
    paths: tuple[str, ...] = ()
    preset: str = ""
    begin: str = ""
    """The file of the vocabulary it began with; empty for the bytes."""
    begin_step: int = 0
    """How many merges of that."""
    goal: str = ""
    """What was to be so when it would wait next, as `conditions.condition` reads it; empty: it was to go on."""
    paused: bool = False
    """Whether it waited for the user."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The texts that are chosen."""

    paths: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    """Texts an audit compares the corpus with."""
    title: str = "nothing chosen"


@dataclass(frozen=True, slots=True)
class Run:
    """How far the training is."""

    phase: Phase = "idle"
    done: int = 0
    """Bytes counted so far, or merges learned so far."""
    total: int = 0
    """Bytes to count, or merges wanted."""
    rate: float = 0.0
    """Bytes or merges a second."""
    detail: str = ""
    """The file being counted, or why the training ended."""
    asked: TrainingOptions | None = None
    """What was asked for; None as long as that is not known."""
    goal: str = ""
    """What is to be so when it waits next; empty where it goes on to its end."""
    pausing: bool = False
    """Whether it was told to wait, and has not said yet that it does."""
    tokens_at_start: int = 0
    """Length of the corpus in single bytes: what every ratio is measured against."""
    first_counts: tuple[int, ...] = ()
    """How often each byte occurs in it, by value, then the end-of-word marker: what a curve begins with."""

    @property
    def busy(self) -> bool:
        """Whether a worker process is alive."""
        return self.phase in BUSY

    @property
    def fraction(self) -> float:
        """Share of the present phase that is done, 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At the present rate; None while nothing can be said."""
        return (self.total - self.done) / self.rate if self.rate > 0 and self.total > self.done else None


@dataclass(frozen=True, slots=True, eq=False)
class RunCurve:
    """The curve of a kept training, to be drawn under that of the tokenizer on the screen."""

    path: str
    """The file of its tokenizer."""
    name: str
    """What it is called; safe to show."""
    n_bytes: int
    """The size of its corpus."""
    points: Sequence[CurvePoint]


@dataclass(frozen=True, slots=True)
class StepExplained:
    """What is known of a step of the tokenizer on the screen beside what its merge log tells."""

    step: int = 0
    explanation: Explanation | None = None
    """Why its merge was chosen, and the pairs after it; None while that is not known."""
    places: tuple[CorpusPlace, ...] | None = None
    """Where its pair stands in the corpus; None while that is not known."""
    waiting: str = ""
    """What is being waited for, in a few words."""
    problem: str = ""
    """Why it cannot be known, in a sentence."""
    ties: str = ""
    """The tie rule of the training."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What the chosen texts amount to."""

    documents: int = 0
    bytes: int = 0
    characters: int = 0
    pieces: int = 0
    unique: int = 0
    """Different pieces."""
    skipped: int = 0
    """Files in chosen folders that are not text."""
    error: str = ""
    """Why they could not be counted."""
