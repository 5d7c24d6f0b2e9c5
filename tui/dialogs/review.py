"""ReviewChange: what a change of the vocabulary does, and what to do with it."""

from collections.abc import Awaitable, Callable
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Label, Static

from tui.terminal.guards import Dialog

_LABELS: Final = {
    "t": "Remove those, too",
    "k": "Keep parents",
    "s": "Save…",
    "l": "See lanes",
    "w": "Another word…",
}
"""Key -> the label of its button. The key is the answer."""


class ReviewChange(Dialog[str]):
    """Shows a change once it is worked out. Returns the key of an answer; None for Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"answer('{key}')", show=False) for key in _LABELS),
        Binding("left", "app.focus_previous", "Back"),
        Binding("right", "app.focus_next", "On"),
    ]

    def __init__(
        self, title: str, prepare: Callable[["ReviewChange"], Awaitable[None]]
    ) -> None:
        """`prepare` works out the change, and calls `show`; it is cancelled when the dialog is closed."""
        super().__init__()
        self._title = title
        self._prepare = prepare
        self._answers = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="review"):
            yield Label(self._title, classes="dialog--question", markup=False)
            yield Static(id="review-sentences", markup=False)
            with VerticalScroll(id="review-lists"):
                yield Static(id="review-list", markup=False)
            yield Horizontal(classes="dialog--buttons")
            yield Label(
                "Working out the change… Escape cancels",
                classes="dialog--hint",
                markup=False,
            )

    def on_mount(self) -> None:
        self.run_worker(self._prepare(self))

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        if self.is_active:
            self.workers.cancel_node(self)
        return super().dismiss(result)

    async def show(self, sentences: str, lists: str, answers: str) -> None:
        """Show the change: sentences, lists that can be scrolled, and a button for each key in `answers`."""
        self.query_one("#review-sentences", Static).update(sentences)
        self.query_one("#review-list", Static).update(lists)
        for key in answers:
            label = f"{_LABELS[key]} ({key})"
            button = Button(label, compact=True, action=f"screen.answer('{key}')")
            await self.query_one(".dialog--buttons").mount(button)
        self._answers = answers
        self.tell("Not saved yet. Tab moves to the buttons, Escape discards the change")

    def action_answer(self, key: str) -> None:
        if key in self._answers:
            self.dismiss(key)
