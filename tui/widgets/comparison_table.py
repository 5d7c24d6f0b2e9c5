"""ComparisonTable: the results of a comparison of tokenizers, one view at a time, to sort and to go through."""

from typing import ClassVar

from textual.binding import BindingType
from textual.reactive import var

from bpe_core.metrics.catalog import OF_PARTS
from bpe_core.metrics.disagreements import TextPlace
from tui.commands.keys import PartBindings
from tui.state import ComparisonRun
from tui.table.columns import Choices
from tui.table.table import Table
from tui.widgets.comparison_views import views
from tui.widgets.comparison_views.view import NOTHING, Aspect, LeadingRows, Row, View


class ComparisonTable(LeadingRows, Table):
    """The rows of one view; `choice` is its key, since the line below the rows lists the views."""

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Comparison")

    aspect: var[Aspect] = var(Aspect(), init=False)
    """The metric and the tokenizers that the user has chosen."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(ComparisonTable.choice, "texts")
        self._comparison = ComparisonRun()
        self._views = [NOTHING]

    def show(self, comparison: ComparisonRun) -> None:
        """Show a comparison or its new results. Keep the view, the order and the cursor if possible."""
        other_tokenizers = comparison.tokenizers != self._comparison.tokenizers
        fewer_texts = len(comparison.texts) < len(self._comparison.texts)
        if other_tokenizers or fewer_texts:
            aspect = self.aspect._replace(tokenizer=0, reference=0)
            self.set_reactive(ComparisonTable.aspect, aspect)
        self._comparison = comparison
        self.watch_aspect()

    @property
    def view(self) -> View:
        for view in self._views:
            if view.key == self.choice:
                return view
        return self._views[0]

    def watch_aspect(self) -> None:
        self._views = views(self._comparison, self.aspect)
        self.columns = self.view.columns
        self.n_rows = self.view.n_rows
        self.rows_changed()
        self.rearrange()
        self.refresh_bindings()
        self.refresh()

    def watch_choice(self) -> None:
        # Show another view from its beginning, in its own order.
        self.set_reactive(ComparisonTable.sort_key, "")
        self.set_reactive(ComparisonTable.reverse, False)
        self.set_reactive(ComparisonTable.aspect, self.aspect._replace(reference=0))
        self.watch_aspect()
        self.to_top()

    @property
    def has_metrics(self) -> bool:
        return "metric" in self.view.turns

    @property
    def has_tokenizers(self) -> bool:
        return "tokenizer" in self.view.turns

    @property
    def has_references(self) -> bool:
        return "reference" in self.view.turns

    @property
    def can_sort(self) -> bool:
        return any(column.sort for column in self.columns)

    def action_metric(self, by: int) -> None:
        keys = list(OF_PARTS)
        place = keys.index(self.aspect.metric) + by
        self.aspect = self.aspect._replace(metric=keys[place % len(keys)])

    def action_tokenizer(self) -> None:
        following = self.aspect.tokenizer + 1
        if following >= len(self._comparison.tokenizers):
            # A tokenizer does not differ from itself, so disagreements begin with the second.
            following = 0 if self.choice == "lines" else 1
        self.aspect = self.aspect._replace(tokenizer=following)

    def action_reference(self) -> None:
        row = self.current
        if row is not None:
            self.aspect = self.aspect._replace(reference=row, metric="parity")

    def row_of(self, number: int) -> Row | None:
        return self.view.row(number) if number < self.n_rows else None

    @property
    def place(self) -> TextPlace | None:
        """The place in a text that the row under the cursor is about; None if there is no such place."""
        return self.current_row.place if self.current_row else None

    @property
    def choices(self) -> Choices:
        return [(view.key, view.title) for view in self._views if view.key]

    @property
    def empty(self) -> str:
        if self._comparison.running:
            return "Encoding …"
        if not self._comparison.texts:
            return "Nothing is compared yet. Press a to choose tokenizers."
        if self.has_tokenizers:
            return "No differences here. Press t for another tokenizer."
        return "No differences here."
