"""Find how much two sequences have in common at their beginning and end."""

from collections.abc import Sequence


def common_prefix(one: Sequence[object], other: Sequence[object]) -> int:
    """Return the length of the longest common prefix. The sequences must be of one type.

    It compares slices, doubling their length while they are equal, and halving it after they differ. So
    a prefix of n items takes O(n) time and O(log n) comparisons of slices.

    >>> common_prefix([1, 2, 3, 4], [1, 2, 9])
    2
    """
    most = min(len(one), len(other))
    n_common = 0
    step = 1
    while step:
        end = n_common + step
        if end <= most and one[n_common:end] == other[n_common:end]:
            n_common = end
            step *= 2
        else:
            step //= 2
    return n_common


def common_suffix(one: Sequence[object], other: Sequence[object], most: int) -> int:
    """Return the length of the longest common suffix, at most `most`; see `common_prefix`."""
    n_common = 0
    step = 1
    while step:
        end = n_common + step
        if end <= most and (
            one[len(one) - end : len(one) - n_common]
            == other[len(other) - end : len(other) - n_common]
        ):
            n_common = end
            step *= 2
        else:
            step //= 2
    return n_common


def same_ends(old: Sequence[int], new: Sequence[int]) -> tuple[int, int]:
    """Return how many items are the same at the beginning and at the end. No item counts for both."""
    n_first = common_prefix(old, new)
    most = min(len(old), len(new)) - n_first
    return n_first, common_suffix(old, new, most)
