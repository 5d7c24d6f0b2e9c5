"""MergeRows: merges in a list, one row each, with what a training tells of them and the step in force marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.reactive import var

from bpe_core.explain.token_uses import UseLedger
from bpe_core.visible import token_label
from tui.drawing.columns import PlacedColumn, fit, line, tinted
from tui.drawing.merge_columns import merge_places, share_told, ties_told
from tui.requests import requests
from tui.terminal.background import SlicedWork, Steps
from tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from bpe_core.trainer import Merge


class MergeRows(RowList):
    """Rows of merges: they arrive one batch after the other, or are all there."""

    step: var[int] = var(0, init=False)
    """How many merges are in force; later ones are drawn faint."""
    shown: var[str] = var("", init=False)
    """Which merges are shown, and in which order: a name of `SHOWN`."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.token_style: Callable[[int], Style | None] | None = None
        """Style of a token by its id, where the tokens have colors elsewhere on the screen."""
        self._merges: Sequence[Merge] = []
        self._lengths: dict[int, int] = {}
        self._cuts: list[int] = []  # of each merge that was appended, the bytes of its left part
        self._length_of: Callable[[int], int | None] = self._lengths.get
        self._n_bytes = 0
        self._n_tokens = 0
        self._uses: UseLedger | None = None
        """How often each token is left, of the merges counted so far; None where lengths are not known."""
        self._counting = SlicedWork[None](self)

    @property
    def n_bytes(self) -> int:
        """Size of the corpus; 0 where that is not known."""
        return self._n_bytes

    @property
    def merges(self) -> Sequence[Merge]:
        """The rows, in order of their step."""
        return self._merges

    def clear(self, *, n_bytes: int = 0, n_tokens: int = 0) -> None:
        """No rows; `n_bytes` and `n_tokens` are the size of the corpus before the first merge, 0 where not known."""
        self._merges = []
        self._lengths, self._cuts = {}, []
        self._length_of = self._lengths.get
        self._n_bytes = n_bytes
        self._n_tokens = n_tokens or n_bytes
        self._uses = UseLedger(self._n_tokens) if self._n_tokens else None
        self._counting.cancel()
        self.show_rows(range(0))

    def append(self, rows: Iterable[Merge]) -> None:
        """More merges, the steps going on where they ended."""
        self.add(rows)
        self.arrived()

    def add(self, rows: Iterable[Merge]) -> None:
        """The same, but they are shown only once they have `arrived`: where many come, and some at a time are added."""
        if not isinstance(self._merges, list):
            raise TypeError("Rows that were shown as a whole do not grow; clear the log first.")
        start = len(self._merges)
        self._merges.extend(rows)
        new = self._merges[start:]
        for merge in new:
            self._cuts.append(self._cut(merge))
            self._lengths[merge.token] = len(merge.token_bytes)
        if self._uses is not None:
            for merge in new:
                self._uses.add(merge.left, merge.right, merge.token, merge.n_tokens)

    def arrived(self) -> None:
        """There are more rows than before."""
        self.show_rows(range(len(self._merges)))

    def show(self, rows: Sequence[Merge], length_of: Callable[[int], int | None]) -> None:
        """All the merges there are, asked for as they come into sight; `length_of` a token in bytes."""
        self._merges, self._cuts = rows, []
        self._length_of = length_of
        self.show_rows(range(len(rows)))
        if rows and self._uses is not None:
            self._counting.run(self._count_uses(rows), self._counted)

    def _count_uses(self, rows: Sequence[Merge]) -> Steps[None]:
        uses = UseLedger(self._n_tokens)
        for start in range(0, len(rows), 1024):
            for merge in rows[start : start + 1024]:
                uses.add(merge.left, merge.right, merge.token, merge.n_tokens)
            yield
        self._uses = uses

    def _counted(self, _: None) -> None:
        self.refresh()

    def row_highlighted(self, row: int) -> None:
        """A merge under the user's cursor is a step chosen."""
        requests(self).go_to(self._merges[row].step)

    row_selected = row_highlighted

    def row_hint(self, row: int) -> str:
        """Which pair was merged, why it was its turn, and what that made of the corpus."""
        merge = self._merges[row]
        pair = " + ".join(fit(label, min(12, cell_len(label))) for label in map(token_label, self._parts(merge)))
        told = f"Joins {pair}" + (f", {merge.count:,} times" if merge.count else "")
        if merge.ties > 1:
            told += f", one of {merge.ties:,} ties"
        if merge.n_tokens:
            told += f"; {merge.n_tokens:,} tokens left"
            told += f", {self._n_bytes / merge.n_tokens:.2f} bytes each" if self._n_bytes else ""
        return f"{told}."

    # Drawing

    def header_places(self, width: int) -> Sequence[PlacedColumn]:
        """The columns that fit, those of numbers as wide as the largest, which stands in the first row or the last."""
        widths: dict[str, int] = {}
        if self._merges:
            first, last = self._merges[0], self._merges[-1]
            for key, number in ("step", last.step), ("count", first.count), ("tokens_left", first.n_tokens):
                widths[key] = len(f"{number:,}")
            widths["uses"] = widths["count"]
        known = not self._merges or bool(self._merges[0].count)
        return merge_places(width, widths, counted=known, sized=bool(self._n_bytes), shown=self.shown)

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        """One merge."""
        merge = self._merges[row]
        future = merge.step > self.step
        ink = self.style_of("faint" if future else "row", base)
        muted = self.style_of("faint" if future else "muted", base)
        accent = self.style_of("accent", base)
        left, right = self._parts(merge)
        before = self._merges[row - 1].n_tokens if row else self._n_tokens
        texts = {
            "mark": ("●" if merge.step == self.step else "", accent),
            "step": (f"{merge.step:,}", muted),
            "left": (token_label(left), ink),
            "right": (token_label(right), ink),
            "token": (token_label(merge.token_bytes), ink + Style(bold=not future)),
            "count": (f"{merge.count:,}" if merge.count else "", ink),
            "ties": (ties_told(merge.ties), muted),
            "uses": (f"{self._uses.left(merge.token):,}" if self._uses is not None else "", muted),
            "tokens_left": (f"{merge.n_tokens:,}" if merge.n_tokens else "", muted),
            "ratio": (f"{self._n_bytes / merge.n_tokens:.2f}" if merge.n_tokens else "", ink),
            "share": (share_told((before - merge.n_tokens) / before) if before and merge.n_tokens else "", muted),
        }
        tint = self.token_style(merge.token) if self.token_style else None
        parts = [
            tinted(place, *texts[place.column.key], tint if place.column.key == "token" else None)
            for place in self.header_places(width)
        ]
        return line(parts, base)

    def _parts(self, merge: Merge) -> tuple[bytes, bytes]:
        """The bytes of both parts."""
        cut = self._cuts[merge.step - self._merges[0].step] if self._cuts else self._cut(merge)
        return merge.token_bytes[:cut], merge.token_bytes[cut:]

    def _cut(self, merge: Merge) -> int:
        """The bytes of the left part: one that was learned here has a known length; otherwise both are single bytes."""
        if (length := self._length_of(merge.left)) is None:
            behind = self._length_of(merge.right)
            length = 1 if behind is None else len(merge.token_bytes) - behind
        return length
