"""The lengths of the common prefix and the common suffix of two sequences."""

from collections.abc import Sequence


def common_prefix(one: Sequence[object], other: Sequence[object]) -> int:
    """The length of the longest common prefix.

    Compares slices, of doubled length while they are equal and halved length after they differ: O(n) for a prefix of
    n items, in O(log n) comparisons. The sequences must be of one type, since a list slice never equals a tuple slice.

    >>> common_prefix([1, 2, 3, 4], [1, 2, 9])
    2
    """
    return _common(one, 0, other, 0, 1)


def common_suffix(one: Sequence[object], other: Sequence[object]) -> int:
    """The length of the longest common suffix, found in the same way."""
    return _common(one, len(one), other, len(other), -1)


def _common(one: Sequence[object], at: int, other: Sequence[object], other_at: int, side: int) -> int:
    n, step, most = 0, 1, min(len(one), len(other))
    while step:
        first, last = (n, n + step) if side > 0 else (-n - step, -n)
        if n + step <= most and one[at + first : at + last] == other[other_at + first : other_at + last]:
            n += step
            step *= 2
        else:
            step //= 2
    return n
