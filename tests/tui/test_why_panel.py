"""Why a merge, beside the merge log: what it tells of any step, with the numbers of the engine; the table of pairs."""

from dataclasses import replace

import pytest
from rich.style import Style
from scope import alone, drawn, eventually
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.widgets import Static, Tabs

from bpe_core import train
from bpe_core.content.presets import PRESETS
from bpe_core.explain.code import SOURCE, merge_in_code
from bpe_core.explain.merge_choice import explain
from bpe_core.explain.pair_counts import PairCounts
from bpe_core.explain.places import CorpusPlace
from bpe_core.explain.trace import TokenUses
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import Merge
from tui.drawing.charts import bar
from tui.drawing.lines import InfoLine, Lines, ink_of
from tui.drawing.token_labels import WRITINGS, writer
from tui.state import Run, StepExplained
from tui.text.code_lines import code_lines
from tui.text.line_form import LineForm
from tui.text.why_lines import why_lines
from tui.widgets.kept_merges import KeptMerges
from tui.widgets.merge_log import MergeLog
from tui.widgets.pair_table import PairTable
from tui.widgets.side_titles import SideTitles
from tui.widgets.why_panel import WhyPanel

S2 = PRESETS["S2"]


def told(lines: list[InfoLine]) -> list[str]:
    return [
        f"{line.lead}{line.left}{'  ' + line.right if line.right else ''}".rstrip()
        for line in lines
    ]


def look(tokenizer: Tokenizer, width: int = 40, writing: str = "text") -> LineForm:
    inks = dict.fromkeys(("text", "muted", "accent", "secondary", "warning"), Style())
    return LineForm(width, writer(writing, tokenizer.token_bytes), inks)


def explained(
    tokenizer: Tokenizer, pieces: dict[str, int], step: int, ties: str
) -> StepExplained:
    return StepExplained(
        step, explain(PairCounts(tokenizer, pieces), step, ties), ties=ties
    )


def merge_of(tokenizer: Tokenizer, step: int) -> Merge:
    assert tokenizer.record
    left, right, token = tokenizer.merges[step - 1]
    return Merge(
        step,
        left,
        right,
        token,
        tokenizer.token_bytes(token),
        *tokenizer.record.steps[step - 1],
    )


def test_the_tie_of_sennrichs_words_is_told_with_what_each_rule_takes() -> None:
    tokenizer = S2.train()
    step = explained(tokenizer, dict(S2.counts().pieces), 1, "largest")
    uses = TokenUses(9, 9, ())
    lines = told(
        why_lines(step, merge_of(tokenizer, 1), "largest", uses, look(tokenizer, 48))
    )
    assert lines[:4] == [
        "s + t → st  step 1",
        "2 pairs tied  “largest” decides",
        "● s + t ████████ 9  by largest",
        "= e + s ████████ 9  by first, lowest, lowest-hf",
    ]
    assert lines[4].startswith("  w + e ███████▏") and lines[4].endswith(" 8")
    assert "largest: the pair with the largest bytes" in lines
    assert "later  still used 9 times" in lines
    assert "   6 × n e w e s t → n e w e st" in lines and "   5 × l o w" in lines
    narrow = told(
        why_lines(step, merge_of(tokenizer, 1), "largest", uses, look(tokenizer, 26))
    )
    assert "later  still used 9 times" in narrow, (
        "the smallest panel has this in a line"
    )
    at = narrow.index("pairs new and vanished")
    assert narrow[at + 1] == "  +1 −1", (
        "numbers that have no room beside their heading stand below it"
    )
    assert "   6 × n e w e s t" in narrow and "     → n e w e st" in narrow
    at = narrow.index("= e + s ████ 9")
    assert narrow[at + 1 : at + 3] == ["by first, lowest,", "lowest-hf"], (
        "no rule is cut"
    )


def test_where_it_stands_is_told_by_folder_name_and_line() -> None:
    """Two files may have one name; and a family of emoji has no certain width."""
    tokenizer = S2.train()
    step = explained(tokenizer, dict(S2.counts().pieces), 1, "largest")
    places = (
        CorpusPlace(
            "/usr/share/doc/git/changelog",
            12,
            9,
            "👨\u200d👩 the fa",
            "s",
            "t",
            "er",
            1234,
        ),
    )
    lines = told(
        why_lines(
            replace(step, places=places),
            merge_of(tokenizer, 1),
            "largest",
            None,
            look(tokenizer),
        )
    )
    at = next(
        row for row, line in enumerate(lines) if line.startswith("where it occurs most")
    )
    assert lines[at + 1 : at + 3] == [" git/changelog:12  1,234", "  👨·👩 the fas·ter"]


def test_occurrences_that_overlap_and_merges_that_were_given_are_told_of() -> None:
    tokenizer = train("aaaa aaa", vocab_size=257, pattern="words")
    step = explained(tokenizer, {"aaaa": 1, "aaa": 1}, 1, "first")
    lines = told(
        why_lines(step, merge_of(tokenizer, 1), "first", None, look(tokenizer, 80))
    )
    assert "3 of the 5 are joined: the others overlap these." in lines
    old = train("xyxy", vocab_size=257, pattern="none")
    tokenizer = train("abab", vocab_size=258, pattern="none", start=old.vocabulary)
    alone = told(
        why_lines(
            StepExplained(), merge_of(tokenizer, 1), "first", None, look(tokenizer, 80)
        )
    )
    given = "Given by the vocabulary that was extended, not chosen from these texts."
    assert alone[1] == given
    assert alone[2].startswith("The merge log"), "a pair that is not in these texts"


def test_what_is_not_known_is_not_told() -> None:
    """Without a corpus the log says what it knows; with another one, that it is another."""
    tokenizer = S2.train()
    merge = merge_of(tokenizer, 1)
    alone = told(
        why_lines(
            StepExplained(problem="No text is chosen."),
            merge,
            "largest",
            None,
            look(tokenizer, 80),
        )
    )
    assert alone == [
        "s + t → st  step 1",
        "2 pairs occurred 9 times; the rule “largest” took this one.",
        "",
        "No text is chosen.",
    ]
    other = explained(tokenizer, {"stone": 2, "on": 1}, 1, "largest")
    lines = told(why_lines(other, merge, "largest", None, look(tokenizer, 200)))
    assert lines[1].startswith(
        "It was learned from other texts, where the pair occurred 9 times;"
    )
    assert lines[2].startswith("● s + t") and "2" in lines[2]
    assert told(why_lines(other, None, "", None, look(tokenizer, 200)))[0].startswith(
        "Step 0: no merge yet"
    )


def test_the_words_of_the_code_are_told_with_how_often_they_occur() -> None:
    tokenizer = S2.train()
    step = explained(tokenizer, dict(S2.counts().pieces), 1, "largest")
    assert step.explanation is not None
    run = merge_in_code(tokenizer.vocabulary, 1, step.explanation.words, "largest")
    lines = told(code_lines(SOURCE, run, None, look(tokenizer, 200), 40, True))
    words = " words 5 × l o w | 2 × l o w e r | 3 × w i d e s t | 6 × n e w e s t"
    assert words in lines


@pytest.mark.parametrize("height", range(1, 12))
@pytest.mark.parametrize("width", [14, 40])
def test_the_current_line_of_code_is_seen_at_any_height(
    height: int, width: int
) -> None:
    tokenizer = S2.train()
    step = explained(tokenizer, dict(S2.counts().pieces), 1, "largest")
    assert step.explanation is not None
    run = merge_in_code(tokenizer.vocabulary, 1, step.explanation.words, "largest")
    lines = told(
        code_lines(SOURCE, run, None, look(tokenizer, width), height, dark=True)
    )
    assert len(lines) <= height
    assert any(line.startswith("▸ ") for line in lines)


@pytest.mark.parametrize(
    ("writing", "label"), zip(WRITINGS, ("␣t", "20 74", "32 116", "256"), strict=True)
)
def test_tokens_are_written_as_the_reader_likes(writing: str, label: str) -> None:
    assert writer(writing, train(" t t", vocab_size=257).token_bytes)(256) == label


def test_bars_are_as_long_as_their_numbers_are_large() -> None:
    widths = [
        sum(" ▏▎▍▌▋▊▉█".index(cell) for cell in bar(n, 96, 12)) for n in range(97)
    ]
    assert widths == list(range(97))
    assert bar(0, 0, 3) == "   "


def seen(panel: WhyPanel) -> list[str]:
    return [
        line.strip()
        for widget in panel.query(ScrollView)
        if widget.size
        for line in drawn(widget)
    ]


def note(panel: WhyPanel) -> str:
    """The text after the titles."""
    return str(panel.query_one(".side-note", Static).content)


async def test_as_steps_go_by_the_last_that_was_explained_is_told_as_a_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Never one step's title above another's pairs, and no answer that comes and goes with every step."""
    monkeypatch.setattr(WhyPanel, "REST", 1000.0)
    tokenizer, pieces = S2.train(), dict(S2.counts().pieces)
    panel = WhyPanel(log := MergeLog())
    async with alone(log, panel, size=(90, 70)) as (pilot, _):
        log.merges, log.n_tokens = KeptMerges(tokenizer), 79
        panel.begin()
        panel.tokenizer, panel.step, panel.run = tokenizer, 1, Run("merging")
        panel._rested()
        await pilot.pause()
        assert "Counting the pairs of this step …" in seen(panel)
        panel.explained = explained(tokenizer, pieces, 1, "largest")
        panel.step = 2
        await pilot.pause()
        assert "s + t → st" in seen(panel)[0] and "= e + s" in " ".join(seen(panel))
        panel.explained = explained(tokenizer, pieces, 2, "largest")
        panel.step = 4
        await pilot.pause()
        assert "e + st → est" in seen(panel)[0]
        panel.turn()
        await pilot.pause()
        assert note(panel) == "after 2"
        assert any(line.startswith("▸ o + w") for line in seen(panel))
        panel._rested()  # it has moved: it is asked again
        panel._rested()
        await pilot.pause()
        assert note(panel) == "after 4"


async def test_a_step_is_explained_only_while_the_panel_is_shown() -> None:
    panel = WhyPanel(log := MergeLog())
    async with alone(log, panel, size=(90, 60)) as (pilot, asked):
        panel.ask()
        assert not asked, "without a tokenizer there is nothing to explain"
        tokenizer = S2.train()
        panel.display, panel.tokenizer, panel.step = False, tokenizer, tokenizer.step
        await pilot.pause()
        panel.ask()
        assert not asked
        panel.display = True
        panel.ask()
        assert asked == [panel.step]
        for focused, run in (True, Run()), (False, Run("merging")):
            panel.run = run
            if focused:
                log.focus()
            else:
                pilot.app.screen.set_focus(None)
            await pilot.pause()
            panel.begin()
            panel.run = Run()
            asked.clear()
            panel._want()
            assert asked == [panel.step], "it goes on with the one it began with"


async def test_the_table_of_a_small_corpus_stands_above_its_words() -> None:
    tokenizer, pieces = S2.train(), dict(S2.counts().pieces)
    panel = WhyPanel(log := MergeLog())
    async with alone(log, panel, size=(90, 60)) as (pilot, _):
        panel.tokenizer, panel.seen = tokenizer, "pairs"
        panel.step, panel.explained = 3, explained(tokenizer, pieces, 3, "largest")
        await pilot.pause()
        assert "5 × l o w → l ow" in seen(panel), (
            "words have the whole width, also when they are seen first"
        )
        panel.explained = StepExplained(problem="No text is chosen to count pairs in.")
        await pilot.pause()
        assert "No text is chosen to count pairs in." in seen(panel)
        for step, word in (
            (0, "6 × n e w e s t"),
            (3, "5 × l o w → l ow"),
            (5, "6 × n e w est → n e west"),
        ):
            panel.step, panel.explained = (
                step,
                explained(tokenizer, pieces, step, "largest"),
            )
            await pilot.pause()
            told = panel.explained.explanation
            assert told is not None
            assert word in seen(panel)
            assert sum(" + " in line for line in seen(panel)) == told.table.n_pairs
        hints = [panel.query_one(PairTable).row_hint(row) for row in range(2)]
        assert hints == [
            "n + e occurs 6 times; it is merged next.",
            "e + west occurs 6 times, all made by the newest merge; one of 2 ties.",
        ]
        inks = [panel.query_one(PairTable).row_ink(row) for row in range(3)]
        assert inks == ["accent", "secondary", ""], "next, tied with it, neither"
        panel.writing = "hex"
        await pilot.resize_terminal(38, 60)
        await pilot.pause()
        (row,) = (line for line in seen(panel) if line.startswith("="))
        assert "65 + 77 65 73 74 " in row and row.endswith("6    +6*"), (
            "where it is narrow, the bars go first"
        )
        await pilot.resize_terminal(90, 20)
        await pilot.pause()
        assert not any("×" in line for line in seen(panel)), (
            "a small panel is the table's"
        )


async def test_another_theme_draws_the_lines_again() -> None:
    tokenizer, pieces = S2.train(), dict(S2.counts().pieces)
    panel = WhyPanel(log := MergeLog())
    async with alone(log, panel, size=(90, 70)) as (pilot, _):
        lines = panel.query_one("#why", Lines)

        def arrow_fits() -> bool:
            """Whether the arrow between two tokens has the background of the panel."""
            for segment in lines.render_line(0):
                if "→" in segment.text and segment.style:
                    return segment.style.bgcolor == ink_of(lines, "text").bgcolor
            return False

        log.show(KeptMerges(tokenizer))
        panel.tokenizer = tokenizer
        panel.step, panel.explained = 2, explained(tokenizer, pieces, 2, "largest")
        panel._rested()
        await eventually(arrow_fits, "the merge is explained")
        pilot.app.theme = "textual-light"
        await eventually(lambda: not pilot.app.current_theme.dark, "a light theme")
        await pilot.pause()
        await pilot.pause()
        assert arrow_fits()


async def test_a_click_on_a_title_shows_its_side() -> None:
    panel = WhyPanel(log := MergeLog())
    async with alone(log, panel, size=(90, 30)) as (pilot, _):
        log.focus()
        await pilot.pause()
        for side in "pairs", "code", "why":
            title = panel.query_one(f"#title-{side}")
            await pilot.click(title)
            await pilot.pause()
            assert panel.seen == side and title.has_class("-active")
            (part,) = panel.parts()
            assert part.region.y == title.region.bottom, "the titles take one row"
            assert panel.query_one("#code").has_focus == (side == "code")
        assert log.has_focus


async def test_the_code_is_shown_short_or_in_full() -> None:
    tokenizer, pieces = S2.train(), dict(S2.counts().pieces)
    panel = WhyPanel(log := MergeLog())
    async with alone(log, panel, size=(90, 60)) as (pilot, _):
        log.show(KeptMerges(tokenizer))
        panel.tokenizer, panel.seen = tokenizer, "code"
        panel.step, panel.explained = 2, explained(tokenizer, pieces, 2, "largest")
        panel._rested()
        await pilot.pause()
        assert note(panel) == "short  line 4 of 4"
        shown = "\n".join(drawn(panel.query_one("#code")))
        assert (
            "def get_stats(words):" in shown and "def merge(ids, pair, new):" in shown
        )
        assert "best e + st" in shown, "the values of the step"

        panel.query_one("#code").focus()
        await pilot.press("f")
        assert note(panel).startswith("full  line ")
        assert "tied = [pair for" in "\n".join(drawn(panel.query_one("#code")))
        await pilot.click(".side-note")
        await pilot.pause()
        assert note(panel) == "short  line 4 of 4"


async def test_a_title_that_follows_its_side_does_not_choose_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A title that is marked late would undo a change that came after it."""
    chosen = []
    post_message = SideTitles.post_message

    def listen(titles: SideTitles, message: Message) -> bool:
        if isinstance(message, SideTitles.Chosen):
            chosen.append(message.side)
        return post_message(titles, message)

    monkeypatch.setattr(SideTitles, "post_message", listen)
    panel = WhyPanel(log := MergeLog())
    async with alone(log, panel, size=(90, 30)) as (pilot, _):
        for side in "pairs", "code", "why", "code", "pairs":
            panel.seen = side
        await pilot.pause()
        await pilot.pause()
        assert panel.query_one(Tabs).active == "title-pairs"
        assert not chosen
        await pilot.click("#title-code")
        await pilot.pause()
        assert chosen == ["code"]
