"""Find the stretches of a text that two tokenizers encode differently."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from bpe_core.metrics.boundaries import EncodedText


class Stretch(NamedTuple):
    """A part of a text between neighboring offsets at which both tokenizers have a boundary."""

    start: int  # offset in bytes
    end: int
    a: tuple[int, ...]
    b: tuple[int, ...]


def differences(a: EncodedText, b: EncodedText) -> Iterator[Stretch]:
    """Yield the stretches of a text with different ids, in order.

    A token that covers no byte, such as a space that is added before the text, belongs to the stretch
    that ends at its place, or to the first one.
    """
    shared_ends = {*a.ends}.intersection(b.ends) | {len(a.data)}
    start = 0
    n_a = 0  # tokens of A before the stretch
    n_b = 0
    for end in sorted(shared_ends - {0}) or [0]:
        end_a = bisect_right(a.ends, end, n_a)
        end_b = bisect_right(b.ends, end, n_b)
        ids_of_a = a.ids[n_a:end_a]
        ids_of_b = b.ids[n_b:end_b]
        if ids_of_a != ids_of_b:
            yield Stretch(start, end, tuple(ids_of_a), tuple(ids_of_b))
        start = end
        n_a = end_a
        n_b = end_b
