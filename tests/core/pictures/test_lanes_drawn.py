"""Pictures of one text under several tokenizers: each line once for each of them, nothing lost, what differs seen."""

import xml.etree.ElementTree as ElementTree

import pytest

from bpe_core import Tokenizer, save, train
from bpe_core.cli.main import main
from bpe_core.editing.aligned_text import followed
from bpe_core.pictures.html import lanes_page
from bpe_core.pictures.lanes import Lanes
from bpe_core.pictures.markdown import lanes_document
from bpe_core.pictures.svg import lanes_drawing
from tests.nasty import nasty_texts

CORPUS = "the theme of the other thesis, the thing that they thought through\n" * 20
ONE = train(CORPUS, vocab_size=290)
OTHERS = [
    train(CORPUS, vocab_size=330, pattern="gpt2"),
    Tokenizer(ONE.vocabulary, "words"),  # drops spaces
    train(CORPUS, vocab_size=300, pattern="words", end_of_word="</w>"),  # is no LiveText
]
TEXTS = ["", "\n", "the theme\n\n of\tit", "a <b> & `c` | d", "日本 é e\u0301\n\u202ex\x1b", *nasty_texts(20, seed=6)]


def lanes_of(text: str, *range_of_it: int) -> Lanes:
    return Lanes.of([(f"<{number}>", followed(one, text)) for number, one in enumerate((ONE, *OTHERS))], *range_of_it)


def seen(lanes: Lanes, lane: int) -> str:
    return "".join(chip.lines[0] for line in lanes.lines for chip in line[lane])


@pytest.mark.parametrize("text", TEXTS)
def test_each_lane_has_all_of_the_text_and_its_own_tokens(text: str) -> None:
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    lanes = lanes_of(text)
    for lane, tokenizer in enumerate((ONE, *OTHERS)):
        assert len(seen(lanes, lane)) == len(text) and seen(lanes, lane) == seen(lanes, 0)
        found, before = list[int](), None
        for chip in (chip for line in lanes.lines for chip in line[lane]):
            if chip.ids != before or not chip.lines[0].endswith("↵"):  # one that holds line feeds is on several lines
                found += chip.ids
            before = chip.ids
        there = set(tokenizer.encode_ordinary(text))
        assert set(found) == there if tokenizer.by_piece else set(found) <= there  # an end of word has no characters
    assert not any(chip.is_alike for line in lanes.lines for chip in line[0])
    assert all(len(line) == 1 + len(OTHERS) for line in lanes.lines)
    root = ElementTree.fromstring(lanes_drawing(lanes, 20))
    assert "".join(root.itertext()).count("↵") == 4 * text.count("\n")
    for made in (lanes_page(lanes), lanes_document(lanes)):
        assert "\x1b" not in made and "\u202e" not in made


def test_what_differs_from_the_first_stands_out() -> None:
    one, other = train("the thesis " * 9, vocab_size=266, pattern="none"), train("thesis\n" * 9, vocab_size=262)
    first, *_, last = (one.at(4), other)
    lanes = Lanes.of([("one", followed(first, "the thesis é")), ("other", followed(last, "the thesis é"))])
    told = [(chip.lines[0], chip.is_alike) for chip in lanes.lines[0][1]]
    borders = {"the thesis é".find(chip.lines[0]): chip.lines[0] for chip in lanes.lines[0][0]}
    assert {part for part, is_alike in told if is_alike} <= set(borders.values())
    assert ("é", True) in told and any(not is_alike for _, is_alike in told)
    assert lanes_page(lanes).count(' a"') == sum(is_alike for _, is_alike in told)


def test_a_part_of_a_text_has_totals_of_its_own() -> None:
    lanes = lanes_of("the theme\nof it\n", 4, 10)
    assert seen(lanes, 0) == "theme↵" and len(lanes.lines) == 1
    n_tokens = [len(ONE.encode(" theme\n")), len(OTHERS[0].encode(" theme\n"))]
    assert lanes.summaries[0].startswith(f"{n_tokens[0]} tokens, ") and "6 bytes" in lanes.summaries[0]
    assert lanes.summaries[1].endswith(f"({100 * (n_tokens[1] - n_tokens[0]) / n_tokens[0]:+.1f} %)".replace("-", "−"))


def test_show_draws_several_tokenizers_as_lanes(tmp_path, capsys) -> None:
    paths = [tmp_path / "one.json", tmp_path / "other.json"]
    for path, tokenizer in zip(paths, (ONE, OTHERS[0]), strict=True):
        save(tokenizer, path)
    (tmp_path / "text.txt").write_text("the theme\nof it\n")
    given = [argument for path in paths for argument in ("-t", str(path))]
    assert main(["show", *given, "--markdown", str(tmp_path / "text.txt")]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("### one.json · other.json\n")
    names = [line.split()[0] for line in shown.partition("```text\n")[2].splitlines() if line]
    assert names == [*["one.json", "other.json"] * 2, "```"]
