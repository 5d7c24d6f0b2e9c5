"""The texts to measure with, made from what any machine has: Python's own sources, documentation, our sample texts.

Nothing is fetched. Where a machine has less text than is asked for, the same files are taken again, as the table says.
"""

import base64
import random
import string
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
MB: Final = 1_000_000

_PLACES: Final = (
    (Path(sysconfig.get_path("stdlib")), {".py", ".txt", ".rst"}),
    (Path("/usr/share/doc"), {"", ".txt", ".md", ".rst", ".html", ".c", ".Debian"}),
    (Path("/usr/lib/python3/dist-packages"), {".py"}),
    (Path("/usr/share/perl"), {".pm", ".pl", ".pod"}),
    (Path("/usr/include"), {".h"}),
    (Path(sysconfig.get_path("purelib")), {".py", ".md", ".txt", ".h"}),
)
"""Folders of text, and the endings of the files that are taken; one that is not there gives nothing."""


@dataclass(frozen=True, slots=True)
class Input:
    """A corpus on disk."""

    name: str
    """What to call it in a table."""
    path: Path
    """A file, or a folder of them: UTF-8 all of them, each a document."""
    n_bytes: int
    note: str = ""
    """What a reader of the table should know."""


def corpus(folder: Path, megabytes: int) -> Input:
    """So many megabytes of sources and documentation, file by file."""
    folder = folder / f"{megabytes}MB"
    folder.mkdir(parents=True, exist_ok=True)
    wanted, written, rounds, files = megabytes * MB, 0, 0, 0
    while written < wanted:
        before = written
        for data in _texts():
            (folder / f"{files:05}.txt").write_bytes(data)
            files, written = files + 1, written + len(data)
            if written >= wanted:
                break
        if written == before:
            raise SystemExit(
                "This machine has no text in the places that benchmarks/inputs.py knows."
            )
        rounds += 1
    note = f"the same files {rounds} times over" if rounds > 1 else ""
    return Input(f"{megabytes} MB", folder, written, note)


def toy(folder: Path) -> Input:
    """The first 100 KB of our sample texts, for those that are slow."""
    text = "".join(
        path.read_bytes().decode()
        for path in sorted((ROOT / "sample_texts").glob("*.*"))
    )
    return _single(folder, "100 KB", text.encode()[:100_000].decode(errors="ignore"))


def multilingual(folder: Path) -> Input:
    """Our sample texts, in many scripts, as often as makes about 1 MB; every round begins with another line."""
    rng = random.Random(0)
    lines = [
        line
        for path in sorted((ROOT / "sample_texts").glob("*.*"))
        if path.suffix in {".txt", ".md"}
        and any(character > "\u0250" for character in path.read_text("utf-8"))
        for line in path.read_text("utf-8").splitlines(keepends=True)
    ]
    text = ""
    while len(text.encode()) < MB:
        rng.shuffle(lines)
        text += "".join(lines)
    return _single(folder, "multilingual 1 MB", text)


def adversarial(folder: Path, *, times: int = 1) -> Iterator[Input]:
    """Texts without a place to cut, which turn whatever is quadratic into a wait; each so many `times` as long."""
    rng = random.Random(1)
    texts = {
        f"{100 * times} KB of one letter": "a" * (100_000 * times),
        f"{times} MB of spaces": " " * (MB * times),
        f"base64 without spaces, {300 * times} KB": base64.b64encode(
            rng.randbytes(225_000 * times)
        ).decode(),
        f"Chinese without spaces, {300 * times} KB": "".join(
            map(chr, rng.choices(_COMMON_HAN, k=100_000 * times))
        ),
        f"digits, {300 * times} KB": "".join(
            rng.choices(string.digits, k=300_000 * times)
        ),
        f"hexadecimal, {300 * times} KB": rng.randbytes(150_000 * times).hex(),
        f"two letters in turn, {300 * times} KB": "ab" * (150_000 * times),
        f"random letters, {300 * times} KB": "".join(
            rng.choices(string.ascii_lowercase, k=300_000 * times)
        ),
        f"one identifier, about {300 * times} KB": "_".join(
            rng.choices(_PARTS, k=50_000 * times)
        ),
        f"one line of prose, about {times} MB": " ".join(
            rng.choices(_words(), k=150_000 * times)
        ),
    }
    for name, text in texts.items():
        yield _single(folder, name, text)


def sprinkled(folder: Path, megabytes: int) -> Input:
    """Sources and documentation with a character past the Basic Multilingual Plane in every tenth line or so."""
    rng = random.Random(2)
    data, wanted = bytearray(), megabytes * MB
    while len(data) < wanted:
        for text in _texts():
            for line in text.splitlines(keepends=True):
                data += (
                    rng.choice(_ASTRAL).encode() if rng.random() < 0.1 else b""
                ) + line
            if len(data) >= wanted:
                break
    return _single(folder, f"{megabytes} MB with emoji", data.decode())


def _words() -> list[str]:
    """Those of our page for readers."""
    return (ROOT / "README.md").read_text("utf-8").split()


_PARTS: Final = (
    "get",
    "value",
    "of",
    "the",
    "long",
    "name",
    "index",
    "buffer",
    "size",
    "parse",
    "token",
    "izer",
)
"""What long identifiers are made of."""
_ASTRAL: Final = (
    "\N{GRINNING FACE}\N{MATHEMATICAL BOLD SMALL A}\N{GOTHIC LETTER AHSA}\U00020000"
)
"""A symbol, a letter that is no word's, a letter of a script, an ideograph."""
_COMMON_HAN: Final = [0x4E00 + int(step**1.7) for step in range(1, 340)]
"""A few hundred characters; which ones does not matter, that they repeat does."""


def _single(folder: Path, name: str, text: str) -> Input:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name.replace(' ', '_')}.txt"
    path.write_bytes(text.encode())
    return Input(name, path, path.stat().st_size)


def _texts() -> Iterator[bytes]:
    """The texts of this machine, each folder in the order of names."""
    for place, endings in _PLACES:
        for path in sorted(path for path in place.rglob("*") if path.suffix in endings):
            if (
                "site-packages" in path.relative_to(place).parts
                or path.is_symlink()
                or not path.is_file()
            ):
                continue
            try:
                data = path.read_bytes()
                data.decode()
            except (OSError, UnicodeDecodeError):
                continue
            if data and b"\0" not in data:
                yield data
