"""The length of the common prefix of two sequences."""

from collections.abc import Sequence


def common_prefix(one: Sequence[object], other: Sequence[object], start: int = 0, other_start: int = 0) -> int:
    """The length of the longest common prefix of `one[start:]` and `other[other_start:]`.

    Compares slices, of doubled length while they are equal and halved length after they differ: O(n) for a prefix of
    n items, in O(log n) comparisons. The sequences must be of one type, since a list slice never equals a tuple slice.

    >>> common_prefix([1, 2, 3, 4], [1, 2, 9])
    2
    """
    n, step, most = 0, 1, min(len(one) - start, len(other) - other_start)
    while step:
        a, b = start + n, other_start + n
        if n + step <= most and one[a : a + step] == other[b : b + step]:
            n += step
            step *= 2
        else:
            step //= 2
    return n
