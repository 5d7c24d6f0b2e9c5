"""The tokenizers that are known, what they are called, and those that are lanes of the editor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Self

from bpe_core.visible import visible

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Opened:
    """A tokenizer from elsewhere as it was when it was opened last; remembered from one start to the next."""

    path: str = ""
    found_as: str = ""
    """The name under which another program keeps it; empty if none does."""
    n_vocab: int = 0
    """0 where it was never read."""
    pattern: str = ""
    size: int = 0
    """Bytes of the file."""
    modified: int = 0
    """When the file was changed last, in nanoseconds since 1970; 0 where it was never read."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A tokenizer, and the file it came from."""

    tokenizer: Tokenizer
    path: Path
    digest: str = ""
    """SHA-256 of the file's content; empty for a folder, and for a tokenizer that was trained and then kept."""


Origin = Literal["trained", "opened", "found"]
"""Where a tokenizer is from: a training in this app, a file or folder that was opened, what another program keeps."""
Trouble = Literal["", "gone", "changed"]
"""What has become of a file since it was opened; empty if nothing has."""


@dataclass(frozen=True, slots=True)
class KnownTokenizer:
    """A tokenizer file that can be put in force: in the user's data folder, or found elsewhere on this computer."""

    path: str
    name: str
    """What it is called in the list."""
    n_vocab: int
    """0 where that is not known without reading all of the file."""
    origin: Origin = "trained"
    found_as: str = ""
    """The name under which another program keeps it."""
    pattern: str = ""
    """How it splits a text; empty where that is not known without reading all of the file, and where it does not."""
    modified: int = 0
    """When the file was changed last, in nanoseconds since 1970; 0 where that is not known."""
    trouble: Trouble = ""


@dataclass(frozen=True, slots=True)
class LaneChoice:
    """Whose tokens a lane of the editor shows beside those of the first."""

    path: str = ""
    """The file of a tokenizer; empty: the tokenizer on the screen, whichever that is."""
    step: int | None = None
    """How many of its merges are in force; None: all of them, also of those that are yet to be learned."""

    def __str__(self) -> str:
        """As it is remembered.

        >>> str(LaneChoice("", 120)), LaneChoice.parse(":/a:b.json")
        ('120:', LaneChoice(path='/a:b.json', step=None))
        """
        return f"{'' if self.step is None else self.step}:{self.path}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """What `str` made; something that it did not make is a path that no file has."""
        step, colon, path = text.partition(":")
        if not colon or not (step.isdecimal() or not step):
            return cls(text)
        return cls(path, int(step) if step else None)


@dataclass(frozen=True, slots=True)
class ShownLane:
    """A lane of the editor after the first."""

    choice: LaneChoice
    tokenizer: Tokenizer
    """As of its step."""

    def name(self, kept: Iterable[KnownTokenizer]) -> str:
        """That of its tokenizer among these, unless it is the one on the screen; its step, where that is fixed."""
        name = known_name(self.choice.path, kept) if self.choice.path else ""
        return name + (step_name(self.tokenizer) if self.choice.step is not None else "" if name else "@all")


_USUAL: Final = frozenset({"tokenizer", "tokenizer_config", "vocab", "merges", "tekken", "model", "spm", "ranks"})
"""Names that many files have; then that of their folder tells which it is."""


def name_of(path: Path) -> str:
    """What a tokenizer from elsewhere is called in the list.

    >>> name_of(Path("/models/qwen3/tokenizer.json")), name_of(Path("/models/mine.json"))
    ('qwen3/tokenizer', 'mine')
    """
    return f"{path.parent.name}/{path.stem}" if path.stem in _USUAL and path.parent.name else path.stem


def known_name(path: str, kept: Iterable[KnownTokenizer]) -> str:
    """What the tokenizer in a file is called: as these say, or else after its file; safe to show."""
    return visible(next((known.name for known in kept if known.path == path), "") or name_of(Path(path)))


def step_name(tokenizer: Tokenizer) -> str:
    """What tells a step of a tokenizer from another: its number, once its merges are recovered."""
    return f"@{tokenizer.step:,}" if tokenizer.vocabulary.knows_merges else "@…"


def steps_known(tokenizer: Tokenizer | None) -> int:
    """How many merges there are to travel through; 0 while those of a rank file are not recovered."""
    return tokenizer.step if tokenizer is not None and tokenizer.vocabulary.knows_merges else 0
