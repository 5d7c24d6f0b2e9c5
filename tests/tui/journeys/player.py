"""Plays the app as a person does: keys, pastes and clicks go in, the cells of the screen come out.

The app runs in this process behind a driver of ours, which keeps what a terminal would show. Of the app nothing is
used but its class, so that everything inside can be rebuilt while the journeys stay as they are.
"""

import asyncio
import codecs
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import groupby, takewhile
from pathlib import Path

from rich.cells import cell_len
from textual import events
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.geometry import Size
from textual.keys import _character_to_key

from tests.tui.terminal import AppTerminal, at_work, children, terminal
from tui.app import BpeScope

IDLE = 120
"""How many pauses without any work, ours or a worker's, are waited before something is said never to come."""
PAUSE = 0.05
"""Seconds of such a pause; what a test waits for is looked at after each frame, too."""
READ = 20
"""After how many of these pauses what the app has said in front of the panes is taken away: not by the clock."""
LONGEST = 300
"""Seconds that are waited at most, where something goes on moving."""

_PARTS = re.compile(
    r"\x1b\[([0-?]*)[ -/]*([@-~])"  # a control sequence, such as a color or a place on the screen
    r"|\x1b[\]P_^X][^\x07\x1b]*(?:\x07|\x1b\\)"  # a command to the terminal, such as a title
    r"|\x1b[ -/]*[0-Z\\^-~]"
    r"|\x1b"
    r"|[^\x1b]+"
)
_CHARACTERS = {
    "space": " ",
    "enter": "\r",
    "tab": "\t",
    "escape": "\x1b",
    "backspace": "\x7f",
}


class Cells:
    """What a terminal shows of what is written to it: of each cell its characters and its style."""

    def __init__(self, width: int, height: int) -> None:
        self._x = self._y = 0
        self._style = ""
        self._rest = ""
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        """Begin anew with another size; the app draws all of it again."""
        self.width, self.height = width, height
        self._cells = [[(" ", "")] * width for _ in range(height)]
        self._rows: list[str] | None = None

    def write(self, data: str) -> None:
        """Take what a program writes, in pieces that may end anywhere."""
        self._rows = None
        data, self._rest = self._rest + data, ""
        for part in _PARTS.finditer(data):
            values, end = part[1], part[2]
            if part[0] == "\x1b" or (
                part.end() == len(data) and part[0][:1] == "\x1b" and end is None
            ):
                self._rest = data[part.start() :]
                return
            if end == "H":
                row, _, column = values.partition(";")
                self._x, self._y = int(column or 1) - 1, int(row or 1) - 1
            elif end == "m":
                self._style = (
                    "" if values in ("", "0") else f"{self._style};{values}".lstrip(";")
                )
            elif end == "J":
                self.resize(self.width, self.height)
            elif part[0][0] != "\x1b":
                self._put(part[0])

    def _put(self, text: str) -> None:
        if not 0 <= self._y < self.height:
            return
        row = self._cells[self._y]
        if text.isascii() and text.isprintable():
            row[self._x : self._x + len(text)] = [
                (character, self._style) for character in text[: self.width - self._x]
            ]
            self._x = min(self._x + len(text), self.width)
            return
        for character in text:
            if character in "\r\n":
                continue  # a place on the screen follows
            width = cell_len(character)
            if not width and self._x:
                row[self._x - 1] = (
                    row[self._x - 1][0] + character,
                    row[self._x - 1][1],
                )
            for part in (character, "")[:width]:
                if self._x < self.width:
                    row[self._x] = (part, self._style)
                    self._x += 1

    @property
    def rows(self) -> list[str]:
        """The text of each row, without the blanks at its end."""
        if self._rows is None:
            self._rows = [
                "".join([text for text, _ in row]).rstrip() for row in self._cells
            ]
        return self._rows

    @property
    def text(self) -> str:
        """All rows."""
        return "\n".join(self.rows)

    @property
    def told(self) -> str:
        """The sentences of all toasts, each word after one space, wherever a toast wraps its lines."""
        lines = []
        for row in self._cells:
            for x, (character, _) in enumerate(row[:-1]):
                if character == "▌":
                    ground = _background(row[x + 1][1])
                    inside = takewhile(
                        lambda cell, ground=ground: _background(cell[1]) == ground,
                        row[x + 1 :],
                    )
                    lines.append("".join(text for text, _ in inside))
        return " ".join(" ".join(lines).split())

    def __contains__(self, text: str) -> bool:
        return any(text in row for row in self.rows)

    def found(self, text: str) -> Iterator[tuple[int, int]]:
        """The cells at which a text begins."""
        for y, row in enumerate(self._cells):
            starts = [x for x, (character, _) in enumerate(row) for _ in character]
            whole = "".join(character for character, _ in row)
            yield from (
                (starts[match.start()], y)
                for match in re.finditer(re.escape(text), whole)
            )

    def place(self, text: str, beside: str = "") -> tuple[int, int]:
        """The cell at which a text begins: the first, or the first in a row that holds `beside`, too."""
        rows = self.rows
        place = next(((x, y) for x, y in self.found(text) if beside in rows[y]), None)
        assert place is not None, f"{text!r} is not on the screen:\n{self.text}"
        return place

    def style(self, x: int, y: int) -> str:
        """How a cell is drawn, as the terminal is told: two cells that look alike have the same."""
        return self._cells[y][x][1]

    def pieces(self, text: str) -> list[list[str]]:
        """Each place where a text stands, cut where the color behind it changes: in the editor, its tokens."""
        found = []
        for x, y in self.found(text):
            cells = self._cells[y][x : x + cell_len(text)]
            runs = groupby(cells, key=lambda cell: _background(cell[1]))
            found.append(
                ["".join(character for character, _ in run) for _, run in runs]
            )
        return found

    @property
    def step(self) -> tuple[int, int]:
        """What the line of steps says: the step that is shown, and the last one; (-1, -1) where it says nothing."""
        numbers = re.search(r"step +([\d,]+) of ([\d,]+)", self.text)
        return (
            (int(numbers[1].replace(",", "")), int(numbers[2].replace(",", "")))
            if numbers
            else (-1, -1)
        )


class Player:
    """Hands and eyes of somebody who uses the app."""

    def __init__(self, width: int, height: int) -> None:
        self.screen = Cells(width, height)
        self._drawn = asyncio.Event()
        self._app: BpeScope
        self._driver: Driver
        self._running: asyncio.Task[object]

    # What goes in

    def press(self, *keys: str) -> None:
        """Press keys, by their names in Textual."""
        for key in keys:
            if len(key) == 1:
                self._send(events.Key(_character_to_key(key), key))
            else:
                self._send(events.Key(key, _CHARACTERS.get(key)))

    def write(self, text: str) -> None:
        """Type a text, a key a character."""
        self.press(
            *(
                "enter"
                if character == "\n"
                else "space"
                if character == " "
                else character
                for character in text
            )
        )

    def type_bytes(self, *keys: str) -> None:
        """Press keys, each given as the bytes that a terminal sends, such as Escape and q for Alt+Q."""
        for key in keys:
            parser = XTermParser()
            for event in (*parser.feed(key), *parser.feed("")):
                assert isinstance(event, events.Key)
                self._send(event)

    async def command(self, name: str) -> None:
        """Search the palette for a command and run what it finds first."""
        self.press("ctrl+p")
        await self.until("Search for commands")
        self.write(name)
        await self.rest()
        self.press("enter")

    async def answer(self, question: str, text: str) -> None:
        """Wait for a question, and give this answer in the place of the one that stands there."""
        await self.until(question)
        self.press("ctrl+u")
        self.write(text)
        self.press("enter")

    def paste(self, text: str) -> None:
        """Paste, as a terminal tells it between brackets."""
        self._send(events.Paste(text))

    def click(
        self, at: str | tuple[int, int], beside: str = "", right: int = 0
    ) -> None:
        """Click on a cell, or on the first of a text on the screen, so many cells to the `right` of it."""
        x, y = self.screen.place(at, beside) if isinstance(at, str) else at
        self._mouse(events.MouseDown, x + right, y)
        self._mouse(events.MouseUp, x + right, y)

    def scroll_down(self, at: tuple[int, int], times: int) -> None:
        """Turn the mouse wheel over a cell."""
        for _ in range(times):
            self._mouse(events.MouseScrollDown, *at)

    def drag(self, *places: tuple[int, int]) -> None:
        """Press the mouse's button at the first place, move it over the others, let go at the last."""
        self._mouse(events.MouseDown, *places[0])
        for place in places[1:]:
            self._mouse(events.MouseMove, *place)
        self._mouse(events.MouseUp, *places[-1])

    def resize(self, width: int, height: int) -> None:
        """Give the terminal another size."""
        self.screen.resize(width, height)
        self._driver._size = (width, height)
        self._send(events.Resize(Size(width, height), Size(width, height)))

    def pass_time(self, seconds: float) -> None:
        """Let so many seconds pass at once by the clock of the event loop: what is due by then happens."""
        loop = asyncio.get_running_loop()
        now = loop.time
        loop.time = lambda: now() + seconds  # type: ignore[method-assign]

    def _mouse(self, kind: type[events.MouseEvent], x: int, y: int) -> None:
        self._send(
            kind(None, x, y, 0, 0, 1, False, False, False, screen_x=x, screen_y=y)
        )

    def _send(self, event: events.Event) -> None:
        self._driver.process_message(event)

    # What comes out

    async def until(self, *holds: str | Callable[[Cells], object]) -> None:
        """Wait until texts are on the screen, and conditions of it are true, all at once."""

        def missing() -> list[str | Callable[[Cells], object]]:
            text = self.screen.text
            return [
                hold
                for hold in holds
                if not (hold in text if isinstance(hold, str) else hold(self.screen))
            ]

        idle, end = 0, time.monotonic() + LONGEST
        while missing():
            if self._running.done() or idle > IDLE or time.monotonic() > end:
                break
            before = self.screen.text
            idle = idle + await self.frame() if self.screen.text == before else 0
            if idle == READ:
                self._app.clear_notifications()
        else:
            return
        raise AssertionError(
            f"it did not come to {missing()} on the screen:\n{self.screen.text}"
        )

    async def rest(self) -> None:
        """Wait until nothing has been drawn for some pauses, and no worker does anything."""
        idle = 0
        while idle < 4:
            idle = idle + 1 if await self.frame() else 0

    async def frame(self) -> bool:
        """Wait for a frame; whether none has come, and nobody has anything to do."""
        self._drawn.clear()
        try:
            await asyncio.wait_for(self._drawn.wait(), PAUSE)
        except TimeoutError:
            return not await self._busy()
        return False

    async def _busy(self) -> bool:
        """Whether anything is on its way: on a busy machine a pause may pass without a turn for who has work to do."""
        await asyncio.sleep(0)  # what a pipe holds becomes work of the event loop
        ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
        return (
            bool(ready)
            or at_work(os.getpid(), but=os.getpid())
            or any(map(at_work, children()))
        )

    async def quit(self) -> None:
        """Leave by the key, and wait until the app has ended."""
        self.press("ctrl+q")
        await self.ended()

    async def ended(self) -> None:
        """Wait until the app has ended."""
        idle = 0
        while not self._running.done():
            idle += await self.frame()
            assert idle < IDLE, f"the app has not ended:\n{self.screen.text}"

    @asynccontextmanager
    async def playing(self, app: BpeScope, code: int) -> AsyncIterator["Player"]:
        """Run the app; at the end leave it, if that has not been done."""
        player, self._app = self, app

        class Terminal(Driver):
            def start_application_mode(self) -> None:
                player._driver = self
                size = Size(player.screen.width, player.screen.height)
                self.send_message(events.Resize(size, size))

            def write(self, data: str) -> None:
                player.screen.write(data)
                player._drawn.set()

            def disable_input(self) -> None:
                pass

            def stop_application_mode(self) -> None:
                player._drawn.set()

        app.driver_class = Terminal
        self._running = asyncio.create_task(
            app.run_async(size=(self.screen.width, self.screen.height))
        )
        try:
            await self.until(lambda screen: screen.text.strip())
            yield self
            if not self._running.done():
                await self.quit()
            assert (self._running.result(), app.return_code) == (None, code), (
                f"the app ended with {app.return_code}"
            )
        finally:
            if not self._running.done():
                app.exit()
                await self._running
            for number in (
                signal.SIGHUP,
                signal.SIGINT,
                signal.SIGTERM,
            ):  # its process would have ended
                asyncio.get_running_loop().remove_signal_handler(number)


def _background(style: str) -> str:
    """The color behind a cell, as red;green;blue; empty: the terminal's own."""
    return (re.findall(r"48;2;(\d+;\d+;\d+)", style) or [""])[-1]


@asynccontextmanager
async def play(
    *paths: Path | str,
    tokenizers: tuple[Path | str, ...] = (),
    size: tuple[int, int] = (120, 40),
    code: int = 0,
    full_speed: bool = True,
    lesson: str = "",
    waits: bool = True,
) -> AsyncIterator[Player]:
    """The app opened on texts and tokenizers, in a terminal of some size; leaving it is quitting it.

    If it `waits`, the last of the tokenizers is there, with all of its steps. It ends with the exit code `code`.
    """
    app = BpeScope(
        tuple(map(str, paths)),
        tuple(map(str, tokenizers)),
        full_speed=full_speed,
        lesson=lesson,
    )
    app.animation_level = (
        "none"  # frames on the way to what is waited for are a twentieth of the time
    )
    async with Player(*size).playing(app, code) as player:
        if tokenizers and waits:
            await player.until(lambda screen: screen.step[0] == screen.step[1] > 0)
        yield player


@contextmanager
def seen_in_terminal(
    *arguments: str | Path,
) -> Iterator[tuple[AppTerminal, Callable[[], Cells]]]:
    """The app as a process of its own, which can be killed, and what a terminal of 120 by 40 cells shows of it."""
    cells, decoder, n_read = (
        Cells(120, 40),
        codecs.getincrementaldecoder("utf-8")("replace"),
        0,
    )

    def screen() -> Cells:
        nonlocal n_read
        fresh, n_read = app.sent[n_read:], len(app.sent)
        cells.write(decoder.decode(fresh))
        return cells

    with terminal(*arguments) as app:
        yield app, screen
