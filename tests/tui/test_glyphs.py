"""What is drawn is as wide as it says, safe for a terminal, and the same for the cursor and the mouse."""

import ast
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import bpe_core
import tui
from bpe_core.visible import CONTROLS
from tui.text.clusters import glyph, lay_out, measure, wrap
from tui.text.document import LONG_LINE, FaithfulDocument
from tui.text.navigator import Navigator
from tui.text.rows import CHUNK, Rows, Ruler

FAMILY, FLAG, THUMB, HEART = "👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "❤\ufe0f"
NASTY = (
    f"a\t漢{FAMILY}{FLAG}{THUMB}{HEART}e\u0301\x1b[2J\x00\x9b\u202e\u200b\ufeff\u0301\u200d\ufe0f한क्षिක්\u200dරි"
    "שָׁלוֹם العربية 1\ufe0f\u20e3\ud800\U000e0041\t\t🏴"
)
texts = st.text(
    alphabet=st.one_of(st.characters(exclude_characters="\n"), st.sampled_from(NASTY)),
    max_size=60,
)


@pytest.mark.parametrize(
    ("cluster", "cells"),
    [
        ("a", 1),
        ("漢", 2),
        (FAMILY, 2),
        (FLAG, 2),
        (THUMB, 2),
        (HEART, 2),
        ("e\u0301", 1),
    ],
)
def test_a_cluster_is_drawn_as_it_is(cluster: str, cells: int) -> None:
    assert glyph(cluster) == (cluster, cells)


@given(texts, st.booleans())
def test_glyphs_are_as_wide_as_they_say_and_command_nothing(
    text: str, spaces: bool
) -> None:
    layout = lay_out(text, spaces=spaces)
    assert "".join(text[a:b] for a, b in pairwise(layout.starts)) == text
    for index, drawn in enumerate(layout.glyphs):
        assert cell_len(drawn) == layout.cells[index + 1] - layout.cells[index] > 0
        assert drawn.translate(CONTROLS) == drawn
    assert cell_len("".join(layout.glyphs)) == layout.width == measure(text)


def test_tabs_go_to_the_next_stop() -> None:
    assert list(lay_out("\ta\tbcd\t").cells) == [0, 4, 5, 8, 9, 10, 11, 12]
    assert list(lay_out("\ta", phase=3).cells) == [0, 1, 2]
    assert list(lay_out(" \ta", spaces=True).glyphs) == ["·", "⇥  ", "a"]


def test_a_letter_under_a_thousand_accents_stays_in_its_cell() -> None:
    drawn, cells = glyph("a" + "\u0301" * 1000)
    assert (len(drawn) < 40, cells) == (True, 1)


def test_rows_break_before_the_space_of_a_word() -> None:
    assert wrap("the quick brown fox", 10) == [9]
    assert wrap("abcdefghijkl", 5) == [5, 10]
    assert wrap("    abcdefgh", 6) == [6]
    assert wrap("漢字かな交じり文", 5) == [2, 4, 6]


@given(texts, st.integers(2, 20))
def test_every_row_fits_and_cuts_no_cluster(text: str, width: int) -> None:
    cuts = [0, *wrap(text, width), len(text)]
    whole = set(lay_out(text).starts)
    for start, end in pairwise(cuts):
        row = lay_out(text[start:end])
        assert row.width <= width or len(row.glyphs) == 1
        assert start in whole


@given(texts.map(lambda text: (text * 60)[:3000]), st.data())
def test_a_ruler_measures_like_a_layout_of_the_whole_line(
    text: str, data: st.DataObject
) -> None:
    ruler, layout = Ruler(text), lay_out.__wrapped__(text)
    cell = data.draw(st.integers(0, layout.width + 3))
    if set(ruler._columns) <= set(
        layout.starts
    ):  # clusters longer than the look-ahead may be cut
        column = ruler.column(cell)
        start, stretch, at = ruler.window(cell, 80)
        assert start <= column <= start + len(stretch)
        assert text[start : start + len(stretch)] == stretch
        assert at <= cell or cell >= layout.width


def test_a_ruler_keeps_what_lies_before_an_edit() -> None:
    line = "é\t漢x" * 1000
    ruler = Ruler(line)
    whole = lay_out(line)
    assert [ruler.cell(column) for column in (0, 1999, 4000)] == [
        whole.cell(column) for column in (0, 1999, 4000)
    ]
    edited = line[:2000] + "zz" + line[2000:]
    after, fresh = ruler.with_line(edited, 2000), Ruler(edited)
    assert after.cell(1500) == ruler.cell(1500)
    assert after.cell(4002) == fresh.cell(4002) == lay_out(edited).cell(4002)
    assert after._columns[:3] == ruler._columns[:3]


def nasty_document() -> FaithfulDocument:
    return FaithfulDocument(
        "\n".join(
            (
                NASTY * 2,
                "",
                "plain words that are long enough to wrap",
                "\tx" * 9,
                "end",
            )
        )
    )


@pytest.mark.parametrize("width", [0, 7, 20])
def test_cursor_and_mouse_agree_on_every_place(width: int) -> None:
    document = nasty_document()
    rows = Rows(document, width)
    location = (0, 0)
    navigator = Navigator(rows)
    seen = []
    while location != document.end:
        x, y = rows.location_to_offset(location)
        assert rows.offset_to_location((x, y)) == location
        seen.append((y, x))
        following = navigator.get_location_right(location)
        assert navigator.get_location_left(following) == location
        location = following
    assert seen == sorted(set(seen))


@pytest.mark.parametrize("width", [0, 7, 20])
def test_a_click_behind_a_row_puts_the_cursor_at_its_end_and_not_on_the_next(
    width: int,
) -> None:
    rows = Rows(nasty_document(), width)
    for y in range(rows.height):
        place = rows.place(y, 0, 10_000)
        assert place is not None
        line, column = rows.offset_to_location((10_000, y))
        assert line == place.line and place.start <= column <= place.start + len(
            place.text
        )
        assert rows.location_to_offset((line, column)).y == y


def test_edits_lay_out_only_what_they_touch() -> None:
    document = nasty_document()
    rows = Rows(document, 12)
    for start, end, text in [
        ((0, 5), (0, 9), "x\ny"),
        ((1, 0), (3, 1), ""),
        ((0, 0), (0, 0), "long " * 9),
    ]:
        rows.wrap_range(
            start, end, document.replace_range(start, end, text).end_location
        )
        fresh = Rows(document, 12)
        places = [rows.place(y) for y in range(rows.height)]
        assert places == [fresh.place(y) for y in range(fresh.height)]
        assert (
            "".join(place.text + "\n" * place.ends_line for place in places if place)
            == document.text + "\n"
        )
    assert rows.place(rows.height) is None


def test_a_very_long_line_is_not_wrapped_until_it_is_short_again() -> None:
    document = FaithfulDocument("one two\n" + "x" * LONG_LINE)
    rows = Rows(document, 5)
    assert rows.height > document.line_count
    rows.wrap_range(
        (1, 0), (1, 0), document.replace_range((1, 0), (1, 0), "x").end_location
    )
    assert (rows.width, rows.height, rows.widest) == (0, 2, LONG_LINE + 1)
    rows.wrap_range(
        (1, 0), (1, 9), document.replace_range((1, 0), (1, 9), "").end_location
    )
    assert rows.width == 5 and rows.height > document.line_count


def test_a_big_text_is_wrapped_where_one_looks() -> None:
    line = "many words of a line that goes on in the next row\n"
    document = FaithfulDocument(line * 9_000)
    rows, exact = Rows(document, 20), wrap(line[:-1], 20)
    last = rows.location_to_offset((8_999, 0)).y
    places = [rows.place(y) for y in range(last - 100, last + len(exact) + 1)]
    assert "".join(
        place.text + "\n" * place.ends_line for place in places if place
    ).endswith(line * 30)
    assert rows.offset_to_location((0, last)) == (8_999, 0)
    for line_index in range(9_000):
        rows.get_offsets(line_index)
    assert rows.height == 9_000 * (len(exact) + 1) + 1
    assert rows.location_to_offset((8_999, 0)).y == 8_999 * (len(exact) + 1)


def test_only_the_stretch_in_view_of_a_long_line_is_laid_out() -> None:
    rows = Rows(FaithfulDocument("漢" * 100_000), 0)
    place = rows.place(0, 100_000, 80)
    assert place is not None
    assert len(place.text) < 3 * CHUNK
    assert place.cell == 2 * place.start <= 100_000


def test_the_cursor_walks_words_and_rows() -> None:
    document = FaithfulDocument("one two, three\nfour")
    navigator = Navigator(Rows(document, 8))
    assert navigator.get_word_right((0, 0)) == (0, 3)
    assert navigator.get_word_left((0, 7)) == (0, 4)
    assert navigator.get_location_below((0, 2)) == (0, 10)
    assert navigator.get_location_end((0, 0)) == (0, 7)
    assert navigator.get_location_below(document.end) == document.end


def characters_of_dejavu_sans_mono() -> set[str]:
    """The characters of a common font with few signs, as `fc-query --format '%{charset}'` lists them."""
    ranges = (Path(__file__).parent / "dejavu_sans_mono.txt").read_text().split()
    characters = set[str]()
    for first, _, last in (part.partition("-") for part in ranges):
        characters.update(map(chr, range(int(first, 16), int(last or first, 16) + 1)))
    return characters


def strings_of(module: Path) -> Iterator[str]:
    """The strings of a module, except docstrings."""
    nodes = [*ast.walk(ast.parse(module.read_text("utf-8")))]
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        is_own = isinstance(node, ast.Constant) and id(node) not in docstrings
        if is_own and isinstance(node.value, str):
            yield node.value


def test_signs_of_the_app_are_in_a_common_font() -> None:
    app, core = Path(tui.__file__).parent, Path(bpe_core.__file__).parent
    written = [text for module in app.rglob("*.py") for text in strings_of(module)]
    for path in (
        app / "glossary.toml",
        core / "auditing" / "findings.json",
        core / "metrics" / "catalog.json",
    ):
        written.append(path.read_text("utf-8"))
    signs = {
        sign
        for sign in "".join(written)
        # Letters are from texts; joiners are not drawn.
        if not sign.isascii() and unicodedata.category(sign)[0] not in "LMC"
    }
    assert len(signs) > 40
    assert signs <= characters_of_dejavu_sans_mono()
