"""Where a token is used: plots of its uses over the edited text, and over the merges of the training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.text import Text

from bpe_core.weighted import Count, formatted
from tui.drawing.charts import columns
from tui.drawing.lines import InfoLine
from tui.terminal.background import Steps

if TYPE_CHECKING:
    from rich.style import Style

    from bpe_core.explain.trace import TokenUses
    from bpe_core.live.live_text import LiveText

_TOGETHER: Final = 1_000
"""Characters that are searched between two pauses."""

Uses = Mapping[int, Sequence[int]]
"""The code points at which each token of a text begins, by id."""


def find_uses(live: LiveText) -> Steps[Uses]:
    """Find where each token of a text is used. Pause between slices."""
    uses: defaultdict[int, list[int]] = defaultdict(list)
    last_start = -1
    for start in range(0, live.n_characters, _TOGETHER):
        end = min(start + _TOGETHER, live.n_characters)
        if start >= end:
            break  # the text was edited in a pause, and is searched again soon
        for span in live.spans(start, end):
            # A span that reaches into the next stretch is found twice.
            if span.start > last_start:
                last_start = span.start
                for token in span.ids:
                    uses[token].append(span.start)
        yield
    return uses


def text_plot(
    places: Sequence[int],
    cursor: int,
    n_characters: int,
    accent: Style,
    width: int,
    height: int,
) -> Iterator[InfoLine]:
    """Plot how often a token is used in each part of a text. The part with the cursor has the style `accent`."""
    amounts = [0] * width
    for place in places:
        amounts[place * width // n_characters] += 1
    marked = cursor * width // n_characters
    for row in columns(amounts, height, empty="·"):
        text = Text(row)
        text.stylize(accent, marked, marked + 1)
        yield InfoLine(text, ink="muted")


def merge_plot(
    uses: TokenUses, step: int, n_merges: int, width: int, height: int
) -> Iterator[InfoLine]:
    """Plot how often the token of a step is used in the corpus after each of the merges."""
    taken = {absorption.step: absorption.n for absorption in uses.absorbed}
    n_uses: Count = 0
    amounts: list[Count] = []
    done = 0
    for column in range(width):
        end = (column + 1) * n_merges // width
        if done < step <= end:
            n_uses = uses.made
        n_uses -= sum(taken.get(later, 0) for later in range(done + 1, end + 1))
        amounts.append(n_uses)
        done = end
    fall = formatted(uses.made)
    if uses.left != uses.made:
        fall += f" → {formatted(uses.left)}"
    yield InfoLine("uses in the corpus", fall, "muted")
    for row in columns(amounts, height, empty="·"):
        yield InfoLine(row, ink="muted")
