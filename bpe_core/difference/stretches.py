"""Find the stretches of a text that two tokenizers encode differently."""

from collections.abc import Iterator
from itertools import pairwise
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
    shared_ends = set(a.ends).intersection(b.ends)
    for start, end in pairwise(sorted(shared_ends | {0, len(a.data)})):
        ids_of_a = a.tokens(start, end)
        ids_of_b = b.tokens(start, end)
        if ids_of_a != ids_of_b:
            yield Stretch(start, end, tuple(ids_of_a), tuple(ids_of_b))
