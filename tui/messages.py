"""What panes tell the screen."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from tui.state.training import Corpus

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from tui.disk.sources import TextSource
    from tui.drawing.token_rows import TokenRows


@dataclass
class CorpusChosen(Message):
    """The choice of texts changed."""

    corpus: Corpus


@dataclass
class WeightWanted(Message):
    """A chosen text, or folder, should count more or less than once."""

    path: str
    title: str


@dataclass
class TokenizerChosen(Message):
    """A kept tokenizer should take over the screen."""

    path: Path


@dataclass
class TokenizerDiscarded(Message):
    """A tokenizer of the list should be deleted, or one from elsewhere taken off the list."""

    path: Path


@dataclass
class RenameWanted(Message):
    """A tokenizer should have another name in the list."""

    path: Path


@dataclass
class PatternOfTokenizerWanted(Message):
    """The split pattern of a tokenizer should be shown, and may be changed."""

    path: Path


@dataclass
class TokenizersWatched(Message):
    """Somebody looks at the list of tokenizers: what has become of their files?"""


@dataclass
class PresetChosen(Message):
    """A founding example should be run."""

    name: str
    stepping: bool = False
    """One merge, then wait."""


@dataclass
class TextWanted(Message):
    """A text should be opened in the editor."""

    source: "TextSource"


@dataclass
class PatternChosen(Message):
    """Another split pattern was chosen: a name, or a regular expression."""

    pattern: str


@dataclass
class PatternWanted(Message):
    """A split pattern that is not in the list should be asked for."""


@dataclass
class PictureMade(Message):
    """A picture of the editor's text should be saved."""

    picture: str
    what: str
    """What it is, in a few words."""
    name: str
    """What its file may be called."""


@dataclass
class StepRequested(Message):
    """Put the tokenizer as it was after this many merges in force."""

    step: int

    def can_replace(self, message: Message) -> bool:
        """Only the newest choice counts."""
        return isinstance(message, StepRequested)


@dataclass
class PlaceOpened(Message):
    """A place in a text should be shown in the editor."""

    path: str
    line: int
    """From 1."""
    column: int
    """Characters before it in the line."""
    length: int
    """Characters to be selected there."""
    way_back: str = "F10 leads back to the comparison."
    """How to come back to where one was."""


@dataclass
class ExplanationWanted(Message):
    """Why the merge of this step was chosen, and the pairs after it, should be found out."""

    step: int

    def can_replace(self, message: Message) -> bool:
        """Only the newest choice counts."""
        return isinstance(message, ExplanationWanted)


@dataclass
class TokenOpened(Message):
    """Show where a token comes from, and put an example of it into the editor."""

    token: int
    verdict: "Verdict | None" = None
    """What an audit says of it."""


@dataclass
class RowsWanted(Message):
    """The rows that the audit shows should be written to a file."""

    rows: "TokenRows"
    order: Sequence[int]


@dataclass
class LinesWanted(Message):
    """The lines of the chosen texts in which a token occurs should be found."""

    token: int


@dataclass
class TextTried(Message):
    """A text should be put into the editor, the cursor on a token of it."""

    text: str
    token: int | None = None
