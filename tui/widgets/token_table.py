"""TokenTable: what an audit found, to sort, to filter by kind and to search; 200,000 findings without a wait."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var

from bpe_core.auditing.findings import KINDS, Finding
from tui.commands import bindings
from tui.drawing.columns import PlacedColumn, fit, line, place_at, tinted
from tui.drawing.finding_order import FindingOrder, Wanted
from tui.drawing.token_columns import INKS, MARKS, token_places
from tui.messages import FindingOpened
from tui.terminal.sliced_work import SlicedWork
from tui.widgets.row_list import RowList


class TokenTable(RowList):
    """Findings, one row each, the worst first until another column is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Findings")
    FOOTER = True
    GATHER: ClassVar[float] = 0.05
    """Seconds at least for which arriving findings are gathered before they are sorted in."""
    MODESTY: ClassVar[int] = 4
    """How many times as long they are gathered as the last sorting took: adding many takes no longer than it must."""
    sort_key: var[str] = var("severity", init=False)
    """The column the findings are sorted by."""
    reverse: var[bool] = var(False, init=False)
    """Whether they are sorted the other way round."""
    kind: var[str] = var("", init=False)
    """The only kind shown; "" for all."""
    search: var[str] = var("", init=False)
    """Shown are tokens whose text or id holds this, whatever the case; a space finds ␣."""

    class Highlighted(Message):
        """The user moved the cursor onto a finding."""

        def __init__(self, finding: Finding) -> None:
            super().__init__()
            self.finding = finding

        def can_replace(self, message: Message) -> bool:
            """Only the newest place of the cursor matters."""
            return isinstance(message, TokenTable.Highlighted)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.token_style: Callable[[int], Style | None] | None = None
        """Style of a token by its id, where the tokens have colors elsewhere on the screen."""
        self.empty = "No findings."
        """What the table says while it holds none."""
        self._store = FindingOrder()
        self._gathering = False
        self._sorting = SlicedWork[list[int]](self)
        self._place: tuple[int, str] | None = None
        """The finding that the cursor was on in the audit before."""
        self._chosen = False
        """Whether the user has gone to a finding of this audit."""

    # Findings in

    @property
    def findings(self) -> Sequence[Finding]:
        """All findings, in the order they came."""
        return self._store.findings

    @property
    def kinds(self) -> dict[str, int]:
        """How many findings there are of each kind."""
        return self._store.kinds

    @property
    def finding(self) -> Finding | None:
        """The finding under the cursor."""
        return None if self.current is None else self.findings[self.current]

    def append(self, findings: Iterable[Finding]) -> None:
        """More findings; they are sorted in a moment later, together with others that arrive by then."""
        self._store.add(findings)
        self._gather(self.GATHER)

    def finish(self) -> None:
        """No more will come: unless the user has gone to one, look at the one looked at before, or at the first."""
        place = self._place

        def look() -> None:
            if not self._chosen:
                places = (n for n, row in enumerate(self.order) if _place_of(self.findings[row]) == place)
                self.move_to(next(places, 0) if place else 0, tell=True)

        self._arrange(look)

    def begin_again(self) -> None:
        """No findings yet; those that will come are sorted and filtered as these were, and the cursor finds its own."""
        self._place = _place_of(self.finding) if self.finding else self._place
        self._store = FindingOrder()
        self._chosen = False
        self._arrange()

    def clear(self) -> None:
        """No findings, and other ones to come: of any kind, sorted and searched as these were."""
        self.set_reactive(TokenTable.kind, "")
        self.begin_again()
        self._place = None

    def _gather(self, seconds: float) -> None:
        if not self._gathering:
            self._gathering = True
            self.set_timer(seconds, self._sort_in)

    def _sort_in(self) -> None:
        self._gathering = False
        if not self._sorting.is_working:  # else those that have come are seen when it is done
            self._arrange()

    def row_hint(self, row: int) -> str:
        """What this kind of finding means."""
        return KINDS.get(self.findings[row].kind, "")

    # Sorting, filtering, searching

    def watch_sort_key(self) -> None:
        """Another column: look at its beginning."""
        self._arrange(lambda: self.move_to(0, tell=True))

    def watch_reverse(self) -> None:
        """The other way round: look at its beginning."""
        self.watch_sort_key()

    def watch_search(self) -> None:
        """Something else is sought: the cursor stays where it is if that is still shown."""
        before = self.current
        self._arrange(
            lambda: self.move_to(self.cursor if self.current == before else 0, tell=self.current != before),
        )

    def watch_kind(self) -> None:
        """Another kind is shown."""
        self.watch_search()

    def _arrange(self, then: Callable[[], None] | None = None) -> None:
        """Show what is wanted in the order that is wanted, then do the rest; a later call takes its place."""

        def arranged(rows: list[int]) -> None:
            self.show_rows(rows)
            if then is not None:
                then()
            elif not self._chosen:
                self.move_to(0)
            if len(self.findings) > n:  # they came while it was sorted
                self._gather(max(self.GATHER, self.MODESTY * self._sorting.seconds))

        n = len(self.findings)
        self._sorting.run(self._store.rows(Wanted(self.sort_key, self.reverse, self.kind, self.search)), arranged)

    def sort_by(self, key: str) -> None:
        """Sort by a column; by the same again: the other way round."""
        if key == self.sort_key:
            self.reverse = not self.reverse
        else:
            self.set_reactive(TokenTable.reverse, False)
            self.sort_key = key

    def action_sort_next(self) -> None:
        """Sort by the next of the columns in sight."""
        keys = [place.column.key for place in self.header_places(self.row_width)]
        self.sort_by(keys[(keys.index(self.sort_key) + 1) % len(keys)] if self.sort_key in keys else keys[0])

    def action_reverse(self) -> None:
        """Turn the order around."""
        self.reverse = not self.reverse

    def action_kind(self, by: int) -> None:
        """Show only the next kind, or all again."""
        kinds = ["", *self.kinds]
        self.kind = kinds[(kinds.index(self.kind) + by) % len(kinds)] if self.kind in kinds else ""

    # What the user did

    def row_highlighted(self, row: int) -> None:
        """The cursor is on a finding."""
        self._chosen = True
        self.post_message(self.Highlighted(self.findings[row]))

    def row_selected(self, row: int) -> None:
        """A finding was chosen."""
        self.post_message(FindingOpened(self.findings[row]))

    def header_clicked(self, x: int) -> None:
        """Sort by the column clicked."""
        if place := place_at(self.header_places(self.row_width), x):
            self.sort_by(place.column.key)

    def footer_clicked(self, x: int) -> None:
        """Show only the kind clicked."""
        for start, text, kind in self._kind_labels(self.row_width):
            if start <= x < start + cell_len(text):
                self.kind = kind

    # Drawing

    def header_places(self, width: int) -> Sequence[PlacedColumn]:
        """The columns that fit."""
        return token_places(width, *self._store.largest)

    def render_header(self, width: int) -> Iterable[Segment]:
        """The titles, an arrow at the one that sorts."""
        style, accent = self.style_of("header"), self.style_of("accent")
        arrow = "↓" if self.reverse else "↑"
        parts = []
        for place in self.header_places(width):
            sorts = place.column.key == self.sort_key
            heading = place.column.heading.strip()
            title = (f"{arrow} {heading}" if place.column.right else f"{heading} {arrow}") if sorts else heading
            parts.append((place, title.strip(), style + accent if sorts else style))
        return line(parts, style)

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        """One finding."""
        finding = self.findings[row]
        ink, muted = self.style_of("row", base), self.style_of("muted", base)
        texts = {
            "severity": (MARKS[finding.severity], self.style_of(INKS[finding.severity], base)),
            "id": (f"{finding.id:,}", muted),
            "token": (finding.label, ink + Style(bold=True)),
            "kind": (finding.kind, ink),
            "count": ("" if finding.count is None else f"{finding.count:,}", ink),
            "reason": (finding.reason, muted),
        }
        tint = self.token_style(finding.id) if self.token_style else None
        parts = [
            tinted(place, *texts[place.column.key], tint if place.column.key == "token" else None)
            for place in self.header_places(width)
        ]
        return line(parts, base)

    def _kind_labels(self, width: int) -> Iterator[tuple[int, str, str]]:
        """The kinds in the footer, as (cell, text, kind); those before the chosen one give way when they do not fit."""
        texts = {"": f"all {len(self.findings):,}", **{kind: f"{kind} {n:,}" for kind, n in self.kinds.items()}}
        chosen = list(texts).index(self.kind) if self.kind in texts else 0
        labels = list(texts.items())
        first = 0
        while first < chosen and 1 + sum(len(text) + 3 for _, text in labels[first : chosen + 1]) > width:
            first += 1
        x = 1
        for kind, text in labels[first:]:
            yield x, text, kind
            x += len(text) + 3

    def render_footer(self, width: int) -> Iterable[Segment]:
        """How many findings there are of each kind, the kind that is shown in the accent color."""
        style, accent = self.style_of("footer"), self.style_of("accent")
        if not self.findings:
            return
        shown = f" {self.row_count:,} shown " if self.search else " "
        room = width - len(shown)
        x = 0
        for start, text, kind in self._kind_labels(room):
            if start + len(text) > room:
                yield Segment(fit(" · …", max(0, room - x)), style)
                x = room
                break
            yield Segment(" " if x == 0 else " · ", style)
            yield Segment(text, accent if kind == self.kind else style)
            x = start + len(text)
        yield Segment(fit("", max(0, room - x)) + shown, style)

    def render_empty(self, width: int) -> Iterable[Segment]:
        """Why nothing is shown."""
        text = self.empty
        if self.findings:
            of_kind = f" of the kind {self.kind}" if self.kind else ""
            about = f" is about a token with “{self.search}” in its text or id" if self.search else ""
            text = f"No finding{of_kind}{about}."
        yield Segment(fit(" " + text, width), self.style_of("muted"))


def _place_of(finding: Finding) -> tuple[int, str]:
    """What a finding is known by in another audit."""
    return finding.id, finding.kind
