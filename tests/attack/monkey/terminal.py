"""A random player of the app in a terminal: deeds as the bytes a terminal sends, the screen as an emulator reads it."""

import random
import re
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyte

from bpe_core import load
from tests.attack.monkey.app import Played
from tests.attack.monkey.deeds import PASTES, Deed
from tests.tui.terminal import AppTerminal, terminal
from tui.disk import config

_CODES: Final = {
    **dict(zip(("up", "down", "right", "left", "end", "home"), ("A", "B", "C", "D", "F", "H"), strict=True)),
    **dict(zip(("f1", "f2", "f3", "f4"), ("P", "Q", "R", "S"), strict=True)),
}
_NUMBERS: Final = {"delete": 3, "pageup": 5, "pagedown": 6, "f5": 15, "f6": 17, "f7": 18, "f8": 19, "f9": 20, "f10": 21}
_PLAIN: Final = {"enter": "\r", "escape": "\x1b", "tab": "\t", "shift+tab": "\x1b[Z", "backspace": "\x7f", "space": " "}
_SHIFTS: Final = {"shift": 1, "alt": 2, "ctrl": 4}
_GARBAGE: Final = (
    *(b"\xff", b"\xc3(", b"\x00", b"\x1b[<35;1M", b"\x1b[<0;999;999M\x1b[<0;999;999m", b"\x1b]11;?"),
    b"\x1b[200~\xf0\x9f\x1b[201~",
)
"""Bytes that no terminal should send: no UTF-8, half a report, a place that is none."""
_FOREIGN: Final = (b"pwned\x07", b"\x1b[6n", *(code.encode() for code in "\x9b\x9d\x90\x7f\u202e"))
"""What pasted texts hold and no terminal may get."""
_LEFT: Final = b"\x1b[?1049l"
"""With this the app leaves the terminal's other screen, at its end."""


def sent_for(key: str) -> bytes:
    """The bytes a terminal sends for a key.

    >>> sent_for("ctrl+p"), sent_for("shift+left"), sent_for("alt+e"), sent_for("f5")
    (b'\\x10', b'\\x1b[1;2D', b'\\x1be', b'\\x1b[15~')
    """
    if key in _PLAIN:
        return _PLAIN[key].encode()
    *shifts, name = key.split("+") if len(key) > 1 else [key]
    shift = 1 + sum(_SHIFTS[part] for part in shifts)
    if name in _CODES:
        lead = "\x1bO" if name.startswith("f") else "\x1b["
        return (f"{lead}{_CODES[name]}" if shift == 1 else f"\x1b[1;{shift}{_CODES[name]}").encode()
    if name in _NUMBERS:
        return f"\x1b[{_NUMBERS[name]}{'' if shift == 1 else f';{shift}'}~".encode()
    if name == "slash":
        return b"/"
    if "ctrl" in shifts:
        return bytes([ord(name) & 0x1F])
    return (b"\x1b" if "alt" in shifts else b"") + name.encode()


def play_in_terminal(deeds: Sequence[Deed]) -> Played:
    """Do `deeds` in the app in a terminal, opened again where one of them left it."""
    played = Played()
    try:
        while played.done < len(deeds):
            with terminal() as app:
                _Player(app).play(deeds, played)
    except Exception as error:
        played.wrong = "".join(traceback.format_exception(error))
    return played


class _Player:
    def __init__(self, app: AppTerminal) -> None:
        self._app = app
        self._size = (120, 40)
        self._screen = pyte.Screen(*self._size)
        self._stream = pyte.ByteStream(self._screen)
        self._rng = random.Random(0)
        self._seen = 0

    def play(self, deeds: Sequence[Deed], played: Played) -> None:
        self._app.until(lambda: self._read() or "Tokenizers" in self._text(), "the panes are there")
        while played.done < len(deeds):
            deed = deeds[played.done]
            played.done += 1
            self._do(deed)
            self._rest()
            if self._app.has_ended:
                assert self._app.code == 0, f"the app has ended with {self._app.code}: {self._app.text[-2000:]}"
                return
            self._check()
        self._do(("resize", 160, 45))
        for key in ("escape", "escape", "escape", "f8", "f4"):
            self._do(("keys", key))
            self._app.settle()
        self._read()
        self._check_end()

    def _do(self, deed: Deed) -> None:
        name, *values = deed
        match name:
            case "keys":
                self._app.type(b"".join(sent_for(str(key)) for key in values))
            case "paste":
                self._app.paste(PASTES[str(values[0])](int(values[1])).replace("\x1b", ""))
            case "click" | "click on":
                x, y = self._place(*(values[:2] if name == "click" else self._rng.sample(range(1000), 2)))
                self._app.type(f"\x1b[<0;{x};{y}M\x1b[<0;{x};{y}m" * int(values[-1]))
            case "drag":
                (x, y), (to_x, to_y) = self._place(*values[:2]), self._place(*values[2:])
                self._app.type(f"\x1b[<0;{x};{y}M\x1b[<32;{to_x};{to_y}M\x1b[<0;{to_x};{to_y}m")
            case "move":
                x, y = self._place(*values)
                self._app.type(f"\x1b[<35;{x};{y}M")
            case "scroll":
                x, y = self._place(*values[:2])
                turns = int(values[2])
                self._app.type(f"\x1b[<{64 if turns < 0 else 65};{x};{y}M" * abs(turns))
            case "resize":
                self._resize(int(values[0]), int(values[1]))
            case "step":
                self._app.type(self._rng.choice(_GARBAGE))
            case _:
                time.sleep(float(values[0]))

    def _resize(self, width: int, height: int) -> None:
        self._size = (width, height)
        self._app.resize(width, height)
        self._screen.resize(height, width)

    def _place(self, x: float | str, y: float | str) -> tuple[int, int]:
        return 1 + int(x) * self._size[0] // 1000, 1 + int(y) * self._size[1] // 1000

    def _read(self) -> None:
        """What was sent, onto the emulator's screen."""
        fresh, self._seen = self._app.sent[self._seen :], len(self._app.sent)
        # An emulator of 1995 takes some private sequences for others: of the keyboard's protocol it knows nothing.
        self._stream.feed(fresh.replace(b"\x1b[>", b"\x1b[?").replace(b"\x1b[<u", b""))

    def _rest(self) -> None:
        """Read until nothing comes for a moment."""
        while self._app.read(0.03):
            pass
        self._read()

    def _text(self) -> str:
        # Not `Screen.display`: of a wide character that is half painted over it asks for what is no longer there.
        lines = (self._screen.buffer[y] for y in range(self._screen.lines))
        return "\n".join("".join(line[x].data for x in range(self._screen.columns)) for line in lines)

    def _check(self) -> None:
        sent = self._app.sent[-200_000:].partition(_LEFT)[0]  # behind it, the terminal echoes what is typed
        for raw in _FOREIGN:
            assert raw not in sent, f"{raw!r} reached the terminal"
        assert "Traceback" not in self._text(), self._text()

    def _check_end(self) -> None:
        """The screen tells of the tokenizer that is remembered, and counts the tokens of the text that is kept."""
        screen = self._text()
        path = Path(config.load_configuration().tokenizer)
        if path.is_file() and not re.search(r"(counting|pairs|training|paused at) \d+%", screen):
            tokenizer = load(path)
            assert path.stem[:20] in screen, f"{path.stem} is not on the screen:\n{screen}"
            assert f"{tokenizer.n_vocab:,} tokens" in screen, f"{tokenizer.n_vocab:,} tokens are not told:\n{screen}"
