"""The tokens of a row look the same wherever the row begins, and after any edit as in a fresh text."""

import random
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpe_core import LiveText, Tokenizer, train
from tui.text.tokens import Rows, find_tokens, moved, rows_after

CORPUS = (
    "the theme of the other thesis,\n    the thing\n\n    that they thought through\n"
    * 20
)
TRAINED = train(CORPUS, vocab_size=330)
PARTS = (
    "the ",
    "theme",
    " ",
    "\n",
    "\n\n    ",
    "thing ",
    "é",
    "雨",
    "x" * 30,
    "of the other ",
)


@pytest.fixture(scope="module", params=["gpt4", "none"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return train(CORPUS, vocab_size=330, pattern=request.param)


def test_an_underline_stays_where_it_is_while_one_scrolls_and_neighbors_differ(
    tokenizer: Tokenizer,
) -> None:
    live = LiveText(tokenizer, "".join(random.Random(1).choices(PARTS, k=300)))

    def colors(start: int, length: int) -> dict[int, int]:
        """The color of each code point of a row."""
        tokens, _ = find_tokens(live, start, length, 2)
        assert all(one.color != other.color for one, other in pairwise(tokens))
        return {
            start + column: token.color
            for token in tokens
            for column in range(token.start, token.end)
        }

    begin = 0
    for line in live.text.splitlines(keepends=True):
        whole = colors(begin, len(line))
        for start in range(begin, begin + len(line), 7):
            assert colors(start, begin + len(line) - start).items() <= whole.items()
        begin += len(line)


EDITS = st.lists(
    st.tuples(st.integers(0, 400), st.sampled_from(("e", " ", "thx", "e th"))),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize(("n_colors", "length"), [(2, 8), (6, 8), (6, 40)])
@given(
    st.lists(st.sampled_from(PARTS), min_size=30, max_size=60).map("".join),
    EDITS,
    st.booleans(),
)
@example("the of the other  " + "\n" * 9, [(4, "e")], False)
@settings(max_examples=10)
def test_remembered_rows_are_those_of_a_fresh_text(
    n_colors: int, length: int, text: str, edits, grows
) -> None:
    """What is typed over what stood there; what is only inserted moves the colors of a run of equal tokens."""
    live, rows = LiveText(TRAINED, text), Rows()
    for start, typed in edits:
        start %= live.n_characters
        keys = [
            (row, length, n_colors)
            for row in range(0, live.n_characters - length, length)
        ]
        for key in keys:
            found = rows.setdefault(key, find_tokens(live, *key))
            assert n_colors > 2 or found == find_tokens(live, *key)
        end = (
            start
            if grows and n_colors == 2
            else min(live.n_characters, start + len(typed))
        )
        typed = typed[: end - start] if end > start else typed
        rows = rows_after(rows, live.splice(start, end, typed), start, end, len(typed))
        for key in keys:
            assert (
                end - start != len(typed)
                or key not in rows
                or rows[key] == find_tokens(live, *key)
            )


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ((0, 0, 3), (13, 23)),
        ((3, 6, 0), (7, 17)),
        ((10, 10, 2), (10, 22)),
        ((20, 20, 2), (10, 20)),
        ((25, 26, 9), (10, 20)),
        ((12, 15, 1), (10, 18)),
        ((8, 15, 0), (8, 13)),
        ((8, 15, 5), (13, 18)),
        ((15, 25, 1), (10, 16)),
        ((5, 25, 4), (9, 9)),
    ],
)
def test_a_marked_stretch_moves_with_its_text(
    edit: tuple[int, int, int], expected: tuple[int, int]
) -> None:
    assert moved(((10, 20),), *edit) == (expected,)
