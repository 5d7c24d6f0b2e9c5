"""The last lines of the screen: the keys that do something now, as many as fit, and always the way out."""

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Button

from tui.widgets.screen_lines import KeyLine


class FootApp(App[None]):
    CSS_PATH = "../../tui/app.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help"),
        *(
            Binding(f"f{number}", f"go({number})", f"Number {number}", tooltip=f"Go to {number}")
            for number in range(2, 9)
        ),
        Binding("f9", "never", "Never"),
        Binding("ctrl+p", "command_palette", "More", priority=True),
        Binding("ctrl+q", "quit", "Quit", priority=True),
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
            assert ("F6" in line, "Near" in line) == (width >= 40, width >= 60), "these are the last to go"
            assert not line.count("Number") or line.split("Number ")[-1][1:3] == "  ", "no label is cut"


async def test_a_click_presses_the_key_that_is_seen_there() -> None:
    app = FootApp()
    async with app.run_test(size=(120, 9)) as pilot:
        await pilot.pause()
        for label in ("Number 4", "Number 3", "Near"):
            await pilot.click(KeyLine, offset=(shown(app).index(label), 0))
        await pilot.hover(KeyLine, offset=(shown(app).index("Number 5"), 0))
        assert app.query_one(KeyLine).tooltip == "Go to 5"
        await pilot.click(KeyLine, offset=(shown(app).index("Number 4") + len("Number 4"), 0))
        await pilot.pause()
        assert app.gone == [4, 100], "3 cannot be done now, and between two keys is none"
