"""Token colors can be read and told apart in every theme, and stay put while one types."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from bpe_core.live.change import Span
from bpe_core.pictures import HUES, choose_colors
from tui.app import THEMES
from tui.drawing.palette import (
    CONTRAST,
    TOKEN_COLORS,
    Palette,
    contrast,
    make_palette,
    muted,
    selected,
)
from tui.drawing.token_labels import token_labels

RGB_THEMES = [theme for theme in (*BUILTIN_THEMES.values(), *THEMES) if not theme.ansi]


def palette_of(theme: Theme, surface: str = "surface") -> Palette:
    variables = {**TOKEN_COLORS, **theme.to_color_system().generate()}
    # Some foregrounds are given as "auto 87%", which is resolved on the surface.
    name = variables["foreground"]
    background = Color.parse(variables[surface])
    color = (
        background.get_contrast_text() if name.startswith("auto") else Color.parse(name)
    )
    base = Style(color=(background + color).rich_color, bgcolor=background.rich_color)
    return make_palette(
        base,
        selection=Style(bgcolor=variables["primary"]),
        hues=tuple(variables[f"token-{n}"] for n in range(6)),
    )


def ratio(style: Style) -> float:
    assert style.color is not None and style.bgcolor is not None
    return contrast(
        Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)
    )


@pytest.mark.parametrize("theme", RGB_THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("surface", ["surface", "background", "panel"])
def test_text_on_every_token_color_can_be_read(theme: Theme, surface: str) -> None:
    palette = palette_of(theme, surface)
    for ways in palette.tokens:
        for style in (
            ways.usual,
            ways.changed,
            ways.current,
            selected(ways.usual, palette.selection),
        ):
            assert ratio(style) >= CONTRAST


@pytest.mark.parametrize("theme", RGB_THEMES, ids=lambda theme: theme.name)
def test_token_colors_differ_from_each_other_and_from_the_surface(theme: Theme) -> None:
    palette = palette_of(theme)
    colors = [
        Color.from_rich_color(style.bgcolor)
        for style in (palette.base, *(way.usual for way in palette.tokens))
    ]
    for index, one in enumerate(colors):
        for other in colors[:index]:
            assert (
                sum(abs(a - b) for a, b in zip(one.rgb, other.rgb, strict=True)) >= 18
            )
    for ways in palette.tokens:
        assert (
            len({ways.usual.bgcolor, ways.changed.bgcolor, ways.current.bgcolor}) == 3
        )


def test_sixteen_colors_are_the_terminals_own() -> None:
    base = Style(color="default", bgcolor="default")
    palette = make_palette(base, Style(reverse=True), Style(), ansi=True)
    assert len(palette.tokens) == len(HUES)
    assert all(
        way.usual.bgcolor and way.usual.bgcolor.number in range(16)
        for way in palette.tokens
    )
    assert palette.selection.reverse
    assert muted(palette.tokens[0].usual) == palette.tokens[0].usual


def test_without_color_every_second_token_is_underlined() -> None:
    palette = make_palette(
        Style(color="#ffffff", bgcolor="#000000"), Style(), Style(), colorless=True
    )
    assert [bool(way.usual.underline) for way in palette.tokens] == [False, True]
    assert choose_colors([Span(i, i + 1, (7,)) for i in range(5)], 2) in (
        [1, 0, 1, 0, 1],
        [0, 1, 0, 1, 0],
    )


def spans_of(ids: list[int], start: int = 0) -> list[Span]:
    return [
        Span(start + 2 * index, start + 2 * index + 2, (token,))
        for index, token in enumerate(ids)
    ]


@given(st.lists(st.integers(0, 30)))
def test_neighbors_never_have_the_same_color(ids: list[int]) -> None:
    assert all(one != other for one, other in pairwise(choose_colors(spans_of(ids))))


def test_a_color_is_that_of_the_id_wherever_it_can_be() -> None:
    assert choose_colors(spans_of([8, 3, 1, 12])) == [2, 3, 1, 0]
    assert choose_colors(spans_of([8, 2, 1])) == [2, 3, 1]


# Labels: none is cut without a sign, and what finds no place is counted


LABELED = make_palette(Style(color="#ffffff", bgcolor="#000000"))
WORDS = (
    b" the",
    b"Default",
    b"\n",
    b"\xf0\x9f",
    "雨".encode(),
    "\u0301".encode(),
    b"x",
)


def bytes_of(token: int) -> bytes:
    return WORDS[token % len(WORDS)]


def test_chips_stand_apart_and_joined_ones_do_not() -> None:
    assert token_labels([0, 1, 2], bytes_of, LABELED).plain == "␣the Default ↵"
    assert (
        token_labels([0, 1, 2], bytes_of, LABELED, between="").plain == "␣theDefault↵"
    )


def test_what_has_no_place_is_counted() -> None:
    assert token_labels([0, 1, 2, 3], bytes_of, LABELED, room=12).plain == "␣the +3"
    assert (
        token_labels([1] * 100_000, bytes_of, LABELED, room=20).plain
        == "Default +99,999"
    )
    assert token_labels([1], bytes_of, LABELED, room=6).plain == "Defau…"


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.integers(8, 60))
def test_they_never_take_more_than_their_room(ids: list[int], room: int) -> None:
    text = token_labels(ids, bytes_of, LABELED, room=room)
    counted = int(text.plain.rpartition("+")[2]) if "+" in text.plain else 0
    assert cell_len(text.plain) <= room or counted == len(ids) - 1
    assert len(text.plain.split()) - bool(counted) == len(ids) - counted
