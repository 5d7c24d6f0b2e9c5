"""The sample texts shipped with bpescope, and short examples for the editor, both listed in `samples.toml`."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from bpe_core.errors import TextError

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_HOMES: Final = (_PACKAGE / "sample_texts", _PACKAGE.parent / "sample_texts")  # of a wheel, and of a checkout


@dataclass(frozen=True, slots=True)
class SampleText:
    """One of the sample texts, as described by the manifest; the text itself is not read here."""

    name: str  # the file name without its suffix; unique, and the same in all versions of bpescope
    title: str  # at most 24 characters, for a row in a list
    reason: str  # at most 78 characters, a line of a terminal of 80: what to look for in this text
    path: Path  # the file, in UTF-8; to be read without newline translation
    group: str  # the heading under which it is listed; the samples of a group are adjacent


@dataclass(frozen=True, slots=True)
class Example:
    """A short text to be opened in the editor."""

    title: str  # at most 28 characters; unique
    see: str  # one sentence of at most 65 characters: what to do, or what to see
    text: str
    cursor: int  # where to put the cursor, as an offset in code points: at the place of interest, or at the end


@cache
def samples() -> tuple[SampleText, ...]:
    """All samples, in the order of the manifest; `TextError` if they are not installed."""
    home = shipped("samples.toml").parent
    return tuple(
        SampleText(Path(one["file"]).stem, one["title"], one["reason"], home / one["file"], one["group"])
        for one in _listed("sample")
    )


@cache
def examples() -> tuple[Example, ...]:
    """All examples, in the order of the manifest; `TextError` if they are not installed."""
    found: list[Example] = []
    for one in _listed("example"):
        text, at = one["text"], one.get("at", "")
        found.append(Example(one["title"], one["see"], text, text.index(at) if at else len(text)))
    return tuple(found)


def editor_greeting() -> str:
    """The text that the editor contains at first; `TextError` if it is not installed."""
    return shipped("editor-greeting.txt").read_bytes().decode("utf-8")


def _listed(key: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = tomllib.loads(shipped("samples.toml").read_text("utf-8"))[key]
    return entries


def shipped(name: str) -> Path:
    """The path of a file among the sample texts; `TextError` if it is not installed."""
    paths = [home / name for home in _HOMES]
    if found := next(filter(Path.is_file, paths), None):
        return found
    raise TextError(f"The sample texts are missing ({paths[0]}): install bpescope again, or give it texts of your own.")
