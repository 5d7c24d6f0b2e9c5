"""The panes: where each one is on the screen, and which key leads to it."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Literal


@dataclass(frozen=True, slots=True)
class PaneEntry:
    """A pane before its class is imported."""

    id: str
    key: str  # the key that leads to it, as Textual calls it
    title: str
    shows: str  # what is in it, in a few words
    place: Literal["left", "upper", "side", "lower"]
    """Where it stands. Those of one place take turns; where there is no side, its panes take turns with the upper."""
    path: str  # the module and, after a colon, the class; imported when the first frame is on the screen

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
        "tokens that were never learned well",
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
"""In the order of their keys: all that the screen, its title, the keys, the palette and the help know of them."""
PANE_BY_ID: Final = {entry.id: entry for entry in PANES}
