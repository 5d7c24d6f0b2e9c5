"""Where the events of a command go: as lines to an app, or as sentences and progress bars to a person."""

import sys
import time
from typing import IO, Final, cast

from bpe_core.cli.control import Control
from bpe_core.cli.standard_streams import Unfailing, tell
from bpe_core.cli.wire import Auditing, Counted, Counting, Event, Merges, Preparing, Skipped, Started, to_line
from bpe_core.plurals import counted
from bpe_core.visible import token_label, visible

LEFT_OUT_SHOWN: Final = 5
"""Files left out that are told one by one; a folder may hold thousands of pictures."""


class Report:
    """What a command tells while it works; this one tells nothing."""

    def send(self, event: Event) -> None:
        """Tell one event."""

    def say(self, sentence: str) -> None:
        """Tell a person, if one is there, how it ended."""

    def close(self) -> None:
        """Leave the terminal as it was."""


def report_to(stream: bool, control: Control) -> Report:
    """The report for an app that reads `stream`s of events, or else for the person at stderr."""
    if stream:
        return LineReport(control)
    return report_to_person()


def report_to_person() -> Report:
    """Sentences on stderr, and a bar if that is a terminal."""
    return BarReport() if sys.stderr.isatty() else SentenceReport()


class LineReport(Report):
    """Every event as a line on stdout; a reader that has left asks the work to stop and keep what it has."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._out: IO[str] | None = sys.stdout
        self._refused: OSError | None = None

    def send(self, event: Event) -> None:
        """Write the line; blocks while the reader is behind, which is all the backpressure there is."""
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
    """A few sentences on stderr, for a log file or a program in between."""

    def __init__(self) -> None:
        self._left_out = 0

    def send(self, event: Event) -> None:
        """What was left out, and what was read."""
        match event:
            case Skipped(path, reason):
                self._left_out += 1
                if self._left_out <= LEFT_OUT_SHOWN:
                    self.say(f"Left out {path}: {reason}.")
            case Counted(documents, n_bytes, _, pieces, unique):
                if (more := self._left_out - LEFT_OUT_SHOWN) > 0:
                    self.say(f"Left out {counted(more, 'more file')} like these.")
                self._left_out = 0
                self.say(
                    f"Read {counted(documents, 'document')}: {counted(n_bytes, 'byte')} in "
                    f"{counted(pieces, 'piece')}, {unique:,} of them different."
                )

    def say(self, sentence: str) -> None:
        """One line on stderr."""
        tell(visible(sentence))


class BarReport(SentenceReport):
    """Sentences, and below them a bar with the time left."""

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
        """Move the bar; sentences as ever."""
        match event:
            case Counting(done, total, name):
                self._move(f"Reading {name}", done, total)
            case Auditing(done, total, name):
                self._move(name, done, total)
            case Preparing(done, total):
                self._move("Counting pairs", done, total)
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
