"""MergeLog: the merges as they are learned, one row each, with the step in force marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.reactive import var

from bpe_core.plurals import counted
from bpe_core.visible import token_label
from tui.commands import bindings
from tui.drawing.columns import Column, PlacedColumn, fit, lay_out, line, tinted
from tui.messages import StepRequested
from tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from bpe_core.trainer import Merge


COLUMNS: Final = (
    Column("mark", 1, title=" ", gap=1),
    Column("step", 4, right=True, hint="The number of the merge, in the order they were learned."),
    Column("left", 6, 22, hint="The left part of the pair that was merged."),
    Column("right", 6, 22, hint="The right part of the pair that was merged."),
    Column("token", 10, 36, hint="The new token: left and right joined. ␣ is a space, ↵ a line end, \\xNN a byte."),
    Column(
        "count", 5, right=True, hint="How often the pair occurred when it was chosen; no other occurred more often."
    ),
    Column("ties", 4, rank=4, hint="=3: three pairs occurred equally often, and the tie rule chose this one."),
    Column(
        "tokens_left", 6, right=True, rank=1, title="tokens", hint="Length of the corpus in tokens after this merge."
    ),
    Column("ratio", 5, right=True, rank=2, hint="Bytes per token of the corpus after this merge."),
    Column(
        "share", 6, right=True, rank=3, hint="How much of the sequence this merge removed, of the tokens before it."
    ),
)


class MergeLog(RowList):
    """Rows of merges in the order they were learned; follows the newest until the user looks back."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Merge log")
    FOLLOWS = True
    FOOTER = True

    step: var[int] = var(0, init=False)
    """How many merges are in force; later ones are drawn faint."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.token_style: Callable[[int], Style | None] | None = None
        """Style of a token by its id, where the tokens have colors elsewhere on the screen."""
        self._merges: Sequence[Merge] = []
        self._lengths: dict[int, int] = {}
        self._length_of: Callable[[int], int | None] = self._lengths.get
        self._n_bytes = 0
        self._n_tokens = 0
        self._newest = 0
        """The newest step that has been in force: only beyond it a step is growth and no travel."""

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
        self._lengths = {}
        self._length_of = self._lengths.get
        self._n_bytes = n_bytes
        self._n_tokens = n_tokens or n_bytes
        self._newest = 0
        self.following = True
        self.show_rows(range(0))

    def append(self, rows: Iterable[Merge]) -> None:
        """More merges, the steps going on where they ended. Cheap: call it for every batch."""
        if not isinstance(self._merges, list):
            raise TypeError("Rows that were shown as a whole do not grow; clear the log first.")
        start = len(self._merges)
        self._merges.extend(rows)
        self._lengths.update([(merge.token, len(merge.token_bytes)) for merge in self._merges[start:]])
        self.show_rows(range(len(self._merges)))

    def show(self, rows: Sequence[Merge], length_of: Callable[[int], int | None]) -> None:
        """All the merges there are, asked for as they come into sight; `length_of` a token in bytes."""
        self._merges = rows
        self._length_of = length_of
        self._newest = rows[-1].step if rows else 0
        self.show_rows(range(len(rows)))

    def watch_step(self, old: int, new: int) -> None:
        """The cursor goes where the step went, unless a training is merely growing under a reader who scrolled away."""
        if not self._merges:
            return
        first = self._merges[0].step
        self.refresh_rows(min(old, new) - first, max(old, new) - first)
        growing = new > self._newest
        self._newest = max(self._newest, new)
        if new < old or not (growing or self.following):
            self.move_to(new - first)

    def row_highlighted(self, row: int) -> None:
        """A merge under the user's cursor is a step chosen."""
        self.post_message(StepRequested(self._merges[row].step))

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
        return _places(width, tuple(widths.items()), bool(self._n_bytes))

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
            "ties": (_ties(merge.ties), muted),
            "tokens_left": (f"{merge.n_tokens:,}" if merge.n_tokens else "", muted),
            "ratio": (f"{self._n_bytes / merge.n_tokens:.2f}" if merge.n_tokens else "", ink),
            "share": (_percent((before - merge.n_tokens) / before) if before and merge.n_tokens else "", muted),
        }
        tint = self.token_style(merge.token) if self.token_style else None
        parts = [
            tinted(place, *texts[place.column.key], tint if place.column.key == "token" else None)
            for place in self.header_places(width)
        ]
        return line(parts, base)

    def _parts(self, merge: Merge) -> tuple[bytes, bytes]:
        """The bytes of both parts: one that was learned here has a known length; otherwise both are single bytes."""
        token = merge.token_bytes
        if (length := self._length_of(merge.left)) is None:
            behind = self._length_of(merge.right)
            length = 1 if behind is None else len(token) - behind
        return token[:length], token[length:]

    def render_footer(self, width: int) -> Iterable[Segment]:
        """How many merges there are, and whether the newest is in sight."""
        muted, accent = self.style_of("footer"), self.style_of("accent")
        says = f" {counted(len(self._merges), 'merge')}" if self._merges else ""
        if not self._merges or self.page_rows >= self.row_count:
            where, style = "", muted
        elif self.following:
            where, style = "following ", muted
        else:
            where, style = "▼ End to follow ", accent
        yield Segment(fit(says, max(0, width - len(where))), muted)
        yield Segment(where, style)

    def footer_clicked(self, x: int) -> None:
        """A click on the footer follows again."""
        self.action_move_to_end(1)

    def render_empty(self, width: int) -> Iterable[Segment]:
        """A list without merges says where they will come from."""
        style = self.style_of("muted")
        yield Segment(fit(" Each merge will appear here as it is learned.", width), style)


@lru_cache(maxsize=64)
def _places(width: int, widths: tuple[tuple[str, int], ...], with_ratio: bool) -> tuple[PlacedColumn, ...]:
    wanted = dict(widths)
    columns = [
        replace(column, width=max(column.width, len(column.heading), wanted.get(column.key, 0)))
        for column in COLUMNS
        if with_ratio or column.key != "ratio"
    ]
    return lay_out(columns, width)


def _ties(ties: int) -> str:
    """Nothing where the choice was clear."""
    if ties < 2:
        return ""
    return f"={ties}" if ties < 1000 else f"={ties // 1000}k"


def _percent(share: float) -> str:
    """Three digits that matter, in six cells."""
    return f"{share:.2%}".replace("%", " %") if share < 0.1 else f"{share:.1%}".replace("%", " %")
