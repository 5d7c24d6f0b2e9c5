"""AskPath: a question for a path, which Tab completes; and which paths are valid answers."""

import os
from collections.abc import Callable, Sequence
from heapq import nsmallest
from pathlib import Path
from textwrap import shorten
from typing import Final

from textual.suggester import Suggester
from textual.widgets import Input

from bpe_core.formats.file import holder_in
from bpe_core.whole_file import check_place
from tui.dialogs.ask import Ask
from tui.disk.sources import is_folder, is_there
from tui.terminal.background import in_thread

MOST: Final = 50
"""Completions of a path that are offered at most."""
_LEAST_ROOM: Final = 20
"""Characters of names that are listed even in a terminal that is too small."""


def existing_path(text: str) -> Path:
    """Return the absolute path of a file or folder, with the field that may follow it, as in `books.csv::title`."""
    path = _absolute(text)
    if not is_there(str(path)):
        raise ValueError(f"Not found: {path}. Correct the path.")
    return path


def existing_file(text: str) -> Path:
    """Return the absolute path of a file, or of a folder that holds a tokenizer. Raise ValueError if there is none."""
    path = existing_path(text)
    if not os.path.exists(path):
        raise ValueError(f"{path} ends in a field. Enter only the path of the file.")
    if os.path.isdir(path) and not holder_in(path):
        raise ValueError(f"{path} is a folder; type a file in it (Tab completes).")
    return path


def place_of_file(suffixes: Sequence[str], text: str) -> Path:
    """Return the absolute path of a file that can be written. Any suffix is valid if `suffixes` is empty."""
    path = _absolute(text)
    check_place(path)
    if suffixes and path.suffix not in suffixes:
        endings = " or ".join(suffixes)
        raise ValueError(f"{path.name} must end in {endings}; change the name.")
    return path


def _absolute(text: str) -> Path:
    # Not pathlib's expanduser, which raises an error if a name is too long or the user is unknown.
    return Path(os.path.expanduser(text.strip())).absolute()


class AskPath(Ask[Path]):
    """Asks for a path, and lists the names that can complete it. A leading ~ is the home folder."""

    SELECTS_REFUSED = False

    def __init__(
        self,
        question: str,
        start: str = "",
        *,
        parse: Callable[[str], Path] = existing_path,
    ) -> None:
        hint = "Tab completes, Enter to continue, Escape to cancel"
        super().__init__(question, parse, start, hint=hint, example="path")
        self._suggester = _PathSuggester(self._list_names)

    def _list_names(self, typed: str, paths: Sequence[str]) -> None:
        """List the names that fit, unless the text has changed since or its error is shown."""
        if not self.is_active or typed == self._refused:
            return
        if typed != self.query_one(Input).value:
            return
        names = []
        for path in paths:
            slash = "/" if path.endswith("/") else ""
            names.append(os.path.basename(path.rstrip("/")) + slash)
        hint_width = self.query_one(".dialog--hint").size.width
        room = max(_LEAST_ROOM, 2 * hint_width - 4)
        self.tell(shorten("  ".join(names), width=room) or self._hint)


class _PathSuggester(Suggester):
    """Suggests the first completion of a path, and passes all of them to `show`."""

    def __init__(self, show: Callable[[str, Sequence[str]], None]) -> None:
        # Without a cache, because files come and go.
        super().__init__(use_cache=False, case_sensitive=True)
        self._show = show

    async def get_suggestion(self, value: str) -> str | None:
        paths = await in_thread(completions, value)
        self._show(value, paths)
        return paths[0] if paths else None


def completions(typed: str) -> list[str]:
    """Return the first paths in the folder that begin with `typed`, with a slash after folders.

    Hidden files are left out unless their dot is typed, and so are names with control characters. A folder that cannot
    be read gives no completions.
    """
    if typed == "~":
        return ["~/"]
    folder, start = os.path.split(typed)
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:
            matching = [entry for entry in entries if _matches(entry.name, start)]
            paths = []
            for entry in nsmallest(MOST, matching, key=_alphabetical):
                slash = "/" if is_folder(entry) else ""
                paths.append(os.path.join(folder, entry.name + slash))
    except (OSError, ValueError):
        return []
    return [path for path in paths if path != typed]


def _matches(name: str, start: str) -> bool:
    if not start and name.startswith("."):
        return False
    return name.startswith(start) and name.isprintable()


def _alphabetical(entry: os.DirEntry[str]) -> tuple[str, str]:
    return entry.name.casefold(), entry.name
