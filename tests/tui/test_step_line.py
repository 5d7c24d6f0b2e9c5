"""The step line goes to any merge by key, mouse or wheel, and says where it is."""

from textual import getters
from textual.app import App, ComposeResult
from textual.events import Key, MouseScrollUp
from textual.reactive import var
from textual.screen import Screen

from bpe_core import Tokenizer, train
from tui.widgets.screen_lines import StepLine

TOKENIZER = train("the return of the returning theme, thrice returned and thought through\n" * 9, vocab_size=296)
LAST = TOKENIZER.step


class Steps(Screen[None]):
    step: var[int] = var(LAST // 3)
    tokenizer: var[Tokenizer | None] = var(TOKENIZER)

    def __init__(self) -> None:
        super().__init__()
        self.chosen: list[int] = []

    def compose(self) -> ComposeResult:
        yield StepLine().data_bind(Steps.step, Steps.tokenizer)

    def action_do(self, deed: str, to: int = LAST) -> None:
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
        assert shown.startswith(f" step {LAST // 3} of {LAST} ◂━━━") and shown.endswith(f"▸ {made}")
        bar = shown[shown.index("◂") + 1 : shown.index("▸")]
        assert abs(bar.index("●") / (len(bar) - 1) - 1 / 3) < 0.04
        app.steps.step = 7
        assert text(app.line).index("◂") == shown.index("◂"), "the slider stays in place"
        app.steps.tokenizer, app.steps.step = train("\x1b]\x1b]", vocab_size=257), 1
        assert text(app.line).endswith("▸ ␛]")


async def test_keys_go_by_small_and_by_big_steps() -> None:
    app = StepApp()
    async with app.run_test(size=(100, 3)) as pilot:
        app.line.focus()
        await pilot.press("right", "left", "shift+right", "ctrl+left", "home", "left", "end", "right")
        here = LAST // 3
        assert app.chosen == [here + 1, here, here + 10, here + 10 - LAST // 20, 0, 0, LAST, LAST]


async def test_many_keys_and_turns_at_once_count_one_by_one() -> None:
    app = StepApp()
    async with app.run_test(size=(100, 3)) as pilot:
        app.line.focus()
        await pilot.pause()
        for _ in range(3):
            app.post_message(Key("right", None))
        for _ in range(4):
            app.line.post_message(MouseScrollUp(app.line, 9, 0, 0, -1, 0, False, False, False))
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
