"""Pictures of texts: every character is in them, nothing in them commands a terminal, and neighbors differ in color."""

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from bpe_core import LiveText, Tokenizer, save, train
from bpe_core.cli.main import main
from bpe_core.pictures.drawing import (
    BORDER,
    TextLanes,
    colors_of,
    document,
    drawing,
    fragment,
    in_terminal,
    page,
)
from bpe_core.visible import cells, fitted
from tests.nasty import nasty_texts

CORPUS = "the theme of the other thesis, the thing that they thought through\n" * 20
ONE = train(CORPUS, vocab_size=290)
OTHERS = [
    train(CORPUS, vocab_size=330, pattern="gpt2"),
    Tokenizer(ONE.vocabulary, "words"),  # drops spaces
    train(
        CORPUS, vocab_size=300, pattern="words", end_of_word="</w>"
    ),  # is no LiveText
]
TEXTS = [
    *(
        "",
        "\n",
        "a<b>&amp;\"'`",
        "the theme\n\n of\tit",
        "x\x1b[2J\u202e\x00",
        "a <b> & `c` | d",
    ),
    *("e\u0301 हिन्दी 日本 👩\u200d👩\u200d👧", *nasty_texts(30, seed=4)),
]
BLANKS = dict.fromkeys(map(ord, " \xa0\n"))
COMMANDS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def one_lane(text: str, title: str = "<script>") -> TextLanes:
    return TextLanes.of([(title, LiveText(ONE, plain(text)))])


def lanes_of(text: str, *part: int) -> TextLanes:
    return TextLanes.of(
        [
            (f"<{number}>", LiveText(one, plain(text)))
            for number, one in enumerate((ONE, *OTHERS))
        ],
        *part,
    )


def seen(lanes: TextLanes, lane: int = 0) -> str:
    return "".join(chip.text for line in lanes.lines for chip in line[lane])


@pytest.mark.parametrize("text", TEXTS)
def test_all_tokens_are_in_order_and_neighbors_differ_in_color(text: str) -> None:
    chips = [chip for (line,) in one_lane(text).lines for chip in line]
    begun = [chip for chip in chips if chip.begins]
    assert [id for chip in begun for id in chip.ids] == ONE.encode_ordinary(plain(text))
    assert b"".join(chip.data for chip in begun) == plain(text).encode()
    assert all(one.color != other.color for one, other in pairwise(begun))
    assert len(seen(one_lane(text))) == len(plain(text)) and len(begun) == sum(
        chip.ends for chip in chips
    )


@pytest.mark.parametrize("text", TEXTS)
def test_each_lane_has_all_of_the_text_and_its_own_tokens(text: str) -> None:
    lanes = lanes_of(text)
    for lane, tokenizer in enumerate((ONE, *OTHERS)):
        assert len(seen(lanes, lane)) == len(plain(text)) and seen(lanes, lane) == seen(
            lanes
        )
        found = [
            id
            for line in lanes.lines
            for chip in line[lane]
            if chip.begins
            for id in chip.ids
        ]
        there = tokenizer.encode_ordinary(plain(text))
        assert (
            found == there if tokenizer.by_piece else set(found) <= set(there)
        )  # an end of word has no characters
    assert not any(chip.is_alike for line in lanes.lines for chip in line[0])
    assert all(len(line) == 1 + len(OTHERS) for line in lanes.lines)


@pytest.mark.parametrize("make", [one_lane, lanes_of])
@pytest.mark.parametrize("text", TEXTS)
def test_whatever_a_text_holds_pictures_are_sound_and_need_nothing(
    text: str, make: type[TextLanes]
) -> None:
    lanes = make(text)
    made = page([lanes]), drawing([lanes], 20), document([lanes], with_ids=True)
    assert not any(
        COMMANDS.search(picture) or "http:" in picture.replace("http://www.w3.org", "")
        for picture in made
    )
    shown = Shown()
    shown.feed(made[0])
    assert shown.text.replace("\n", "") == "".join(
        chip.text for line in lanes.lines for lane in line for chip in lane
    ) and not shown.tags & {"script", "link", "img", "iframe"}
    svg = "{http://www.w3.org/2000/svg}"
    rows: dict[str, str] = {}
    for element in ElementTree.fromstring(made[1]).iter(f"{svg}text"):
        part = (element.text or "").translate(BLANKS)
        rows[element.attrib["y"]] = rows.get(element.attrib["y"], "") + part
    assert all(cells(row) <= 20 for row in rows.values())
    drawn = "".join(rows[y] for y in sorted(rows, key=float))
    assert drawn.count("↵") == len(lanes.titles) * plain(text).count("\n")
    assert (
        make is lanes_of or seen(lanes).translate(BLANKS) in drawn
    )  # a space has a background, and no text


class Shown(HTMLParser):
    """The text in `pre`, and every tag."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.tags, self.inside = "", set[str](), False

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.tags.add(tag)
        self.inside |= tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self.inside &= tag != "pre"

    def handle_data(self, data: str) -> None:
        self.text += data if self.inside else ""


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("colors", [0, 256, 1 << 24])
def test_a_terminal_is_told_nothing_but_colors(text: str, colors: int) -> None:
    shown = in_terminal(one_lane(text), colors, with_ids=True)
    rest = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert not COMMANDS.search(rest)
    assert (shown == rest) == (colors == 0 or not text)


def test_borders_stand_between_tokens_also_where_a_line_begins_with_one() -> None:
    shown = in_terminal(one_lane("the theme\n\nof"), 0)
    assert shown.replace("↵\n", "\n").split(BORDER) == [
        ONE.decode([id]) for id in ONE.encode("the theme\n\nof")
    ]


@pytest.mark.parametrize("colors", [0, 256])
def test_the_ids_of_a_line_feed_stand_in_the_line_that_it_ends(colors: int) -> None:
    lanes = one_lane("a\n\nb\n")
    (last,) = ONE.encode("\n")
    html = fragment([lanes], with_ids=True).split("<pre")[1]
    for shown, ids in (
        (in_terminal(lanes, colors, with_ids=True), f"⟨{last}⟩"),
        (html, f"<sub>{last}</sub>"),
    ):
        lines = shown.splitlines()[:3]
        assert (
            [line.count("↵") for line in lines]
            == [line.count(ids) for line in lines]
            == [1, 1, 1]
        )


def test_what_differs_from_the_first_stands_out() -> None:
    one, other = (
        train("the thesis " * 9, vocab_size=266, pattern="none").at(4),
        train("thesis\n" * 9, vocab_size=262),
    )
    lanes = TextLanes.of(
        [
            ("one", LiveText(one, "the thesis é")),
            ("other", LiveText(other, "the thesis é")),
        ]
    )
    found = [(chip.text, chip.is_alike) for chip in lanes.lines[0][1]]
    borders = {"the thesis é".find(chip.text): chip.text for chip in lanes.lines[0][0]}
    assert {part for part, is_alike in found if is_alike} <= set(borders.values())
    assert ("é", True) in found and any(not is_alike for _, is_alike in found)
    assert page([lanes]).count(' a"') == sum(is_alike for _, is_alike in found)


def test_a_part_of_a_text_has_totals_of_its_own() -> None:
    lanes = lanes_of("the theme\nof it\n", 4, 10)
    assert seen(lanes) == "theme↵" and len(lanes.lines) == 1
    n_tokens = [len(one.encode(" theme\n")) for one in (ONE, OTHERS[0])]
    assert (
        lanes.summaries[0].startswith(f"{n_tokens[0]} tokens, ")
        and "6 bytes" in lanes.summaries[0]
    )
    assert lanes.summaries[1].endswith(
        f"({100 * (n_tokens[1] - n_tokens[0]) / n_tokens[0]:+.1f} %)".replace("-", "−")
    )


def test_markdown_fences_are_longer_than_what_they_hold() -> None:
    text = "a ```` b" * 2
    lanes = TextLanes.of(
        [("x", LiveText(train(text * 9, vocab_size=300, pattern="none"), text))]
    )
    made = document([lanes])
    assert "`````text" in made and made.count("\n`````") == 2


def test_a_notebook_shows_a_text() -> None:
    assert "the" in LiveText(ONE, "the theme")._repr_html_()
    assert (
        "the first 4,000 of 5,000 characters" in LiveText(ONE, "a" * 5000)._repr_html_()
    )
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
def test_colors_are_those_a_terminal_has(
    environment: dict[str, str], is_terminal: bool, n: int
) -> None:
    assert colors_of(environment, is_terminal) == n


def test_columns_are_counted_as_terminals_count_them() -> None:
    assert [cells(text) for text in ("abc", "日本", "e\u0301", "")] == [3, 4, 1, 0]
    assert fitted("日本語", 5) == "日本…" and fitted("abc", 3) == "abc"


def test_show_prints_what_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "one.json", tmp_path / "other.json"]
    for path, tokenizer in zip(paths, (ONE, OTHERS[0]), strict=True):
        save(tokenizer, path)
    (tmp_path / "text.txt").write_text("the theme\nof it\n")
    words = ["show", "-t", str(paths[0]), str(tmp_path / "text.txt")]
    for option, mark in (
        ("--html", "<!DOCTYPE"),
        ("--svg", "<svg"),
        ("--markdown", "### "),
        ("--ids", "⟨"),
    ):
        assert main([*words, option]) == 0
        assert mark in capsys.readouterr().out
    assert main([*words, "--color", "always"]) == 0
    assert "\x1b[" in capsys.readouterr().out
    assert main([*words, "-t", str(paths[1])]) == 0
    out, err = capsys.readouterr()
    assert out.count("tokens") == 2 and err == ""
    assert main([*words, "-t", str(paths[1]), "--markdown"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("### one.json · other.json\n")
    names = [
        line.split()[0] for line in shown.partition("```text\n")[2].splitlines() if line
    ]
    assert names == [*["one.json", "other.json"] * 2, "```"]
    assert main([*words, "-t", str(paths[1]), "--markdown", "--ids"]) == 0
    assert capsys.readouterr().out.count("### ") == 2, "ids are of one tokenizer each"
