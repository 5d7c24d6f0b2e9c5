"""The messages between a worker and the process that started it: immutable values, sent as pickles.

The first message to a worker is a request. Later ones are `Stop`, and the messages that this
request understands. A worker answers with events in this order. `Failed` may come at any point, and
is then the last one:

A training run: WorkProgress* Skipped* Counted WorkProgress* Started (Merges | Checkpoint)* Saved Done
A count:    WorkProgress* Skipped* Counted Done
A fetch:    WorkProgress* Saved Done
An audit:   the events of a count, for the corpus and for the reference,
            WorkProgress* Measured* Distribution? Verdicts* Done
Comparison: Skipped* (WorkProgress | ComparedTexts | SampledText | ComparisonFound | DifferenceFound)* Done
Explaining: WorkProgress* Skipped* Counted (Explanation Places?)*, an answer to each question
"""

import pickle
from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple

from bpe_core.errors import BpeError
from bpe_core.tokenizer.training_record import TrainingRecord
from bpe_core.weighted import Count

Role = Literal["corpus", "reference"]
"""The role of texts: the corpus of a training run or an audit, or the reference texts of an audit."""
Activity = Literal[
    "counting", "preparing", "auditing", "comparing", "deciding", "fetching"
]
_HEAD: Final = 4
"""Bytes before each message that hold its length, the most significant first."""


class Stop(NamedTuple):
    """Asks a worker to end, and to keep everything it has so far."""


class WorkProgress(NamedTuple):
    """The progress of one part of the work, sent at most every 50 ms."""

    activity: Activity
    done: int  # bytes on disk while texts are read, otherwise pieces, tokens or files
    total: int  # 0 if it is unknown
    name: str = ""  # of the file or of the step
    role: Role = "corpus"

    @property
    def share(self) -> float:
        """The finished share, from 0 to 1; 1 if the total is unknown."""
        if not self.total:
            return 1.0
        return self.done / self.total


class Counted(NamedTuple):
    """Reports that all files have been read."""

    documents: int
    bytes: int  # bytes in UTF-8
    characters: int  # code points
    pieces: int  # pieces with repetition; 0 if the number is unknown
    unique: int  # distinct pieces; 0 if the number is unknown
    role: Role = "corpus"
    sources: tuple[tuple[str, int, Count], ...] = ()
    """(name, bytes, bytes times weight) of each file and folder that was named."""


class Started(NamedTuple):
    """Reports that the trainer is ready for its first merge."""

    record: TrainingRecord  # the record of the training, still without its steps
    merges: int  # how many merges the vocabulary size needs; the texts may have fewer
    known: int = 0
    """How many merges come from an extended vocabulary or a resumed run. They are sent like new merges."""


class Checkpoint(NamedTuple):
    """Reports that the newest merges were saved, or in `problem`, a sentence, why they were not."""

    problem: str = ""


class Saved(NamedTuple):
    """Reports that the complete tokenizer is on disk."""

    path: str


class Done(NamedTuple):
    """Reports that the worker has finished. This is the last event."""

    reason: str  # such as "vocabulary size reached" or "stopped"
    steps: int  # the number of merges learned, findings made, or texts compared
    seconds: float  # how long the work took


class Failed(NamedTuple):
    """Reports that the request failed. This is the last event: the worker exits with code 2."""

    message: str  # the reason, in one sentence


Event = Any
"""One of the classes above, or an event that the module of a request defines."""


def packed(message: object) -> bytes:
    """Return a message as bytes for a pipe: its length, then its pickle."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(_HEAD, "big") + data


def unpacked(unread: bytearray, data: bytes) -> Iterator[Any]:
    """Append data from a pipe to `unread`, and yield and remove the messages that are complete.

    Raises `BpeError` for invalid data. Read only processes of our own: a pickle can run any code.
    """
    unread += data
    while True:
        end = _HEAD + int.from_bytes(unread[:_HEAD], "big")
        if len(unread) < end:
            return
        try:
            message = pickle.loads(unread[_HEAD:end])
        except Exception as error:  # of any type: unpickling calls our classes
            raise BpeError(
                f"Not a message of a worker: {bytes(unread[:40])!r} ({error})."
            ) from error
        del unread[:end]
        yield message
