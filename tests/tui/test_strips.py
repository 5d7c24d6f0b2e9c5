"""Rows as strips: colors on clusters, marks on what is special, nothing raw, always as wide as asked."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from tui.drawing.palette import make_palette
from tui.text.strips import NEWLINE, RowContent, RowToken, draw

BASE = Style(color="#eeeeee", bgcolor="#101010")
PALETTE = make_palette(BASE, Style(reverse=True), Style(bgcolor="#3355aa"))
PLAIN = make_palette(BASE, Style(), Style(), colorless=True)
FAMILY = "👩\u200d👩\u200d👧"


def shown(strip: Strip) -> list[tuple[str, Style]]:
    return [(text, style or Style()) for text, style, _ in strip]


def backgrounds(strip: Strip) -> list[tuple[str, object]]:
    return [(text, style.bgcolor) for text, style in shown(strip)]


def color(number: int) -> object:
    return PALETTE.tokens[number].usual.bgcolor


def test_each_token_has_its_background() -> None:
    strip = draw(
        RowContent("def greet", (RowToken(0, 3, 0), RowToken(3, 9, 1))), 12, PALETTE
    )
    assert backgrounds(strip) == [
        ("def", color(0)),
        (" greet", color(1)),
        (" ", BASE.bgcolor),
        ("  ", BASE.bgcolor),
    ]


def test_the_newline_of_a_token_is_drawn_in_its_color() -> None:
    strip = draw(RowContent("a:", (RowToken(0, 1, 0), RowToken(1, 3, 1))), 5, PALETTE)
    assert backgrounds(strip)[:3] == [
        ("a", color(0)),
        (":", color(1)),
        (NEWLINE, color(1)),
    ]
    assert NEWLINE not in draw(RowContent("a:", (RowToken(0, 2, 0),)), 5, PALETTE).text
    assert (
        NEWLINE
        not in draw(
            RowContent("a:", (RowToken(0, 3, 0),), ends_line=False), 5, PALETTE
        ).text
    )
    # an empty line shows the token that runs through it
    assert backgrounds(draw(RowContent("", (RowToken(0, 1, 4),)), 3, PALETTE))[0] == (
        NEWLINE,
        color(4),
    )


def test_a_cluster_is_one_color_and_underlined_when_tokens_share_it() -> None:
    strip = draw(
        RowContent(f"a{FAMILY}b", (RowToken(0, 3, 0), RowToken(3, 7, 1))), 10, PALETTE
    )
    texts = shown(strip)
    assert [text for text, _ in texts][:3] == ["a", FAMILY, "b"]
    assert [bool(style.underline) for _, style in texts][:3] == [False, True, False]
    assert [style.bgcolor for _, style in texts][:3] == [color(0), color(0), color(1)]
    # and so is a character of several tokens
    strip = draw(RowContent(" Ε", (RowToken(0, 2, 0),), shared=((1, 2),)), 4, PALETTE)
    assert [(text, bool(style.underline)) for text, style in shown(strip)][:2] == [
        (" ", False),
        ("Ε", True),
    ]


def test_the_token_under_the_cursor_and_the_changed_ones_stand_out() -> None:
    row = RowContent(
        "abcd",
        (RowToken(0, 2, 0), RowToken(2, 4, 1)),
        changed=((2, 4),),
        current=(0, 2),
        cursor=0,
    )
    (cursor, current, changed, *_) = shown(draw(row, 6, PALETTE))
    assert cursor == ("a", BASE + PALETTE.tokens[0].current + PALETTE.cursor)
    assert current == ("b", BASE + PALETTE.tokens[0].current)
    assert changed == ("cd", BASE + PALETTE.tokens[1].changed)
    assert changed[1].bold and not current[1].bold


def test_the_cursor_covers_the_whole_cluster_and_can_stand_behind_the_text() -> None:
    assert (FAMILY, True) in [
        (text, style.reverse)
        for text, style in shown(draw(RowContent(FAMILY, cursor=2), 9, PALETTE))
    ]
    assert shown(draw(RowContent("ab", cursor=2), 5, PALETTE))[1] == (
        " ",
        BASE + PALETTE.cursor,
    )


def test_a_selection_lets_the_tokens_be_seen() -> None:
    strip = draw(
        RowContent("abcd", (RowToken(0, 2, 0), RowToken(2, 4, 1)), selection=(1, 4)),
        6,
        PALETTE,
    )
    mixed = [style.bgcolor for _, style in shown(strip)]
    assert mixed[0] == color(0)
    assert len({mixed[0], mixed[1], mixed[2], PALETTE.selection.bgcolor}) == 4


def test_without_color_tokens_are_told_apart_by_underlines() -> None:
    strip = draw(RowContent("abcd", (RowToken(0, 2, 0), RowToken(2, 4, 1))), 6, PLAIN)
    assert [bool(style.underline) for _, style in shown(strip)][:2] == [False, True]


def test_a_glyph_cut_by_the_edge_leaves_blanks() -> None:
    assert draw(RowContent("漢字漢", left=1), 4, PALETTE).text == " 字 "
    assert draw(RowContent("\tx", left=2, ends_line=False), 2, PALETTE).text == "  "


texts = st.text(alphabet=st.characters(exclude_characters="\n"), max_size=40)


@given(
    texts,
    st.integers(0, 30),
    st.integers(1, 30),
    st.lists(st.integers(0, 40), max_size=8),
    st.integers(0, 40),
)
def test_a_strip_is_as_wide_as_asked(
    text: str, left: int, width: int, cuts: list[int], cursor: int
) -> None:
    places = sorted({min(cut, len(text)) for cut in cuts})
    tokens = tuple(RowToken(a, b, i % 6) for i, (a, b) in enumerate(pairwise(places)))
    strip = draw(
        RowContent(text, tokens, left=left, cursor=min(cursor, len(text))),
        width,
        PALETTE,
    )
    assert (
        strip.cell_length == width == sum(cell_len(segment.text) for segment in strip)
    )
