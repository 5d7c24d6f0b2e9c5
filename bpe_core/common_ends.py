"""The lengths of the common prefix and the common suffix of two sequences."""

from collections.abc import Callable, Sequence


def common_prefix(one: Sequence[object], other: Sequence[object], start: int = 0, other_start: int = 0) -> int:
    """The length of the longest common prefix of `one[start:]` and `other[other_start:]`.

    Compares slices, of doubled length while they are equal and halved length after they differ: O(n) for a prefix of
    n items, in O(log n) comparisons. The sequences must be of one type, since a list slice never equals a tuple slice.

    >>> common_prefix([1, 2, 3, 4], [1, 2, 9])
    2
    """

    def same(n: int, step: int) -> bool:
        a, b = start + n, other_start + n
        return one[a : a + step] == other[b : b + step]

    return _longest(same, min(len(one) - start, len(other) - other_start))


def common_suffix(one: Sequence[object], other: Sequence[object], stop: int, other_stop: int) -> int:
    """The length of the longest common suffix of `one[:stop]` and `other[:other_stop]`, found in the same way.

    >>> common_suffix([1, 2, 3, 4], [9, 3, 4], 4, 3)
    2
    """

    def same(n: int, step: int) -> bool:
        a, b = stop - n - step, other_stop - n - step
        return one[a : a + step] == other[b : b + step]

    return _longest(same, min(stop, other_stop))


def _longest(same: Callable[[int, int], bool], most: int) -> int:
    n, step = 0, 1
    while step:
        if n + step <= most and same(n, step):
            n += step
            step *= 2
        else:
            step //= 2
    return n
