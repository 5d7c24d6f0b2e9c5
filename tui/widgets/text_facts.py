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
from tui.commands import key_of
from tui.drawing.lines import Lines, Titles, sentence
from tui.text.status_texts import (
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
    what_may_come,
    why_this_split,
)
from tui.widgets.token_area import TokenArea

_GAP: Final = 2  # cells kept free before the keys
_REMEMBERED: Final = 100  # edits that can be walked


class StatusLine(Widget):
    """What is written in so many cells: a line, or several; the keys at the right, while they are of use."""

    DEFAULT_CSS = "StatusLine { height: 1; width: 1fr; color: $text; }"

    def __init__(self, keys: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._keys = keys
        self._write: Callable[[int], Sequence[Text]] = lambda _: ()
        self._with_keys = False

    def say(self, write: Callable[[int], Text | Sequence[Text]] | str, *, keys: bool = True) -> None:
        """Show what `write` makes of so many cells; `keys` tells whether they are of use now."""

        def lines(width: int) -> Sequence[Text]:
            written = write(width) if callable(write) else Text(write, "dim")
            return [written] if isinstance(written, Text) else written

        self._write, self._with_keys = lines, keys and bool(self._keys)
        self.refresh()

    def render(self) -> Text:
        width = self.content_size.width
        room = width - len(self._keys) - _GAP if self._with_keys else width
        lines = [*self._write(room)]
        for line in lines:
            line.truncate(max(room, 0), overflow="ellipsis")
            if self._with_keys:
                line.append(" " * (width - line.cell_len - len(self._keys))).append(self._keys, "dim")
        return Text("\n", no_wrap=True).join(lines)


class StatusLines(Vertical):
    """Three lines, and one more while a text is pinned; of several lanes, a line for each tells totals and edits."""

    DEFAULT_CSS = """
    StatusLines { height: auto; }
    StatusLines #baseline-line, StatusLines #lanes-line { display: none; }
    StatusLines.-lanes #lanes-line { display: block; }
    StatusLines.-lanes #totals-line, StatusLines.-lanes #edit-line { display: none; }
    StatusLines.-pinned #baseline-line { display: block; }
    """

    def __init__(self, area: TokenArea, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._area = area
        self._edits = deque[Sequence[RememberedEdit]](maxlen=_REMEMBERED)  # what each did in each lane
        self._names: list[str] = []  # the labels of the lanes, if there are several
        self._back = 0  # how many edits before the last is shown
        self._gone_to: Pitfall | None = None

    def compose(self) -> ComposeResult:
        keys = {"baseline": key_of("pin"), "pitfall": key_of("go_to_pitfall(1)")}
        for name in ("lanes", "totals", "edit", "baseline", "pitfall"):
            yield StatusLine(keys.get(name, ""), id=f"{name}-line")

    def _line(self, name: str) -> StatusLine:
        return self.query_one(f"#{name}-line", StatusLine)

    # Totals

    def show_totals(self) -> None:
        """How much the text holds, or what is selected of it; a pitfall that one leaves is no longer described."""
        area, document = self._area, self._area.document
        self._write_lanes()
        if self._gone_to is not None:
            self._write_pitfalls()
        first, last = area.selected
        selected = area.edited.ask(lambda live: selection_line(live, first, last), None) if first < last else None
        if area.edited.why_none:
            self._line("totals").say(area.edited.why_none)
        elif selected is not None:
            self._line("totals").say(lambda _: selected.copy())
        elif area.tokenizer is not None:
            numbers = area.edited.n_tokens, document.n_bytes, document.n_characters
            self._line("totals").say(lambda _: totals_line(*numbers, area.tokenizer))

    # Edits

    def show_edit(self, event: TokenArea.Edited) -> None:
        changes = zip(event.lanes, event.tokenizers, strict=False)
        self._edits.append([RememberedEdit(done, tokenizer) for done, tokenizer in changes if tokenizer])
        self._back = 0
        self._write_edit()

    def forget_edits(self) -> None:
        self._edits.clear()
        self._back = 0
        self._write_edit()
        self._line("baseline").say("pinned     …")  # until it is known what differs

    def walk(self, by: int) -> None:
        if self._edits:
            self._back = max(0, min(self._back + by, len(self._edits) - 1))
            self._write_edit()

    def _write_edit(self) -> None:
        edits, back = [edit[0] for edit in self._edits], self._back
        self._line("edit").say(lambda width: edit_line(edits, back, self._area.palette, width))
        self._write_lanes()

    on_mount = _write_edit

    # Lanes

    def show_lanes(self, names: Sequence[str]) -> None:
        """Tell of these lanes, the first among them; of none, if there is only that. New ones had no edits."""
        if len(names) != max(1, len(self._names)):
            self._edits = deque((edit[:1] for edit in self._edits), _REMEMBERED)
        self._names = list(names) if len(names) > 1 else []
        self.set_class(bool(self._names), "-lanes")
        self._line("lanes").styles.height = max(1, len(self._names))
        self._write_lanes()

    def _write_lanes(self) -> None:
        if not self._names:
            return
        area, selected = self._area, self._area.selected
        edits = self._edits[-1 - self._back] if self._edits else ()
        lanes = [
            (name, lane, edit, amounts_of(lane, selected))
            for name, lane, edit in zip_longest(self._names, area.edited.lanes, edits)
            if name is not None and lane is not None
        ]
        self._line("lanes").say(lambda width: lane_lines(lanes, selected[0] < selected[1], area.palette, width))

    # Baseline and pitfalls

    def show_review(self) -> None:
        area, comparison, tokenizer = self._area, self._area.edited.comparison, self._area.tokenizer
        self.set_class(area.edited.baseline is not None, "-pinned")
        if area.edited.is_compared:
            self._line("baseline").say(lambda width: baseline_line(comparison, tokenizer, area.palette, width))
        self._write_pitfalls()

    def go_to(self, pitfall: Pitfall) -> None:
        self._gone_to = pitfall
        self._write_pitfalls()

    def _write_pitfalls(self) -> None:
        """How many pitfalls there are, and the one gone to or else the worst."""
        area, review, line = self._area, self._area.edited.review, self._line("pitfall")
        if review is None or area.edited.why_no_review:
            line.say(area.edited.why_no_review, keys=False)
        elif not review.knows_pitfalls:
            line.say("looking for pitfalls …", keys=False)
        else:
            here = min(map(area.document.get_index_from_location, area.selection))
            gone_to = self._gone_to = self._gone_to if self._gone_to and self._gone_to.start == here else None
            facts = review.n_pitfalls, gone_to or review.worst, review.number(gone_to) if gone_to else None
            line.say(lambda _: pitfall_line(*facts), keys=review.n_pitfalls > 0)


SIDES: Final = {"token": "Token", "why": "Why", "ahead": "Ahead"}  # what can be seen at the side -> its title


class TokenSide(Vertical):
    """The token under the cursor, why its piece is split so, or what may come: one of them seen.

    The lines of the first fit the room, the others scroll.
    """

    DEFAULT_CSS = """
    TokenSide > Lines { height: 1fr; }
    TokenSide > #story, TokenSide.-story > #inspector { display: none; }
    TokenSide.-story > #story { display: block; }
    """

    seen: var[str] = var("token", init=False)  # which: a key of `SIDES`
    verdicts: Mapping[int, Verdict] = MappingProxyType({})  # what an audit found

    def __init__(self, area: TokenArea, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._area = area

    def compose(self) -> ComposeResult:
        yield Titles(SIDES, key_of("turn_side"))
        inspector = Lines(id="inspector")
        inspector.can_focus = False
        inspector.token_style = lambda: self._area.style_under_cursor
        yield inspector
        yield Lines(id="story")

    def turn(self) -> None:
        names = list(SIDES)
        self.seen = names[(names.index(self.seen) + 1) % len(names)]

    def watch_seen(self, seen: str) -> None:
        self.query_one(Titles).choice = seen
        self.set_class(seen != "token", "-story")
        self.call_after_refresh(self.show_token)

    def show_token(self) -> None:
        area, edited, tokenizer = self._area, self._area.edited, self._area.tokenizer
        under = edited.under_cursor
        lines = self.query_one("#inspector" if self.seen == "token" else "#story", Lines)
        if self.seen == "token":
            if tokenizer is None or under is None:
                lines.show_lines(sentence(NO_TOKEN, lines.room))
                return
            facts = TokenFacts(tokenizer, under.ids[0], self.verdicts.get(under.ids[0]))
            lines.show_lines(token_summary(facts, [*about_place(under, lines.room)], lines.room, lines.size.height))
        elif tokenizer is None or edited.live is None:
            lines.show_lines(())
        elif self.seen == "ahead" and edited.why_no_review:
            lines.show_lines(sentence(edited.why_no_review, lines.room))
        elif self.seen == "ahead":
            lines.show_lines(what_may_come(edited.review, tokenizer, area.palette, lines.room))
        elif under is not None:
            piece = edited.ask(lambda live: live.piece_at(under.start), None)
            lines.show_lines(why_this_split(tokenizer, piece[2] if piece else "", area.palette, lines.room))

    on_resize = show_token
