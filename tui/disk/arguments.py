"""Find out which arguments of the command line are texts and which are tokenizers."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from bpe_core import hub
from bpe_core.corpus.recognition import HEAD, form_of
from bpe_core.errors import BpeError, FormatError
from bpe_core.formats import why_no_tokenizer
from bpe_core.formats.file import tokenizer_at
from bpe_core.visible import quoted
from tui.disk import config
from tui.disk.sources import check_readable
from tui.disk.tokenizer_files import kept_tokenizers, listed
from tui.state import KnownTokenizer


class SortedArguments(NamedTuple):
    """The arguments of the command line, sorted by their kind."""

    texts: tuple[str, ...]
    """Readable files and folders, and URLs."""
    tokenizers: tuple[str, ...]
    """Paths of tokenizer files; those named by -t come last."""
    doubts: tuple[str, ...]
    """A sentence for each argument that the user may have meant differently."""
    errors: tuple[str, ...]
    """A sentence for each argument that cannot be used."""


class Recognition:
    """Finds out which arguments are texts and which are tokenizers. It runs in a thread."""

    def __init__(self, paths: Iterable[str], names: Iterable[str]) -> None:
        self._paths = tuple(dict.fromkeys(paths))
        self.names = tuple(dict.fromkeys(names))
        self.current = ""
        """The argument that is being read now, for the screen to show."""
        self.is_slow = False
        """Whether the user has to wait; the screen sets it."""
        self._texts: list[str] = []
        self._tokenizers: list[str] = []
        self._doubts: list[str] = []
        self._errors: list[str] = []

    def run(self) -> SortedArguments:
        """Read one argument after the other, and collect an error for each that cannot be used."""
        for path in self._paths:
            self._attempt(self._recognize, path)
        for name in self.names:
            self._attempt(self._locate, name)
        return SortedArguments(
            texts=tuple(self._texts),
            tokenizers=tuple(self._tokenizers),
            doubts=tuple(self._doubts),
            errors=tuple(self._errors),
        )

    def _attempt(self, read: Callable[[str], None], argument: str) -> None:
        self.current = argument
        try:
            read(argument)
        except BpeError as error:
            self._errors.append(str(error))

    def _recognize(self, path: str) -> None:
        problem = _why_no_tokenizer(path)
        if problem is None:
            self._tokenizers.append(str(tokenizer_at(Path(path))))
            if os.path.isdir(path):
                self._doubts.append(
                    f"{path} holds a tokenizer, so it was opened; to train on its texts, mark it (F2)."
                )
            return
        check_readable(path)
        self._texts.append(path)
        if problem:
            self._doubts.append(f"{problem} It was added to the corpus as a text.")

    def _locate(self, name: str) -> None:
        self._tokenizers.append(located(name))


def _why_no_tokenizer(path: str) -> str | None:
    """Return None for a tokenizer, "" for a text, or a sentence on a broken tokenizer.

    This is `bpe_core.formats.why_no_tokenizer`, except that files of rows such as JSON Lines are texts:
    their first row may look like a vocabulary.
    """
    if "://" in path:
        return ""
    head = b""
    with suppress(OSError, ValueError), open(path, "rb") as file:
        head = file.read(HEAD)
    if form_of(head, path):
        return ""
    return why_no_tokenizer(path)


def located(name: str) -> str:
    """Return the absolute path of a tokenizer by its path, its name in the list or its published name.

    Download a published tokenizer unless a cache holds it. Raise `BpeError` for an unknown name.
    """
    known_path = None
    if not os.path.exists(name):
        known_path = named_in_list(name)
    found = known_path or hub.located(name)
    path = os.path.abspath(tokenizer_at(Path(found)))
    if not os.path.exists(path):
        raise _unknown(name)
    return path


def check_name(name: str) -> None:
    """Raise `FormatError` if no tokenizer can have this name, in the list or published."""
    if not hub.is_name(name) and named_in_list(name) is None:
        raise _unknown(name)


def _unknown(name: str) -> FormatError:
    return FormatError(
        f"Unknown tokenizer {quoted(name, 200)}; give the path of a file, or a name such as gpt-4o."
    )


def named_in_list(name: str) -> Path | None:
    """Return the file of the tokenizer that the app's list calls `name`, or None.

    Raise `FormatError` if several have this name.
    """
    remembered = config.load_configuration()
    trained: tuple[KnownTokenizer, ...] = ()
    with suppress(OSError):
        trained = kept_tokenizers(config.tokenizers_folder())
    known = listed(
        trained,
        found=(),
        opened=remembered.opened,
        names=remembered.names,
        patterns=remembered.patterns,
        troubles={},
    )
    paths = [tokenizer.path for tokenizer in known if tokenizer.name == name]
    if len(paths) > 1:
        raise FormatError(
            f"Several tokenizers are called {quoted(name)}: {', '.join(paths)}; give the path of one."
        )
    return Path(paths[0]) if paths else None
