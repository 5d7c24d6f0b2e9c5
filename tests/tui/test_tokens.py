"""The tokens of a row look the same wherever the row begins, and after any edit as in a fresh text."""

import random
from itertools import pairwise

import pytest

from bpe_core import LiveText, Tokenizer, train
from tui.text.tokens import TokensOfRows, find_tokens

CORPUS = "the theme of the other thesis,\n    the thing\n\n    that they thought through\n" * 20
PARTS = ("the ", "theme", " ", "\n", "\n\n    ", "thing ", "é", "雨", "x" * 30, "of the other ")


@pytest.fixture(scope="module", params=["gpt4", "none"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return train(CORPUS, vocab_size=330, pattern=request.param)


def colors(live: LiveText, start: int, length: int) -> dict[int, int]:
    """The color of each code point of a row."""
    tokens, _ = find_tokens(live, start, length, 2)
    return {start + column: token.color for token in tokens for column in range(token.start, token.end)}


def test_an_underline_stays_where_it_is_while_one_scrolls(tokenizer: Tokenizer) -> None:
    rng = random.Random(1)
    live = LiveText(tokenizer, "".join(rng.choices(PARTS, k=300)))
    begin = 0
    for line in live.text.splitlines(keepends=True):
        whole = colors(live, begin, len(line))
        for start in range(begin, begin + len(line), 7):
            assert colors(live, start, begin + len(line) - start).items() <= whole.items()
        begin += len(line)


def test_neighbors_on_a_line_differ(tokenizer: Tokenizer) -> None:
    live = LiveText(tokenizer, "".join(random.Random(2).choices(PARTS, k=300)))
    start = 0
    for line in live.text.splitlines(keepends=True):
        tokens, _ = find_tokens(live, start, len(line), 2)
        assert all(one.color != other.color for one, other in pairwise(tokens))
        start += len(line)


@pytest.mark.slow
def test_remembered_rows_are_those_of_a_fresh_text(tokenizer: Tokenizer) -> None:
    rng = random.Random(3)
    live = LiveText(tokenizer, "".join(rng.choices(PARTS, k=200)))
    rows = TokensOfRows()
    for _ in range(20):
        n = live.n_characters
        start = rng.randrange(n)
        for row in range(0, n - 40, 40):
            assert rows.on_row(live, row, 40, 2) == find_tokens(live, row, 40, 2)
        end, typed = min(n, start + rng.choice((0, 0, 3))), rng.choice(PARTS)
        rows.edited(live.splice(start, end, typed), start, end, len(typed))


def test_rows_looked_up_together_are_those_looked_up_alone(tokenizer: Tokenizer) -> None:
    live = LiveText(tokenizer, "".join(random.Random(4).choices(PARTS, k=900)))
    rows, n = TokensOfRows(), live.n_characters
    for step in (tokenizer.step, 20):
        live.use(tokenizer.at(step))
        rows.forget()
        start = 0
        for line in live.text.splitlines(keepends=True):
            assert rows.on_row(live, start, len(line), 6) == find_tokens(live, start, len(line), 6)
            start += len(line)
        assert rows.on_row(live, n // 2, 1, 6) == find_tokens(live, n // 2, 1, 6), "and any place of it"
