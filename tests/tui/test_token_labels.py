"""Tokens beside each other in the cells there are: none is cut without a sign, and what finds no place is counted."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from tui.drawing.palette import make_palette, token_labels

BASE = Style(color="#ffffff", bgcolor="#000000")
PALETTE = make_palette(BASE, Style(reverse=True), Style(reverse=True))
WORDS = (b" the", b"Default", b"\n", b"\xf0\x9f", "雨".encode(), "\u0301".encode(), b"x")


def bytes_of(token: int) -> bytes:
    return WORDS[token % len(WORDS)]


def test_chips_stand_apart_and_joined_ones_do_not() -> None:
    assert token_labels([0, 1, 2], bytes_of, PALETTE).plain == "␣the Default ↵"
    assert token_labels([0, 1, 2], bytes_of, PALETTE, between="").plain == "␣theDefault↵"


def test_what_has_no_place_is_counted() -> None:
    assert token_labels([0, 1, 2, 3], bytes_of, PALETTE, room=12).plain == "␣the +3"
    assert token_labels([1] * 100_000, bytes_of, PALETTE, room=20).plain == "Default +99,999"
    assert token_labels([1], bytes_of, PALETTE, room=6).plain == "Defau…"


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.integers(8, 60))
def test_they_never_take_more_than_their_room(ids: list[int], room: int) -> None:
    text = token_labels(ids, bytes_of, PALETTE, room=room)
    counted = int(text.plain.rpartition("+")[2]) if "+" in text.plain else 0
    assert cell_len(text.plain) <= room or counted == len(ids) - 1
    assert len(text.plain.split()) - bool(counted) == len(ids) - counted
