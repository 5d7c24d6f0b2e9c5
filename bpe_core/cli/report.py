"""Where the events of a command go: to an app as lines, to a person as sentences and a progress bar on stderr."""

import sys
import time
from typing import IO, Final, cast

from bpe_core.cli.control import Control
from bpe_core.cli.events import Auditing, Counted, Counting, Event, Merges, Preparing, Skipped, Started
from bpe_core.cli.result_events import Compared
from bpe_core.cli.standard_streams import Unfailing, print_to_stderr
from bpe_core.cli.wire import to_line
from bpe_core.plurals import counted
from bpe_core.visible import token_label, visible

LEFT_OUT_SHOWN: Final = 5
"""Files left out that are named one by one; of more only the number is printed."""


class Report:
    """Takes the events of a command. This one, the base class, discards them."""

    def send(self, event: Event) -> None:
        """Pass on one event."""

    def say(self, sentence: str) -> None:
        """Print a sentence for a person; nothing if an app reads the events."""

    def close(self) -> None:
        """End the report; a progress bar is taken off the terminal."""


def report_to(stream: bool, control: Control) -> Report:
    """A `LineReport` if `stream`, for an app; else `report_to_person()`."""
    if stream:
        return LineReport(control)
    return report_to_person()


def report_to_person() -> Report:
    """A `BarReport` if stderr is a terminal, else a `SentenceReport`."""
    return BarReport() if sys.stderr.isatty() else SentenceReport()


class LineReport(Report):
    """Writes every event as a line on stdout; if that fails, the reader has left, and the control is told to stop."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._out: IO[str] | None = sys.stdout
        self._refused: OSError | None = None

    def send(self, event: Event) -> None:
        """Write the line; blocks while the pipe is full, so a slow reader slows the work down."""
        if self._out is None:
            return
        try:
            self._out.write(to_line(event))
            self._out.flush()
        except OSError as error:  # the reader has left, or the disk that it is written to is full
            self._out, self._refused = None, error
            self._control.stop("stopped")

    def say(self, sentence: str) -> None:
        """Nothing: an app makes its own sentences."""

    def close(self) -> None:
        """Raises OSError if not every event could be written."""
        if self._refused is not None:
            raise self._refused


class SentenceReport(Report):
    """Sentences on stderr without a progress bar, as for a log file."""

    def __init__(self) -> None:
        self._left_out = 0

    def send(self, event: Event) -> None:
        """Print which files were skipped, and what was read; other events say nothing."""
        match event:
            case Skipped(path, reason):
                self._left_out += 1
                if self._left_out <= LEFT_OUT_SHOWN:
                    self.say(f"Left out {path}: {reason}.")
            case Counted(documents, n_bytes, _, pieces, unique):
                self._say_how_many_more()
                self.say(
                    f"Read {counted(documents, 'document')}: {counted(n_bytes, 'byte')} in "
                    f"{counted(pieces, 'piece')}, {unique:,} of them different."
                )

            case Compared():
                self._say_how_many_more()

    def _say_how_many_more(self) -> None:
        if (more := self._left_out - LEFT_OUT_SHOWN) > 0:
            self.say(f"Left out {counted(more, 'more file')} like these.")
        self._left_out = 0

    def say(self, sentence: str) -> None:
        """One line on stderr."""
        print_to_stderr(visible(sentence))


class BarReport(SentenceReport):
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
        """Move the bar, and print what `SentenceReport` prints."""
        match event:
            case Counting(done, total, name):
                self._move(f"Reading {name}", done, total)
            case Auditing(done, total, name):
                self._move(name, done, total)
            case Preparing(done, total, name):
                self._move(name.capitalize(), done, total)
            case Started(merges=wanted):
                self._move("Merging", 0, wanted)
            case Merges(rows):
                self._move(token_label(bytes.fromhex(rows[-1][4])), rows[-1][0])
        super().send(event)

    def say(self, sentence: str) -> None:
        """One line on stderr, above the bar."""
        self._bars.console.print(visible(sentence), markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Take the bar away."""
        self._bars.stop()

    def _move(self, label: str, done: int, total: int | None = None) -> None:
        if total is not None and total != self._total:
            self._total = total
            self._bars.reset(self._task, total=total)  # another thing is counted, at another speed
        elif time.monotonic() - self._shown < 0.05:
            return
        self._shown = time.monotonic()
        self._bars.update(self._task, description=visible(label)[:40].ljust(40), completed=done, visible=True)
