"""Input other than a corpus (stdin, pipes, tokenizers), and the progress of a command on stderr."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import IO, Final, cast

from bpe_core.corpus import Skipped, find_files
from bpe_core.corpus.reading import as_unreadable, decoded
from bpe_core.corpus.streams import STDIN, is_stream, name_of
from bpe_core.errors import OptionError, TextError
from bpe_core.formats import load
from bpe_core.hub import located
from bpe_core.process import Unfailing, print_to_stderr
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import Merges
from bpe_core.visible import counted, token_label, visible
from bpe_core.weighted import formatted
from bpe_core.worker.job import Reporter
from bpe_core.worker.messages import Counted, Event, Started, WorkProgress

SOURCES_SHOWN: Final = 20
"""Maximum number of texts whose sizes are printed, the largest first."""
SKIPPED_SHOWN: Final = 5
"""Maximum number of skipped files that are named. The others are only counted."""
_LABEL_WIDTH: Final = 40
"""Number of characters before the progress bar."""


def only_stream(paths: Sequence[str]) -> str | None:
    """Return the only path if it is a stream, and None if all paths are files or folders.

    Raises:
        OptionError: A stream is combined with other paths.
    """
    for path in paths:
        if is_stream(path):
            if len(paths) > 1:
                raise OptionError(
                    f"{name_of(path)} can't be combined with other inputs; give it alone, or "
                    "save its text to a file."
                )
            return path
    return None


def text_blocks(path: str) -> Iterator[str]:
    """Yield the text of a file or stream in blocks, with its byte order mark and line endings.

    Raises:
        TextError: The path is a folder, cannot be read, or is not text.
    """
    name = name_of(path)
    if os.path.isdir(path):
        raise TextError(f"{name} is a folder; name a text in it.")
    if not is_stream(path):
        found = find_files(path, every_character=True, guess_field=False)
        yield from found.files[0].blocks()
        return
    with as_unreadable(name):
        if path in STDIN:
            yield from decoded(sys.stdin.buffer, "utf-8")
        else:
            with open(path, "rb") as file:
                yield from decoded(file, "utf-8")


def open_tokenizer(source: str, pattern: str | None = None) -> Tokenizer:
    """Load a tokenizer from a path or by name, fetched if needed; `pattern` overrides its own."""
    return load(located(source, print_fetching), pattern=pattern)


def print_fetching(done: int, total: int, name: str) -> None:
    print_to_stderr(f"Fetching {visible(name)} ({done + 1} of {total}) …")


class StderrReporter(Reporter):
    """Prints sentences on stderr, and in a terminal a progress bar below them."""

    def __init__(self, has_bar: bool = True) -> None:
        self._n_skipped = 0
        self._bars = None
        if has_bar and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )

            self._bars = Progress(
                # markup=False: file names and tokens are full of square brackets.
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=Console(file=cast(IO[str], Unfailing(sys.stderr))),
                transient=True,
            )
            self._task = self._bars.add_task("", visible=False)
            self._bars.start()

    def send(self, event: Event) -> None:
        match event:
            case Skipped():
                self._report_skipped(event)
            case Counted():
                self._report_counted(event)
            case WorkProgress(activity, done, total, name):
                label = name
                if activity == "counting":
                    label = f"Reading {name}"
                elif activity == "preparing":
                    label = name.capitalize()
                self._move(label, done, total)
            case Started(merges=n_wanted):
                self._move("Merging", 0, n_wanted)
            case Merges() if self._bars:
                newest = event[-1]
                self._move(token_label(newest.token_bytes), newest.step)

    def say(self, sentence: str) -> None:
        if self._bars:
            self._bars.console.print(
                visible(sentence), markup=False, highlight=False, soft_wrap=True
            )
        else:
            print_to_stderr(visible(sentence))

    def close(self) -> None:
        self._report_other_skipped()
        if self._bars:
            self._bars.stop()

    def _report_skipped(self, skipped: Skipped) -> None:
        self._n_skipped += 1
        if self._n_skipped <= SKIPPED_SHOWN:
            self.say(f"Skipped {skipped.path}: {skipped.reason}.")

    def _report_other_skipped(self) -> None:
        n_others = self._n_skipped - SKIPPED_SHOWN
        if n_others > 0:
            self.say(f"Skipped {counted(n_others, 'more file')}.")
        self._n_skipped = 0

    def _report_counted(self, read: Counted) -> None:
        self._report_other_skipped()
        if len(read.sources) > 1:
            n_weighted_bytes = sum(weighted for _, _, weighted in read.sources) or 1
            for name, n_bytes, weighted in read.sources[:SOURCES_SHOWN]:
                sizes = counted(n_bytes, "byte")
                if weighted != n_bytes:
                    sizes += f" (weighted: {formatted(weighted)})"
                share = float(weighted / n_weighted_bytes)
                self.say(f"{name}: {sizes}, {share:.1%} of the total.")
        sizes = f"{counted(read.bytes, 'byte')} in {counted(read.pieces, 'piece')}"
        if read.unique or not read.pieces:
            sizes += f" ({read.unique:,} different)"
        documents = counted(read.documents, "document")
        if read.role == "reference":
            documents += " of the reference"
        self.say(f"Read {documents}: {sizes}.")

    def _move(self, label: str, done: int, total: int | None = None) -> None:
        if self._bars:
            self._bars.update(
                self._task,
                description=visible(label)[:_LABEL_WIDTH].ljust(_LABEL_WIDTH),
                completed=done,
                total=total or None,
                visible=True,
            )
