"""The sample texts of bpescope, and short examples for the editor. `samples.toml` lists both."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final


def _find_folder() -> Path:
    """Return the folder of the texts: inside the package in a wheel, next to it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    in_wheel = package / "sample_texts"
    return in_wheel if in_wheel.is_dir() else package.parent / "sample_texts"


_FOLDER: Final = _find_folder()


@dataclass(frozen=True, slots=True)
class SampleText:
    """One of the sample texts."""

    name: str
    """The file name without its suffix. It is unique, and the same in all versions of bpescope."""
    title: str  # at most 24 characters, for a row of a list
    reason: str
    """At most 78 characters, for one line of a terminal: why this text is interesting."""
    path: Path  # the file, in UTF-8; to be read without newline translation


@dataclass(frozen=True, slots=True)
class Example:
    """A short text to be opened in the editor."""

    title: str  # at most 28 characters; unique
    see: str  # one sentence of at most 65 characters: what to do, or what to see
    text: str
    cursor: int  # where to put the cursor, in code points


def _example(row: dict[str, Any]) -> Example:
    text: str = row["text"]
    cursor = text.rindex(row["at"]) if "at" in row else len(text)
    return Example(row["title"], row["see"], text, cursor)


_TABLE: Final = tomllib.loads((_FOLDER / "samples.toml").read_text("utf-8"))
SAMPLES: Final = tuple(
    SampleText(
        name=Path(row["file"]).stem,
        title=row["title"],
        reason=row["reason"],
        path=_FOLDER / row["file"],
    )
    for row in _TABLE["sample"]
)
"""All samples, in the order of `samples.toml`."""

EXAMPLES: Final = tuple(map(_example, _TABLE["example"]))
"""All examples, in the order of `samples.toml`."""

EDITOR_GREETING: Final = (_FOLDER / "editor-greeting.txt").read_bytes().decode("utf-8")
"""The text that an editor starts with."""
