"""The sample texts shipped with bpescope, and short examples for the editor, both listed in `samples.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parents[1]
# In a wheel the texts are inside of the package, in a checkout beside it.
_HOME: Final = (
    _PACKAGE if (_PACKAGE / "sample_texts").is_dir() else _PACKAGE.parent
) / "sample_texts"


@dataclass(frozen=True, slots=True)
class SampleText:
    """One of the sample texts, as described by the manifest."""

    name: str  # the file name without its suffix; unique, and the same in all versions of bpescope
    title: str  # at most 24 characters, for a row in a list
    reason: str  # at most 78 characters, a line of a terminal of 80: what to look for in this text
    path: Path  # the file, in UTF-8; to be read without newline translation


@dataclass(frozen=True, slots=True)
class Example:
    """A short text to be opened in the editor."""

    title: str  # at most 28 characters; unique
    see: str  # one sentence of at most 65 characters: what to do, or what to see
    text: str
    cursor: int  # where to put the cursor, as an offset in code points: at the place of interest, or at the end


_LISTED: Final = tomllib.loads((_HOME / "samples.toml").read_text("utf-8"))
SAMPLES: Final = tuple(
    SampleText(Path(one["file"]).stem, one["title"], one["reason"], _HOME / one["file"])
    for one in _LISTED["sample"]
)
"""All samples, in the order of the manifest."""

EXAMPLES: Final = tuple(
    Example(
        one["title"], one["see"], one["text"], one["text"].rindex(one.get("at", ""))
    )  # of "" the end
    for one in _LISTED["example"]
)
"""All examples, in the order of the manifest."""

EDITOR_GREETING: Final = (_HOME / "editor-greeting.txt").read_bytes().decode("utf-8")
"""The text that the editor contains at first."""
