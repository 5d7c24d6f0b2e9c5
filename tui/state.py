"""The values that the panes show, as frozen records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from bpe_core.visible import visible
from bpe_core.weighted import Measure

if TYPE_CHECKING:
    from bpe_core.auditing.distribution import Distribution
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.corpus.reading import Skipped, TextFile
    from bpe_core.difference import Witness
    from bpe_core.explain.merge_choice import Explanation
    from bpe_core.explain.places import CorpusPlace
    from bpe_core.metrics import CurvePoint
    from bpe_core.metrics.comparison import ComparedText
    from bpe_core.metrics.disagreements import TextPlace
    from bpe_core.metrics.sampled import SampledText
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.worker.differences import DifferenceFound
    from bpe_core.worker.messages import Counted

PACES: Final = (160, 80, 40, 20, 10, 5, 0)
"""Seconds in which all merges are shown, to choose from; 0 shows them without delay."""
USUAL_PACE: Final = 20
EDITORS_TEXT: Final = "the editor's text"
"""The name of the editor's text on the screen, and of the file that a worker reads it from."""
CHOSEN_TEXTS: Final = "chosen texts"
SECTIONS: Final = "text sections"
IN_EDITOR: Final = "editor's text"
"""The texts that tokenizers can be compared on, as the compare pane names them."""
LETTERS: Final = "ABCD"
"""The names of compared tokenizers, in their order."""


class Arguments(NamedTuple):
    """What to open, from the command line; nothing has been read yet."""

    paths: tuple[str, ...] = ()
    """Texts, folders and tokenizers."""
    tokenizers: tuple[str, ...] = ()
    """Paths or names given by -t."""
    lesson: str = ""
    """The name or path of a lesson."""


NOTHING_ASKED: Final = Arguments()

# Texts


@dataclass(frozen=True, slots=True)
class TextSource:
    """A file, folder or preset that can be chosen. The text of a preset is not in a file."""

    path: str
    title: str
    reason: str = ""
    """The purpose of the text."""
    size: int | None = None
    """Bytes on the disk; None for a folder, which would have to be read."""
    is_folder: bool = False
    preset: str = ""
    """The name of a preset; "" for a file or folder."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The paths of the chosen texts, and of the texts that an audit compares them with."""

    paths: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    title: str = "nothing chosen"


@dataclass(frozen=True, slots=True)
class Totals:
    """The size of the chosen texts, or the reason why they could not be counted."""

    counted: Counted | None = None
    skipped: Sequence[Skipped] = ()
    """Files in the chosen folders that are not text, and rows that could not be read."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class PlaceInText:
    """A place in a text to show in the editor."""

    path: str
    line: int
    """Counted from 1."""
    column: int
    """The number of characters before the place on its line."""
    length: int
    way_back: str = "F10 goes back to the comparison."
    """A sentence on how to return to the pane that opened the place."""


# A training


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    vocab_size: int = 1024
    pattern: str = "gpt4"
    ties: str = "first"
    min_count: int = 2
    special_tokens: tuple[str, ...] = ()
    more: dict[str, str] = field(default_factory=dict)
    """Further option of `bpescope train` -> its value as typed."""
    weights: dict[str, str] = field(default_factory=dict)
    """Path of a text -> how many times it counts, as typed; 1 if it is missing."""


@dataclass(frozen=True, slots=True)
class UnfinishedTraining:
    """A training that has begun: the data to resume it after the app has ended in any way."""

    title: str = ""
    options: TrainingOptions = field(default_factory=TrainingOptions)
    paths: tuple[str, ...] = ()
    preset: str = ""
    begin: str = ""
    """The file of the vocabulary that the training started from; "" for the bytes."""
    begin_step: int = 0
    """How many merges of that vocabulary it started with."""
    goal: str = ""
    """The condition to pause at, as `conditions.condition` reads it; "" for no pause."""


Phase = Literal[
    "idle", "counting", "preparing", "merging", "showing", "done", "stopped", "failed"
]


@dataclass(frozen=True, slots=True)
class Run:
    """The progress of the training: it counts pre-tokens, then learns merges, then shows the rest of them."""

    phase: Phase = "idle"
    done: int = 0
    total: int = 0
    rate: float = 0.0
    """Bytes or merges per second."""
    detail: str = ""
    """The file that is being counted, or the reason why the training ended."""
    asked: TrainingOptions | None = None
    """The options of the training; None while they are not known."""

    @property
    def busy(self) -> bool:
        """Whether some merges have not been learned or shown yet."""
        return self.phase in ("counting", "preparing", "merging", "showing")

    @property
    def fraction(self) -> float:
        """The finished share of the current phase, from 0 to 1."""
        if not self.total:
            return 0.0
        return min(1.0, self.done / self.total)

    @property
    def seconds_left(self) -> float | None:
        """The time left in the current phase at the current rate; None if it is unknown."""
        if self.rate <= 0 or self.total <= self.done:
            return None
        return (self.total - self.done) / self.rate


@dataclass(frozen=True, slots=True, eq=False)
class RunCurve:
    """The curve of an earlier training, drawn under the curve of the tokenizer on the screen."""

    path: str
    """The file of the earlier training."""
    name: str
    """Its name, without control characters."""
    n_bytes: float
    """The size of its corpus."""
    points: Sequence[CurvePoint]


@dataclass(frozen=True, slots=True)
class StepExplained:
    """The explanation of a step, in addition to the merge log."""

    step: int = 0
    explanation: Explanation | None = None
    """Why the merge was chosen, and the next most frequent pairs."""
    places: tuple[CorpusPlace, ...] | None = None
    """Where the pair occurs in the corpus; None while that is unknown."""
    waiting: str = ""
    """The work that is being waited for, in a few words."""
    problem: str = ""
    """A sentence on why the step cannot be explained."""
    ties: str = ""
    """The tie rule of the training; "" if it is unknown."""


def pace_told(pace: int) -> str:
    """Return a pace as the screen shows it.

    >>> pace_told(20), pace_told(0)
    ('20 s', 'full')
    """
    if pace == 0:
        return "full"
    return f"{pace} s"


# Audit and comparison


@dataclass(frozen=True, slots=True)
class AuditInputs:
    """The inputs of an audit in addition to the tokenizer."""

    texts: bool | None = None
    """Whether to count tokens in the chosen texts; None counts if the tokenizer learned from them."""
    embeddings: str = ""
    """The path of a model's embeddings; "" for none."""
    tensor: str = ""
    """The name of the tensor in that file; "" for the usual one."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The progress of an audit, and the results of the last finished one."""

    running: bool = False
    progress: str = ""
    inputs: AuditInputs = AuditInputs()
    """The inputs of the next audit."""
    subject: str = ""
    """What was found in what, or why the audit failed; "" before the first audit."""
    verdicts: Mapping[int, Verdict] = field(default_factory=dict, compare=False)
    """Id -> verdict of the tokens with a finding, most suspicious first; replaced after each audit."""
    measures: Mapping[str, Mapping[int, Measure]] = field(
        default_factory=dict, compare=False
    )
    """Name of a measure -> id -> its value."""
    distribution: Distribution | None = None
    """The distribution of the measure "indicator"."""


@dataclass(frozen=True, slots=True)
class TokenLines:
    """The lines of the chosen texts with a token, those found so far."""

    token: int | None = None
    searched: bool = False
    """Whether texts are chosen to search in."""
    running: bool = False
    progress: str = ""
    """How far the search is, or why it failed."""
    found: tuple[tuple[TextFile, CorpusPlace], ...] = ()
    """One place per line, with the text that it is in."""


@dataclass(frozen=True, slots=True)
class ComparisonRun:
    """The progress and results of a comparison of tokenizers, or of the measurement of a single one."""

    running: bool = False
    progress: str = ""
    subject: str = ""
    """What was compared on which texts, or why the comparison failed."""
    tokenizers: tuple[KnownTokenizer, ...] = ()
    """The others are compared with the first; each has its split pattern, also if its file has none."""
    texts: Sequence[ComparedText] = field(default=(), compare=False)
    """The finished texts. Equality ignores them: when they grow, `progress` or `subject` changes, too."""
    found: Mapping[str, Any] | None = field(default=None, compare=False)
    """The results as in `compare --json`; of the first texts while the comparison runs."""
    samples: Mapping[int, SampledText] = field(default_factory=dict, compare=False)
    """The beginnings of the first texts, by the index of the text."""
    texts_from: str = ""
    """`CHOSEN_TEXTS`, `SECTIONS` or `IN_EDITOR`; "" before the first comparison."""
    text: str = field(default="", compare=False)
    """The editor's text at the start, if it is compared."""
    half: int = 0
    """How many merges of the first tokenizer the second one has, which is its beginning; 0 if it is another one."""
    differences: Mapping[int, DifferenceFound] = field(default_factory=dict)
    """What is known of the difference between the first tokenizer and another one, by the index of the other."""

    def place_in_file(self, place: TextPlace, length: int = 0) -> PlaceInText | None:
        """Return a place in one of the texts; None if the text is in no file."""
        path = self.texts[place.text].path
        if not path:
            return None
        return PlaceInText(path, place.line, place.column, length)

    @property
    def is_decided(self) -> bool:
        """Whether it is known of each tokenizer after the first if it is the same as the first."""
        verdicts = [found.difference.verdict for found in self.differences.values()]
        return len(verdicts) == len(self.tokenizers) - 1 and "unknown" not in verdicts

    @property
    def headings(self) -> list[str]:
        """The name of each tokenizer, after its letter if there are several."""
        names = [visible(tokenizer.name) for tokenizer in self.tokenizers]
        if len(names) == 1:
            return names
        return [
            f"{letter} {name}" for letter, name in zip(LETTERS, names, strict=False)
        ]


class PairWitness(NamedTuple):
    """A text that the first of the compared tokenizers and another one encode differently."""

    other: int
    """The index of the other tokenizer."""
    witness: Witness


# Tokenizers and lanes


@dataclass(frozen=True, slots=True)
class Loaded:
    tokenizer: Tokenizer
    path: Path
    digest: str = ""
    """The SHA-256 of the file; "" for a folder, and for a tokenizer that was just trained."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A tokenizer from elsewhere, in the state of its last opening; restored at the next start."""

    path: str = ""
    found_as: str = ""
    """Its name in the cache of another program; "" if it is not in one."""
    n_vocab: int = 0
    """The vocabulary size; 0 if the file was never read."""
    pattern: str = ""
    size: int = 0
    """Bytes of the file."""
    modified: int = 0
    """When the file was last changed, in nanoseconds since 1970; 0 if it was never read."""


Trouble = Literal["", "gone", "changed"]
"""What has happened to a file since it was opened; "" if nothing has."""


@dataclass(frozen=True, slots=True)
class KnownTokenizer:
    """A tokenizer file in the app's list."""

    path: str
    name: str
    """Its name in the list."""
    n_vocab: int
    """The vocabulary size; 0 if the whole file would have to be read for it."""
    origin: Literal["trained", "opened", "found"] = "trained"
    """Trained here, opened from elsewhere, or found in the cache of another program."""
    found_as: str = ""
    """Its name in the cache of another program."""
    pattern: str = ""
    """The split pattern; "" if the whole file would have to be read for it, or if there is none."""
    modified: int = 0
    """When the file was last changed, in nanoseconds since 1970; 0 if that is unknown."""
    stopped: bool = False
    """Whether its training was stopped early."""
    trouble: Trouble = ""


@dataclass(frozen=True, slots=True)
class EditorPlace:
    """The cursor of the editor, and the part of the text in view. Characters are counted from 0."""

    cursor: int = 0
    """The character under the cursor."""
    top: int = 0
    """The first character in view, whatever the width of the screen."""
    left: int = 0
    """Cells scrolled to the right, above 0 only if lines are not wrapped."""
    is_cursor_in_view: bool = True


@dataclass(frozen=True, slots=True)
class LaneChoice:
    """The tokenizer of a lane of the editor."""

    path: str = ""
    """The file of the tokenizer; "" for the tokenizer on the screen."""
    step: int | None = None
    """How many of its merges apply; None for all, including those still to be learned."""


@dataclass(frozen=True, slots=True)
class ShownLane:
    """A lane of the editor after the first, with its tokenizer at its step."""

    choice: LaneChoice
    tokenizer: Tokenizer

    def name(self, kept: Iterable[KnownTokenizer]) -> str:
        """Return the lane's title: the tokenizer's name, unless it is on the screen, and a fixed step."""
        choice = self.choice
        name = ""
        if choice.path:
            name = known_name(choice.path, kept)
        if choice.step is not None:
            return name + step_name(self.tokenizer)
        return name or "@all"


_COMMON_NAMES: Final = frozenset(
    [
        "tokenizer",
        "tokenizer_config",
        "vocab",
        "merges",
        "tekken",
        "model",
        "spm",
        "ranks",
    ]
)
"""Names of many tokenizer files; the name of the folder distinguishes them."""


def name_of(path: Path) -> str:
    """Return the name of a tokenizer from elsewhere in the list.

    >>> name_of(Path("/models/qwen3/tokenizer.json")), name_of(Path("/models/mine.json"))
    ('qwen3/tokenizer', 'mine')
    """
    if path.stem in _COMMON_NAMES and path.parent.name:
        return f"{path.parent.name}/{path.stem}"
    return path.stem


def known_name(path: str, kept: Iterable[KnownTokenizer]) -> str:
    """Return the name of a tokenizer in the list `kept`, else of its file, without control characters."""
    for known in kept:
        if known.path == path and known.name:
            return visible(known.name)
    return visible(name_of(Path(path)))


def step_name(tokenizer: Tokenizer) -> str:
    """Return "@" and the number of the step, or "@…" while the merges are being recovered."""
    if not tokenizer.vocabulary.knows_merges:
        return "@…"
    return f"@{tokenizer.step:,}"


def steps_known(tokenizer: Tokenizer | None) -> int:
    """Return how many merges the user can step through; 0 until those of a rank file are recovered."""
    if tokenizer is None or not tokenizer.vocabulary.knows_merges:
        return 0
    return tokenizer.step
