"""`python -m tests.attack.fuzz_data_folder`: whatever lies where the app keeps its files, it starts, and loses none.

Each round breaks some of the files in one of the ways of `WAYS` (cut, garbled, of a later version, a folder or a pipe
or a device in its place), in every fifth round on a disk that takes no byte more. Then the app is started, typed into
and left. It must not crash; what it could not read must still be there, byte for byte, under whatever name; and it must
have said so. Prints how often each way was tried, and says which seed to look at if anything differs.
"""

import asyncio
import json
import os
import random
import resource
import shutil
import stat
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from textual.message import Message
from textual.notifications import Notify

from bpe_core import load, save, train
from bpe_core.errors import BpeError
from tui.app import BpeScope
from tui.disk import config

TEXT: Final = "the theme of the other thesis, the thing that they thought through\n" * 9
_PATIENCE: Final = 60.0
"""Seconds for one start."""
_MOMENT: Final = 10.0
"""Seconds until a tokenizer is in force, or it is told why not."""
_FULL_EVERY: Final = 5
"""Rounds, of which one is on a full disk."""
_ODD_VALUES: Final[tuple[Any, ...]] = (
    None, True, -1, 0, 10**30, 1e400, "", "\ud800", "\x00", "\x1b]0;pwned\x07", "x" * 100_000, [], {}, [[]], {"a": {}},
)  # fmt: skip
_KINDS: Final = (
    "folder",
    "pipe",
    "dangling link",
    "circle",
    "/dev/zero",
    "/dev/null",
    "/dev/full",
    "/proc/self/mem",
)


class Failure(Exception):
    """What must not happen has happened."""


# How files are broken


def _cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def _hollowed(data: bytes, dice: random.Random) -> bytes:
    start, end = sorted(dice.choices(range(len(data) + 1), k=2))
    return data[:start] + data[end:]


def _garbled(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 5, 50)) if data else 0):
        changed[dice.randrange(len(changed))] = dice.randrange(256)
    return bytes(changed)


def _swollen(data: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(data) + 1)
    return (
        data[:place]
        + dice.choice(
            (b"\xff", b"[" * 100_000, b'{"a":' * 50_000, data, dice.randbytes(99))
        )
        + data[place:]
    )


def _zeros(data: bytes, dice: random.Random) -> bytes:
    """As some disks leave a file after a power failure."""
    return bytes(len(data))


def _noise(data: bytes, dice: random.Random) -> bytes:
    return dice.randbytes(dice.choice((0, 1, 100, 10_000)))


def _of_another_version(data: bytes, dice: random.Random) -> bytes:
    """A value, anywhere in it, of another kind, or one more; where it is no JSON, a line of another kind."""
    try:
        body = json.loads(data)
    except ValueError:
        return data + b"of a later version\n"
    places = [body, *_objects(body)]
    place = dice.choice(places)
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    if isinstance(place, dict):
        keys.append("of a later version")
    if keys:
        place[dice.choice(keys)] = dice.choice(_ODD_VALUES)
    return json.dumps(body).encode()


def _objects(value: Any) -> Iterator[Any]:
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield inner
            yield from _objects(inner)


WAYS: Final[dict[str, Callable[[bytes, random.Random], bytes] | None]] = {
    "cut": _cut,
    "hollowed": _hollowed,
    "garbled": _garbled,
    "swollen": _swollen,
    "zeros": _zeros,
    "noise": _noise,
    "of another version": _of_another_version,
    **dict.fromkeys(_KINDS),
}
"""Name -> what it makes of a file's bytes; None for what stands in the file's place."""


def break_file(path: Path, way: str, dice: random.Random) -> None:
    """Break a file, or put something else in its place."""
    change = WAYS[way]
    if change is not None:
        path.write_bytes(change(path.read_bytes(), dice))
        return
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    if way == "folder":
        path.mkdir()
        (path / "something in it").write_text("kept")
    elif way == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(
            {"dangling link": path.with_name("nowhere"), "circle": path}.get(
                way, Path(way)
            )
        )


# A folder of the app


@dataclass(frozen=True)
class House:
    """All places where the app keeps something, below one folder."""

    root: Path

    def settle_in(self) -> None:
        """Let the app keep everything here from now on."""
        for name in ("DATA", "CONFIG", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = str(self.root / name.lower())
        home = self.root / "home"
        home.mkdir(exist_ok=True)
        os.environ["HOME"] = str(home)
        tempfile.tempdir = str(home)  # what finds no other place goes there

    def furnish(self) -> None:
        """Put everything there that the app may keep."""
        self.settle_in()
        learned = train(TEXT, vocab_size=270)
        save(learned, config.tokenizers_folder() / "small.json")
        save(learned, config.tokenizers_folder() / "other.json")
        ranks = self.root / "home" / "learned.tiktoken"
        save(learned, ranks, format="tiktoken")
        config.save_text("kept text \N{GREEK SMALL LETTER ALPHA}\n")

    def choose(self, tokenizer: Path) -> None:
        """Let a tokenizer be the one that was used last."""
        chosen = config.Configuration(
            tokenizer=str(tokenizer), patterns={str(tokenizer): "gpt4"}
        )
        config.save_configuration(chosen)

    def files(self) -> dict[str, Path]:
        """What may be broken."""
        return {
            "configuration": config._configuration_file(),
            "text": config.text_file(),
            "tokenizer": config.tokenizers_folder() / "small.json",
            "ranks": self.root / "home" / "learned.tiktoken",
            "lock": config.text_file().with_name(".editor.txt.lock"),
            "tokenizers": config.tokenizers_folder(),
            "cache": self.root / "cache",
        }


def what(path: Path) -> tuple[object, ...]:
    """All that there is in a place, to be found again under another name."""
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return "link", os.readlink(path)
    if stat.S_ISDIR(mode):
        return "folder", *sorted(entry.name for entry in path.iterdir())
    return (
        ("file", path.read_bytes())
        if stat.S_ISREG(mode)
        else ("other", stat.S_IFMT(mode))
    )


@contextmanager
def _disk(full: bool) -> Iterator[None]:
    """A disk that takes no byte more, if `full`; this binds root, too."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if full:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


# A round


@dataclass
class Round:
    """What was broken, and what the app said of it."""

    broken: dict[str, str] = field(default_factory=dict)
    """What -> the way in which it was."""
    full: bool = False
    said: list[str] = field(default_factory=list)


async def play(house: House, seed: int) -> Round:
    """Break something, start the app, type, leave. Raises `Failure`."""
    dice = random.Random(seed)
    house.settle_in()
    files = house.files()
    remembered = files[dice.choice(("tokenizer", "ranks"))]
    house.choose(remembered)
    result = Round(full=seed % _FULL_EVERY == 0)
    for name in dice.sample(list(files), k=dice.choice((1, 1, 2, 3))):
        path = files[name]
        if not path.parent.is_dir():
            continue  # another thing stands in the place of its folder
        whole = path.is_dir() or not path.exists()
        way = dice.choice(_KINDS if whole else [*WAYS])
        if whole and not path.exists():
            path.touch()
        break_file(path, way, dice)
        result.broken[name] = way
    before = {
        name: what(files[name])
        for name in result.broken
        if os.path.lexists(files[name])
    }
    understood = _is_understood(files, remembered)
    with _disk(result.full):
        text = await _start(result)
    _check_sentences(result, understood)
    for name, was in before.items():
        _check_kept(name, was, files[name], text)
    return result


def _is_understood(files: dict[str, Path], remembered: Path) -> bool:
    """Whether the app finds nothing to complain of."""
    told: list[str] = []
    with tempfile.TemporaryDirectory() as copies:  # so that nothing is put aside yet
        for name in ("configuration", "text"):
            path = Path(copies, files[name].name)
            try:
                mode = files[name].stat().st_mode
                if not stat.S_ISREG(mode):
                    return False
                path.write_bytes(files[name].read_bytes())
            except FileNotFoundError:
                continue
            except OSError:
                return False
            if name == "configuration":
                chosen = configuration_at(path, told.append).tokenizer
            else:
                config.load_text(path, told.append)
                chosen = str(remembered)
            if chosen != str(remembered):
                return not told  # whether another one can be loaded is not looked at
    try:
        load(remembered, pattern="gpt4")
    except BpeError:
        return False
    return not told


async def _start(result: Round) -> str:
    """Start the app, type, and leave it; the text it had then."""

    def hear(message: Message) -> None:
        if (
            isinstance(message, Notify)
            and message.notification.message not in result.said
        ):
            result.said.append(message.notification.message)

    app = BpeScope()
    async with app.run_test(size=(120, 40), message_hook=hear) as pilot:
        await asyncio.wait_for(app.main.loaded.wait(), _PATIENCE)
        await pilot.pause()
        end = time.monotonic() + _MOMENT
        while (
            app.main.in_force is None
            and not result.said
            and app.screen is app.main
            and time.monotonic() < end
        ):
            await asyncio.sleep(0.02)
        if app.screen is not app.main:  # a pattern is asked for
            await pilot.press("escape")
            await pilot.pause()
        area = app.main.editor.area
        app.main.set_focus(area)
        await pilot.press("ctrl+home", "x")
        await pilot.pause()
        await app.main.text_keeper.keep()
        if not area.text.startswith("x"):
            raise Failure(f"a key had no effect: {area.text[:20]!r}")
        return area.text


def _check_sentences(result: Round, understood: bool) -> None:
    if not understood and not result.said:
        raise Failure("something was not understood, and nothing said")
    for sentence in result.said:
        if (
            len(sentence) > 700
            or not sentence.isprintable()
            or "Errno" in sentence
            or not sentence.endswith(".")
        ):
            raise Failure(f"no sentence: {sentence[:200]!r}")


def _check_kept(name: str, was: tuple[object, ...], path: Path, text: str) -> None:
    """See that what was there still is: in its place, under another name, or in what has taken its place."""
    if name in ("lock", "cache"):
        return  # made anew from others
    folder = path.parent
    if any(what(entry) == was for entry in folder.iterdir()):
        return
    if name == "tokenizers" and was[0] == "folder" and set(was) <= set(what(path)):
        return
    if was[0] == "link" and os.path.islink(path) and os.readlink(path) == was[1]:
        return
    if (
        was[0] == "file"
        and name == "text"
        and isinstance(was[1], bytes)
        and text == "x" + was[1].decode()
    ):
        return
    if was[0] == "file" and name == "configuration" and isinstance(was[1], bytes):
        stored, told = was[1], list[str]()
        with tempfile.TemporaryDirectory() as copies:
            Path(copies, path.name).write_bytes(stored)
            configuration_at(Path(copies, path.name), told.append)
        if not told:
            return
    raise Failure(f"{name} is lost: {str(was)[:100]}")


def configuration_at(path: Path, tell: Callable[[str], object]) -> config.Configuration:
    """What the app would remember if its configuration were the file at `path`."""
    with patch.object(config, "_configuration_file", lambda: path):
        return config.load_configuration(tell)


def main() -> int:
    """Play rounds; 1 if one of them failed."""
    parser = ArgumentParser(
        prog="python -m tests.attack.fuzz_data_folder", description=__doc__
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="of the first round (%(default)s)"
    )
    parser.add_argument(
        "--rounds", type=int, default=200, help="rounds to play (%(default)s)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=float("inf"),
        help="end after this time (%(default)s)",
    )
    options = parser.parse_args()
    tried: Counter[str] = Counter()
    played = failed = said = 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bpescope-fuzz-") as scratch:
        template = House(Path(scratch, "template"))
        template.root.mkdir()
        template.furnish()
        for seed in range(options.seed, options.seed + options.rounds):
            if time.monotonic() - began > options.seconds:
                break
            played += 1
            house = House(Path(scratch, "house"))
            shutil.copytree(template.root, house.root)
            try:
                result = asyncio.run(play(house, seed))
                tried.update(f"{name}: {way}" for name, way in result.broken.items())
                said += bool(result.said)
            except Exception as error:
                failed += 1
                print(
                    f"--seed {seed} --rounds 1: {type(error).__name__}: {str(error)[:300]}",
                    flush=True,
                )
            shutil.rmtree(house.root)
    for name, times in sorted(tried.items()):
        print(f"{times:7,}  {name}")
    print(
        f"{played:,} rounds from seed {options.seed} in {time.monotonic() - began:.0f} s: "
        f"{failed:,} failed, in {said:,} something was said."
    )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
