"""The columns of the merge log, and the choices of merges that it offers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from bpe_core.utf8 import is_utf8
from bpe_core.visible import token_label
from bpe_core.weighted import Count, formatted
from tui.table.columns import Cell, Column

if TYPE_CHECKING:
    from bpe_core.trainer import Merge
    from tui.widgets.merge_log import MergeLog


def _mark(log: MergeLog, row: int) -> Cell:
    is_shown = log.merges[row].step == log.step
    return Cell("●" if is_shown else "", "accent")


def _left(log: MergeLog, row: int) -> str:
    return token_label(log.parts(row)[0])


def _right(log: MergeLog, row: int) -> str:
    return token_label(log.parts(row)[1])


def _token(log: MergeLog, row: int) -> Cell:
    merge = log.merges[row]
    is_applied = merge.step <= log.step
    label = token_label(merge.token_bytes)
    return Cell(label, bold=is_applied, tint=log.token_style(merge.token))


def _number(value: Callable[[Merge], Count]) -> Callable[[MergeLog, int], str]:
    """Return the cell for a number of a merge: empty for 0, which means not counted."""

    def cell(log: MergeLog, row: int) -> str:
        number = value(log.merges[row])
        return formatted(number) if number else ""

    return cell


def _ties(log: MergeLog, row: int) -> str:
    ties = log.merges[row].ties
    if ties < 2:
        return ""
    return f"={ties}" if ties < 1000 else f"={ties // 1000}k"


def _uses(log: MergeLog, row: int) -> Count:
    return log.uses.remaining.get(log.merges[row].token, 0) if log.uses else 0


def _uses_cell(log: MergeLog, row: int) -> str:
    return formatted(_uses(log, row)) if log.uses else ""


def ratio(log: MergeLog, row: int) -> str:
    """Return the bytes per token of the corpus after a merge; empty if it is not known."""
    n_tokens = log.merges[row].n_tokens
    return f"{float(log.n_bytes / n_tokens):.2f}" if n_tokens else ""


def lengths(log: MergeLog, row: int) -> tuple[Count, Count]:
    """Return the tokens of the corpus before a merge and after it; 0 if not known."""
    before = log.merges[row - 1].n_tokens if row else log.n_tokens
    return before, log.merges[row].n_tokens


def _share(log: MergeLog, row: int) -> str:
    """Return the share of tokens that a merge removed, with three digits, in eight cells."""
    before, after = lengths(log, row)
    if not (before and after):
        return ""
    share = (before - after) / before
    if share >= 0.00095:
        amount = 100 * share
        unit = "%"
    else:
        amount = 1e6 * share
        unit = "ppm"
    if amount < 0.095:
        return f"{amount:.2f} {unit}"
    digits = f"{amount:#.3g}".rstrip(".")
    return f"{digits} {unit}"


COLUMNS: Final = (
    Column("mark", 1, _mark, title=" ", gap=1),
    Column(
        "step",
        4,
        _number(lambda merge: merge.step),
        "The number of the merge, in the order they were learned.",
        right=True,
        ink="muted",
    ),
    Column(
        "left", 5, _left, "The left part of the pair that was merged.", most=22, gap=1
    ),
    Column(
        "right",
        5,
        _right,
        "The right part of the pair that was merged.",
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
        _number(lambda merge: merge.count),
        "How often the pair occurred, with overlaps; no pair occurred more often.",
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
        _uses_cell,
        "How often the token is left in the corpus after all merges.",
        right=True,
        rank=5,
        ink="muted",
    ),
    Column(
        "tokens",
        6,
        _number(lambda merge: merge.n_tokens),
        "The number of tokens in the corpus after this merge.",
        right=True,
        rank=2,
        ink="muted",
    ),
    Column(
        "ratio",
        5,
        ratio,
        "Bytes per token of the corpus after this merge.",
        right=True,
        rank=1,
    ),
    Column(
        "share",
        8,
        _share,
        "How much shorter this merge made the corpus; ppm: millionths.",
        right=True,
        rank=3,
        ink="muted",
    ),
)
NEED_COUNTS: Final = frozenset({"count", "ties", "uses", "tokens", "ratio", "share"})
"""The columns that are hidden unless the merges have counts."""


class MergeFilter(NamedTuple):
    """Some of the merges."""

    title: str
    test: Callable[[MergeLog, int], bool] | None = None
    """Whether a row is one of them; None for all."""
    sort: Callable[[MergeLog, int], Count] | None = None
    """The number to sort by, the greatest first; None for the order of steps."""
    about: str = ""
    """The column that it is about: it needs counts, and stays even if a row is narrow."""


def _length(log: MergeLog, row: int) -> int:
    return len(log.merges[row].token_bytes)


def _is_tied(log: MergeLog, row: int) -> bool:
    return log.merges[row].ties > 1


def _is_partial(log: MergeLog, row: int) -> bool:
    return not is_utf8(log.merges[row].token_bytes)


def _is_used_up(log: MergeLog, row: int) -> bool:
    return not _uses(log, row)


SHOWN: Final = {
    "longest": MergeFilter("longest", sort=_length),
    "used": MergeFilter("most used", sort=_uses, about="uses"),
    "ties": MergeFilter("ties", _is_tied, about="ties"),
    "partial": MergeFilter("partial UTF-8", _is_partial),
    "unused": MergeFilter("used up", _is_used_up, about="uses"),
}
"""The choices below the log, by key."""
