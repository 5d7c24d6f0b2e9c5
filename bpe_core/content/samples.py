"""The texts that come with bpescope: where they lie, what they are called, and why each is worth a look.

The manifest `samples.toml` beside the texts is the only list of them; this module reads nothing else, so it is
cheap enough to call while the first screen is drawn.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from bpe_core.errors import TextError

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_HOMES: Final = (_PACKAGE / "sample_texts", _PACKAGE.parent / "sample_texts")
"""Where the texts may lie: inside the package once it is installed from a wheel, beside it in a checkout."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One of the texts, not yet read."""

    name: str
    """The file name without its ending; unique, and stable enough to be kept in a configuration."""

    title: str
    """At most 24 characters, for a row in a list."""

    reason: str
    """At most 78 characters, a line of a terminal of 80: what to look for in this text."""

    path: Path
    """The UTF-8 file, whose line ends are to be taken as they are."""

    group: str
    """The heading under which it is listed; samples of one group follow each other."""


def folder(homes: tuple[Path, ...] = _HOMES) -> Path:
    """The folder that holds the texts: the first of `homes` with a manifest; `TextError` if there is none."""
    for home in homes:
        if (home / "samples.toml").is_file():
            return home
    raise TextError(f"The sample texts are missing ({homes[0]}): install bpescope again, or give it texts of your own.")


@cache
def samples() -> tuple[Sample, ...]:
    """All samples in the order of the list; `TextError` if they were not installed.

    >>> [sample.title for sample in samples() if sample.name == "aaabdaaabac"]
    ['aaabdaaabac']
    """
    return read_manifest(folder())


def read_manifest(home: Path) -> tuple[Sample, ...]:
    """The samples that the manifest in the folder `home` lists; `TextError` if it cannot be understood."""
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
    """The text that the editor shows before anyone has typed into it; `TextError` if it was not installed."""
    path = folder() / "editor-greeting.txt"
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise TextError(f"The editor's first text is missing ({path}): install bpescope again.") from error
