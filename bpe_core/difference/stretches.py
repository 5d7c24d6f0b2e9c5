"""Find the stretches of a text that two tokenizers encode differently."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from bpe_core.metrics.boundaries import EncodedText

_LONGEST_RUN: Final = 1 << 12
"""Maximum number of tokens that are compared at once."""


class Stretch(NamedTuple):
    """A part of a text between neighboring offsets at which both tokenizers have a boundary."""

    start: int  # offset in bytes
    end: int
    a: tuple[int, ...]
    b: tuple[int, ...]


def differences(a: EncodedText, b: EncodedText) -> Iterator[Stretch]:
    """Yield the stretches of a text with different ids, in order. Takes O(n) time for n tokens.

    A token that covers no byte, such as a space that is added before the text, belongs to the stretch
    that ends at its place, or to the first one.
    """
    n_a = 0  # tokens of A before the next stretch
    n_b = 0
    start = 0
    while n_a < len(a.ids) or n_b < len(b.ids):
        n_equal = _n_equal_tokens(a, b, n_a, n_b)
        if n_equal:
            n_a += n_equal
            n_b += n_equal
            start = a.ends[n_a - 1]
            continue
        end_a = n_a
        end_b = n_b
        end = _next_shared_end(a, b, n_a, n_b, start)
        while end_a < len(a.ids) and a.ends[end_a] <= end:
            end_a += 1
        while end_b < len(b.ids) and b.ends[end_b] <= end:
            end_b += 1
        ids_of_a = tuple(a.ids[n_a:end_a])
        ids_of_b = tuple(b.ids[n_b:end_b])
        if ids_of_a != ids_of_b:
            yield Stretch(start, end, ids_of_a, ids_of_b)
        n_a = end_a
        n_b = end_b
        start = end


def _n_equal_tokens(a: EncodedText, b: EncodedText, n_a: int, n_b: int) -> int:
    """Return how many tokens are equal from `n_a` and `n_b` on, up to a boundary of both.

    Runs of tokens are compared: twice as many after each equal run, then half as many after each other one.
    """
    n_equal = 0
    size = 1
    is_growing = True
    while size:
        from_a = n_a + n_equal
        from_b = n_b + n_equal
        has_run = from_a + size <= len(a.ids) and from_b + size <= len(b.ids)
        if (
            has_run
            and a.ids[from_a : from_a + size] == b.ids[from_b : from_b + size]
            and a.ends[from_a : from_a + size] == b.ends[from_b : from_b + size]
        ):
            n_equal += size
            if is_growing and size < _LONGEST_RUN:
                size *= 2
        else:
            is_growing = False
            size //= 2
    # The run has to end at a boundary, after all tokens that end there.
    while n_equal and not (
        _is_boundary(a, n_a + n_equal) and _is_boundary(b, n_b + n_equal)
    ):
        n_equal -= 1
    return n_equal


def _is_boundary(text: EncodedText, n: int) -> bool:
    """Whether the first `n` tokens cover a part of the text, and the next one covers more."""
    end = text.ends[n - 1]
    return end > 0 and (n == len(text.ids) or text.ends[n] > end)


def _next_shared_end(
    a: EncodedText, b: EncodedText, n_a: int, n_b: int, start: int
) -> int:
    """Return the first offset after `start` at which both have a boundary, or else the end of the text."""
    while n_a < len(a.ids) and n_b < len(b.ids):
        end_a = a.ends[n_a]
        end_b = b.ends[n_b]
        if end_a == end_b and end_a > start:
            return end_a
        if end_a <= end_b:
            n_a += 1
        if end_b <= end_a:
            n_b += 1
    return len(a.data)
