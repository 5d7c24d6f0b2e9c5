"""The first line of the screen: what this is, which pane is in front, and what is in force."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.text import Text
from textual.events import Click
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget

from bpe_core.visible import counted, visible
from tui.commands import PANES, short_name
from tui.drawing.cells import cut
from tui.state import Run, name_of

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

ONE_PANE: Final = ("-narrow", "-low", "-fill")
"""Classes of a screen that shows one pane at a time."""
_DOING: Final = {"counting": "counting", "preparing": "counting pairs", "merging": "training", "paused": "paused at"}
"""Phase of a training -> what is told with the share that is done."""
_LEAST_NAME: Final = 6
"""Characters of a tokenizer's name that still tell something."""
_ENOUGH: Final = 24
"""Cells for the facts at the right; where the tabs leave fewer, the app's own name gives way."""


class TitleLine(Widget):
    """One line: the app's name, on small screens the panes as tabs, at the right the tokenizer and its training."""

    DEFAULT_CSS = """
    TitleLine { height: 1; background: $panel; color: $foreground; padding: 0 1; }
    """

    run: reactive[Run] = reactive(Run())
    tokenizer: "reactive[Tokenizer | None]" = reactive(None)
    active: reactive[str] = reactive("editor")
    path: reactive[str] = reactive("")
    tabbed: reactive[bool] = reactive(False)
    """Whether there are tabs: where one pane is seen at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._tabs: list[tuple[int, int, str]] = []

    def on_mount(self) -> None:
        self.screen.screen_layout_refresh_signal.subscribe(self, self._update_tabs)

    def _update_tabs(self, screen: Screen[object]) -> None:
        self.tabbed = any(map(screen.has_class, ONE_PANE))

    def render(self) -> Text:
        left = self._tab_line() if self.tabbed else Text("")
        width = self.size.width
        name = Text("bpescope  ", style="bold")
        if left and width - name.cell_len - left.cell_len < _ENOUGH:
            name = Text("")
        right = Text(visible(self._facts(width - name.cell_len - left.cell_len - 2)))
        room = width - name.cell_len - left.cell_len - right.cell_len
        if room < 1:
            right = Text("")
            room = max(0, width - name.cell_len - left.cell_len)
        self._tabs = [(a + name.cell_len, b + name.cell_len, pane) for a, b, pane in self._tabs] if self.tabbed else []
        return Text.assemble(name, left, " " * room, right, no_wrap=True, end="")

    def _tab_line(self) -> Text:
        line = Text()
        self._tabs = []
        for pane in PANES:
            start = line.cell_len
            style = "bold reverse" if pane.id == self.active else "dim"
            line.append(f" {short_name(pane.key)} {pane.title} ", style)
            self._tabs.append((start, line.cell_len, pane.id))
        return line

    def _facts(self, room: int) -> str:
        tokenizer = self.tokenizer
        if tokenizer is None:
            return ""
        name = name_of(Path(self.path)) if self.path else "" if self.run.busy else "not saved"
        progress = f"{_DOING.get(self.run.phase, '')} {self.run.fraction:.0%}" if self.run.busy else ""
        facts = [*filter(None, (progress, name)), counted(tokenizer.n_vocab, "token"), tokenizer.pattern or "none"]
        if tokenizer.record is not None:
            facts.append(f"ties {tokenizer.record.ties}")
        while len(facts) > 1 and len(" · ".join(facts)) > room:
            facts.pop()
        return cut(" · ".join(facts), room, "ends") if room >= _LEAST_NAME else ""

    async def on_click(self, event: Click) -> None:
        x = event.get_content_offset(self)
        if x is None:
            return
        for start, end, pane in self._tabs:
            if start <= x.x < end:
                await self.screen.run_action(f"show('{pane}')")
