"""ComparisonTable: what a comparison of tokenizers found, one view of it at a time, to sort and to go through."""

from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var

from bpe_core.metrics.catalog import OF_PARTS
from tui.commands import applies, bindings
from tui.state import Comparison, PlaceInText, requests
from tui.table.columns import Choices
from tui.table.table import Table
from tui.widgets.comparison_views import Aspect, View, views


class ComparisonTable(Table):
    """The rows of the view that is seen; `choice` is its key, for the line below the rows has the views."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Comparison")

    aspect: var[Aspect] = var(Aspect(), init=False)
    """What of the comparison is looked at."""

    class Turned(Message):
        """Another view is seen, or the same shows something else."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(ComparisonTable.choice, "texts")
        self._comparison = Comparison()
        self._views: list[View] = []
        self._references: dict[str, int] = {}
        """View -> the row that parity relates to there."""

    def show(self, comparison: Comparison) -> None:
        """Show a comparison, or what more it has found; the view, the order and the cursor stay where they can."""
        if comparison.tokenizers != self._comparison.tokenizers or len(comparison.texts) < len(self._comparison.texts):
            self._references.clear()
            self.set_reactive(ComparisonTable.aspect, self.aspect._replace(tokenizer=0, reference=0))
        self._comparison = comparison
        self._rebuild()

    @property
    def view(self) -> View | None:
        """The view that is seen; None while there is nothing to see."""
        return next((view for view in self._views if view.key == self.choice), self._views[0] if self._views else None)

    def _rebuild(self, *, to_top: bool = False) -> None:
        self._views = views(self._comparison, self.aspect)
        self.columns = self.view.columns if self.view else ()
        self.rows_changed()
        if to_top:
            self.to_top()
        else:
            self.rearrange()
        self.post_message(self.Turned())
        self.refresh_bindings()
        self.refresh()

    def watch_choice(self) -> None:
        """Another view: from its beginning, in the order in which its rows come."""
        self.set_reactive(ComparisonTable.sort_key, "")
        self.set_reactive(ComparisonTable.reverse, False)
        aspect = self.aspect._replace(reference=self._references.get(self.choice, 0))
        self.set_reactive(ComparisonTable.aspect, aspect)
        self._rebuild(to_top=True)

    def watch_aspect(self) -> None:
        self._rebuild()

    # What the keys do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What the view that is seen has no use for is not offered."""
        return applies("Comparison", self, action)

    def can_turn(self, what: str) -> bool:
        """Whether the view that is seen can show another metric, tokenizer or reference."""
        return self.view is not None and what in self.view.turns

    def action_metric(self, by: int) -> None:
        """Show the next metric of each row, or the one before."""
        metric = OF_PARTS[(OF_PARTS.index(self.aspect.metric) + by) % len(OF_PARTS)]
        self.aspect = self.aspect._replace(metric=metric)

    def action_tokenizer(self) -> None:
        """Look at another tokenizer: which lines are worst for it, or where it differs from the first."""
        n = len(self._comparison.tokenizers)
        tokenizer = (self.aspect.tokenizer + 1) % n
        if self.choice != "lines" and tokenizer == 0:
            tokenizer = 1 % n
        self.aspect = self.aspect._replace(tokenizer=tokenizer)

    def action_reference(self) -> None:
        """Let parity relate to the row under the cursor."""
        if (row := self.current) is not None:
            self._references[self.choice] = row
            self.aspect = self.aspect._replace(reference=row, metric="parity")

    def row_selected(self, row: int) -> None:
        """Show the place that a row tells of in the editor."""
        if (view := self.view) and (target := view.target(row)) is not None:
            requests(self).open_place(PlaceInText(*target))

    # What is shown

    @property
    def n_rows(self) -> int:
        return self.view.n_rows if self.view else 0

    @property
    def choices(self) -> Choices:
        return [(view.key, view.title) for view in self._views]

    def row_hint(self, row: int) -> str:
        view = self.view
        return view.hint(row) if view and row < view.n_rows else ""

    @property
    def empty(self) -> str:
        """Why nothing is shown."""
        return "Encoding …" if self._comparison.running else "Nothing differs here." if self._comparison.texts else ""
