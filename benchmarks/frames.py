"""The frames that a program draws in a pseudo-terminal, with times.

The terminal says that it can show a frame at once (mode 2026), so that the program marks where each begins and ends.
"""

import re
import time
from dataclasses import dataclass
from typing import Final

from tests.terminals import Terminal

_ASKED: Final = b"\x1b[?2026$p"
"""By this a program asks whether frames can be shown at once."""
_ANSWER: Final = b"\x1b[?2026;2$y"
_BEGIN, _END = b"\x1b[?2026h", b"\x1b[?2026l"
"""What stands before a frame, and behind it."""
_PLACE: Final = re.compile(r"\x1b\[(\d+);(\d+)H")
_CONTROL: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
)


@dataclass(frozen=True, slots=True)
class Frame:
    """What a program has drawn at once."""

    at: float
    """When its last byte had arrived, on the clock `time.perf_counter`."""
    worked: float
    """Seconds that the program's processor time was by then."""
    data: bytes

    @property
    def lines(self) -> dict[tuple[int, int], str]:
        """The texts that it writes, without their colors, each by the row and column of its first cell, from 0."""
        _, *parts = _PLACE.split(self.data.decode("utf-8", "replace"))
        places = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        return {
            (int(row) - 1, int(column) - 1): _CONTROL.sub("", text)
            for row, column, text in places
        }


class FrameTerminal(Terminal):
    """A terminal that tells what it is sent apart into frames."""

    def __init__(self, pid: int, side: int) -> None:
        super().__init__(pid, side)
        self.frames: list[Frame] = []
        """All that the program has drawn so far."""
        self._rest = b""

    def read(self, seconds: float = 0.05) -> bytes:
        """As `Terminal.read`; up to the first pause."""
        if data := super().read(seconds):
            now, worked = time.perf_counter(), self.processor_time
            if _ASKED in data:
                self.type(_ANSWER)
            *parts, self._rest = (self._rest + data).split(_END)
            self.frames += (
                Frame(now, worked, part.partition(_BEGIN)[2]) for part in parts
            )
        return data

    def read_for(self, seconds: float) -> None:
        """Read all that comes within so many seconds."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(left)

    def rest(self, quiet: float = 1.0) -> None:
        """Read until nothing has come for so many seconds."""
        while self.read(quiet):
            pass

    def until_drawn(self, *texts: str, since: int | None = None) -> Frame:
        """Read until a frame after the first `since`, those of before unless it is given, writes one of some texts.

        Raises TimeoutError if there is none.
        """
        looked_at = len(self.frames) if since is None else since
        drawn: list[Frame] = []

        def found() -> bool:
            nonlocal looked_at
            fresh, looked_at = self.frames[looked_at:], len(self.frames)
            drawn.extend(
                frame
                for frame in fresh
                if any(text in line for text in texts for line in frame.lines.values())
            )
            return bool(drawn)

        self.until(found, f"{' or '.join(texts)!r} is drawn", patience=120)
        return drawn[0]
