"""The line of steps goes to any merge by key, mouse or wheel; the line of keys has as many as fit, and the way out."""

from typing import ClassVar

from scope import listen
from textual import getters
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Key, MouseScrollUp
from textual.reactive import var
from textual.screen import Screen
from textual.widgets import Button

from bpe_core import Tokenizer, train
from tui.state import KnownTokenizer
from tui.widgets.screen_lines import ALWAYS, KeyLine, TitleLine
from tui.widgets.step_line import StepLine

TOKENIZER = train(
    "the return of the returning theme, thrice returned and thought through\n" * 9,
    vocab_size=296,
)
LAST = TOKENIZER.step


class Steps(Screen[None]):
    step: var[int] = var(LAST // 3)
    tokenizer: var[Tokenizer | None] = var(TOKENIZER)

    def __init__(self) -> None:
        super().__init__()
        self.chosen: list[int] = []

    def compose(self) -> ComposeResult:
        yield StepLine().data_bind(Steps.step, Steps.tokenizer)

    def on_mount(self) -> None:
        listen(self, self.go)

    def go(self, deed: str, to: int) -> None:
        if deed == "shown.travel_to_end":
            to *= LAST
        self.step = max(0, min(self.step + to, LAST)) if deed == "shown.travel" else to
        self.chosen.append(self.step)


class StepApp(App[None]):
    CSS_PATH = "../../tui/app.tcss"
    line = getters.query_one(StepLine)

    def get_default_screen(self) -> Steps:
        self.steps = Steps()
        return self.steps

    @property
    def chosen(self) -> list[int]:
        return self.steps.chosen


def text(line: StepLine) -> str:
    return line.render_line(0).text.rstrip()


async def test_it_says_where_it_is_and_what_was_made() -> None:
    app = StepApp()
    async with app.run_test(size=(100, 3)) as pilot:
        await pilot.pause()
        shown = text(app.line)
        made = TOKENIZER.decode([TOKENIZER.merges[LAST // 3 - 1][2]]).replace(" ", "␣")
        assert shown.startswith(f" step {LAST // 3} of {LAST} ◂━━━") and shown.endswith(
            f"▸ {made}"
        )
        bar = shown[shown.index("◂") + 1 : shown.index("▸")]
        assert abs(bar.index("●") / (len(bar) - 1) - 1 / 3) < 0.04
        app.steps.step = 7
        assert text(app.line).index("◂") == shown.index("◂"), (
            "the slider stays in place"
        )
        app.steps.tokenizer, app.steps.step = train("\x1b]\x1b]", vocab_size=257), 1
        assert text(app.line).endswith("▸ ␛]")


async def test_keys_go_by_small_and_by_big_steps() -> None:
    app = StepApp()
    async with app.run_test(size=(100, 3)) as pilot:
        app.line.focus()
        await pilot.press(
            "right", "left", "shift+right", "ctrl+left", "home", "left", "end", "right"
        )
        here = LAST // 3
        assert app.chosen == [
            here + 1,
            here,
            here + 10,
            here + 10 - LAST // 20,
            0,
            0,
            LAST,
            LAST,
        ]


async def test_many_keys_and_turns_at_once_count_one_by_one() -> None:
    app = StepApp()
    async with app.run_test(size=(100, 3)) as pilot:
        app.line.focus()
        await pilot.pause()
        for _ in range(3):
            app.post_message(Key("right", None))
        for _ in range(4):
            app.line.post_message(
                MouseScrollUp(app.line, 9, 0, 0, -1, 0, False, False, False)
            )
        await pilot.pause()
        assert app.steps.step == app.line.step == LAST // 3 - 1


async def test_the_mouse_drags_and_the_wheel_turns() -> None:
    app = StepApp()
    async with app.run_test(size=(100, 3)) as pilot:
        await pilot.pause()
        start, end = text(app.line).index("◂"), text(app.line).index("▸")
        await pilot.mouse_down(StepLine, offset=(start + 1, 0))
        assert app.chosen[-1] == 0
        await pilot.hover(StepLine, offset=(end - 1, 0))
        assert app.chosen[-1] == LAST
        await pilot.hover(offset=(2, 2))
        assert app.chosen[-1] == 0, "also when the mouse leaves the line"
        await pilot.mouse_up(offset=(2, 2))
        await pilot.hover(StepLine, offset=(end - 9, 0))
        assert app.line.step == 0, "let go is let go"
        await pilot.click(StepLine, offset=(end, 0))
        await pilot.pause()
        assert app.line.step == 1


class FootApp(App[None]):
    CSS_PATH = "../../tui/app.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", ALWAYS[0], "Help"),
        *(
            Binding(
                f"f{number}",
                f"go({number})",
                f"Number {number}",
                tooltip=f"Go to {number}",
            )
            for number in range(2, 9)
        ),
        Binding("f9", "never", "Never"),
        Binding("ctrl+p", ALWAYS[1], "More", priority=True),
        Binding("ctrl+q", ALWAYS[2], "Quit", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.gone: list[int] = []

    def compose(self) -> ComposeResult:
        yield Near("one")
        yield Button("two")
        yield KeyLine()

    def action_go(self, number: int) -> None:
        self.gone.append(number)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return None if parameters == (3,) else action != "never"


class Near(Button):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("x", "app.go(100)", "Near")]


def shown(app: App[None]) -> str:
    return " " + app.query_one(KeyLine).render_line(0).text  # after the padding


async def test_what_does_not_fit_is_left_out_but_never_help_and_quit() -> None:
    app = FootApp()
    async with app.run_test(size=(200, 9)) as pilot:
        await pilot.pause()
        assert "F8 Number 8" in shown(app) and "Never" not in shown(app)
        for width in (120, 80, 60, 40, 30):
            await pilot.resize_terminal(width, 9)
            await pilot.pause()
            line = shown(app)
            assert line.endswith("F1 Help  ^p More  ^q Quit") and len(line) == width
            assert ("F6" in line, "Near" in line) == (width >= 40, width >= 60), (
                "these are the last to go"
            )
            assert not line.count("Number") or line.split("Number ")[-1][1:3] == "  ", (
                "no label is cut"
            )


async def test_a_click_presses_the_key_that_is_seen_there() -> None:
    app = FootApp()
    async with app.run_test(size=(120, 9)) as pilot:
        await pilot.pause()
        for label in ("Number 4", "Number 3", "Near"):
            await pilot.click(KeyLine, offset=(shown(app).index(label), 0))
        await pilot.hover(KeyLine, offset=(shown(app).index("Number 5"), 0))
        assert app.query_one(KeyLine).tooltip == "Go to 5"
        await pilot.click(
            KeyLine, offset=(shown(app).index("Number 4") + len("Number 4"), 0)
        )
        await pilot.pause()
        assert app.gone == [4, 100], (
            "3 cannot be done now, and between two keys is none"
        )


def test_facts_of_the_title_that_do_not_fit_are_left_out_by_their_cells() -> None:
    title = TitleLine()
    title.set_reactive(TitleLine.tokenizer, TOKENIZER)
    title.set_reactive(TitleLine.path, f"/home/{8 * '語'}.json")
    assert title._facts(24) == 8 * "語"
    assert title._facts(29).endswith("語 · 288 tokens")
    title.set_reactive(TitleLine.path, f"/home/{50 * 'n'}.json")
    assert title._facts(45).endswith("n · 288 tokens"), "a long name is cut"


def test_the_title_names_the_tokenizer_as_the_list_does() -> None:
    """A file in the cache of tiktoken has a digest for a name."""
    title = TitleLine()
    title.set_reactive(TitleLine.tokenizer, TOKENIZER)
    path = "cache/fb374d419588a4632f3f557e76b4b70aebbca790"
    title.set_reactive(TitleLine.path, path)
    title.set_reactive(TitleLine.kept, (KnownTokenizer(path, "o200k_base", 288),))
    assert title._facts(29).startswith("o200k_base · 288 tokens")
