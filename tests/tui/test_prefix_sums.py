"""PrefixSums: found by position, changed in place, and always what adding up would give."""

import random
from bisect import bisect_right
from itertools import accumulate

import pytest

from tui.text.prefix_sums import PrefixSums


def test_where_a_position_falls():
    sums = PrefixSums([3, 1, 4])
    assert [sums.find(position) for position in range(8)] == [(0, 0)] * 3 + [(1, 3)] + [(2, 4)] * 4
    assert sums.find(8) == sums.find(99) == (2, 4), "the end belongs to the last"
    assert [sums.start(index) for index in range(4)] == [0, 3, 4, 8]


def test_nothing_at_all():
    sums = PrefixSums([])
    assert sums.find(0) == (0, 0) and sums.start(0) == 0


@pytest.mark.parametrize("seed", range(6))
def test_any_changes(seed):
    rng = random.Random(seed)
    lengths = [rng.randint(1, 9) for _ in range(rng.choice((1, 40, 700, 3000)))]
    sums = PrefixSums(lengths)
    for _ in range(60):
        if rng.random() < 0.5:
            index, change = rng.randrange(len(lengths)), rng.randint(1, 5)
            lengths[index] += change
            sums.add(index, change)
        else:
            first = rng.randint(0, len(lengths))
            last = rng.randint(first, len(lengths))
            new = [rng.randint(1, 9) for _ in range(rng.choice((last - first, rng.randint(1, 9), 1500)))]
            if lengths[:first] + new + lengths[last:]:
                lengths[first:last] = new
                sums.replace(first, last, new)
        starts = [0, *accumulate(lengths)]
        assert sums.total == starts[-1]
        assert [sums.start(index) for index in range(len(lengths) + 1)] == starts
        position = rng.randrange(starts[-1])
        index = bisect_right(starts, position) - 1
        assert sums.find(position) == (index, starts[index]) and sums[index] == lengths[index]
