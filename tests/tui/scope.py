"""A running app in a test's hands, and ways to wait for a condition, never for a time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.notifications import Notify
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input

from tui.app import BpeScope
from tui.panes.corpus import CorpusPane
from tui.panes.editor import EditorPane
from tui.panes.training import TrainingPane
from tui.process import WorkerProcess
from tui.screen import MainScreen
from tui.widgets.corpus_tree import CorpusTree, Node
from tui.widgets.token_area import TokenArea

Dialog = TypeVar("Dialog", bound=ModalScreen)

ROOT = Path(__file__).parents[2]
PATIENCE = 100.0
"""Seconds after which a test gives up; none should ever need them."""
ROUNDS = 20
"""How often all parts of the app are asked whether they heard something new: a training always tells something."""

TEXT = "the theme of the other thesis, the thing that they thought through\n" * 20
"""A small corpus: some sixty merges are in it."""


async def eventually(holds: Callable[[], object], what: str) -> None:
    """Wait until `holds()` is true; fail saying that `what` did not come about."""
    for _ in range(
        5_000
    ):  # 100 s; turns and not time, since on a busy machine each takes long
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"it did not come about that {what}")


def key(name: str) -> events.Key:
    """A key, as it comes from a terminal."""
    return events.Key(
        name, name if len(name) == 1 else " " if name == "space" else None
    )


def events_of_click(x: int, y: int, button: int = 1) -> list[events.Event]:
    """What a terminal sends for a click at a place on the screen."""
    where = (None, x, y, 0, 0, button, False, False, False)
    return [events.MouseDown(*where), events.MouseUp(*where)]


async def never(job: WorkerProcess) -> WorkerProcess:
    """A worker that does not come to start: what waits for it goes on waiting."""
    await asyncio.Event().wait()
    return job


@dataclass
class Ear:
    """Listens to every message that a part of an app is sent."""

    n_heard: int = 0
    """How many there were, but for those by which the app and the tests wait."""
    told: dict[str, str] = field(default_factory=dict)
    """The notifications: identity -> sentence; each is heard once by every widget that it bubbles through."""

    def __call__(self, message: Message) -> None:
        self.n_heard += not isinstance(message, events.Callback | events.Timer)
        if isinstance(message, Notify):
            self.told[message.notification.identity] = message.notification.message


@dataclass(frozen=True)
class Scope:
    """A running app, and short names for what the tests look at."""

    app: BpeScope
    pilot: Pilot[None]
    ear: Ear

    @property
    def said(self) -> list[str]:
        """The sentences of the notifications so far."""
        return list(self.ear.told.values())

    @property
    def screen(self) -> MainScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    area = property(lambda self: self.screen.query_one(TokenArea))
    tree = property(lambda self: self.screen.query_one(CorpusTree))
    training = property(lambda self: self.screen.query_one(TrainingPane))
    corpus = property(lambda self: self.screen.query_one(CorpusPane))
    editor = property(lambda self: self.screen.query_one(EditorPane))

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until all that follows from them has happened."""
        await self.pilot.press(*keys)
        await self.settle()

    async def batch(self, *happened: events.Event) -> None:
        """Let it all happen at once, before the app can do anything about it; and wait for what follows."""
        for event in happened:
            self.app.post_message(event)
        await self.settle()
        await self.until(
            lambda: not self.app.type_ahead.pending, "nothing waits for its turn"
        )

    async def settle(self) -> None:
        """Wait until no message is on its way and the screen shows what they did, however slow the machine is."""
        await self.pilot.pause()
        for _ in range(ROUNDS):
            n_heard = self.ear.n_heard
            await self.pilot.pause(0)
            if self.ear.n_heard == n_heard:
                break

    async def asked(self, dialog: type[Dialog]) -> Dialog:
        """Wait until a dialog is there and takes keys."""
        await self.until(
            lambda: isinstance(self.app.screen, dialog) and self.app.screen.focused,
            "it asks",
        )
        shown = self.app.screen
        assert isinstance(shown, dialog)
        return shown

    async def back(self) -> None:
        """Wait until the dialog has gone, and what its answer leads to has happened."""
        await self.until(lambda: self.app.screen is self.screen, "the dialog goes")

    async def answer(self, text: str) -> None:
        """Fill in the field of the dialog that is seen, and press Enter."""
        self.app.screen.query_one(Input).value = text
        await self.press("enter")

    async def command(self, sought: str) -> None:
        """Search the palette and choose what it finds first."""
        await self.press("ctrl+p", *sought)
        palette = self.app.screen
        searches = [worker for worker in self.app.workers if worker.node is palette]
        await self.until(
            lambda: all(search.is_finished for search in searches),
            "the search has ended",
        )
        await self.press("enter")

    async def until(self, holds: Callable[[], object], what: str) -> None:
        """Wait until `holds()` is true, and until the screen shows it."""
        await eventually(lambda: holds() or self.app._exception, what)
        assert self.app._exception is None, f"the app crashed before {what}"
        await self.settle()

    def row(self, title: str) -> Node:
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
        return drawn(self.screen.query_one(selector))

    def ids(self) -> list[int]:
        """The ids of the editor's tokens."""
        live = self.area.edited.live
        assert live is not None
        return list(live.ids)

    def tokens(self) -> list[str]:
        """The editor's tokens as text."""
        live = self.area.edited.live
        assert live is not None
        return [live.tokenizer.decode([token]) for token in live.ids]


class Alone(App[None]):
    """An app of the widgets that a test puts there, with the styles of ours."""

    CSS_PATH = "../../tui/app.tcss"

    def __init__(self, *widgets: Widget) -> None:
        super().__init__()
        self.widgets = widgets

    def compose(self) -> ComposeResult:
        return self.widgets


@dataclass
class AskedFeatures:
    """Stands for the features of a screen, and passes on which method is called, and with what."""

    heard: Callable[..., object]
    name: str = ""

    def __getattr__(self, name: str) -> "AskedFeatures":
        return AskedFeatures(self.heard, f"{self.name}.{name}".lstrip("."))

    def __call__(self, *arguments: object) -> None:
        self.heard(self.name, *arguments)


def listen(screen: Any, heard: Callable[..., object]) -> None:
    """Let `heard` hear what widgets ask of the features, such as ("shown.travel_to", 3)."""
    screen.features = AskedFeatures(heard)
    screen.run_in_background = lambda work: None


@asynccontextmanager
async def alone(
    *widgets: Widget, size: tuple[int, int]
) -> AsyncIterator[tuple[Pilot[None], list[Any]]]:
    """Shows widgets without the rest of the app: hands that use them, and the steps or tokens that they ask for."""
    app, asked = Alone(*widgets), list[Any]()
    async with app.run_test(size=size) as pilot:
        listen(app.screen, lambda deed, what=None, *more: asked.append(what))
        await pilot.pause()
        yield pilot, asked


def drawn(widget: Widget) -> list[str]:
    """The lines of a widget as they are drawn, without the blanks at their ends."""
    return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]


Opened = Callable[..., AbstractAsyncContextManager[Scope]]
"""Opens the app on paths, in a terminal of some `size`."""
