"""What a person is told while a command works: sentences and a progress bar on stderr."""

import sys
import time
from typing import IO, Final, cast

from bpe_core.plurals import counted
from bpe_core.process import Unfailing, print_to_stderr
from bpe_core.visible import token_label, visible
from bpe_core.worker.job import Reporter
from bpe_core.worker.messages import Counted, Event, FileSkipped, Merges, Started, WorkProgress

SKIPPED_SHOWN: Final = 5
"""FileSkipped files that are named one by one; of more only the number is printed."""


def report_to_person() -> "SentenceReporter":
    """A `BarReporter` if stderr is a terminal, else a `SentenceReporter`."""
    return BarReporter() if sys.stderr.isatty() else SentenceReporter()


class SentenceReporter(Reporter):
    """Sentences on stderr without a progress bar, as for a log file."""

    def __init__(self) -> None:
        self._n_skipped = 0

    def send(self, event: Event) -> None:
        match event:
            case FileSkipped(path, reason):
                self._n_skipped += 1
                if self._n_skipped <= SKIPPED_SHOWN:
                    self.say(f"Left out {path}: {reason}.")
            case Counted(documents, n_bytes, _, pieces, unique):
                self._say_how_many_more()
                self.say(
                    f"Read {counted(documents, 'document')}: {counted(n_bytes, 'byte')} in "
                    f"{counted(pieces, 'piece')}, {unique:,} of them different."
                )

    def _say_how_many_more(self) -> None:
        if (more := self._n_skipped - SKIPPED_SHOWN) > 0:
            self.say(f"Left out {counted(more, 'more file')} like these.")
        self._n_skipped = 0

    def say(self, sentence: str) -> None:
        print_to_stderr(visible(sentence))

    def close(self) -> None:
        self._say_how_many_more()


class BarReporter(SentenceReporter):
    """Sentences on a terminal, and below them a progress bar with the time left."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        # markup=False: file names and tokens are full of square brackets.
        label = TextColumn("{task.description}", markup=False)
        columns = label, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        self._bars = Progress(*columns, console=Console(file=cast(IO[str], Unfailing(sys.stderr))), transient=True)
        self._task = self._bars.add_task("", visible=False)
        self._total = 0
        self._shown = 0.0
        self._bars.start()

    def send(self, event: Event) -> None:
        match event:
            case WorkProgress("counting", done, total, name):
                self._move(f"Reading {name}", done, total)
            case WorkProgress("preparing", done, total, name):
                self._move(name.capitalize(), done, total)
            case WorkProgress(_, done, total, name):
                self._move(name, done, total)
            case Started(merges=wanted):
                self._move("Merging", 0, wanted)
            case Merges():
                *_, last = event
                self._move(token_label(last.token_bytes), last.step)
        super().send(event)

    def say(self, sentence: str) -> None:
        self._bars.console.print(visible(sentence), markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        super().close()
        self._bars.stop()

    def _move(self, label: str, done: int, total: int | None = None) -> None:
        if total is not None and total != self._total:
            self._total = total
            self._bars.reset(self._task, total=total)  # another thing is counted, at another speed
        elif time.monotonic() - self._shown < 0.05:
            return
        self._shown = time.monotonic()
        self._bars.update(self._task, description=visible(label)[:40].ljust(40), completed=done, visible=True)
