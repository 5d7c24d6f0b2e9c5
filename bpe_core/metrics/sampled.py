"""The beginning of a text as several tokenizers encode it, and the stretches that they cut differently."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple, Self

from bpe_core.live.live_text import LiveText
from bpe_core.tokenizer import Tokenizer

_CONTEXT: Final = 512
"""Characters after the beginning that are encoded too, so that its last tokens are those of the whole text."""


class SampledToken(NamedTuple):
    """A token of a sampled text, or several that share a character. Offsets are code points."""

    start: int
    end: int
    ids: tuple[int, ...]
    n_bytes: tuple[int, ...] = ()  # of each token, if there are several

    @property
    def borders(self) -> tuple[object, ...]:
        """A value that is equal for two tokenizers if they cut the characters in the same places."""
        return self.start, self.end, self.n_bytes


class SampledLane(NamedTuple):
    """The tokens of a text in arrays, which are fast to send to another process."""

    starts: Sequence[int]
    ends: Sequence[int]
    ids: tuple[tuple[int, ...], ...]
    n_bytes: dict[int, tuple[int, ...]]  # by the index of the token

    @classmethod
    def of(cls, tokens: Sequence[SampledToken]) -> Self:
        return cls(
            array("L", [token.start for token in tokens]),
            array("L", [token.end for token in tokens]),
            tuple(token.ids for token in tokens),
            {n: token.n_bytes for n, token in enumerate(tokens) if token.n_bytes},
        )

    def tokens(self, start: int, end: int) -> list[SampledToken]:
        """Return the tokens that overlap a range of code points."""
        first = bisect_right(self.ends, start)
        stop = bisect_left(self.starts, end, first)
        return [
            SampledToken(
                self.starts[index],
                self.ends[index],
                self.ids[index],
                self.n_bytes.get(index, ()),
            )
            for index in range(first, stop)
        ]


class SampledText(NamedTuple):
    """The beginning of a text, up to a boundary that all tokenizers share."""

    text_index: int  # in its comparison
    beginning: str
    lanes: tuple[SampledLane, ...]  # by tokenizer
    differences: tuple[tuple[int, int], ...]
    """Stretches between two shared boundaries that the tokenizers cut differently, in code points."""


def sample_text(
    text_index: int, text: str, tokenizers: Sequence[Tokenizer], n: int
) -> SampledText:
    """Encode about the first `n` characters of a text with each tokenizer.

    Raises:
        BpeError: A tokenizer can't encode the text.
    """
    text = text[: n + _CONTEXT]
    lanes = [_tokens(tokenizer, text) for tokenizer in tokenizers]
    boundaries = [_boundaries(lane) | {0, len(text)} for lane in lanes]
    shared = sorted(set.intersection(*boundaries))
    if len(text) > n:
        shared = [boundary for boundary in shared if boundary <= n]
    end = shared[-1]
    lanes = [[token for token in lane if token.end <= end] for lane in lanes]
    return SampledText(
        text_index,
        text[:end],
        tuple(map(SampledLane.of, lanes)),
        tuple(_differences(lanes, shared)),
    )


def _tokens(tokenizer: Tokenizer, text: str) -> list[SampledToken]:
    live = LiveText(tokenizer, text)
    while not live.settle(1.0):
        pass
    tokens = []
    for span in live.spans(0, live.n_characters):
        n_bytes: tuple[int, ...] = ()
        if len(span.ids) > 1:
            n_bytes = tuple(len(tokenizer.token_bytes(token)) for token in span.ids)
        tokens.append(SampledToken(span.start, span.end, span.ids, n_bytes))
    return tokens


def _boundaries(lane: Sequence[SampledToken]) -> set[int]:
    starts = {token.start for token in lane}
    ends = {token.end for token in lane}
    return starts | ends


def _differences(
    lanes: Sequence[Sequence[SampledToken]], shared: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the stretches between neighboring shared boundaries whose tokens have different borders."""
    first_tokens = [0] * len(lanes)
    """For each lane, the index of its first token in the stretch."""
    differences = []
    for start, end in pairwise(shared):
        cuts = set()
        for number, lane in enumerate(lanes):
            first = first_tokens[number]
            stop = first
            while stop < len(lane) and lane[stop].end <= end:
                stop += 1
            cuts.add(tuple(token.borders for token in lane[first:stop]))
            first_tokens[number] = stop
        if len(cuts) > 1:
            differences.append((start, end))
    return differences
