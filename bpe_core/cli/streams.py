"""What a command reads beside a corpus (stdin, pipes, tokenizers), and what it tells a person on stderr meanwhile."""

import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import IO, Final, cast

from bpe_core.corpus import Skipped, find_files
from bpe_core.corpus.reading import decoded, one_sentence
from bpe_core.corpus.streams import STDIN, is_stream, name_of
from bpe_core.errors import TextError
from bpe_core.formats import load
from bpe_core.hub import located
from bpe_core.process import Unfailing, print_to_stderr
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import Merges
from bpe_core.visible import counted, token_label, visible
from bpe_core.weighted import formatted
from bpe_core.worker.job import Reporter
from bpe_core.worker.messages import Counted, Event, Started, WorkProgress

NAMED: Final = 20  # of the texts, the largest ones, whose bytes are said
SKIPPED_SHOWN: Final = (
    5  # files that are named one by one; of more only the number is printed
)


def text_blocks(path: str) -> Iterator[str]:
    """The text of a file or stream in blocks, with byte order marks and line endings; TextError where it is none."""
    name = name_of(path)
    if os.path.isdir(path):
        raise TextError(f"{name} is a folder; name a text in it.")
    if not is_stream(path):
        yield from find_files(path, every_character=True).files[0].blocks()
        return
    with (
        one_sentence(name),
        nullcontext(sys.stdin.buffer) if path in STDIN else open(path, "rb") as file,
    ):
        yield from decoded(file, "utf-8")


def open_tokenizer(text: str, pattern: str | None = None) -> Tokenizer:
    """The tokenizer at the path `text`, or else of that name, fetched if need be; `pattern` overrides its own."""
    return load(located(text, print_fetching), pattern=pattern)


def print_fetching(done: int, total: int, name: str) -> None:
    print_to_stderr(f"Fetching {visible(name)} ({done + 1} of {total}) …")


class StderrReporter(Reporter):
    """Sentences on stderr; if that is a terminal, and unless `has_bar` is False, above a bar with the time left."""

    def __init__(self, has_bar: bool = True) -> None:
        self._n_skipped, self._bars = 0, None
        if has_bar and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )

            # markup=False: file names and tokens are full of square brackets.
            label = TextColumn("{task.description}", markup=False)
            columns = label, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            self._bars = Progress(
                *columns,
                console=Console(file=cast(IO[str], Unfailing(sys.stderr))),
                transient=True,
            )
            self._task = self._bars.add_task("", visible=False)
            self._bars.start()

    def send(self, event: Event) -> None:
        match event:
            case Skipped(path, reason):
                self._n_skipped += 1
                if self._n_skipped <= SKIPPED_SHOWN:
                    self.say(f"Left out {path}: {reason}.")
            case Counted(documents, n_bytes, _, pieces, unique, _, sources):
                self._say_how_many_more()
                whole = sum(after for *_, after in sources) or 1
                for name, before, after in sources[:NAMED] if len(sources) > 1 else ():
                    weighted = (
                        f", {formatted(after)} as weighted" if before != after else ""
                    )
                    self.say(
                        f"{name}: {counted(before, 'byte')}{weighted}, {float(after / whole):.1%} of all."
                    )
                different = (
                    f", {unique:,} of them different" if unique or not pieces else ""
                )
                read = (
                    f"Read {counted(documents, 'document')}: {counted(n_bytes, 'byte')}"
                )
                self.say(f"{read} in {counted(pieces, 'piece')}{different}.")
            case WorkProgress(activity, done, total, name):
                labels = {"counting": f"Reading {name}", "preparing": name.capitalize()}
                self._move(labels.get(activity, name), done, total)
            case Started(merges=wanted):
                self._move("Merging", 0, wanted)
            case Merges() if self._bars:
                self._move(token_label(event[-1].token_bytes), event[-1].step)

    def say(self, sentence: str) -> None:
        if self._bars:
            self._bars.console.print(
                visible(sentence), markup=False, highlight=False, soft_wrap=True
            )
        else:
            print_to_stderr(visible(sentence))

    def close(self) -> None:
        self._say_how_many_more()
        if self._bars:
            self._bars.stop()

    def _say_how_many_more(self) -> None:
        if (more := self._n_skipped - SKIPPED_SHOWN) > 0:
            self.say(f"Left out {counted(more, 'more file')} like these.")
        self._n_skipped = 0

    def _move(self, label: str, done: int, total: int | None = None) -> None:
        if self._bars:
            text = visible(label)[:40].ljust(40)
            self._bars.update(
                self._task,
                description=text,
                completed=done,
                total=total or None,
                visible=True,
            )
