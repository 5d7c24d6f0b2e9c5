"""MergeLog: the merges as they are learned, to follow, to choose from, to search and to copy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, overload

from rich.cells import cell_len
from textual.binding import BindingType
from textual.reactive import var
from textual.timer import Timer

from bpe_core.explain.trace import UseLedger
from bpe_core.trainer import Merge, Merges
from bpe_core.utf8 import is_utf8
from bpe_core.visible import counted, token_label
from bpe_core.weighted import Count, formatted
from tui.commands.command import features_of, in_background
from tui.commands.keys import PartBindings
from tui.drawing.lines import fit
from tui.table.columns import Cell, Choices, Column
from tui.table.rows import SLICE, Search
from tui.table.search_field import SearchField
from tui.table.table import Table
from tui.terminal.background import SlicedWork, Steps

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer


def _of(name: str) -> Callable[[MergeLog, int], str]:
    """A whole number of a merge; what is 0 was not counted."""
    return lambda log, row: (
        formatted(number) if (number := getattr(log.merges[row], name)) else ""
    )


def _token(log: MergeLog, row: int) -> Cell:
    merge = log.merges[row]
    return Cell(
        token_label(merge.token_bytes),
        bold=merge.step <= log.step,
        tint=log.token_style(merge.token),
    )


def _ties(log: MergeLog, row: int) -> str:
    ties = log.merges[row].ties
    return "" if ties < 2 else f"={ties}" if ties < 1000 else f"={ties // 1000}k"


def _uses(log: MergeLog, row: int) -> Count:
    return log.uses.remaining.get(log.merges[row].token, 0) if log.uses else 0


def _ratio(log: MergeLog, row: int) -> str:
    n_tokens = log.merges[row].n_tokens
    return f"{float(log.n_bytes / n_tokens):.2f}" if n_tokens else ""


def _lengths(log: MergeLog, row: int) -> tuple[Count, Count]:
    """Tokens of the corpus before a merge and after it; 0 where that is not known."""
    return log.merges[row - 1].n_tokens if row else log.n_tokens, log.merges[
        row
    ].n_tokens


def _share(log: MergeLog, row: int) -> str:
    """How much of the tokens a merge removed, with three digits that matter, in eight cells."""
    before, after = _lengths(log, row)
    if not (before and after):
        return ""
    share = (before - after) / before  # of late merges, millionths
    amount, unit = (100 * share, "%") if share >= 0.00095 else (1e6 * share, "ppm")
    return (
        f"{amount:.2f} {unit}"
        if amount < 0.095
        else f"{f'{amount:#.3g}'.rstrip('.')} {unit}"
    )


_LEFT: Final = "The left part of the pair that was merged."
_RIGHT: Final = "The right part of the pair that was merged."
_USES: Final = "How many of the token are left: later merges took the others."
_NUMBER: Final[dict[str, Any]] = {"right": True, "ink": "muted"}
COLUMNS: Final = (
    Column(
        "mark",
        1,
        lambda log, row: Cell("●" * (log.merges[row].step == log.step), "accent"),
        title=" ",
        gap=1,
    ),
    Column(
        "step",
        4,
        _of("step"),
        "The number of the merge, in the order they were learned.",
        **_NUMBER,
    ),
    Column(
        "left",
        5,
        lambda log, row: token_label(log.parts(row)[0]),
        _LEFT,
        most=22,
        gap=1,
    ),
    Column(
        "right",
        5,
        lambda log, row: token_label(log.parts(row)[1]),
        _RIGHT,
        most=22,
        gap=1,
    ),
    Column(
        "token",
        8,
        _token,
        "Left and right joined. ␣ is a space, ↵ a line end, \\xNN a byte.",
        most=36,
    ),
    Column(
        "count",
        5,
        _of("count"),
        "How often the pair occurred, overlaps counted; none more.",
        right=True,
    ),
    Column(
        "ties",
        4,
        _ties,
        "=3: three pairs were as frequent, and the tie rule chose this one.",
        rank=4,
        ink="muted",
    ),
    Column(
        "uses",
        5,
        lambda log, row: formatted(_uses(log, row)) if log.uses else "",
        _USES,
        rank=5,
        **_NUMBER,
    ),
    Column(
        "tokens",
        6,
        _of("n_tokens"),
        "Tokens of the corpus after this merge.",
        rank=2,
        **_NUMBER,
    ),
    Column(
        "ratio",
        5,
        _ratio,
        "Bytes per token of the corpus after this merge.",
        right=True,
        rank=1,
    ),
    Column(
        "share",
        8,
        _share,
        "By what part it shortened the corpus; ppm: millionths.",
        rank=3,
        **_NUMBER,
    ),
)
_FIRST: Final = 20  # merges that are looked at for the width of their numbers
_COUNTED: Final = frozenset(
    {"count", "ties", "uses", "tokens", "ratio", "share"}
)  # what only a training has


class MergeFilter(NamedTuple):
    """Some of the merges: what the foot calls them, which they are, the greatest first of what.

    They may be `about` a column, which then stays however narrow a row is, and needs counts.
    """

    title: str
    test: Callable[[MergeLog, int], bool] | None = None
    sort: Callable[[MergeLog, int], Count] | None = None
    about: str = ""


SHOWN: Final = {
    "longest": MergeFilter(
        "longest", sort=lambda log, row: len(log.merges[row].token_bytes)
    ),
    "used": MergeFilter("most used", sort=_uses, about="uses"),
    "ties": MergeFilter(
        "ties", lambda log, row: log.merges[row].ties > 1, about="ties"
    ),
    "partial": MergeFilter(
        "partial UTF-8", lambda log, row: not is_utf8(log.merges[row].token_bytes)
    ),
    "unused": MergeFilter(
        "used up", lambda log, row: not _uses(log, row), about="uses"
    ),
}


class KeptMerges(Sequence[Merge]):
    """The rows of the merge log of a kept tokenizer, each made when it is seen: of 200,000 that is a screenful.

    They have the counts of its training record, if it has one; a file from elsewhere tells which merges, not how often.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._vocabulary = tokenizer.vocabulary
        self._merges = tokenizer.vocabulary.merges
        self._counts = tokenizer.record.steps if tokenizer.record else ()

    def __len__(self) -> int:
        return len(self._merges)

    @overload
    def __getitem__(self, index: int) -> Merge: ...
    @overload
    def __getitem__(self, index: slice) -> list[Merge]: ...
    def __getitem__(self, index: int | slice) -> Merge | list[Merge]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        index = range(len(self))[index]
        left, right, token = self._merges[index]
        count, ties, n_tokens = self._counts[index] if self._counts else (0, 1, 0)
        return Merge(
            index + 1,
            left,
            right,
            token,
            self._vocabulary.token_bytes(token),
            count,
            ties,
            n_tokens,
        )

    @property
    def n_tokens(self) -> list[Count]:
        """Length of the corpus after each merge; empty where that is not known."""
        return [n_tokens for _, _, n_tokens in self._counts]

    def length_of(self, token: int) -> int:
        return len(self._vocabulary.token_bytes(token))


class MergeLog(Table):
    """Merges in the order they were learned; follows the newest until the user looks back.

    `choice` is one of `SHOWN`, or "" for all.
    """

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Merge log")
    COLUMNS = COLUMNS
    FOLLOWS = True
    LEAD = " ←→ "
    GATHER: ClassVar[float] = (
        0.5  # seconds for which merges are gathered before those to be shown are chosen anew
    )

    step: var[int] = var(
        0, init=False
    )  # how many merges are in force; later ones are drawn faint

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.merges: Merges | KeptMerges = Merges()  # the rows, in order of their step
        # The size of the corpus before the first merge; 0 if it is not known.
        self.n_bytes: Count = 0
        self.n_tokens: Count = 0
        self._uses: UseLedger | None = None
        self._n_counted = 0  # merges that it has, as they are learned
        self._newest = 0  # the newest step that has been in force: only beyond it a step is growth and no travel
        self._counting = SlicedWork[UseLedger](self)
        self._gathering: Timer | None = None

    # Merges in

    def show(
        self, merges: Merges | KeptMerges, *, n_bytes: Count = 0, n_tokens: Count = 0
    ) -> None:
        """These merges, and those that come to them, once they have `arrived`. `n_bytes` and `n_tokens` are the size of
        the corpus before the first, 0 where not known."""
        self._counting.cancel()
        self.n_bytes, self.n_tokens = n_bytes, n_tokens or n_bytes
        self._uses, self._n_counted = (
            UseLedger(self.n_tokens) if self.n_tokens else None,
            0,
        )
        self.merges, self._newest = merges, len(merges)
        self.set_reactive(MergeLog.choice, "")
        self.following = True
        self.arrived()
        if merges and self._uses is not None and isinstance(merges, KeptMerges):
            self._counting.run(self._count_uses(merges), self._counted)

    def arrived(self) -> None:
        """Show all of the merges, which may have grown."""
        self.n_rows = len(self.merges)
        self.rows_changed()
        self._fit_columns()
        if not (self.choice or self.search):
            self.rearrange()
        elif self._gathering is None:
            self._gathering = self.set_timer(self.GATHER, self._choose_anew)

    def _choose_anew(self) -> None:
        self._gathering = None
        self.rearrange()

    @property
    def uses(self) -> UseLedger | None:
        """How often each token is left; None where lengths are not known. Counted as far as it is looked at."""
        merges = self.merges
        if (
            self._uses is not None
            and isinstance(merges, Merges)
            and self._n_counted < len(merges)
        ):
            new, self._n_counted = slice(self._n_counted, None), len(merges)
            for numbers in zip(
                *(column[new] for column in (*merges.pairs, merges.n_tokens)),
                strict=True,
            ):
                self._uses.add(*numbers)
        return self._uses

    def _count_uses(self, rows: Sequence[Merge]) -> Steps[UseLedger]:
        uses = UseLedger(self.n_tokens)
        for number, merge in enumerate(rows):
            uses.add(merge.left, merge.right, merge.token, merge.n_tokens)
            if number % SLICE == SLICE - 1:
                yield
        return uses

    def _counted(self, uses: UseLedger) -> None:
        self._uses = uses
        self.rows_changed()
        self.refresh()

    def _fit_columns(self) -> None:
        """Those of numbers are as wide as the largest, which stands in the first rows or the last."""
        least: dict[str, int] = {}
        hidden = frozenset(() if self.n_bytes else ("ratio",))
        if self.merges:
            some = [
                *self.merges[:_FIRST],
                self.merges[-1],
            ]  # with fractions, a later number may be wider
            names = {
                "step": "step",
                "count": "count",
                "uses": "count",
                "tokens": "n_tokens",
            }
            least = {
                key: max(len(formatted(getattr(one, name))) for one in some)
                for key, name in names.items()
            }
            hidden |= frozenset() if some[0].count else _COUNTED
        self.fit_columns(least, hidden, SHOWN[self.choice].about if self.choice else "")

    # What a row says

    def parts(self, row: int) -> tuple[bytes, bytes]:
        """The bytes of both parts: one that was learned here has a known length; otherwise both are single bytes."""
        merge = self.merges[row]
        if (cut := self.merges.length_of(merge.left)) is None:
            behind = self.merges.length_of(merge.right)
            cut = 1 if behind is None else len(merge.token_bytes) - behind
        return merge.token_bytes[:cut], merge.token_bytes[cut:]

    def row_ink(self, row: int) -> str:
        return "faint" if self.merges[row].step > self.step else ""

    def row_hint(self, row: int) -> str:
        merge = self.merges[row]
        pair = " + ".join(
            fit(label, min(12, cell_len(label)))
            for label in map(token_label, self.parts(row))
        )
        before, after = _lengths(self, row)
        joined = (
            before - after if before and after else merge.count
        )  # of overlapping occurrences fewer
        times = f"{formatted(merge.count)} times"
        if joined != merge.count:
            times = f"{formatted(joined)} of the {times} that it occurs"
        says = f"Joins {pair}" + (f", {times}" if merge.count else "")
        if merge.ties > 1:
            says += f", one of {merge.ties:,} ties"
        if merge.n_tokens:
            says += f"; {formatted(merge.n_tokens)} tokens left" + (
                f", {_ratio(self, row)} bytes each" if self.n_bytes else ""
            )
        return f"{says}."

    def as_text(self, rows: Iterable[int]) -> str:
        """Rows as lines, the fields of each between tabs, headings first."""
        lines = ["step\tleft\tright\ttoken\tid\tcount\tties\ttokens"]
        for row in rows:
            merge = self.merges[row]
            labels = map(token_label, (*self.parts(row), merge.token_bytes))
            counts = (
                (merge.count, merge.ties, merge.n_tokens)
                if merge.count
                else ("", "", "")
            )
            lines.append(
                "\t".join(map(str, (merge.step, *labels, merge.token, *counts)))
            )
        return "\n".join(lines)

    def action_copy(self, what: str) -> None:
        rows = (
            list(self.order)
            if what == "all"
            else []
            if self.current is None
            else [self.current]
        )
        if rows:
            self.app.copy_to_clipboard(self.as_text(rows))
            self.notify(
                f"Copied {counted(len(rows), 'merge')}, tabs between the columns.",
                markup=False,
            )

    # The step in force

    def row_highlighted(self, row: int) -> None:
        # A merge under the user's cursor is a step chosen.
        in_background(self, features_of(self).shown.travel_to(self.merges[row].step))

    row_selected = row_highlighted

    def watch_step(self, old: int, new: int) -> None:
        # The cursor goes where the step went, unless a training is merely growing under a reader who scrolled away.
        if not self.merges:
            return
        self.refresh()
        growing = new > self._newest
        self._newest = max(self._newest, new)
        row = max(0, new - 1)
        if (new < old or not (growing or self.following)) and row in self.order:
            self.move_to(self.order.index(row))

    def action_move_to_end(self, end: int) -> None:
        if not end or self.choice or self.search:
            super().action_move_to_end(end)
        else:
            self.move_to(self.row_count - 1)
            in_background(self, features_of(self).shown.show_all())

    # Which are shown

    @property
    def choices(self) -> Choices:
        if not self.merges:
            return ()
        some = [
            (key, shown.title)
            for key, shown in SHOWN.items()
            if self.n_tokens or not shown.about
        ]
        return [("", counted(len(self.merges), "merge")), *some]

    @property
    def sorting(self) -> Column | None:
        sort = SHOWN[self.choice].sort if self.choice else None
        return Column(self.choice, 0, sort=sort, descending=True) if sort else None

    @property
    def test(self) -> Callable[[int], bool] | None:
        test = SHOWN[self.choice].test if self.choice else None
        return test and partial(test, self)

    @property
    def note(self) -> tuple[str, str]:
        if self.choice or self.search:
            return f" {self.row_count:,} shown ", "muted"
        if self.page_rows >= self.row_count:
            return "", "muted"
        return (
            (" following ", "muted")
            if self.following
            else (" ▼ End to follow ", "accent")
        )

    @property
    def empty(self) -> str:
        if not self.merges:
            return "Each merge will appear here as it is learned."
        return (
            f"No merge that is shown has “{self.search}” in its token or id."
            if self.search
            else "There is none."
        )

    def watch_choice(self) -> None:
        # Look at the first that is shown, or where all are, at the step in force.
        self._fit_columns()
        self.rearrange(
            lambda: self.move_to(0 if self.choice or self.search else self.step - 1)
        )

    watch_search = watch_choice

    def footer_clicked(self, x: int) -> None:
        if self.choice_at(x) is None:
            self.action_move_to_end(
                1
            )  # beside the choices: follow the newest merge again
        super().footer_clicked(x)

    def action_search(self) -> None:
        self.screen.query_one("#merge-search", SearchField).begin()

    def match(self, row: int, search: Search) -> int:
        merge = self.merges[row]
        return search.match(
            token_label(merge.token_bytes).casefold(), merge.token_bytes, merge.token
        )
