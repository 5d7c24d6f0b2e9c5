"""The beginning of a text as several tokenizers encode it, and the stretches that they cut differently."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise, starmap
from operator import itemgetter
from typing import Final, NamedTuple

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


SampledLane = Sequence[tuple[int, int, tuple[int, ...], tuple[int, ...]]]
"""The fields of `SampledToken`, in plain tuples, which are fast to send to another process. `tokens_between` reads them."""


class SampledText(NamedTuple):
    """The beginning of a text, up to a boundary that all tokenizers share."""

    text_index: int  # in its comparison
    beginning: str
    lanes: tuple[SampledLane, ...]
    """The tokens of the beginning, by tokenizer."""
    differences: tuple[tuple[int, int], ...]
    """Stretches between two shared boundaries that the tokenizers cut differently, in code points."""


def tokens_between(lane: SampledLane, start: int, end: int) -> list[SampledToken]:
    """Return the tokens that overlap a range of code points."""
    first = bisect_right(lane, start, key=itemgetter(1))
    stop = bisect_left(lane, end, first, key=itemgetter(0))
    return list(starmap(SampledToken, lane[first:stop]))


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
    kept = tuple(lane[: bisect_right(lane, end, key=itemgetter(1))] for lane in lanes)
    differences = tuple(_differences(kept, shared))
    return SampledText(text_index, text[:end], kept, differences)


def _tokens(tokenizer: Tokenizer, text: str) -> SampledLane:
    live = LiveText(tokenizer, text)
    while not live.settle(1.0):
        pass
    tokens = []
    for span in live.spans(0, live.n_characters):
        n_bytes: tuple[int, ...] = ()
        if len(span.ids) > 1:
            n_bytes = tuple(len(tokenizer.token_bytes(token)) for token in span.ids)
        tokens.append((span.start, span.end, span.ids, n_bytes))
    return tokens


def _boundaries(lane: SampledLane) -> set[int]:
    return {boundary for start, end, _, _ in lane for boundary in (start, end)}


def _differences(
    lanes: Sequence[SampledLane], shared: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield the stretches between neighboring shared boundaries whose tokens have different borders."""
    for start, end in pairwise(shared):
        cuts = {
            tuple(token.borders for token in tokens_between(lane, start, end))
            for lane in lanes
        }
        if len(cuts) > 1:
            yield start, end
