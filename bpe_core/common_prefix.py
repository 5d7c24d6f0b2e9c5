"""How much two sequences have in common at their beginnings, found by comparing slices."""

from collections.abc import Sequence


def common_prefix(one: Sequence[object], other: Sequence[object], start: int = 0, other_start: int = 0) -> int:
    """How many items are equal from `start` in `one` and from `other_start` in `other` on.

    Slices are compared that double as long as they are equal, and halve where they differ: O(n) for n items in common,
    all of it inside of the interpreter.

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
