"""The sample texts shipped with bpescope: their names, titles, paths, and what each is good for.

They are listed in the manifest `samples.toml` in their folder. The texts themselves are not read here.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from bpe_core.errors import TextError

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_HOMES: Final = (_PACKAGE / "sample_texts", _PACKAGE.parent / "sample_texts")
"""Possible folders of the texts: in the package if it is installed from a wheel, next to it in a checkout."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One of the sample texts, as described by the manifest."""

    name: str
    """The file name without its suffix; unique, and the same in all versions of bpescope."""

    title: str
    """At most 24 characters, for a row in a list."""

    reason: str
    """At most 78 characters, a line of a terminal of 80: what to look for in this text."""

    path: Path
    """The file, in UTF-8; to be read without newline translation."""

    group: str
    """The heading under which it is listed; the samples of a group are adjacent."""


def folder(homes: tuple[Path, ...] = _HOMES) -> Path:
    """The folder that holds the texts: the first of `homes` with a manifest; `TextError` if there is none."""
    for home in homes:
        if (home / "samples.toml").is_file():
            return home
    raise TextError(f"The sample texts are missing ({homes[0]}): install bpescope again, or give it texts of your own.")


@cache
def samples() -> tuple[Sample, ...]:
    """All samples, in the order of the manifest; `TextError` if they are not installed.

    >>> [sample.title for sample in samples() if sample.name == "aaabdaaabac"]
    ['aaabdaaabac']
    """
    return read_manifest(folder())


def read_manifest(home: Path) -> tuple[Sample, ...]:
    """The samples in the manifest of the folder `home`; `TextError` if it cannot be read or is broken."""
    manifest = home / "samples.toml"
    try:
        entries: list[dict[str, Any]] = tomllib.loads(manifest.read_text("utf-8"))["sample"]
        return tuple(
            Sample(Path(entry["file"]).stem, entry["title"], entry["reason"], home / entry["file"], entry["group"])
            for entry in entries
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TextError(f"The list of samples {manifest} is broken ({error!r}): install bpescope again.") from error


def editor_greeting() -> str:
    """The text that the editor contains at first; `TextError` if it is not installed."""
    path = folder() / "editor-greeting.txt"
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise TextError(f"The editor's first text is missing ({path}): install bpescope again.") from error
