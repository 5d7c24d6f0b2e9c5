"""The inspector tells a token's whole story in the room it has; ids that are typed become rows of text."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text
from test_table import worked_out

from bpe_core import LiveText, load, save, train
from bpe_core.auditing.findings import Severity
from bpe_core.auditing.verdicts import Verdict
from bpe_core.explain.decoding import decoded_spans
from bpe_core.explain.trace import Absorption, TokenUses
from bpe_core.live.change import Span
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import Vocabulary
from tui.drawing.lines import InfoLine, info_strip, sentence
from tui.drawing.palette import make_palette
from tui.text.byte_strip import TokenColumn, byte_strip, token_row
from tui.text.token_lines import TokenFacts, branches
from tui.text.token_places import notes_on_place
from tui.text.token_summary import EditedPlace, SummaryForm, token_summary
from tui.text.token_uses import find_uses
from tui.text.views import lay_out

# "low", "est" and what is made of them: l+o, lo+w, e+s, es+t, and <ESC>+[ as a merge no terminal should see.
MERGES = [
    (108, 111, 256),
    (256, 119, 257),
    (101, 115, 258),
    (258, 116, 259),
    (257, 259, 260),
    (27, 91, 261),
]
VOCABULARY = Vocabulary.of_bytes().extended(MERGES)
LOWEST = Tokenizer(Vocabulary(VOCABULARY.base, MERGES, {"<|end|>": 262}), "none")


LOG = {2: TokenUses(7, 4, (Absorption(5, 260, 3),))}
"""The uses of the tokens that steps made, as a merge log knows them."""


def lines_of(
    facts: TokenFacts, width: int, height: int, notes: Sequence[InfoLine] = ()
) -> list[InfoLine]:
    """The summary of a token that stands between two others and is used twice in 40 characters."""
    style = Style(bgcolor="red")
    data = b"?"
    if facts.token in facts.vocabulary:
        data = facts.data
    columns = [
        TokenColumn(32, b" ", Style()),
        TokenColumn(facts.token, data, style, is_current=True),
        TokenColumn(46, b".", Style()),
    ]
    span = Span(10, 10 + len(data), (facts.token,))
    place = EditedPlace(span, columns, [style, style], notes, 40, [10, 39])
    palette = make_palette(Style(color="#ffffff", bgcolor="#000000"))
    form = SummaryForm(max(8, width - 2), height, palette, style, True)
    uses = LOG.get(facts.step) if facts.token in facts.vocabulary else None
    return token_summary(facts, place, uses, form)


def summary(
    facts: TokenFacts, width: int, height: int, notes: Sequence[InfoLine] = ()
) -> list[str]:
    """What is drawn in so many cells."""
    return [
        info_strip(line, width, lambda _: Style(), Console()).text.rstrip()
        for line in lines_of(facts, width, height, notes)
    ]


def test_characters_beyond_ascii_are_named() -> None:
    live = LiveText(BYTES, "aé")
    plain = live.span_at(0)
    accented = live.span_at(1)
    assert plain is not None and accented is not None
    assert not list(notes_on_place(live, plain))
    name, sharing = notes_on_place(live, accented)
    assert str(name.left) == "é  latin small letter e with acute"
    assert str(sharing.left) == "2 tokens share 2 bytes"


def strip(tokens: Sequence[bytes], width: int, most: int = 3) -> list[str]:
    styles = [Style(bold=True), Style(dim=True)]
    return [str(line.left) for line in byte_strip(tokens, styles, width, most)]


def test_a_byte_strip_shows_the_character_that_each_byte_belongs_to() -> None:
    assert strip(["né 雨".encode()], 40) == [
        "6e c3 a9 20 e9 9b a8",
        "n  ╰─é─╯ ␣  ╰──雨──╯",
    ]
    assert strip(["é".encode()[:1], "é".encode()[1:]], 40) == ["c3 a9", "╰─é─╯"]
    assert strip([b"\xa9 \xe9\x9b"], 40) == ["a9 20 e9 9b", "…  ␣  ╰─…─╯"]


def test_a_byte_strip_breaks_between_characters() -> None:
    assert strip(["aé雨b".encode()], 9) == [
        "61 c3 a9",
        "a  ╰─é─╯",
        "e9 9b a8",
        "╰──雨──╯",
        "62",
        "b ",
    ]
    above, below = strip([b"abcdefgh"], 8, 1)
    assert (above, below) == ("61 62 63 …", "a  b  c ")


def test_tokens_that_share_a_character_take_turns_with_two_styles() -> None:
    bold, dim = Style(bold=True), Style(dim=True)
    line, *_ = byte_strip([b"\xe9", b"\x9b", b"\xa8"], [bold, dim], 40, 1)
    assert isinstance(line.left, Text)
    spans = [
        (line.left.plain[span.start : span.end], span.style) for span in line.left.spans
    ]
    assert spans == [("e9", bold), ("9b", dim), ("a8", bold)]


def test_a_row_of_tokens_has_the_current_one_and_its_nearest_neighbors() -> None:
    tokens = [
        TokenColumn(number, f"t{number}".encode(), Style(), number == 105)
        for number in range(100, 110)
    ]
    labels, ids = token_row(tokens, 5, 19)
    assert str(labels.left) == "t104 t105 t106 t107"
    assert str(ids.left) == "104  105  106  107"
    labels, ids = token_row(tokens[:1], 0, 3)
    assert (str(labels.left), str(ids.left)) == ("t100", "100")


def test_uses_are_found_wherever_a_slice_ends() -> None:
    text = "low é" * 700
    tokenizer = Tokenizer(VOCABULARY, "none")
    live = LiveText(tokenizer, text)
    search = find_uses(live)
    while True:
        try:
            next(search)
        except StopIteration as finished:
            uses = finished.value
            break
    places: dict[int, list[int]] = {}
    for span in live.spans(0, len(text)):
        for token in span.ids:
            places.setdefault(token, []).append(span.start)
    assert uses == places
    assert len(uses[257]) == 700


def test_the_tree_goes_down_to_the_bytes() -> None:
    assert [
        f"{line.lead}{line.left}  {line.right}"
        for line in branches(VOCABULARY, 260, 40, 20)
    ] == [
        "├ low  step 2",
        "│ ├ lo  step 1",
        "│ │ ├ l  6c",
        "│ │ └ o  6f",
        "│ └ w  77",
        "└ est  step 4",
        "  ├ es  step 3",
        "  │ ├ e  65",
        "  │ └ s  73",
        "  └ t  74",
    ]


def test_a_tree_too_big_for_its_room_says_so() -> None:
    assert [line.left for line in branches(VOCABULARY, 260, 40, 5)] == [
        "low",
        "lo …",
        "w",
        "est …",
    ]
    assert [line.left for line in branches(VOCABULARY, 260, 11, 20)] == [
        "low …",
        "est …",
    ]
    assert branches(VOCABULARY, 260, 40, 1) == [] == branches(VOCABULARY, 97, 40, 9)
    deep = Vocabulary.of_bytes().extended(
        [(97 if n == 0 else 255 + n, 97, 256 + n) for n in range(5000)]
    )
    assert len(branches(deep, 5255, 60, 1000)) <= 60


def test_all_about_a_token() -> None:
    about = {"severity": "warning", "reason": "Only a step on the way to lowest."}
    evidence = {"count": 7, "scaffold": about}
    verdict = Verdict(
        257, b"low", 0.7, Severity.WARNING, ("scaffold",), about["reason"], (), evidence
    )
    shown = summary(TokenFacts(LOWEST, 257, verdict), 40, 24)
    assert shown[0].split() == ["low", "3", "bytes", "id", "257"]
    assert shown[1].split() == ["6c", "6f", "77"]
    assert shown[2].split() == ["l", "o", "w"]
    assert shown[3].split() == ["lo", "+", "w", "step", "2"]
    story = "\n".join(shown)
    words = " ".join(story.split())
    assert "characters 10 to 12 2 uses ␣ low . 32 257 46" in words
    assert "uses in the corpus 7 → 4" in words
    assert "lo low es est" in words and "256 257 258 259" in words
    assert "● scaffold\n   Only a step on the way to lowest." in story
    taller = "\n".join(summary(TokenFacts(LOWEST, 257, verdict), 40, 30))
    assert "├ lo" in taller and "└ w" in taller
    at = next(y for y, line in enumerate(shown) if "is part of" in line)
    assert shown[at].endswith("1 token") and shown[at + 1].strip() == "lowest"


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        (TokenFacts(LOWEST, 0x20), "a single byte"),
        (TokenFacts(LOWEST, 262), "<|end|> 7 bytes id 262 3c 7c"),
        (TokenFacts(LOWEST, 262), "a special token: outside the merges"),
        (TokenFacts(LOWEST.at(2), 260), "is learned later than step 2"),
    ],
)
def test_what_no_merge_of_now_has_made_is_told_of(facts: TokenFacts, told: str) -> None:
    assert told in " ".join(" ".join(summary(facts, 44, 12)).split())


def test_the_step_of_a_token_is_told_once_the_merges_are_known(tmp_path: Path) -> None:
    save(train("low lower", vocab_size=260), tmp_path / "r", format="tiktoken")
    tokenizer = load(tmp_path / "r", pattern="gpt4")
    facts = TokenFacts(tokenizer, 257)
    assert facts.step == 0 and not tokenizer.vocabulary.knows_merges
    tokenizer.vocabulary.recover()
    assert facts.step == 2


@pytest.mark.parametrize("size", [(29, 6), (16, 3), (60, 30), (4, 2)])
def test_any_size_and_no_raw_control_character(size: tuple[int, int]) -> None:
    for token in (260, 261, 0xF0):
        lines = summary(
            TokenFacts(LOWEST, token),
            *size,
            [InfoLine("One of 2 tokens of this character.")],
        )
        assert len(lines) <= size[1] and all(
            line.isprintable() and cell_len(line) <= size[0] for line in lines
        )


def test_the_token_can_wear_its_color() -> None:
    head, *_ = lines_of(TokenFacts(LOWEST, 257), 40, 10)
    red = Style(bgcolor="red")
    drawn = info_strip(head, 40, lambda _: Style(), Console(), red)
    assert [segment.text for segment in drawn if segment.style == red] == ["low"]


def test_a_sentence_is_cut_by_cells_and_breaks_words_that_no_line_holds() -> None:
    assert [line.left for line in sentence("日本語 a-b " + "x" * 12, 8)] == [
        "日本語",
        "a-b",
        "xxxxxxxx",
        "xxxx",
    ]
    assert [line.left for line in sentence("\u0301 a", 8)] == ["\u0301 a"], (
        "a combining mark alone has no cells"
    )
    assert [line.left for line in sentence("one two three four", 8, most=2)] == [
        "one two",
        "three …",
    ]
    assert list(sentence("", 8)) == []


# Ids in, text out

BYTES = train("", vocab_size=257, pattern="none")


def rows(text: str | list[int], width: int) -> list[list[tuple[str, int, bool]]]:
    ids = list(text.encode()) if isinstance(text, str) else text
    spans = list(decoded_spans(BYTES, ids))
    steps = lay_out(
        spans, [index % 6 for index in range(len(spans))], BYTES.token_bytes, width
    )
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
def test_decoded_ids_are_laid_out_in_rows(
    ids: str | list[int], width: int, shown: list[str]
) -> None:
    assert ["".join(text for text, _, _ in row) for row in rows(ids, width)] == shown


def test_invalid_bytes_are_brought_out_and_what_is_no_token_has_no_color() -> None:
    assert rows([104, 128, 999], 80) == [
        [("h", 0, False), ("\\x80", 1, True), ("?999?", -1, False)]
    ]


@pytest.mark.parametrize(
    ("n_longer", "written"),
    [(999, "999 tokens"), (1000, "1,000 tokens"), (1001, "1,000+ tokens")],
)
def test_more_tokens_that_begin_with_a_token_than_are_counted_have_a_plus(
    n_longer: int, written: str
) -> None:
    # "a" with each byte, and those with each byte again.
    merges = [(97, second, 256 + second) for second in range(256)]
    for number in range(n_longer - 256):
        pair, third = divmod(number, 256)
        merges.append((256 + pair, third, 512 + number))
    tokenizer = Tokenizer(Vocabulary.of_bytes().extended(merges), "none")
    lines = summary(TokenFacts(tokenizer, 97), 40, 40)
    (line,) = [line for line in lines if line.split()[:1] == ["begins"]]
    assert line.split(maxsplit=1) == ["begins", written]
