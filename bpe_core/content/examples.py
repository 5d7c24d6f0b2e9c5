"""Examples for the editor: texts of a line or two that show a property of tokenization, with a hint what to see."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bpe_core.content.samples import folder
from bpe_core.errors import TextError


@dataclass(frozen=True, slots=True)
class Example:
    """A short text to be opened in the editor."""

    title: str
    """At most 28 characters; unique."""

    see: str
    """One sentence of at most 65 characters: what to do, or what to see."""

    text: str
    """The text itself."""

    cursor: int
    """Where to put the cursor, as an offset in code points: at the place of interest, or at the end."""


@cache
def examples() -> tuple[Example, ...]:
    """All examples, in the order in which they are shown; `TextError` if they are not installed.

    >>> examples()[0].title
    'The r in strawberry'
    """
    return read_examples(folder() / "samples.toml")


def read_examples(manifest: Path) -> tuple[Example, ...]:
    """The examples in a manifest, `samples.toml`; `TextError` if it cannot be read or is broken."""
    try:
        entries = tomllib.loads(manifest.read_text("utf-8"))["example"]
        return tuple(_example(**entry) for entry in entries)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TextError(f"The list of examples {manifest} is broken ({error!r}): install bpescope again.") from error


def _example(*, title: str, see: str, text: str, at: str = "") -> Example:
    return Example(title, see, text, text.index(at) if at else len(text))
