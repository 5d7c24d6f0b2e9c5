"""The pipeline from text to pieces of tokenizers that do more than one split, in the order of Hugging Face's library:

1. find the added tokens that are not `normalized`;
2. normalize each part of the text between them;
3. find the `normalized` added tokens in these parts;
4. apply the pre-tokenizer steps, which make pieces of what is between them.

SentencePiece models are expressed in the same way.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from bpe_core.tokenizer.added_tokens import AddedToken, Finder
from bpe_core.tokenizer.normalizers import Normalizer
from bpe_core.tokenizer.steps import BytePieces, SplitStep, Step

METASPACE: Final = "▁"
"""U+2581, which some tokenizers write for a space."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """A pipeline: text in, ids of added tokens and pieces to be encoded out."""

    added: tuple[AddedToken, ...]
    """The added tokens, special or not."""
    normalize: Normalizer | None
    """The normalizer; None if there is none."""
    steps: tuple[Step, ...]
    """The pre-tokenizer steps, in order."""
    has_metaspace: bool
    """Whether a piece holds U+2581 where its tokens hold a space."""
    drops_space: bool
    """Whether decoding drops a space at the beginning of the text, because encoding prepends one."""
    description: Mapping[str, Any]
    """The values of "normalizer", "pre_tokenizer" and "decoder" in the tokenizer.json that was read, for writing; empty
    if they cannot be written. Without "pre_tokenizer", that is derived from the tokenizer's pattern."""
    finds_as_written: bool = False
    """Whether the texts of `normalized` added tokens are searched for as they are, rather than normalized first."""
    replaces_runs: frozenset[int] = frozenset()
    """Ids of single bytes (byte fallback): a run of them is decoded as UTF-8, or to one U+FFFD per byte if invalid."""
    within: BytePieces | None = None
    """Splits the bytes of each piece again, before the parts are encoded one by one; None if they are not split."""
    raw: Finder = field(init=False)
    """Finds the added tokens of step 1."""
    normalized: Finder = field(init=False)
    """Finds the added tokens of step 3."""

    def __post_init__(self) -> None:
        raw = (token for token in self.added if not token.normalized)
        object.__setattr__(self, "raw", Finder(raw))
        normalized = (token for token in self.added if token.normalized)
        object.__setattr__(self, "normalized", Finder(normalized, None if self.finds_as_written else self.normalize))

    @property
    def only_splits(self) -> bool:
        """Whether all that happens to a text, apart from special tokens, is that it is split."""
        does_more = self.normalize or self.within or self.has_metaspace or self.drops_space
        return (
            not does_more
            and all(isinstance(step, SplitStep) for step in self.steps)
            and all(token.special for token in self.added)
        )

    def parts(self, text: str, allowed: frozenset[str]) -> Iterator[int | list[str]]:
        """The text as a sequence of ids, of added tokens, and of lists of pieces, which are still to be encoded.

        `allowed` are the texts of the special tokens that are found; others are ordinary text. Raises `OptionError` or
        `PatternError` if a text becomes too long or an expression takes too long.
        """
        begins = True
        for part in self.raw.parts(text, allowed):
            if isinstance(part, str):
                yield from self._pieces_between(part, allowed, begins)
            else:
                yield part
            begins = False

    def readable(self, ids: Iterable[int], bytes_of: Callable[[int], bytes]) -> Iterator[bytes]:
        """The bytes of `ids`, in order; a run of ids in `replaces_runs` that is no UTF-8 becomes a U+FFFD per byte."""
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
