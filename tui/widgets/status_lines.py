"""StatusLines: totals, edits and pitfalls, below the edited text."""

from collections import deque
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Final

from rich.text import Text
from textual.widget import Widget

from bpe_core.explain.pitfalls import Pitfall
from bpe_core.live.baseline import BaselineDiff
from bpe_core.tokenizer import Tokenizer
from tui.commands.command import Command
from tui.commands.key_names import short_name
from tui.commands.table import NEXT_PITFALL, PIN
from tui.text.lane_texts import LaneStatus, amounts_of, lane_lines
from tui.text.status_texts import (
    RememberedEdit,
    baseline_line,
    edit_line,
    pitfall_line,
    selection_line,
    totals_line,
)
from tui.widgets.token_area import TokenArea

_REMEMBERED: Final = 100
"""Edits that the user can go back through."""


class StatusLines(Widget):
    """A line each for totals, the last edit, the difference from the pinned text if there is one, and pitfalls.

    With several lanes, a line for each lane shows totals and edits. Keys are on the right while they do something.
    """

    def __init__(self, area: TokenArea, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._area = area
        self._edits = deque[Sequence[RememberedEdit]](maxlen=_REMEMBERED)
        """What each edit did in each lane."""
        self._names: list[str] = []
        """The labels of the lanes, if there are several."""
        self._back = 0
        """How many edits before the last one the user looks at."""
        self._compared: tuple[BaselineDiff | None, Tokenizer | None] | None = None
        """The difference from the pinned text and its tokenizer; None before it is known."""
        self._pitfalls = Text()
        self._has_pitfalls = False
        self._gone_to: Pitfall | None = None

    def render(self) -> Text:
        width = self.content_size.width
        lines = [self._totals(), self._edit(width)]
        if self._names:
            lines = self._lanes(width)
        if self._area.edited.baseline is not None:
            lines.append(_with_key(PIN, width, self._difference))
        pitfalls = self._pitfalls.copy()
        if self._has_pitfalls:
            pitfalls = _with_key(NEXT_PITFALL, width, lambda room: pitfalls)
        lines.append(pitfalls)
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return Text("\n", no_wrap=True).join(lines)

    def _show(self) -> None:
        height = len(self._names) or 2
        if self._area.edited.baseline is not None:
            height += 1
        self.styles.height = height + 1
        self.refresh()

    def _totals(self) -> Text:
        """Return the totals of the text, or of the selection."""
        area = self._area
        edited = area.edited
        if edited.why_none or area.tokenizer is None:
            return Text(edited.why_none, "dim")
        first, last = area.selected
        if first < last:
            line = edited.ask(lambda live: selection_line(live, first, last), None)
            if line:
                return line
        document = area.document
        return totals_line(
            edited.n_tokens, document.n_bytes, document.n_characters, area.tokenizer
        )

    def _edit(self, width: int) -> Text:
        return edit_line(
            [edit[0] for edit in self._edits], self._back, self._area.palette, width
        )

    def _difference(self, width: int) -> Text:
        if self._compared is None:
            return Text("pinned     …", "dim")
        return baseline_line(*self._compared, self._area.palette, width)

    def _lanes(self, width: int) -> list[Text]:
        """Return a line for each lane, with its totals and what the edit did in it."""
        area = self._area
        first, last = area.selected
        edits: Sequence[RememberedEdit] = ()
        if self._edits:
            edits = self._edits[-1 - self._back]
        statuses = []
        # An edit may have been made in fewer lanes, and the lanes may change before their names do.
        for name, lane, edit in zip_longest(self._names, area.edited.lanes, edits):
            if name is not None and lane is not None:
                amounts = amounts_of(lane, (first, last))
                statuses.append(LaneStatus(name, lane, edit, amounts))
        return lane_lines(statuses, first < last, area.palette, width)

    def show_totals(self) -> None:
        """Show other tokens or another selection. Forget the pitfall that the cursor has left."""
        if self._gone_to is not None:
            self.show_review()
        self.refresh()

    def show_lanes(self, names: Sequence[str]) -> None:
        """Show a line for each of several lanes. Forget the edits of the lanes after the first."""
        if len(names) != max(1, len(self._names)):
            self._edits = deque((edit[:1] for edit in self._edits), _REMEMBERED)
        self._names = list(names) if len(names) > 1 else []
        self._show()

    def show_edit(self, event: TokenArea.Edited) -> None:
        edits = []
        for changes, tokenizer in zip(event.lanes, event.tokenizers, strict=False):
            if tokenizer:
                edits.append(RememberedEdit(changes, tokenizer))
        self._edits.append(edits)
        self._back = 0
        self.refresh()

    def forget_edits(self) -> None:
        self._edits.clear()
        self._back = 0
        self._compared = None
        self.refresh()

    def walk(self, by: int) -> None:
        if self._edits:
            self._back = max(0, min(self._back + by, len(self._edits) - 1))
            self.refresh()

    def go_to(self, pitfall: Pitfall) -> None:
        self._gone_to = pitfall
        self.show_review()

    def show_review(self) -> None:
        """Show the difference from the pinned text, and the pitfall the user went to or else the worst one."""
        edited = self._area.edited
        review = edited.review
        if edited.is_compared:
            self._compared = edited.comparison, self._area.tokenizer
        self._has_pitfalls = False
        if review is None or edited.why_no_review:
            self._pitfalls = Text(edited.why_no_review, "dim")
        elif not review.knows_pitfalls:
            self._pitfalls = Text("looking for pitfalls …", "dim")
        else:
            if self._gone_to and self._gone_to.start != self._area.selected[0]:
                self._gone_to = None
            number: int | None = None
            if self._gone_to:
                number = review.number(self._gone_to)
            pitfall = self._gone_to or review.worst
            self._pitfalls = pitfall_line(review.n_pitfalls, pitfall, number)
            self._has_pitfalls = review.n_pitfalls > 0
        self._show()


def _with_key(command: Command, width: int, write: Callable[[int], Text]) -> Text:
    """Return a line with the key of a command at its end. `write` makes the line for the room that is left."""
    key = f"  {short_name(command.keys)}"
    room = max(0, width - len(key))
    line = write(room)
    line.truncate(room, overflow="ellipsis", pad=True)
    return line.append(key, "dim")
