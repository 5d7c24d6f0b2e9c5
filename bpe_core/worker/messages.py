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
from array import array
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple, Self, overload

from bpe_core.errors import BpeError
from bpe_core.trainer import Merge

Role = Literal["corpus", "reference"]  # the texts of a training or an audit, or those that an audit compares them with
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
    """All files have been read: bytes in UTF-8, code points, pieces with repetition and distinct ones."""

    documents: int
    bytes: int
    characters: int
    pieces: int
    unique: int
    role: Role = "corpus"


class Started(NamedTuple):
    """The trainer is ready for its first merge."""

    tokens: int  # in the corpus: bytes, and the ends of words where these are symbols
    merges: int  # asked for; fewer may be found
    known: int = 0  # made before, in the vocabulary that is extended or the run that is resumed: sent like the others
    first_counts: tuple[int, ...] = ()  # of each of the 256 bytes, by value, then of the end-of-word marker
    n_bytes: int = 0  # of the corpus, those of each text as many times as it weighs


_FIELDS: Final = attrgetter("left", "right", "token", "token_bytes", "count", "ties", "n_tokens")


class Merges(Sequence[Merge]):
    """Merges of steps that follow one another, in columns that grow: as objects they would take many times as long to
    be sent, and the garbage collector would look through all of them again and again."""

    def __init__(self, merges: Sequence[Merge] = ()) -> None:
        self.first = merges[0].step if merges else 1
        left, right, token, data, *numbers = zip(*map(_FIELDS, merges), strict=True) if merges else ((),) * 7
        self.pairs = array("Q", left), array("Q", right), array("Q", token)
        self.token_bytes = list(data)
        self.counts, ties, self.n_tokens = map(list, numbers)  # amounts, which need be no whole numbers
        self.ties = array("Q", ties)
        self._lengths = dict[int, int]()

    def extend(self, merges: Self) -> None:
        """Add those of the steps behind these."""
        for column, more in zip(self._columns, merges._columns, strict=True):
            column.extend(more)

    @property
    def _columns(self) -> tuple[Any, ...]:
        return *self.pairs, self.token_bytes, self.counts, self.ties, self.n_tokens

    def length_of(self, token: int) -> int | None:
        """The bytes of a token that these merges make; None of others."""
        if (start := len(self._lengths)) < len(self):
            self._lengths.update(zip(self.pairs[2][start:], map(len, self.token_bytes[start:]), strict=True))
        return self._lengths.get(token)

    def __len__(self) -> int:
        return len(self.token_bytes)

    @overload
    def __getitem__(self, index: int) -> Merge: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Merge | Self:
        steps, columns = range(self.first, self.first + len(self))[index], (column[index] for column in self._columns)
        if isinstance(steps, int):
            return Merge(steps, *columns)
        part = type(self)()
        part.first = steps.start
        for column, some in zip(part._columns, columns, strict=True):
            column.extend(some)
        return part


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


Event = Any  # one of the classes above, or what the module of a request defines beside it


class WireError(BpeError, ValueError):
    """What came through a pipe is no message: cut short by a process that died, or written by something else."""


_HEAD: Final = 4  # bytes before each message that say how long it is, the most significant first


def packed(message: object) -> bytes:
    """The message as it goes through a pipe: its length, and it pickled."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(_HEAD, "big") + data


def unpacked(unread: bytearray, portion: bytes) -> Iterator[Any]:
    """The messages that end in this portion of what comes through a pipe; what is left of it stays in `unread`.

    Only for what a process says that we started ourselves: unpickling may run code. Raises `WireError` at what is none.
    """
    unread += portion
    while len(unread) >= (end := _HEAD + int.from_bytes(unread[:_HEAD], "big")):
        try:
            message = pickle.loads(unread[_HEAD:end])
        except Exception as error:  # whatever a broken pickle makes of our classes
            raise WireError(f"Not a message of a worker: {bytes(unread[:40])!r} ({error}).") from error
        del unread[:end]
        yield message
