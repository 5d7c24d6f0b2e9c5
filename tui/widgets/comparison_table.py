"""ComparisonTable: what a comparison of tokenizers found, one view of it at a time, to sort and to go through."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var

from bpe_core.metrics.catalog import OF_PARTS
from tui.commands import applies, bindings
from tui.drawing.choice_line import Titles, choice_at, choice_line
from tui.drawing.columns import PlacedColumn, fit, line, place_at, place_columns
from tui.drawing.comparison_view import Choices, Row, View
from tui.drawing.comparison_views import views
from tui.requests import PlaceInText, requests
from tui.state.comparison import Comparison
from tui.widgets.row_list import RowList

_MUTED = frozenset({"bytes", "where", "unit", "meaning", "rank", "id0", "id1", "id2", "id3"})


class ComparisonTable(RowList):
    """The rows of the view that is seen; the line below them has the views."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Comparison")
    FOOTER = True

    seen: var[str] = var("texts", init=False)
    """The key of the view that is seen."""
    choices: var[Choices] = var(Choices(), init=False)
    """What of the comparison is looked at."""
    sort_key: var[str] = var("", init=False)
    """The column that the rows are sorted by; empty for the order in which they come."""
    reverse: var[bool] = var(False, init=False)
    """Whether they are sorted the other way round."""

    class Turned(Message):
        """Another view is seen, or the same tells something else."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._comparison = Comparison()
        self._views: list[View] = []
        self._references: dict[str, int] = {}
        """View -> the row that parity relates to there."""

    # What is shown

    def show(self, comparison: Comparison) -> None:
        """Show a comparison, or what more it has found; the view, the order and the cursor stay where they can."""
        if comparison.tokenizers != self._comparison.tokenizers or len(comparison.texts) < len(self._comparison.texts):
            self._references.clear()
            self.set_reactive(ComparisonTable.choices, self.choices._replace(tokenizer=0, reference=0))
        self._comparison = comparison
        self._rebuild()

    @property
    def view(self) -> View | None:
        """The view that is seen; None while there is nothing to see."""
        return next((view for view in self._views if view.key == self.seen), self._views[0] if self._views else None)

    def _rebuild(self) -> None:
        self._views = views(self._comparison, self.choices)
        self._sort()
        self.post_message(self.Turned())
        self.refresh_bindings()
        self.refresh()

    def _sort(self) -> None:
        view = self.view
        if view is None:
            self.show_rows(range(0))
            return
        keys = [column.key for column in view.columns]
        value = view.value
        if value is None or self.sort_key not in keys:
            order = list(range(view.n_rows))
        else:
            key = self.sort_key
            order = sorted(range(view.n_rows), key=lambda row: value(row, key))
            if not isinstance(order and value(order[0], key), str):
                order.reverse()  # numbers: the greatest first
        self.show_rows(order[::-1] if self.reverse else order)

    def watch_seen(self) -> None:
        """Another view: from its beginning, in the order in which its rows come."""
        self.set_reactive(ComparisonTable.sort_key, "")
        self.set_reactive(ComparisonTable.reverse, False)
        reference = self._references.get(self.seen, 0)
        self.set_reactive(ComparisonTable.choices, self.choices._replace(reference=reference))
        self._rebuild()
        self.move_to(0)

    def watch_choices(self) -> None:
        """Something else is told."""
        self._rebuild()

    def watch_sort_key(self) -> None:
        """Another order: look at its beginning."""
        self._sort()
        self.refresh()
        self.move_to(0)

    def watch_reverse(self) -> None:
        """The other way round."""
        self.watch_sort_key()

    # What the keys do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What the view that is seen has no use for is not offered."""
        return applies("Comparison", self, action)

    def can_choose(self, what: str) -> bool:
        """Whether the view that is seen can tell of another metric, tokenizer or reference."""
        view = self.view
        return view is not None and what in view.choices

    def action_view(self, by: int) -> None:
        """Show the next view, or the one before."""
        if self._views and (view := self.view):
            self.seen = self._views[(self._views.index(view) + by) % len(self._views)].key

    def action_metric(self, by: int) -> None:
        """Tell the next metric of each row, or the one before."""
        keys = OF_PARTS
        metric = keys[(keys.index(self.choices.metric) + by) % len(keys)]
        self.choices = self.choices._replace(metric=metric)

    def action_tokenizer(self) -> None:
        """Tell of another tokenizer: which lines are worst for it, or where it differs from the first."""
        n = len(self._comparison.tokenizers)
        tokenizer = (self.choices.tokenizer + 1) % n
        if self.seen != "lines" and tokenizer == 0:
            tokenizer = 1 % n
        self.choices = self.choices._replace(tokenizer=tokenizer)

    def action_reference(self) -> None:
        """Let parity relate to the row under the cursor."""
        if (row := self.current) is not None:
            self._references[self.seen] = row
            self.choices = self.choices._replace(reference=row, metric="parity")

    def action_sort_next(self) -> None:
        """Sort by the next of the columns in sight."""
        keys = [place.column.key for place in self.header_places(self.row_width)]
        if keys and self.view and self.view.value:
            self.sort_key = keys[(keys.index(self.sort_key) + 1) % len(keys)] if self.sort_key in keys else keys[0]

    def action_reverse(self) -> None:
        """Turn the order around."""
        self.reverse = not self.reverse

    def row_selected(self, row: int) -> None:
        """Show the place that a row tells of in the editor."""
        if (view := self.view) and (target := view.row(row, {}).target) is not None:
            requests(self).open_place(PlaceInText(*target))

    def header_clicked(self, x: int) -> None:
        """Sort by the column clicked; by the same again: the other way round."""
        if self.view and self.view.value and (place := place_at(self.header_places(self.row_width), x)):
            if place.column.key == self.sort_key:
                self.reverse = not self.reverse
            else:
                self.sort_key = place.column.key

    def footer_clicked(self, x: int) -> None:
        """Show the view clicked."""
        key = choice_at(self._titles, self.view.key if self.view else "", self.row_width, x)
        if key is not None:
            self.seen = key

    # Drawing

    def header_places(self, width: int) -> Sequence[PlacedColumn]:
        """The columns that fit."""
        return place_columns(self.view.columns, width) if self.view else ()

    def render_header(self, width: int) -> Iterable[Segment]:
        """The titles, an arrow at the one that sorts."""
        style, accent = self.style_of("header"), self.style_of("accent")
        parts = []
        for place in self.header_places(width):
            sorts = place.column.key == self.sort_key
            arrow = ("↑" if self.reverse else "↓") + " " if sorts else ""
            parts.append((place, arrow + place.column.heading.strip(), style + accent if sorts else style))
        return line(parts, style)

    def _row(self, row: int, width: int) -> Row:
        assert self.view is not None
        return self.view.row(row, {place.column.key: place.width for place in self.header_places(width)})

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        """One row of the view."""
        ink, muted, accent = (self.style_of(name, base) for name in ("row", "muted", "accent"))
        texts = self._row(row, width).texts
        parts = []
        for place in self.header_places(width):
            key = place.column.key
            style = muted if key in _MUTED else accent if key in ("plot", "more") else ink
            parts.append((place, texts.get(key, ""), style))
        return line(parts, base)

    def row_hint(self, row: int) -> str:
        """The row in a sentence."""
        view = self.view
        return view.row(row, {}).hint if view and row < view.n_rows else ""

    @property
    def _titles(self) -> Titles:
        return [(view.key, view.title) for view in self._views]

    def render_footer(self, width: int) -> Iterable[Segment]:
        """The views, the one that is seen in the accent color."""
        style, accent = self.style_of("footer"), self.style_of("accent") + Style(bold=True)
        return choice_line(self._titles, self.view.key if self.view else "", width, style, accent)

    def render_empty(self, width: int) -> Iterable[Segment]:
        """Why nothing is shown."""
        comparison = self._comparison
        text = "Encoding …" if comparison.running else "Nothing differs here." if comparison.texts else ""
        yield Segment(fit(" " + text, width), self.style_of("muted"))
