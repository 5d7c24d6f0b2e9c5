"""The columns of the merge log: what each means, which have something to say, how numbers are written. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from tui.drawing.columns import Column, PlacedColumn, place_columns

COLUMNS: Final = (
    Column("mark", 1, title=" ", gap=1),
    Column("step", 4, right=True, hint="The number of the merge, in the order they were learned."),
    Column("left", 5, 22, gap=1, hint="The left part of the pair that was merged."),
    Column("right", 5, 22, gap=1, hint="The right part of the pair that was merged."),
    Column("token", 8, 36, hint="The new token: left and right joined. ␣ is a space, ↵ a line end, \\xNN a byte."),
    Column(
        "count", 5, right=True, hint="How often the pair occurred when it was chosen; no other occurred more often."
    ),
    Column("ties", 4, rank=4, hint="=3: three pairs occurred equally often, and the tie rule chose this one."),
    Column(
        "uses", 5, right=True, rank=5, hint="How often the token is left in the corpus: later merges took the others."
    ),
    Column(
        "tokens_left", 6, right=True, rank=2, title="tokens", hint="Length of the corpus in tokens after this merge."
    ),
    Column("ratio", 5, right=True, rank=3, hint="Bytes per token of the corpus after this merge."),
    Column(
        "share",
        8,
        right=True,
        rank=1,
        hint="How much of the sequence this merge removed: % of the tokens before it, or ppm, millionths.",
    ),
)
_COUNTED: Final = frozenset({"count", "ties", "uses", "tokens_left", "ratio", "share"})
"""What only a training tells; a file from elsewhere tells which merges there are, not how often."""
_OF_CHOICE: Final[Mapping[str, str]] = {"used": "uses", "unused": "uses", "ties": "ties"}
"""What is shown, as `merge_order` names it -> the column that it is about, which then stays however narrow a row is."""


def merge_places(
    width: int, widths: Mapping[str, int], *, counted: bool, sized: bool, shown: str = ""
) -> tuple[PlacedColumn, ...]:
    """The columns in `width` cells, some of them at least as wide as `widths` says.

    `counted`: whether it is known how often the pairs occurred; `sized`: whether it is how many bytes the corpus has;
    `shown`: which of the merges are in the list, a name of `merge_order.SHOWN`.
    """
    return _places(width, tuple(widths.items()), counted, sized, _OF_CHOICE.get(shown, ""))


@lru_cache(maxsize=64)
def _places(
    width: int, widths: tuple[tuple[str, int], ...], counted: bool, sized: bool, stays: str
) -> tuple[PlacedColumn, ...]:
    wanted = dict(widths)
    columns = [
        replace(
            column,
            width=max(column.width, len(column.heading), wanted.get(column.key, 0)),
            rank=0 if column.key == stays else column.rank,
        )
        for column in COLUMNS
        if (counted or column.key not in _COUNTED) and (sized or column.key != "ratio")
    ]
    return place_columns(columns, width)


def ties_told(ties: int) -> str:
    """Nothing where the choice was clear.

    >>> ties_told(1), ties_told(3), ties_told(12_034)
    ('', '=3', '=12k')
    """
    if ties < 2:
        return ""
    return f"={ties}" if ties < 1000 else f"={ties // 1000}k"


def share_told(share: float) -> str:
    """A share of the tokens, with three digits that matter, in eight cells: late merges differ in millionths.

    >>> share_told(0.182), share_told(0.0614), share_told(0.000614), share_told(0.0000123)
    ('18.2 %', '6.14 %', '614 ppm', '12.3 ppm')
    """
    if share >= 0.00095:
        percent = 100 * share
        return f"{percent:.{1 if percent >= 9.995 else 2 if percent >= 0.995 else 3}f} %"
    ppm = 1e6 * share
    return f"{ppm:.{0 if ppm >= 99.95 else 1 if ppm >= 9.995 else 2}f} ppm"
