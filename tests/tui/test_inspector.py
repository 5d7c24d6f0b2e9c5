"""The inspector tells a token's whole story in the room it has: bytes, merge, parts, and what it goes into."""

import pytest
from rich.cells import cell_len
from rich.style import Style
from textual.app import App, ComposeResult

from bpe_core.auditing.findings import Severity
from bpe_core.auditing.verdicts import Verdict
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import Vocabulary
from tui.drawing.info_lines import InfoLine
from tui.drawing.token_tree import branches
from tui.widgets.inspector import Inspector

# "low", "est" and what is made of them: l+o, lo+w, e+s, es+t, and <ESC>+[ as a merge no terminal should see.
MERGES = [(108, 111, 256), (256, 119, 257), (101, 115, 258), (258, 116, 259), (257, 259, 260), (27, 91, 261)]
VOCABULARY = Vocabulary.of_bytes().extended(MERGES)
LOWEST = Tokenizer(Vocabulary(VOCABULARY.base, MERGES, {"<|end|>": 262}), "none")


class InspectorApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Inspector()

    def on_mount(self) -> None:
        self.inspector.styles.height = "1fr"

    @property
    def inspector(self) -> Inspector:
        return self.query_one(Inspector)


def lines(inspector: Inspector) -> list[str]:
    return [inspector.render_line(y).text.rstrip() for y in range(inspector.size.height)]


def test_the_tree_goes_down_to_the_bytes() -> None:
    assert [branch.lines + branch.label + "  " + branch.note for branch in branches(VOCABULARY, 260, 40, 20)] == [
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
    assert [branch.label for branch in branches(VOCABULARY, 260, 40, 5)] == ["low", "lo …", "w", "est …"]
    assert [branch.label for branch in branches(VOCABULARY, 260, 11, 20)] == ["low …", "est …"]
    assert branches(VOCABULARY, 260, 40, 1) == [] == branches(VOCABULARY, 97, 40, 9)


def test_a_very_deep_token_is_no_trouble() -> None:
    chain = [(97 if n == 0 else 255 + n, 97, 256 + n) for n in range(5000)]
    deep = Vocabulary.of_bytes().extended(chain)
    assert len(branches(deep, 5255, 60, 1000)) <= 60


async def test_all_about_a_token() -> None:
    app = InspectorApp()
    about = {"severity": "warning", "reason": "Only a step on the way to lowest."}
    evidence = {"count": 7, "scaffold": about}
    verdict = Verdict(257, b"low", 0.7, Severity.WARNING, ("scaffold",), about["reason"], (), evidence)
    async with app.run_test(size=(40, 24)) as pilot:
        app.inspector.show(LOWEST, 257, verdict=verdict)
        await pilot.pause()
        shown = lines(app.inspector)
        assert shown[0].split() == ["low", "id", "257"]
        assert shown[1].split() == ["6c", "6f", "77", "3", "bytes"]
        assert shown[2].split() == ["lo", "+", "w", "step", "2"]
        assert shown[3].split() == ["left", "in", "the", "corpus", "7"]
        story = "\n".join(shown)
        assert "● scaffold\n   Only a step on the way to lowest." in story
        assert "├ lo" in story and "└ w" in story
        at = next(y for y, line in enumerate(shown) if "goes into" in line)
        assert shown[at].endswith("1 token") and shown[at + 1].strip() == "lowest"


async def test_bytes_and_special_tokens_have_no_merge() -> None:
    app = InspectorApp()
    async with app.run_test(size=(44, 12)) as pilot:
        app.inspector.show(LOWEST, 0x20)
        await pilot.pause()
        assert lines(app.inspector)[2].strip() == "a single byte"
        app.inspector.show(LOWEST, 262)
        assert lines(app.inspector)[0].split() == ["<|end|>", "id", "262"]
        assert "outside the merges" in lines(app.inspector)[2]


async def test_a_token_of_a_later_step_is_explained() -> None:
    app = InspectorApp()
    async with app.run_test(size=(40, 8)) as pilot:
        app.inspector.show(LOWEST.at(2), 260)
        await pilot.pause()
        assert "made by a later merge than step 2" in " ".join(line.strip() for line in lines(app.inspector))


async def test_without_a_token_it_says_what_to_do() -> None:
    app = InspectorApp()
    async with app.run_test(size=(30, 8)) as pilot:
        await pilot.pause()
        assert lines(app.inspector)[0].strip().startswith("Move the cursor onto a token")
        app.inspector.show(LOWEST, 257)
        assert app.inspector.token == 257
        app.inspector.clear()
        assert lines(app.inspector)[0].strip().startswith("Move the cursor") and app.inspector.token is None


@pytest.mark.parametrize("size", [(29, 6), (16, 3), (60, 30), (4, 2)])
async def test_any_size_and_no_raw_control_character(size: tuple[int, int]) -> None:
    app = InspectorApp()
    async with app.run_test(size=size) as pilot:
        for token in (260, 261, 0xF0):
            app.inspector.show(LOWEST, token, place=[InfoLine("One of 2 tokens of this character.")])
            await pilot.pause()
            assert all(line.isprintable() and cell_len(line) <= size[0] for line in lines(app.inspector))


async def test_the_token_can_wear_its_color() -> None:
    app = InspectorApp()
    async with app.run_test(size=(40, 10)) as pilot:
        app.inspector.token_style = lambda token: Style(bgcolor="red")
        app.inspector.show(LOWEST, 257)
        await pilot.pause()
        colored = [
            s.text
            for s in app.inspector.render_line(0)
            if s.style and s.style.bgcolor and s.style.bgcolor.name == "red"
        ]
        assert colored == ["low"]
