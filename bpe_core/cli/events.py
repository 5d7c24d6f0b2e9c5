"""The events that a worker tells the app, in the order in which each command tells them; `wire` makes lines of them.

A training: `preparing`* `counting`* `skipped`* `counted` `preparing`* `started`
            (`state` | `merges` | `checkpoint`)* `saved` `done`.
A count:    `counting`* `skipped`* `counted` `done`.
A fetch:    `fetching`* `saved` `done`.
An audit:   `counting`* `skipped`* `counted` for the corpus, again for the reference, `auditing`* `measured`*
            `verdicts`* `done`.
A comparison, or measures: `skipped`* (`counting` | `comparedtexts`)* `compared` `done`.
A `why`:    `counting`* `skipped`* `counted` (`explained` `places`?)*, an answer to each question on stdin.
At any point instead: `failed`, and nothing after it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

from bpe_core.cli.result_events import (
    Compared,
    ComparedTexts,
    Explained,
    Measured,
    Places,
    Verdicts,
)

if TYPE_CHECKING:
    from bpe_core.trainer import Merge

Role = Literal["corpus", "reference"]
"""What a counted text is for: the corpus itself, or the reference an audit compares it with."""

Activity = Literal["counting", "preparing", "running", "paused"]
"""What a worker is doing."""


@dataclass(frozen=True, slots=True)
class Counting:
    """Files are being read and their pieces counted; sent at most every 50 ms."""

    done: int
    """Bytes on disk read so far."""
    total: int
    """Bytes on disk to read."""
    name: str
    """The file being read."""
    role: Role = "corpus"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file inside a chosen folder was left out."""

    path: str
    reason: str
    """A few words for a person, such as "binary"."""


@dataclass(frozen=True, slots=True)
class Counted:
    """All files have been read: how much text that was."""

    documents: int
    bytes: int
    """Of the texts in UTF-8."""
    characters: int
    """Code points."""
    pieces: int
    """Pieces, with repetition."""
    unique: int
    """Distinct pieces."""
    role: Role = "corpus"


@dataclass(frozen=True, slots=True)
class Preparing:
    """What comes before the first merge takes its time; sent at most every 50 ms, and not where it takes less."""

    done: int
    """Bytes of distinct pieces whose pairs are counted, or tokens whose merges are recovered."""
    total: int
    """Bytes of distinct pieces, or tokens."""
    name: str = "counting pairs"
    """What is being done, in a few words."""


@dataclass(frozen=True, slots=True)
class Started:
    """The trainer is ready for its first merge."""

    tokens: int
    """Tokens in the corpus before the first merge: bytes, and the ends of words where these are symbols."""
    merges: int
    """How many merges the vocabulary size asks for; fewer may be found."""
    known: int = 0
    """The first so many merges were made before, in the vocabulary that is extended or the run that is resumed: they
    are sent like the others, but not paced."""
    first_counts: list[int] = field(default_factory=list)
    """How often each of the 256 bytes occurs, by value, then the end-of-word marker: what a curve begins with."""
    n_bytes: int = 0
    """Bytes of the corpus, those of each text as many times as it weighs: what a ratio is measured against."""


@dataclass(frozen=True, slots=True)
class Merges:
    """A batch of merges in the order they were learned."""

    rows: list[list[Any]]
    """[step, left, right, token, token bytes in hex, count, ties, tokens in the corpus after it] each."""

    @classmethod
    def of(cls, merges: Iterable["Merge"]) -> Self:
        """The batch that carries these merges."""
        return cls(
            [[m.step, m.left, m.right, m.token, m.token_bytes.hex(), m.count, m.ties, m.n_tokens] for m in merges]
        )

    def merges(self) -> "list[Merge]":
        """The merges this batch carries."""
        from bpe_core.trainer import Merge

        return [
            Merge(step, left, right, token, bytes.fromhex(digits), count, ties, n_tokens)
            for step, left, right, token, digits, count, ties, n_tokens in self.rows
        ]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What was learned so far is on disk, in a tokenizer file; or why it is not."""

    path: str
    steps: int
    """Merges in the file; 0 if there is none yet."""
    problem: str = ""
    """A sentence that says why the newest merges could not be written; "" if they are."""


@dataclass(frozen=True, slots=True)
class Auditing:
    """A check of an audit is under way; sent at most every 50 ms."""

    done: int
    """Pieces or tokens checked so far."""
    total: int
    """Pieces or tokens to check."""
    name: str
    """The check, in a few words."""


@dataclass(frozen=True, slots=True)
class Fetching:
    """A file of a tokenizer is about to be downloaded."""

    done: int
    """Files downloaded so far."""
    total: int
    """Files to download."""
    name: str
    """The file being downloaded now."""


@dataclass(frozen=True, slots=True)
class State:
    """The worker changed what it is doing, or answers a command that changed nothing."""

    state: Activity
    reached: str = ""
    """For "paused": the condition that an "until" had named and that holds now."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The tokenizer is on disk, complete."""

    path: str


@dataclass(frozen=True, slots=True)
class Done:
    """The worker has finished; nothing follows."""

    reason: str
    """Why it ended, such as "vocabulary size reached" or "stopped"."""
    steps: int
    """Merges learned, findings made, or texts compared."""
    seconds: float
    """Since the worker began."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The worker could not do what it was asked; nothing follows, and it exits with 2."""

    message: str
    """One sentence for a person."""


Event = (
    Counting
    | Skipped
    | Counted
    | Preparing
    | Started
    | Merges
    | Fetching
    | State
    | Checkpoint
    | Saved
    | Auditing
    | Measured
    | Verdicts
    | ComparedTexts
    | Compared
    | Explained
    | Places
    | Done
    | Failed
)
