"""What a worker and whoever started it say to each other: immutable values, pickled as they are.

The first message to a worker is a request, whatever follows `Stop` or what that request understands. A worker
answers with events, in this order; at any point `Failed` may come instead, and nothing after it:

A training: WorkProgress* Skipped* Counted WorkProgress* Started (Merges | Checkpoint)* Saved Done
A count:    WorkProgress* Skipped* Counted Done
A fetch:    WorkProgress* Saved Done
An audit:   what a count sends, for the corpus and for the reference, WorkProgress* Measured* Verdicts* Done
Comparison: Skipped* (WorkProgress | ComparedTexts | ComparisonFound)* Done
Explaining: WorkProgress* Skipped* Counted (Explanation Places?)*, an answer to each question
"""

import pickle
from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple

from bpe_core.errors import BpeError
from bpe_core.tokenizer.training_record import TrainingRecord
from bpe_core.weighted import Count

Role = Literal[
    "corpus", "reference"
]  # the texts of a training or an audit, or those that an audit compares them with
Activity = Literal["counting", "preparing", "auditing", "comparing", "fetching"]


class Stop(NamedTuple):
    """To a worker: end, and keep all that there is."""


class WorkProgress(NamedTuple):
    """How far one part of the work has come, sent at most every 50 ms."""

    activity: Activity
    done: int  # bytes on disk where texts are read, else pieces, tokens or files
    total: int  # 0 where that is not known
    name: str = ""  # of the file, or of what is done
    role: Role = "corpus"


class Counted(NamedTuple):
    """All files have been read: bytes in UTF-8, code points, pieces with repetition and distinct ones (0: unknown).
    Of each file and folder that was named, the largest first, its name, its bytes, and these as often as they count."""

    documents: int
    bytes: int
    characters: int
    pieces: int
    unique: int
    role: Role = "corpus"
    sources: tuple[tuple[str, int, Count], ...] = ()


class Started(NamedTuple):
    """The trainer is ready for its first merge."""

    record: TrainingRecord  # but for what is learned
    merges: int  # asked for; fewer may be found
    known: int = 0  # made before, in the vocabulary that is extended or the run that is resumed: sent like the others


class Checkpoint(NamedTuple):
    """The newest merges are on disk; or `problem`, a sentence, is why they are not."""

    problem: str = ""


class Saved(NamedTuple):
    """The tokenizer is on disk, complete."""

    path: str


class Done(NamedTuple):
    """The worker has finished; nothing follows."""

    reason: str  # such as "vocabulary size reached" or "stopped"
    steps: int  # merges learned, findings made, or texts compared
    seconds: float  # since it began


class Failed(NamedTuple):
    """The worker could not do what it was asked, in one sentence; nothing follows, and it exits with 2."""

    message: str


Event = (
    Any  # one of the classes above, or what the module of a request defines beside it
)


_HEAD: Final = (
    4  # bytes before each message that say how long it is, the most significant first
)


def packed(message: object) -> bytes:
    """The message as it goes through a pipe: its length, and it pickled."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(_HEAD, "big") + data


def unpacked(unread: bytearray, portion: bytes) -> Iterator[Any]:
    """The messages that end in this portion of what comes through a pipe; what is left of it stays in `unread`.

    Only for what a process says that we started ourselves: unpickling may run code. Raises `BpeError` at what is none.
    """
    unread += portion
    while len(unread) >= (end := _HEAD + int.from_bytes(unread[:_HEAD], "big")):
        try:
            message = pickle.loads(unread[_HEAD:end])
        except Exception as error:  # whatever a broken pickle makes of our classes
            raise BpeError(
                f"Not a message of a worker: {bytes(unread[:40])!r} ({error})."
            ) from error
        del unread[:end]
        yield message
