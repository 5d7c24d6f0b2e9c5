"""Requests: what the panes and their widgets may ask for; the main screen has them, the features do them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from textual.widget import Widget

    from bpe_core.auditing.verdicts import Verdict
    from tui.disk.sources import TextSource
    from tui.drawing.token_rows import TokenRows
    from tui.state.training import Corpus


@dataclass(frozen=True, slots=True)
class PlaceInText:
    """A place in a text, to be shown in the editor."""

    path: str
    line: int
    """From 1."""
    column: int
    """Characters before it in the line."""
    length: int
    """Characters to be selected there."""
    way_back: str = "F10 leads back to the comparison."
    """How to come back to where one was."""


@dataclass(frozen=True, slots=True)
class Requests:
    """None of them waits: what takes its time, or asks the user, goes on beside the screen."""

    choose_corpus: Callable[[Corpus], None]
    choose_pattern: Callable[[str], None]
    """Of the next training: a name, or a regular expression."""
    ask_pattern: Callable[[], None]
    weigh: Callable[[str, str], None]
    """Ask how much a chosen text counts: its path, its title."""
    open_text: Callable[[TextSource], None]
    run_preset: Callable[[str, bool], None]
    """A founding example by its name; True: one of its merges, then wait."""
    use_tokenizer: Callable[[Path], None]
    discard_tokenizer: Callable[[Path], None]
    rename_tokenizer: Callable[[Path], None]
    change_pattern_of: Callable[[Path], None]
    check_tokenizer_files: Callable[[], None]
    """See what has become of the files in the list."""
    go_to: Callable[[int], None]
    """Put the tokenizer as it was after so many merges in force."""
    explain: Callable[[int], None]
    """Find out why the merge of this step was chosen."""
    open_token: Callable[[int, Verdict | None], None]
    """Show where a token comes from; what an audit says of it."""
    find_lines: Callable[[int], None]
    """Find the lines of the chosen texts in which a token occurs."""
    export_rows: Callable[[TokenRows, Sequence[int]], None]
    """Write the audit's rows, in this order, to a file."""
    try_text: Callable[[str, int | None], None]
    """Put a text into the editor, the cursor on a token of it."""
    open_place: Callable[[PlaceInText], None]
    save_picture: Callable[[str, str, str], None]
    """The picture, what it is in a few words, what its file may be called."""


class _Desk(Protocol):
    requests: Requests


def requests(widget: Widget) -> Requests:
    """Those of the screen that a widget is on."""
    return cast("_Desk", widget.screen).requests
