"""The step line goes to any merge by key, mouse or wheel, and says where it is."""

from textual.app import App, ComposeResult

from tui.widgets.step_line import StepLine


class StepApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.chosen: list[int] = []

    def compose(self) -> ComposeResult:
        yield StepLine()

    def on_mount(self) -> None:
        self.line.n_steps = 3744
        self.line.step = 1284
        self.line.token = b" return"

    @property
    def line(self) -> StepLine:
        return self.query_one(StepLine)

    def on_step_line_step_chosen(self, message: StepLine.StepChosen) -> None:
        self.chosen.append(message.step)


def text(line: StepLine) -> str:
    return line.render_line(0).text.rstrip()


async def test_it_says_where_it_is_and_what_was_made() -> None:
    app = StepApp()
    async with app.run_test(size=(100, 3)) as pilot:
        await pilot.pause()
        shown = text(app.line)
        assert shown.startswith(" step 1,284 of 3,744 ◂━━━") and shown.endswith("▸ ␣return")
        bar = shown[shown.index("◂") + 1 : shown.index("▸")]
        assert abs(bar.index("●") / (len(bar) - 1) - 1284 / 3744) < 0.02
        app.line.step = 7
        assert text(app.line).index("◂") == shown.index("◂"), "the slider stays in place"
        app.line.token = b"\x1b]0;x\x07"
        assert text(app.line).endswith("␛]0;x␇")


async def test_keys_go_by_small_and_by_big_steps() -> None:
    app = StepApp()
    async with app.run_test(size=(100, 3)) as pilot:
        app.line.focus()
        await pilot.press("right", "left", "shift+right", "ctrl+left", "home", "left", "end", "right")
        assert app.chosen == [1285, 1284, 1294, 1107, 0, 3744], "no message where nothing changes"
        assert app.line.step == 3744


async def test_the_mouse_drags_and_the_wheel_turns() -> None:
    app = StepApp()
    async with app.run_test(size=(100, 3)) as pilot:
        await pilot.pause()
        start, end = text(app.line).index("◂"), text(app.line).index("▸")
        await pilot.mouse_down(StepLine, offset=(start + 1, 0))
        assert app.chosen[-1] == 0
        await pilot.hover(StepLine, offset=(end - 1, 0))
        assert app.chosen[-1] == 3744
        await pilot.hover(offset=(2, 2))
        assert app.chosen[-1] == 0, "also when the mouse leaves the line"
        await pilot.mouse_up(offset=(2, 2))
        await pilot.hover(StepLine, offset=(end - 9, 0))
        assert app.line.step == 0, "let go is let go"
        await pilot.click(StepLine, offset=(end, 0))
        assert app.line.step == 1


async def test_any_width_will_do() -> None:
    app = StepApp()
    async with app.run_test(size=(120, 3)) as pilot:
        for width in (120, 60, 40, 24, 10):
            await pilot.resize_terminal(width, 3)
            await pilot.pause()
            assert "step" in text(app.line) and len(text(app.line)) <= width
        await pilot.resize_terminal(60, 3)
        app.line.n_steps = 0
        assert "No merges" in text(app.line)
