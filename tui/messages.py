"""What panes tell the screen."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from tui.state import Corpus, TrainingOptions

if TYPE_CHECKING:
    from bpe_core.audit.findings import Finding


@dataclass
class CorpusChosen(Message):
    """The choice of texts changed."""

    corpus: Corpus


@dataclass
class TokenizerChosen(Message):
    """A kept tokenizer should take over the screen."""

    path: Path


@dataclass
class TokenizerDiscarded(Message):
    """A kept tokenizer should be deleted."""

    path: Path


@dataclass
class TrainRequested(Message):
    """Train on the chosen corpus."""

    options: TrainingOptions
    paused: bool = False
    """Wait before the first merge, so that it can be stepped into."""


@dataclass
class ControlRequested(Message):
    """Something for the running training: "run", "pause", "step N" or "stop"."""

    command: str


@dataclass
class StepRequested(Message):
    """Put the tokenizer as it was after this many merges in force."""

    step: int


@dataclass
class AuditRequested(Message):
    """Audit the tokenizer in force against the chosen corpus and reference."""


@dataclass
class AuditCancelled(Message):
    """Stop the running audit; what it found so far stays."""


@dataclass
class FindingOpened(Message):
    """Show where a finding comes from, and put an example of it into the editor."""

    finding: "Finding"


@dataclass
class TextRequested(Message):
    """Open this file in the editor."""

    path: Path
