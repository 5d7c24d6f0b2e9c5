"""Pictures of texts: every character is in them, nothing in them commands a terminal, and neighbors differ in color."""

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest

from bpe_core import LiveText, save, train
from bpe_core.cells import cells, fitted
from bpe_core.cli.main import main
from bpe_core.pictures.html import fragment, page
from bpe_core.pictures.markdown import document
from bpe_core.pictures.picture import Picture
from bpe_core.pictures.svg import drawing
from bpe_core.pictures.terminal import BORDER, colors_of, in_terminal
from tests.nasty import nasty_texts

LEARNED = train("the theme of the other thesis, the thing that they thought through\n" * 20, vocab_size=290)
TEXTS = [
    "",
    "\n",
    "a<b>&amp;\"'`",
    "the theme\n\n of\tit",
    "x\x1b[2J\u202e\x00",
    "e\u0301 हिन्दी 日本 👩\u200d👩\u200d👧",
]
TEXTS += nasty_texts(40, seed=4)


def plain(text):
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@pytest.mark.parametrize("text", TEXTS)
def test_all_tokens_are_in_order_and_neighbors_differ_in_color(text):
    picture = Picture.of(LEARNED, plain(text))
    assert [id for chip in picture.chips for id in chip.ids] == LEARNED.encode_ordinary(text)
    assert b"".join(chip.data for chip in picture.chips) == plain(text).encode()
    assert all(one.color != other.color for one, other in zip(picture.chips, picture.chips[1:], strict=False))
    seen = "".join("\n".join(chip.lines) for chip in picture.chips)
    assert seen.count("\n") == plain(text).count("\n")
    assert len(seen) == len(plain(text)) + plain(text).count("\n")  # each line feed is seen as well


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("colors", [0, 256, 1 << 24])
def test_a_terminal_is_told_nothing_but_colors(text, colors):
    shown = in_terminal(Picture.of(LEARNED, plain(text)), colors, with_ids=True)
    rest = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", rest)
    assert (shown == rest) == (colors == 0 or not text)


def test_borders_stand_between_tokens():
    picture = Picture.of(LEARNED, "the theme\n\nof")
    assert in_terminal(picture, 0).replace("↵\n", "\n").split(BORDER) == [
        LEARNED.decode([id]) for id in LEARNED.encode("the theme\n\nof")
    ]


@pytest.mark.parametrize("colors", [0, 256])
def test_the_ids_of_a_line_feed_stand_in_the_line_that_it_ends(colors):
    picture = Picture.of(LEARNED, "a\n\nb\n")
    (last,) = LEARNED.encode("\n")
    html = fragment([picture], with_ids=True).split("<pre")[1]
    for shown, ids in ((in_terminal(picture, colors, with_ids=True), f"⟨{last}⟩"), (html, f"<sub>{last}</sub>")):
        lines = shown.splitlines()[:3]
        assert [line.count("↵") for line in lines] == [line.count(ids) for line in lines] == [1, 1, 1]


class Shown(HTMLParser):
    """The text in `pre`, and every tag."""

    def __init__(self):
        super().__init__()
        self.text, self.tags, self.inside = "", set(), False

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.inside |= tag == "pre"

    def handle_endtag(self, tag):
        self.inside &= tag != "pre"

    def handle_data(self, data):
        self.text += data if self.inside else ""


@pytest.mark.parametrize("text", TEXTS)
def test_a_page_shows_the_text_and_needs_nothing(text):
    made = page([Picture.of(LEARNED, plain(text), "<script>")])
    shown = Shown()
    shown.feed(made)
    assert shown.text == "".join("\n".join(chip.lines) for chip in Picture.of(LEARNED, plain(text)).chips)
    assert not shown.tags & {"script", "link", "img", "iframe"}
    assert "http" not in made


@pytest.mark.parametrize("text", TEXTS)
def test_a_drawing_is_sound_xml_with_all_of_the_text_in_its_lines(text):
    picture = Picture.of(LEARNED, plain(text))
    root = ElementTree.fromstring(drawing([picture], 20))
    space = "{http://www.w3.org/2000/svg}"
    texts = [element.text or "" for element in root.iter(f"{space}text") if element.get("class") == "x"]
    assert "".join(texts) == "".join("".join(chip.lines) for chip in picture.chips)
    assert all(cells(line) <= 20 for line in texts)


def test_markdown_fences_are_longer_than_what_they_hold():
    text = "a ```` b" * 2
    made = document([Picture.of(train(text * 9, vocab_size=300, pattern="none"), text)])
    assert "`````text" in made
    assert made.count("\n`````") == 2


def test_a_notebook_shows_a_tokenizer_and_a_text():
    assert f"{LEARNED.n_vocab}" in LEARNED._repr_html_()
    shown = LiveText(LEARNED, "the theme")._repr_html_()
    assert "<style>" in shown
    assert "the" in shown
    assert fragment([]).startswith("<div")


@pytest.mark.parametrize(
    ("environment", "is_terminal", "n"),
    [
        ({}, True, 256),
        ({"COLORTERM": "truecolor"}, True, 1 << 24),
        ({"COLORTERM": "truecolor", "NO_COLOR": "1"}, True, 0),
        ({"TERM": "dumb"}, True, 0),
        ({"COLORTERM": "truecolor"}, False, 0),
    ],
)
def test_colors_are_those_a_terminal_has(environment, is_terminal, n):
    assert colors_of(environment, is_terminal) == n


def test_columns_are_counted_as_terminals_count_them():
    assert [cells(text) for text in ("abc", "日本", "e\u0301", "")] == [3, 4, 1, 0]
    assert fitted("日本語", 5) == "日本…"
    assert fitted("abc", 3) == "abc"


def test_show_prints_what_was_asked_for(tmp_path, capsys):
    save(LEARNED, tmp_path / "t.json")
    (tmp_path / "text.txt").write_text("the theme\n")
    words = ["show", "-t", str(tmp_path / "t.json"), str(tmp_path / "text.txt")]
    for option, mark in (("--html", "<!DOCTYPE"), ("--svg", "<svg"), ("--markdown", "### "), ("--ids", "⟨")):
        assert main([*words, option]) == 0
        assert mark in capsys.readouterr().out
    assert main([*words, "--color", "always"]) == 0
    assert "\x1b[" in capsys.readouterr().out
    assert main([*words, "-t", str(tmp_path / "t.json")]) == 0
    out, err = capsys.readouterr()
    assert out.count("tokens") == 2
    assert err == ""
