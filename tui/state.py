"""What panes show: the values of the screen, frozen and replaced as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from bpe_core.visible import visible
from bpe_core.weighted import Measure

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.corpus.reading import Skipped, TextFile
    from bpe_core.explain.merge_choice import Explanation
    from bpe_core.explain.places import CorpusPlace
    from bpe_core.metrics import CurvePoint
    from bpe_core.metrics.comparison import ComparedText
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.worker.messages import Counted

PACES: Final = (
    160,
    80,
    40,
    20,
    10,
    5,
    0,
)  # seconds in which all merges are shown; 0: as soon as they are learned
USUAL_PACE: Final = 20
EDITORS_TEXT: Final = (
    "the editor's text"  # what it is called, and the file in which a worker gets it
)


class Arguments(NamedTuple):
    """What the command line asks to open. Nothing of it has been read."""

    paths: tuple[str, ...] = ()  # texts, folders and tokenizers
    tokenizers: tuple[str, ...] = ()  # given by -t: paths or names
    lesson: str = ""  # the name of one, or its path


NOTHING_ASKED: Final = Arguments()

# Texts


@dataclass(frozen=True, slots=True)
class TextSource:
    """A file or a folder that can be chosen, or a preset by its name, whose text lies in no file."""

    path: str
    title: str
    reason: str = ""  # what it is good for
    size: int | None = (
        None  # bytes on disk; None for a folder, whose size takes reading to know
    )
    is_folder: bool = False
    preset: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The texts that are chosen, and those that an audit compares them with."""

    paths: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    title: str = "nothing chosen"


@dataclass(frozen=True, slots=True)
class Totals:
    """What the chosen texts amount to, or why they could not be counted."""

    counted: Counted | None = None
    skipped: Sequence[
        Skipped
    ] = ()  # files in chosen folders that are not text, and rows
    error: str = ""


@dataclass(frozen=True, slots=True)
class PlaceInText:
    """A place in a text, to be shown in the editor: its line from 1, the characters before it there, its length."""

    path: str
    line: int
    column: int
    length: int
    way_back: str = (
        "F10 leads back to the comparison."  # how to come back to where one was
    )


# A training


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    vocab_size: int = 1024
    pattern: str = "gpt4"
    ties: str = "first"
    min_count: int = 1
    special_tokens: tuple[str, ...] = ()
    more: dict[str, str] = field(
        default_factory=dict
    )  # rare arguments of `bpescope train`, and what is typed for them
    weights: dict[str, str] = field(
        default_factory=dict
    )  # path -> how often its pieces count, as typed; else 1


@dataclass(frozen=True, slots=True)
class UnfinishedTraining:
    """A training that has begun: what is needed to go on with it after any end of the app."""

    title: str = ""
    options: TrainingOptions = field(default_factory=TrainingOptions)
    paths: tuple[str, ...] = ()
    preset: str = ""
    begin: str = ""  # the file of the vocabulary it began with; empty for the bytes
    begin_step: int = 0  # how many merges of that
    goal: str = ""  # what was to be so when it would wait, as `conditions.condition` reads it; empty: it was to go on


Phase = Literal[
    "idle", "counting", "preparing", "merging", "showing", "done", "stopped", "failed"
]


@dataclass(frozen=True, slots=True)
class Run:
    """How far the training is. Bytes are counted first, then merges are learned; those not seen yet are shown."""

    phase: Phase = "idle"
    done: int = 0
    total: int = 0
    rate: float = 0.0  # bytes or merges a second
    detail: str = ""  # the file being counted, or why the training ended
    asked: TrainingOptions | None = (
        None  # what was asked for; None as long as that is not known
    )

    @property
    def busy(self) -> bool:
        """Whether not all of it is learned, and shown."""
        return self.phase in ("counting", "preparing", "merging", "showing")

    @property
    def fraction(self) -> float:
        """Share of the present phase that is done, 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At the present rate; None while nothing can be said."""
        return (
            (self.total - self.done) / self.rate
            if self.rate > 0 and self.total > self.done
            else None
        )


@dataclass(frozen=True, slots=True, eq=False)
class RunCurve:
    """The curve of the kept training in the file `path`, to be drawn under that of the tokenizer on the screen."""

    path: str
    name: str  # safe to show
    n_bytes: float  # the size of its corpus
    points: Sequence[CurvePoint]


@dataclass(frozen=True, slots=True)
class StepExplained:
    """What is known of a step of the tokenizer on the screen beside what its merge log tells."""

    step: int = 0
    explanation: Explanation | None = (
        None  # why its merge was chosen, and the pairs after it
    )
    places: tuple[CorpusPlace, ...] | None = (
        None  # where its pair stands in the corpus; None while that is not known
    )
    waiting: str = ""  # what is being waited for, in a few words
    problem: str = ""  # why it cannot be known, in a sentence
    ties: str = ""  # the tie rule of the training; empty where that is not known


def pace_told(pace: int) -> str:
    """A pace as it is shown.

    >>> pace_told(20), pace_told(0)
    ('20 s', 'full')
    """
    return f"{pace} s" if pace else "full"


# Audit and comparison


@dataclass(frozen=True, slots=True)
class AuditInputs:
    """What an audit looks at beside the tokenizer."""

    texts: bool | None = (
        None  # whether to count in the chosen texts; None: if the tokenizer learned from them
    )
    embeddings: str = ""  # path of a model's embeddings; empty for none
    tensor: str = ""  # the tensor in that file; empty for the usual one


@dataclass(frozen=True, slots=True)
class Audit:
    """How far an audit is, and what the last one that came to its end says."""

    running: bool = False
    progress: str = ""
    inputs: AuditInputs = AuditInputs()  # what the next audit is to look at
    subject: str = ""
    """How much was found and what was looked at, or why it could not be done; empty before the first audit."""
    verdicts: Mapping[int, Verdict] = field(default_factory=dict, compare=False)
    """Id -> verdict, of the tokens with a finding, the most suspicious first; replaced at the end of an audit."""
    measures: Mapping[str, Mapping[int, Measure]] = field(
        default_factory=dict, compare=False
    )  # name -> id -> number


@dataclass(frozen=True, slots=True)
class TokenLines:
    """The lines of the chosen texts in which a token occurs that somebody wants to know of, as far as found."""

    token: int | None = None
    searched: bool = False  # whether there are texts to search
    running: bool = False
    progress: str = ""  # how far the search is, or why it could not be done
    found: tuple[
        tuple[TextFile, CorpusPlace], ...
    ] = ()  # one a line, with the text that it is in


@dataclass(frozen=True, slots=True)
class ComparisonRun:
    """How far a comparison of tokenizers is, and what it found; with a single one, what was measured of it."""

    running: bool = False
    progress: str = ""
    subject: str = ""  # what was compared on what, or why it could not be
    tokenizers: tuple[KnownTokenizer, ...] = ()
    """The first is the one that the others are compared with; how they split, where their files do not tell."""
    texts: Sequence[ComparedText] = field(default=(), compare=False)
    """So far, in the order they were encoded; more of them come with another text in `progress` or `subject`."""
    found: Mapping[str, Any] | None = field(default=None, compare=False)
    """As `compare --json`; while it runs, of the first texts."""


# Tokenizers and lanes


@dataclass(frozen=True, slots=True)
class Loaded:
    tokenizer: Tokenizer
    path: Path
    digest: str = ""  # SHA-256 of the file; empty for a folder, and for what was trained and then kept


@dataclass(frozen=True, slots=True)
class Opened:
    """A tokenizer from elsewhere as it was when it was opened last; remembered from one start to the next."""

    path: str = ""
    found_as: str = (
        ""  # the name under which another program keeps it; empty if none does
    )
    n_vocab: int = 0  # 0 where it was never read
    pattern: str = ""
    size: int = 0  # bytes of the file
    modified: int = 0  # when the file was changed last, in nanoseconds since 1970; 0 where it was never read


Trouble = Literal[
    "", "gone", "changed"
]  # what has become of a file since it was opened; empty if nothing has


@dataclass(frozen=True, slots=True)
class KnownTokenizer:
    """A tokenizer file that can be put in force: in the user's data folder, or found elsewhere on this computer."""

    path: str
    name: str  # what it is called in the list
    n_vocab: int  # 0 where that is not known without reading all of the file
    origin: Literal["trained", "opened", "found"] = (
        "trained"  # found: what another program keeps
    )
    found_as: str = ""  # the name under which another program keeps it
    pattern: str = ""
    """How it splits a text; empty where that is not known without reading all of the file, and where it does not."""
    modified: int = 0  # when the file was changed last, in nanoseconds since 1970; 0 where that is not known
    stopped: bool = False  # whether it is of a training that was stopped
    trouble: Trouble = ""


@dataclass(frozen=True, slots=True)
class LaneChoice:
    """Whose tokens a lane of the editor shows beside those of the first."""

    path: str = ""  # the file of a tokenizer; empty: the tokenizer on the screen, whichever that is
    step: int | None = (
        None  # how many of its merges are in force; None: all, also those yet to be learned
    )


@dataclass(frozen=True, slots=True)
class ShownLane:
    """A lane of the editor after the first, its tokenizer as of its step."""

    choice: LaneChoice
    tokenizer: Tokenizer

    def name(self, kept: Iterable[KnownTokenizer]) -> str:
        """That of its tokenizer among these, unless it is the one on the screen; its step, where that is fixed."""
        name = known_name(self.choice.path, kept) if self.choice.path else ""
        return name + (
            step_name(self.tokenizer)
            if self.choice.step is not None
            else ""
            if name
            else "@all"
        )


_USUAL: Final = frozenset(
    {
        "tokenizer",
        "tokenizer_config",
        "vocab",
        "merges",
        "tekken",
        "model",
        "spm",
        "ranks",
    }
)
"""Names that many files have; then that of their folder tells which it is."""


def name_of(path: Path) -> str:
    """What a tokenizer from elsewhere is called in the list.

    >>> name_of(Path("/models/qwen3/tokenizer.json")), name_of(Path("/models/mine.json"))
    ('qwen3/tokenizer', 'mine')
    """
    return (
        f"{path.parent.name}/{path.stem}"
        if path.stem in _USUAL and path.parent.name
        else path.stem
    )


def known_name(path: str, kept: Iterable[KnownTokenizer]) -> str:
    """What the tokenizer in a file is called: as these say, or else after its file; safe to show."""
    return visible(
        next((known.name for known in kept if known.path == path), "")
        or name_of(Path(path))
    )


def step_name(tokenizer: Tokenizer) -> str:
    """What tells a step of a tokenizer from another: its number, once its merges are recovered."""
    return f"@{tokenizer.step:,}" if tokenizer.vocabulary.knows_merges else "@…"


def steps_known(tokenizer: Tokenizer | None) -> int:
    """How many merges there are to travel through; 0 while those of a rank file are not recovered."""
    return (
        tokenizer.step
        if tokenizer is not None and tokenizer.vocabulary.knows_merges
        else 0
    )
