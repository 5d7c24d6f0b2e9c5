"""A document gives back what it was given, through edits, and finds every place in it."""

import random
from bisect import bisect_right
from itertools import accumulate

import pytest

from tui.text.document import LONG_LINE, FaithfulDocument, PrefixSums

ENDINGS = "a\r\nb\rc\x0bd\x0ce\x1cf\x85g\u2028h\u2029i\n\nj\r"


def test_only_newlines_end_a_line() -> None:
    document = FaithfulDocument(ENDINGS)
    assert document.lines == [
        "a\r",
        "b\rc\x0bd\x0ce\x1cf\x85g\u2028h\u2029i",
        "",
        "j\r",
    ]
    assert document.text == ENDINGS


def test_every_edit_is_heard_in_offsets_and_can_be_taken_back() -> None:
    rng = random.Random(1)
    text = heard = ENDINGS * 3
    undo = []

    def listener(start: int, end: int, replacement: str) -> None:
        nonlocal heard
        heard = heard[:start] + replacement + heard[end:]

    document = FaithfulDocument(text, listener)
    for _ in range(300):
        start, end = sorted(rng.randrange(len(document.text) + 1) for _ in range(2))
        end = min(end, start + 5)
        top, bottom = map(document.get_location_from_index, (start, end))
        new = "".join(rng.choices("x\n\r\u2028é", k=rng.randrange(5)))
        result = document.replace_range(bottom, top, new)
        assert result.end_location == document.get_location_from_index(start + len(new))
        undo.append((top, result.end_location, result.replaced_text))
        assert document.text == heard
    for top, bottom, replaced in reversed(undo):
        document.replace_range(top, bottom, replaced)
    assert document.text == heard == text


@pytest.mark.parametrize("text", ["", "a", "\n", "ab\n\ncd\n", ENDINGS])
def test_places_and_offsets_are_each_others_inverse(text: str) -> None:
    document = FaithfulDocument(text)
    for offset in range(len(text) + 1):
        location = document.get_location_from_index(offset)
        assert document.get_index_from_location(location) == offset
        assert document.get_text_range((0, 0), location) == text[:offset]
    assert document.end == document.get_location_from_index(len(text) + 99)


def test_places_outside_the_text_count_as_the_nearest() -> None:
    document = FaithfulDocument("ab\ncd")
    assert document.get_index_from_location((9, 0)) == 5
    assert document.get_index_from_location((0, 9)) == 2
    assert document.replace_range((1, 0), (2, 0), "").replaced_text == "cd"


def test_long_lines_are_counted_through_edits() -> None:
    document = FaithfulDocument("a" * LONG_LINE + "\nb")
    assert document.n_long_lines == 0
    document.replace_range((0, 0), (0, 0), "x")
    assert document.n_long_lines == 1
    document.replace_range((0, 9), (0, 9), "\n")
    assert document.n_long_lines == 0


def test_a_lone_surrogate_becomes_a_character_that_can_be_written_anywhere() -> None:
    document = FaithfulDocument("a\ud800b")
    document.replace_range((0, 3), (0, 3), "\ud83d\ude0a\udfff")
    assert document.text == "a\ufffdb😊\ufffd"
    assert document.n_bytes == len(document.text.encode())


@pytest.mark.parametrize("n", [1, 40, 700, 3000])
def test_changed_lengths_add_up(n: int) -> None:
    rng = random.Random(n)
    lengths = [rng.randint(1, 9) for _ in range(n)]
    sums = PrefixSums(lengths)
    for _ in range(60):
        first = rng.randint(0, len(lengths))
        last = rng.randint(first, len(lengths))
        new = [
            rng.randint(1, 9)
            for _ in range(rng.choice((last - first, rng.randint(1, 9), 1500)))
        ]
        if lengths[:first] + new + lengths[last:]:
            lengths[first:last] = new
            sums.replace(first, last, new)
        starts = [0, *accumulate(lengths)]
        assert sums.total == starts[-1]
        assert [sums.start(index) for index in range(0, len(lengths) + 1, 7)] == starts[
            ::7
        ]
        position = rng.randrange(starts[-1])
        index = bisect_right(starts, position) - 1
        assert (
            sums.find(position) == (index, starts[index])
            and sums[index] == lengths[index]
        )
        last = sums.find(starts[-1])
        assert last == sums.find(starts[-1] + 9) == (len(lengths) - 1, starts[-2]), (
            "the end belongs to the last"
        )
    assert PrefixSums([]).find(0) == (0, 0) and PrefixSums([]).start(0) == 0
