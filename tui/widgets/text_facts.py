"""Lines about the edited text: below it totals, edits and pitfalls, next to it the token under the cursor."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import Final

from rich.style import Style
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from bpe_core.auditing.verdicts import Verdict
from bpe_core.explain.pitfalls import Pitfall
from bpe_core.live.baseline import BaselineDiff
from bpe_core.tokenizer import Tokenizer
from tui.commands.command import Command
from tui.commands.key_names import short_name
from tui.commands.table import NEXT_PITFALL, PIN, TURN_SIDE
from tui.drawing.lines import InfoLine, Lines, sentence
from tui.text.lane_texts import LaneStatus, amounts_of, lane_lines
from tui.text.piece_lines import what_may_come, why_this_split
from tui.text.status_texts import (
    RememberedEdit,
    baseline_line,
    edit_line,
    pitfall_line,
    selection_line,
    totals_line,
)
from tui.text.token_lines import (
    NO_TOKEN,
    TokenFacts,
    token_summary,
)
from tui.text.token_places import about_place
from tui.widgets.side_titles import SideTitles
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
        area = self._area
        first, last = area.selected
        edits: Sequence[RememberedEdit] = ()
        if self._edits:
            edits = self._edits[-1 - self._back]
        lanes = []
        for name, lane, edit in zip_longest(self._names, area.edited.lanes, edits):
            if name is not None and lane is not None:
                amounts = amounts_of(lane, (first, last))
                lanes.append(LaneStatus(name, lane, edit, amounts))
        return lane_lines(lanes, first < last, area.palette, width)

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


SIDES: Final = {"token": "Token", "why": "Why", "ahead": "Ahead"}
"""The sides of the panel, with their titles."""


class TokenSide(Vertical):
    """The token under the cursor, why its piece is split this way, or what may follow.

    The lines about the token fit the room; the other sides scroll.
    """

    seen: var[str] = var("token", init=False)
    """The side that is shown: a key of `SIDES`."""
    verdicts: Mapping[int, Verdict] = MappingProxyType({})
    """The results of an audit, by token id."""

    def __init__(self, area: TokenArea, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._area = area

    def compose(self) -> ComposeResult:
        yield SideTitles(SIDES, short_name(TURN_SIDE.keys))
        with ContentSwitcher(initial=self.seen):
            token = Lines(id="token")
            token.can_focus = False
            token.token_style = self._token_style
            yield token
            yield Lines(id="why")
            yield Lines(id="ahead")

    def _token_style(self) -> Style | None:
        return self._area.style_under_cursor

    def turn(self) -> None:
        names = list(SIDES)
        following = names.index(self.seen) + 1
        self.seen = names[following % len(names)]

    @on(SideTitles.Chosen)
    def choose_side(self, event: SideTitles.Chosen) -> None:
        self.seen = event.side

    def watch_seen(self, old: str, seen: str) -> None:
        if self.query_one(f"#{old}").has_focus:
            self.screen.set_focus(self._area)
        self.query_one(SideTitles).show(seen)
        self.query_one(ContentSwitcher).current = seen
        self.call_after_refresh(self.show_token)

    def show_token(self) -> None:
        # A side that was hidden until now has no size of its own.
        width, height = self.query_one(ContentSwitcher).size
        shown = self._lines_of(max(8, width - 2), height)
        if shown is not None:
            self.query_one(f"#{self.seen}", Lines).show_lines(shown)

    def _lines_of(self, width: int, height: int) -> Iterable[InfoLine] | None:
        """Return the lines of the side that is shown; None to keep the present ones."""
        area = self._area
        edited = area.edited
        under = edited.under_cursor
        if self.seen == "token":
            if edited.live is None or under is None:
                return sentence(NO_TOKEN, width)
            token = under.ids[0]
            verdict = self.verdicts.get(token)
            facts = TokenFacts(edited.live.tokenizer, token, verdict)
            place = list(about_place(edited.live, under, width))
            return token_summary(facts, place, width, height)
        tokenizer = area.tokenizer
        if tokenizer is None or edited.live is None:
            return ()
        if self.seen == "why":
            if under is None:
                return None
            piece = area.piece_under_cursor
            return why_this_split(tokenizer, piece, area.palette, width)
        if edited.why_no_review:
            return sentence(edited.why_no_review, width)
        return what_may_come(edited.review, tokenizer, area.palette, width)

    on_resize = show_token
