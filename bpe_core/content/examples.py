"""Texts of a line or two in which one sees at once what tokens do to a text, each with a word on what to look at."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bpe_core.content.samples import folder
from bpe_core.errors import TextError


@dataclass(frozen=True, slots=True)
class Example:
    """A text to be opened in the editor."""

    title: str
    """At most 28 characters; unique."""

    see: str
    """One sentence of at most 65 characters: what to do, or to look at."""

    text: str
    """The text itself."""

    cursor: int
    """The code point at which the cursor stands: what there is to be looked at, or the end, where one types on."""


@cache
def examples() -> tuple[Example, ...]:
    """All of them, in the order in which they are to be walked; `TextError` if they were not installed.

    >>> examples()[0].title
    'The r in strawberry'
    """
    return read_examples(folder() / "samples.toml")


def read_examples(manifest: Path) -> tuple[Example, ...]:
    """The examples that a manifest of samples lists; `TextError` if it cannot be understood."""
    try:
        entries = tomllib.loads(manifest.read_text("utf-8"))["example"]
        return tuple(_example(**entry) for entry in entries)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TextError(f"The list of examples {manifest} is broken ({error!r}): install bpescope again.") from error


def _example(*, title: str, see: str, text: str, at: str = "") -> Example:
    return Example(title, see, text, text.index(at) if at else len(text))
