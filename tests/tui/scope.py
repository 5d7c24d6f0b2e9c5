"""A running app in a test's hands, and ways to wait for a condition, never for a time."""

import asyncio
import os
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets.tree import TreeNode

from tui.app import BpeScope
from tui.panes.corpus import CorpusPane
from tui.panes.editor import EditorPane
from tui.panes.training import TrainingPane
from tui.screen import MainScreen
from tui.widgets.corpus_tree import CorpusTree, Entry
from tui.widgets.token_area import TokenArea

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"""Seconds after which a test gives up; none should ever need them."""

TEXT = "the theme of the other thesis, the thing that they thought through\n" * 20
"""A small corpus: some sixty merges are in it."""


async def eventually(holds: Callable[[], object], what: str) -> None:
    """Wait until `holds()` is true; fail saying that `what` did not come about."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"it did not come about that {what}"
        await asyncio.sleep(0.02)


@dataclass(frozen=True)
class Scope:
    """A running app, and short names for what the tests look at."""

    app: BpeScope
    pilot: Pilot[None]
    said: Collection[str]
    """The sentences of the notifications so far."""

    @property
    def screen(self) -> MainScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    @property
    def area(self) -> TokenArea:
        return self.screen.query_one(TokenArea)

    @property
    def tree(self) -> CorpusTree:
        return self.screen.query_one(CorpusTree)

    @property
    def training(self) -> TrainingPane:
        return self.screen.query_one(TrainingPane)

    @property
    def corpus(self) -> CorpusPane:
        return self.screen.query_one(CorpusPane)

    @property
    def editor(self) -> EditorPane:
        return self.screen.query_one(EditorPane)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, holds: Callable[[], object], what: str) -> None:
        """Wait until `holds()` is true, and until the screen shows it."""
        await eventually(lambda: holds() or self.app._exception, what)
        assert self.app._exception is None, f"the app crashed before {what}"
        await self.pilot.pause()

    async def until_learned(self) -> None:
        """Wait until a training has ended and what it learned is kept and in force."""
        await self.until(lambda: not self.screen.run.busy and self.screen.path, "a training ends and is kept")

    async def until_tokenizer(self) -> None:
        await self.until(lambda: self.screen.in_force, "a tokenizer is in force")

    def row(self, title: str) -> TreeNode[Entry]:
        """The row of the corpus tree with this title."""
        waiting = [self.tree.root]
        while waiting:
            node = waiting.pop()
            if node.data is not None and node.data.title == title:
                return node
            waiting.extend(node.children)
        raise AssertionError(f"no row of the tree is called {title}")

    def shown(self, selector: str) -> str:
        """What a part of the screen says."""
        return str(self.screen.query_one(selector).render())

    def rows(self, selector: str) -> list[str]:
        """The lines of a list as they are drawn."""
        widget = self.screen.query_one(selector)
        return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]

    def ids(self) -> list[int]:
        """The ids of the editor's tokens."""
        live = self.area.live
        assert live is not None
        return list(live.ids)

    def tokens(self) -> list[str]:
        """The editor's tokens as text."""
        live = self.area.live
        assert live is not None
        return [live.tokenizer.decode([token]) for token in live.ids]


def children() -> set[int]:
    """The processes that this one has started and that are still there."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid() and fields[0] != "Z":
                found.add(int(folder.name))
    return found
