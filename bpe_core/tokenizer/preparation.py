"""The way of a text to its pieces where it is more than one split: added tokens, normalizers, spaces put before it.

It is Hugging Face's way, in their order: tokens that are found in the text as it is; each part between them
normalized; tokens that are found then; the steps that make pieces. SentencePiece is a case of it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from bpe_core.tokenizer.added_tokens import AddedToken, Finder
from bpe_core.tokenizer.byte_pieces import BytePieces
from bpe_core.tokenizer.normalizers import Normalizer
from bpe_core.tokenizer.steps import SplitStep, Step

METASPACE: Final = "▁"
"""U+2581, which stands for a space inside of some tokenizers."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """What is done to a text before its pieces are encoded."""

    added: tuple[AddedToken, ...]
    """All that are found, special or not."""
    normalize: Normalizer | None
    """What is done to each part of a text between them; None if nothing."""
    steps: tuple[Step, ...]
    """How such a part becomes pieces."""
    has_metaspace: bool
    """Whether a piece holds U+2581 where its tokens hold a space."""
    drops_space: bool
    """Whether decoding drops a space that begins a text, since encoding has put one there."""
    description: Mapping[str, Any]
    """Normalizer, pre-tokenizer and decoder in the words of the tokenizer.json that was read, to be written again;
    empty if these are not known. Without a pre-tokenizer, the tokenizer's pattern is all there is to say of that."""
    finds_as_written: bool = False
    """Whether tokens that are looked for after the text was normalized are not normalized themselves."""
    replaces_runs: frozenset[int] = frozenset()
    """The ids of single bytes of which several in a row are decoded together: a character, or a U+FFFD for each."""
    within: BytePieces | None = None
    """How the bytes of a piece are split again before each part is encoded by itself; None if they are not."""
    raw: Finder = field(init=False)
    """Finds the tokens that are looked for in the text as it is."""
    normalized: Finder = field(init=False)
    """Finds those that are looked for in what it was normalized to."""

    def __post_init__(self) -> None:
        raw = (token for token in self.added if not token.normalized)
        object.__setattr__(self, "raw", Finder(raw))
        normalized = (token for token in self.added if token.normalized)
        object.__setattr__(self, "normalized", Finder(normalized, None if self.finds_as_written else self.normalize))

    @property
    def only_splits(self) -> bool:
        """Whether a text in which no special token is allowed is split, and nothing else is done to it."""
        does_more = self.normalize or self.within or self.has_metaspace or self.drops_space
        return (
            not does_more
            and all(isinstance(step, SplitStep) for step in self.steps)
            and all(token.special for token in self.added)
        )

    def parts(self, text: str, allowed: frozenset[str]) -> Iterator[int | list[str]]:
        """The ids of added tokens, and between them the pieces that are to be encoded.

        `allowed` are the special tokens that are taken as such; the others are text.
        """
        begins = True
        for part in self.raw.parts(text, allowed):
            if isinstance(part, str):
                yield from self._pieces_between(part, allowed, begins)
            else:
                yield part
            begins = False

    def readable(self, ids: Iterable[int], bytes_of: Callable[[int], bytes]) -> Iterator[bytes]:
        """The bytes of ids in order, runs of `replaces_runs` that are no UTF-8 replaced."""
        for is_byte, run in groupby(ids, self.replaces_runs.__contains__):
            data = b"".join(map(bytes_of, run))
            yield data if not is_byte or _is_utf8(data) else "\ufffd".encode() * len(data)

    def _pieces_between(self, text: str, allowed: frozenset[str], begins: bool) -> Iterator[int | list[str]]:
        for part in self.normalized.parts(self.normalize(text) if self.normalize else text, allowed):
            yield self._pieces(part, begins) if isinstance(part, str) else part
            begins = False

    def _pieces(self, text: str, begins: bool) -> list[str]:
        pieces = [text]
        for step in self.steps:
            pieces = step(pieces, begins)
        return [piece.replace(METASPACE, " ") for piece in pieces] if self.has_metaspace else pieces


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
