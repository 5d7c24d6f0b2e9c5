"""StatusLines: the lines under a text, telling what it holds, what the last edits did, what it once was, what trips."""

from collections import deque
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Final

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Size
from textual.widget import Widget

from bpe_core.explain.pitfall_detectors import Pitfall
from bpe_core.tokenizer import Tokenizer
from tui.commands import key_of
from tui.text.status_texts import (
    RememberedEdit,
    SelectionTotals,
    baseline_line,
    edit_line,
    lane_facts,
    lane_lines,
    pitfall_line,
    selection_line,
    totals_line,
)
from tui.widgets.token_area import TokenArea

_GAP = 2
"""Cells kept free before the keys."""


class StatusLine(Widget):
    DEFAULT_CSS = "StatusLine { height: 1; width: 1fr; color: $text; }"

    def __init__(self, keys: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._keys = keys
        self._write: Callable[[int], Text] = lambda _: Text()
        self._with_keys = False

    def say(self, write: Callable[[int], Text] | str, *, keys: bool = True) -> None:
        """Show what `write` makes of so many cells; `keys` tells whether they are of use now."""
        self._write = write if callable(write) else lambda _: Text(write, "dim")
        self._with_keys = keys and bool(self._keys)
        self.refresh()

    def render(self) -> Text:
        width = self.content_size.width
        room = width - len(self._keys) - _GAP if self._with_keys else width
        line = self._write(room)
        line.truncate(max(room, 0), overflow="ellipsis")
        if self._with_keys:
            line.append(" " * (width - line.cell_len - len(self._keys))).append(self._keys, "dim")
        return line


class LaneLines(Widget):
    DEFAULT_CSS = "LaneLines { height: auto; width: 1fr; color: $text; }"

    def __init__(self) -> None:
        super().__init__()
        self._write: Callable[[int], Sequence[Text]] = lambda _: ()
        self._n_lines = 0

    def say(self, write: Callable[[int], Sequence[Text]]) -> None:
        """Show what `write` makes of so many cells."""
        self._write = write
        n_lines = len(write(80))
        self.refresh(layout=n_lines != self._n_lines)
        self._n_lines = n_lines

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._n_lines

    def render(self) -> Text:
        width = self.content_size.width
        lines = [*self._write(width)]
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return Text("\n", no_wrap=True).join(lines)


_REMEMBERED: Final = 100
"""Edits that can be walked."""


class StatusLines(Vertical):
    """Three lines, and one more while a text is pinned; of several lanes, a line for each tells totals and edits."""

    DEFAULT_CSS = """
    StatusLines { height: auto; }
    StatusLines #baseline-line, StatusLines LaneLines { display: none; }
    StatusLines.-lanes LaneLines { display: block; }
    StatusLines.-lanes #totals-line, StatusLines.-lanes #edit-line { display: none; }
    StatusLines.-pinned #baseline-line { display: block; }
    """

    def __init__(self, area: TokenArea, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._area = area
        self._edits: deque[tuple[RememberedEdit, ...]] = deque(maxlen=_REMEMBERED)
        """Of each edit what it did in each lane."""
        self._names: list[str] = []
        """The labels of the lanes, if there are several."""
        self._back = 0
        """How many edits before the last is shown."""
        self._totals: TokenArea.Tokenized | None = None
        self._gone_to: Pitfall | None = None

    def compose(self) -> ComposeResult:
        yield LaneLines()
        yield StatusLine(id="totals-line")
        yield StatusLine(id="edit-line")
        yield StatusLine(key_of("pin"), id="baseline-line")
        yield StatusLine(key_of("go_to_pitfall(1)"), id="pitfall-line")

    def on_mount(self) -> None:
        self._write_edit()

    def _line(self, name: str) -> StatusLine:
        return self.query_one(f"#{name}-line", StatusLine)

    # Totals

    def say(self, sentence: str) -> None:
        """Tell something in the place of the totals."""
        self._totals = None
        self._line("totals").say(sentence)

    def show_totals(self, totals: TokenArea.Tokenized) -> None:
        self._totals = totals
        self.write_totals()

    def write_totals(self) -> None:
        """How much the text holds, or what is selected of it."""
        area, totals = self._area, self._totals
        self._write_lanes()
        first, last = area.selected
        selected = area.edited.ask(lambda live: SelectionTotals.of(live, first, last), None) if first < last else None
        if selected is not None:
            self._line("totals").say(lambda _: selection_line(selected))
        elif totals is not None:
            tokenizer = area.tokenizer
            numbers = totals.n_tokens, totals.n_bytes, totals.n_characters
            self._line("totals").say(lambda _: totals_line(*numbers, tokenizer))

    # Edits

    def show_edit(self, event: TokenArea.Edited) -> None:
        tokenizers = (lane.tokenizer for lane in self._area.edited.lanes)
        changes = zip((event.changes, *event.others), tokenizers, strict=False)
        self._edits.append(tuple(RememberedEdit(done, tokenizer) for done, tokenizer in changes if tokenizer))
        self._back = 0
        self._write_edit()

    def forget_edits(self) -> None:
        """There was none yet, and what differs from a text that is pinned is written when it is known."""
        self._edits.clear()
        self._back = 0
        self._write_edit()
        self._line("baseline").say("pinned     …")

    def walk(self, by: int) -> None:
        """Show what the edit before did, or the one after."""
        if self._edits:
            self._back = max(0, min(self._back + by, len(self._edits) - 1))
            self._write_edit()

    def _write_edit(self) -> None:
        edits, back = [edit[0] for edit in self._edits], self._back

        def write(width: int) -> Text:
            return edit_line(edits, back, self._area.palette, width)

        self._line("edit").say(write)
        self._write_lanes()

    # Lanes

    def show_lanes(self, names: Sequence[str]) -> None:
        """Tell of these lanes, the first among them; of none, if there is only that."""
        self._names = list(names) if len(names) > 1 else []
        self.set_class(bool(self._names), "-lanes")
        self._write_lanes()

    def _write_lanes(self) -> None:
        if not self._names:
            return
        area = self._area
        first, last = area.selected
        edits = self._edits[-1 - self._back] if self._edits else ()
        facts = [
            lane_facts(name, lane, edit, (first, last))
            for name, lane, edit in zip_longest(self._names, area.edited.lanes, edits)
            if name is not None and lane is not None
        ]
        self.query_one(LaneLines).say(lambda width: lane_lines(facts, area.palette, width, selected=first < last))

    # Baseline and pitfalls

    def show_review(self, tokenizer: Tokenizer | None) -> None:
        area, comparison = self._area, self._area.edited.comparison
        self.set_class(area.edited.baseline is not None, "-pinned")
        if area.edited.is_compared:
            self._line("baseline").say(lambda width: baseline_line(comparison, tokenizer, area.palette, width))
        self.write_pitfalls()

    def cursor_moved(self) -> None:
        """The totals are those of what is selected; a pitfall that one leaves is no longer described."""
        self.write_totals()
        if self._gone_to is not None:
            self.write_pitfalls()

    def go_to(self, pitfall: Pitfall) -> None:
        """Tell of this pitfall, until one leaves it."""
        self._gone_to = pitfall
        self.write_pitfalls()

    def write_pitfalls(self) -> None:
        """How many pitfalls there are, and the one gone to or else the worst."""
        area, review = self._area, self._area.edited.review
        if review is None or area.edited.why_no_review:
            self._line("pitfall").say(area.edited.why_no_review, keys=False)
        elif not review.knows_pitfalls:
            self._line("pitfall").say(lambda _: Text("looking for pitfalls", "dim"), keys=False)
        else:
            here = min(map(area.document.get_index_from_location, area.selection))
            gone_to = self._gone_to = self._gone_to if self._gone_to and self._gone_to.start == here else None
            facts = review.n_pitfalls, gone_to or review.worst, review.number(gone_to) if gone_to else None
            self._line("pitfall").say(lambda _: pitfall_line(*facts), keys=review.n_pitfalls > 0)
