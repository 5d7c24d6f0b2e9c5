"""Ids in, text out: what is typed or pasted is decoded as one types, and told where it is none; F4 leads on with it."""

import pytest
from test_table import worked_out

from bpe_core import train
from bpe_core.explain.decoding import decoded_spans
from tui.text.views import lay_out

BYTES = train("", vocab_size=257, pattern="none")


def rows(text: str | list[int], width: int) -> list[list[tuple[str, int, bool]]]:
    ids = list(text.encode()) if isinstance(text, str) else text
    spans = list(decoded_spans(BYTES, ids))
    steps = lay_out(spans, [index % 6 for index in range(len(spans))], BYTES.token_bytes, width)
    return [[tuple(part) for part in row] for row in worked_out(steps)]


@pytest.mark.parametrize(
    ("ids", "width", "shown"),
    [
        ("ab cd", 80, ["ab cd"]),
        ("abcdef", 4, ["abcd", "ef"]),
        ("a\nb\n", 80, ["a↵", "b↵"]),
        ("\n\n", 80, ["↵", "↵"]),
        ("a\tb\x1b", 80, ["a⇥b␛"]),
        ("é", 80, ["é×2"]),
        ([104, 128, 105], 80, ["h\\x80i"]),
        ([104, 999, 105], 80, ["h?999?i"]),
        ([], 80, []),
    ],
)
def test_decoded_ids_are_laid_out_in_rows(ids: str | list[int], width: int, shown: list[str]) -> None:
    assert ["".join(text for text, _, _ in row) for row in rows(ids, width)] == shown


def test_invalid_bytes_are_brought_out_and_what_is_no_token_has_no_color() -> None:
    assert rows([104, 128, 999], 80) == [[("h", 0, False), ("\\x80", 1, True), ("?999?", -1, False)]]
