"""How much two sequences have in common at their ends."""

from collections.abc import Sequence


def common_prefix(one: Sequence[object], other: Sequence[object]) -> int:
    """The length of the longest common prefix.

    Compares slices, of doubled length while they are equal and halved length after they differ: O(n) for a prefix of
    n items, in O(log n) comparisons. The sequences must be of one type, since a list slice never equals a tuple slice.

    >>> common_prefix([1, 2, 3, 4], [1, 2, 9])
    2
    """
    return _common(one, 0, other, 0, 1)


def same_ends(old: Sequence[int], new: Sequence[int]) -> tuple[int, int]:
    """How many items are the same at the beginning and at the end, none being both."""
    head = common_prefix(old, new)
    return head, min(
        min(len(old), len(new)) - head, _common(old, len(old), new, len(new), -1)
    )


def _common(
    one: Sequence[object], at: int, other: Sequence[object], other_at: int, side: int
) -> int:
    n, step, most = 0, 1, min(len(one), len(other))
    while step:
        first, last = (n, n + step) if side > 0 else (-n - step, -n)
        if (
            n + step <= most
            and one[at + first : at + last] == other[other_at + first : other_at + last]
        ):
            n += step
            step *= 2
        else:
            step //= 2
    return n
