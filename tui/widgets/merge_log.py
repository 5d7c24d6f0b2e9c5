"""MergeLog: the merges as they are learned, to follow, to choose from, to search and to copy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var

from bpe_core.plurals import counted
from bpe_core.visible import token_label, visible
from tui.commands import bindings
from tui.drawing.columns import fit
from tui.drawing.merge_order import COUNTED, SHOWN, next_row, rows_shown
from tui.terminal.background import SlicedWork
from tui.widgets.merge_rows import MergeRows

if TYPE_CHECKING:
    from bpe_core.trainer import Merge


class MergeLog(MergeRows):
    """Merges in the order they were learned; follows the newest until the user looks back.

    Others of `SHOWN` can be chosen, and a token can be sought among them.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("Merge log")
    FOLLOWS = True
    FOOTER = True
    TURNS: ClassVar[str] = " ←→ "
    """The keys that turn from one choice of merges to the next, where these are named."""
    GATHER: ClassVar[float] = 0.5
    """Seconds for which arriving merges are gathered before those that are to be shown are chosen anew."""

    sought: var[str] = var("", init=False)
    """What was sought last, as `merge_order.sought_in` understands it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._newest = 0
        """The newest step that has been in force: only beyond it a step is growth and no travel."""
        self._choosing = SlicedWork[list[int]](self)
        self._seeking = SlicedWork[int | None](self)
        self._gathering = False

    def clear(self, *, n_bytes: int = 0, n_tokens: int = 0) -> None:
        """No rows; `n_bytes` and `n_tokens` are the size of the corpus before the first merge, 0 where not known."""
        self._show_all(newest=0)
        self.following = True
        super().clear(n_bytes=n_bytes, n_tokens=n_tokens)

    def show(self, rows: Sequence[Merge], length_of: Callable[[int], int | None]) -> None:
        """All the merges there are, asked for as they come into sight; `length_of` a token in bytes."""
        self._show_all(newest=rows[-1].step if rows else 0)
        super().show(rows, length_of)

    def _show_all(self, newest: int) -> None:
        self._newest = newest
        self._choosing.cancel()
        self._seeking.cancel()
        self.set_reactive(MergeLog.shown, "")

    def arrived(self) -> None:
        """There are more rows than before."""
        if not self.shown:
            super().arrived()
        elif not self._gathering:
            self._gathering = True
            self.set_timer(self.GATHER, self._choose_anew)

    def watch_step(self, old: int, new: int) -> None:
        """The cursor goes where the step went, unless a training is merely growing under a reader who scrolled away."""
        if not self._merges:
            return
        if self.shown:
            self.refresh()
        else:
            self.refresh_rows(min(old, new) - 1, max(old, new) - 1)
        growing = new > self._newest
        self._newest = max(self._newest, new)
        if (new < old or not (growing or self.following)) and (
            position := self.position_of(max(0, new - 1))
        ) is not None:
            self.move_to(position)

    # Which are shown

    def watch_shown(self) -> None:
        """Others are shown, or all again: look at the first, or at the step in force."""
        self.following = self.following  # only in the order they were learned can there be a tail
        self._choose_anew(then=self._look)

    def _choose_anew(self, then: Callable[[], None] = lambda: None) -> None:
        self._gathering = False

        def chosen(rows: list[int]) -> None:
            self.show_rows(rows if self.shown else range(len(self._merges)))
            then()

        uses_of = self._uses.left if self._uses is not None else None
        self._choosing.run(rows_shown(self._merges, self.shown, uses_of), chosen)

    def _look(self) -> None:
        self.move_to(0 if self.shown else self.step - 1)

    def validate_following(self, following: bool) -> bool:
        """The tail is followed only where all are shown."""
        return following and not self.shown

    def action_show_next(self, by: int) -> None:
        """Show the next of `SHOWN`, or the one before."""
        names = self._choices
        self.shown = names[(names.index(self.shown) + by) % len(names)]

    @property
    def _choices(self) -> list[str]:
        """Those of `SHOWN` that there are here: where no training counted, nobody knows of ties and uses."""
        return [name for name in SHOWN if self._uses is not None or name not in COUNTED]

    def position_of(self, row: int) -> int | None:
        """Where a row of the data is shown; None if it is not."""
        if not self.shown:
            return row if 0 <= row < len(self.order) else None
        return self.order.index(row) if row in self.order else None

    # What is sought

    class SearchWanted(Message):
        """Something should be typed that is sought here."""

    def action_search(self) -> None:
        """Ask for what is sought."""
        self.post_message(self.SearchWanted())

    def seek(self, by: int, *, start: int | None = None, tell: Callable[[bool], None] = lambda found: None) -> None:
        """Put the cursor on the next merge that holds what is sought, or (-1) the one before; `tell` whether it is."""

        def found(position: int | None) -> None:
            if position is not None:
                self.move_to(position, tell=True)
            tell(position is not None)

        begin = self.cursor + by if start is None else start
        self._seeking.run(next_row(self._merges, self.order, begin, by, self.sought), found)

    def action_seek(self, by: int) -> None:
        """The next that holds what was sought last, or the one before."""
        if self.sought:
            self.seek(by, tell=self._tell_found)

    def _tell_found(self, found: bool) -> None:
        if not found:
            self.notify(self.not_found, markup=False)

    @property
    def not_found(self) -> str:
        """That nothing is there of what was sought, in a sentence that is safe to show."""
        return visible(f"No merge that is shown has {self.sought} in its token or id.")

    # Copies

    def as_text(self, rows: Iterable[int]) -> str:
        """Rows of the data as lines, the fields of each between tabs, headings first."""
        head = "step\tleft\tright\ttoken\tid\tcount\tties\ttokens"
        return "\n".join((head, *map(self._as_line, rows)))

    def _as_line(self, row: int) -> str:
        merge = self._merges[row]
        labels = map(token_label, (*self._parts(merge), merge.token_bytes))
        counts = (merge.count, merge.ties, merge.n_tokens) if merge.count else ("", "", "")
        return "\t".join(map(str, (merge.step, *labels, merge.token, *counts)))

    def action_copy(self, what: str) -> None:
        """Copy the row under the cursor ("row"), or all that are shown ("all"), to the clipboard."""
        rows = list(self.order) if what == "all" else [] if self.current is None else [self.current]
        if rows:
            self.app.copy_to_clipboard(self.as_text(rows))
            self.notify(f"Copied {counted(len(rows), 'merge')}, tabs between the columns.", markup=False)

    # The foot

    def render_footer(self, width: int) -> Iterable[Segment]:
        """What can be shown, what is, and whether the newest merge is in sight."""
        muted, accent = self.style_of("footer"), self.style_of("accent")
        if not self._merges:
            yield Segment(fit("", width), muted)
            return
        where, style = self._tail
        x = 0
        for start, text, name in self._labels(width):
            yield Segment(" · " if x else self.TURNS, muted)
            yield Segment(text, accent if name == self.shown else muted)
            x = start + len(text)
        yield Segment(fit("", max(0, width - x - len(where))), muted)
        yield Segment(where, style)

    @property
    def _tail(self) -> tuple[str, Style]:
        muted, accent = self.style_of("footer"), self.style_of("accent")
        if self.shown:
            return f"{self.row_count:,} shown ", muted
        if self.page_rows >= self.row_count:
            return "", muted
        return ("following ", muted) if self.following else ("▼ End to follow ", accent)

    def _labels(self, width: int) -> Iterator[tuple[int, str, str]]:
        """What can be shown, as (cell, text, name), as far as there is room; what is shown in any case."""
        room = width - len(self._tail[0]) - 1
        names = {**SHOWN, "": counted(len(self._merges), "merge")}
        known = self._choices
        x = len(self.TURNS)
        for name in known:
            later = len(names[self.shown]) + 3 if known.index(name) < known.index(self.shown) else 0
            if x + len(names[name]) + later <= room or name == self.shown:
                yield x, names[name], name
                x += len(names[name]) + 3

    def footer_clicked(self, x: int) -> None:
        """A click on what can be shown shows it; anywhere else it follows the newest merge again."""
        for start, text, name in self._labels(self.row_width):
            if start <= x < start + len(text) and self._merges:
                self.shown = name
                return
        self.action_move_to_end(1)

    def render_empty(self, width: int) -> Iterable[Segment]:
        """A list without merges says where they will come from."""
        says = "None of the merges is so." if self._merges else "Each merge will appear here as it is learned."
        yield Segment(fit(f" {says}", width), self.style_of("muted"))
