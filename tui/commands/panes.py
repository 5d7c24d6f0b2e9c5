"""The list of panes: their keys, titles and places on the screen."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Literal


@dataclass(frozen=True, slots=True)
class PaneEntry:
    """The description of a pane, whose class is imported later."""

    id: str
    key: str
    """The key that leads to it, as Textual names it."""
    title: str
    shows: str
    """A short description of its content."""
    place: Literal["left", "upper", "side", "lower"]
    """Its place on the screen. Panes of one place take turns. Without room for "side", they share "upper"."""
    path: str
    """The module and, after a colon, the class. It is imported after the first frame."""

    def load(self) -> Any:
        module, _, name = self.path.partition(":")
        return getattr(import_module(module), name)


PANES: Final = (
    PaneEntry(
        "corpus",
        "f2",
        "Corpus",
        "choose texts, see them split",
        "left",
        "tui.panes.corpus:CorpusPane",
    ),
    PaneEntry(
        "training",
        "f3",
        "Training",
        "vocabulary, merge log, curve",
        "upper",
        "tui.panes.training:TrainingPane",
    ),
    PaneEntry(
        "editor",
        "f4",
        "Editor",
        "type among the tokens",
        "lower",
        "tui.panes.editor:EditorPane",
    ),
    PaneEntry(
        "audit",
        "f5",
        "Audit",
        "suspicious tokens, such as undertrained ones",
        "side",
        "tui.panes.audit:AuditPane",
    ),
    PaneEntry(
        "compare",
        "f10",
        "Compare",
        "tokenizers on the same texts",
        "side",
        "tui.panes.compare:ComparePane",
    ),
)
"""All panes, in the order of their keys."""
PANE_BY_ID: Final = {entry.id: entry for entry in PANES}
