"""ReviewChange: what a change of the vocabulary does, and what to do with it."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import ClassVar, Final, NamedTuple

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


class Review(NamedTuple):
    """The content of the dialog."""

    sentences: Sequence[str]
    lists: str
    """A report of many lines, which can be scrolled."""
    answers: Collection[str]
    """Keys of `_LABELS`, in the order of the buttons."""


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
        self._answers: Collection[str] = ()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="review"):
            yield Label(self._title, classes="dialog--question", markup=False)
            yield Static(id="review-sentences", markup=False)
            with VerticalScroll(id="review-lists"):
                yield Static(id="review-list", markup=False)
            yield Horizontal(classes="dialog--buttons")
            yield Label("", classes="dialog--hint", markup=False)

    def on_mount(self) -> None:
        self.run_worker(self._prepare(self))

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        if self.is_active:
            self.workers.cancel_node(self)
        return super().dismiss(result)

    async def show(self, review: Review) -> None:
        self.query_one("#review-sentences", Static).update("\n".join(review.sentences))
        self.query_one("#review-list", Static).update(review.lists)
        buttons = [
            Button(
                f"{_LABELS[key]} ({key})",
                compact=True,
                action=f"screen.answer('{key}')",
            )
            for key in review.answers
        ]
        await self.query_one(".dialog--buttons").mount_all(buttons)
        self._answers = review.answers
        self.tell("Not saved yet. Tab goes to the buttons, Escape drops the change")

    def action_answer(self, key: str) -> None:
        if key in self._answers:
            self.dismiss(key)
