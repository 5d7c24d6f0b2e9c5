"""What is said of a text: below it what it holds, what edits did, what trips; beside it the token under the cursor."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import Final

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import var
from textual.widget import Widget

from bpe_core.auditing.verdicts import Verdict
from bpe_core.explain.pitfalls import Pitfall
from bpe_core.live.baseline import BaselineDiff
from bpe_core.tokenizer import Tokenizer
from tui.commands.command import Command
from tui.commands.key_names import short_name
from tui.commands.table import NEXT_PITFALL, PIN, TURN_SIDE
from tui.drawing.lines import Lines, Titles, sentence
from tui.text.piece_lines import what_may_come, why_this_split
from tui.text.status_texts import (
    LaneStatus,
    RememberedEdit,
    amounts_of,
    baseline_line,
    edit_line,
    lane_lines,
    pitfall_line,
    selection_line,
    totals_line,
)
from tui.text.token_lines import (
    NO_TOKEN,
    TokenFacts,
    about_place,
    token_summary,
)
from tui.widgets.token_area import TokenArea

_REMEMBERED: Final = 100  # edits that can be walked


class StatusLines(Widget):
    """Totals, the last edit, how a text differs from the pinned one if there is one, and pitfalls, a line each.

    Of several lanes, a line for each tells totals and edits. Keys stand at the right, while they are of use.
    """

    def __init__(self, area: TokenArea, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._area = area
        self._edits = deque[Sequence[RememberedEdit]](
            maxlen=_REMEMBERED
        )  # what each did in each lane
        self._names: list[str] = []  # the labels of the lanes, if there are several
        self._back = 0  # how many edits before the last is shown
        self._compared: tuple[BaselineDiff | None, Tokenizer | None] | None = (
            None  # with the baseline; None: not yet
        )
        self._pitfalls = Text()
        self._has_pitfalls = False
        self._gone_to: Pitfall | None = None

    def render(self) -> Text:
        area, width = self._area, self.content_size.width
        lines = (
            [*self._lanes(width)]
            if self._names
            else [self._totals(), self._edit(width)]
        )
        if area.edited.baseline is not None:
            lines.append(_beside_key(PIN, width, self._difference))
        pitfalls = self._pitfalls.copy()
        lines.append(
            _beside_key(NEXT_PITFALL, width, lambda _: pitfalls)
            if self._has_pitfalls
            else pitfalls
        )
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return Text("\n", no_wrap=True).join(lines)

    def _show(self) -> None:
        self.styles.height = (
            (len(self._names) or 2) + (self._area.edited.baseline is not None) + 1
        )
        self.refresh()

    def _totals(self) -> Text:
        """How much the text holds, or what is selected of it."""
        area, edited, (first, last) = self._area, self._area.edited, self._area.selected
        if edited.why_none or area.tokenizer is None:
            return Text(edited.why_none, "dim")
        selected = (
            edited.ask(lambda live: selection_line(live, first, last), None)
            if first < last
            else None
        )
        document = area.document
        return selected or totals_line(
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
        area, selected = self._area, self._area.selected
        edits = self._edits[-1 - self._back] if self._edits else ()
        lanes = [
            LaneStatus(name, lane, edit, amounts_of(lane, selected))
            for name, lane, edit in zip_longest(self._names, area.edited.lanes, edits)
            if name is not None and lane is not None
        ]
        return lane_lines(lanes, selected[0] < selected[1], area.palette, width)

    def show_totals(self) -> None:
        """Other tokens, or another selection; a pitfall that one leaves is no longer described."""
        if self._gone_to is not None:
            self.show_review()
        self.refresh()

    def show_lanes(self, names: Sequence[str]) -> None:
        """Tell of these lanes, the first among them; of none, if there is only that. New ones had no edits."""
        if len(names) != max(1, len(self._names)):
            self._edits = deque((edit[:1] for edit in self._edits), _REMEMBERED)
        self._names = list(names) if len(names) > 1 else []
        self._show()

    def show_edit(self, event: TokenArea.Edited) -> None:
        changes = zip(event.lanes, event.tokenizers, strict=False)
        self._edits.append(
            [
                RememberedEdit(done, tokenizer)
                for done, tokenizer in changes
                if tokenizer
            ]
        )
        self._back = 0
        self.refresh()

    def forget_edits(self) -> None:
        self._edits.clear()
        self._back, self._compared = 0, None
        self.refresh()

    def walk(self, by: int) -> None:
        if self._edits:
            self._back = max(0, min(self._back + by, len(self._edits) - 1))
            self.refresh()

    def go_to(self, pitfall: Pitfall) -> None:
        self._gone_to = pitfall
        self.show_review()

    def show_review(self) -> None:
        """What differs from the baseline, how many pitfalls there are, and the one gone to or else the worst."""
        area, edited, review = self._area, self._area.edited, self._area.edited.review
        if edited.is_compared:
            self._compared = edited.comparison, area.tokenizer
        self._has_pitfalls = False
        if review is None or edited.why_no_review:
            self._pitfalls = Text(edited.why_no_review, "dim")
        elif not review.knows_pitfalls:
            self._pitfalls = Text("looking for pitfalls …", "dim")
        else:
            here = min(map(area.document.get_index_from_location, area.selection))
            gone_to = self._gone_to = (
                self._gone_to if self._gone_to and self._gone_to.start == here else None
            )
            facts = (
                review.n_pitfalls,
                gone_to or review.worst,
                review.number(gone_to) if gone_to else None,
            )
            self._pitfalls, self._has_pitfalls = (
                pitfall_line(*facts),
                review.n_pitfalls > 0,
            )
        self._show()


def _beside_key(command: Command, width: int, write: Callable[[int], Text]) -> Text:
    """What `write` makes of the cells before the key of a command, and that key."""
    key = f"  {short_name(command.keys)}"
    line = write(width - len(key))
    line.truncate(max(0, width - len(key)), overflow="ellipsis", pad=True)
    return line.append(key, "dim")


SIDES: Final = {
    "token": "Token",
    "why": "Why",
    "ahead": "Ahead",
}  # what can be seen at the side -> its title


class TokenSide(Vertical):
    """The token under the cursor, why its piece is split so, or what may come: one of them seen.

    The lines of the first fit the room, the others scroll.
    """

    seen: var[str] = var("token", init=False)  # which: a key of `SIDES`
    verdicts: Mapping[int, Verdict] = MappingProxyType({})  # what an audit found

    def __init__(self, area: TokenArea, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._area = area

    def compose(self) -> ComposeResult:
        yield Titles(SIDES, short_name(TURN_SIDE.keys))
        lines = Lines()
        lines.can_focus = False
        lines.token_style = lambda: (
            self._area.style_under_cursor if self.seen == "token" else None
        )
        yield lines

    def turn(self) -> None:
        names = list(SIDES)
        self.seen = names[(names.index(self.seen) + 1) % len(names)]

    def watch_seen(self, seen: str) -> None:
        self.query_one(Titles).choice = seen
        lines = self.query_one(Lines)
        lines.can_focus = seen != "token"
        if lines.has_focus:
            self.screen.set_focus(self._area)
        self.call_after_refresh(self.show_token)

    def show_token(self) -> None:
        area, edited, tokenizer = self._area, self._area.edited, self._area.tokenizer
        under = edited.under_cursor
        lines = self.query_one(Lines)
        if self.seen == "token":
            if edited.live is None or under is None:
                lines.show_lines(sentence(NO_TOKEN, lines.room))
                return
            facts = TokenFacts(
                edited.live.tokenizer, under.ids[0], self.verdicts.get(under.ids[0])
            )
            place = [*about_place(edited.live, under, lines.room)]
            lines.show_lines(token_summary(facts, place, lines.room, lines.size.height))
        elif tokenizer is None or edited.live is None:
            lines.show_lines(())
        elif self.seen == "ahead" and edited.why_no_review:
            lines.show_lines(sentence(edited.why_no_review, lines.room))
        elif self.seen == "ahead":
            lines.show_lines(
                what_may_come(edited.review, tokenizer, area.palette, lines.room)
            )
        elif under is not None:
            lines.show_lines(
                why_this_split(
                    tokenizer, area.piece_under_cursor, area.palette, lines.room
                )
            )

    on_resize = show_token
