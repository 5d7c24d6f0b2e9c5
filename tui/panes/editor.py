"""The editor pane: a text whose tokens re-form as it is typed, what the last edits did, what is under the cursor."""

from collections import deque
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Static

from bpe_core.audit.findings import Finding
from bpe_core.pitfalls import Pitfall
from bpe_core.special import SpecialsAllowed
from bpe_core.tokenizer import Tokenizer
from tui.text.place import about_place
from tui.text.story import what_may_come, why_this_split
from tui.text.summary import Edited, baseline_line, count, edit_line, pitfall_line, selection_line, totals_line
from tui.text.views import TITLES, VIEWS
from tui.widgets.inspector import Inspector
from tui.widgets.line_list import LineList
from tui.widgets.pane import Pane
from tui.widgets.review_area import ReviewArea
from tui.widgets.side_title import SideTitle
from tui.widgets.token_area import TokenArea
from tui.widgets.token_view import TokenView

_REMEMBERED: Final = 100
"""Edits that can be walked."""
_MOST_SELECTED: Final = 200_000
"""Characters of a selection whose tokens are counted while it grows."""


class EditorPane(Pane):
    """Text on the left, a token or its story on the right, totals and edits and pitfalls below."""

    BORDER_TITLE = "Editor  [dim]F4[/]"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "turn_side", "Why", tooltip="Token, why this split, what may come", key_display="^t"),
        Binding("ctrl+b", "pin", "Pin", show=False),
        Binding("ctrl+n", "go_to_pitfall(1)", "Pitfall", tooltip="Go to the next pitfall", key_display="^n"),
        Binding("alt+n", "go_to_pitfall(-1)", "Pitfall before", show=False),
        Binding("alt+up", "walk_edits(1)", "Edit before", show=False),
        Binding("alt+down", "walk_edits(-1)", "Edit after", show=False),
        Binding("ctrl+l", "turn_view", "View", show=False),
        Binding("ctrl+g", "toggle_spaces", "Spaces", show=False),
        Binding("ctrl+r", "toggle_specials", "Special tokens", show=False),
        Binding("alt+c", "copy('list')", "Copy ids", show=False),
    ]

    tokenizer: var[Tokenizer | None] = var[Tokenizer | None](None)
    """The tokenizer in force, as of the step in force."""

    findings: var[tuple[Finding, ...]] = var[tuple[Finding, ...]](())
    """What an audit found, for the token under the cursor."""

    side: var[str] = var("token", init=False)
    """What stands on the right: one of `SideTitle.SIDES`."""

    specials: var[bool] = var(False, init=False)
    """Whether the text of a special token is that token, rather than text."""

    view: var[str] = var("text", init=False)
    """How the text is seen: one of `VIEWS`."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._edits: deque[Edited] = deque(maxlen=_REMEMBERED)
        self._back = 0
        """How many edits before the last is shown."""
        self._totals: TokenArea.Tokenized | None = None
        self._gone_to: Pitfall | None = None

    def compose(self) -> ComposeResult:
        """The text takes what the side leaves."""
        with Horizontal():
            with Vertical(id="writing"):
                yield ReviewArea(id="text")
                yield TokenView(id="view")
                yield Static(id="totals-line", markup=False)
                yield Static(edit_line(()), id="edit-line", markup=False)
                yield Static(id="baseline-line", markup=False)
                yield Static(id="pitfall-line", markup=False)
            with Vertical(id="side"):
                yield SideTitle(id="side-title")
                yield Inspector(id="inspector")
                yield LineList(id="why")
                yield LineList(id="ahead")

    @property
    def area(self) -> ReviewArea:
        """The text area."""
        return self.query_one(ReviewArea)

    def land(self) -> None:
        """Take the focus: into the text, or what is seen in its place."""
        (self.area if self.view == "text" else self.query_one(TokenView)).focus()

    def put(self, text: str, token: int | None = None) -> None:
        """Replace the text, as one edit that can be undone; the cursor goes to the first place of `token`."""
        area = self.area
        self.view = "text"
        area.replace(text, (0, 0), area.document.end)
        area.move_cursor((0, 0))
        if token is not None and area.live is not None:
            spans = area.live.spans(0, area.live.n_characters)
            start = next((span.start for span in spans if token in span.ids), 0)
            area.move_cursor(area.document.get_location_from_index(start))

    def watch_tokenizer(self, tokenizer: Tokenizer | None) -> None:
        """Another tokenizer, or another step of it: the same text, other tokens."""
        if tokenizer is not None and not tokenizer.by_piece:
            self.area.tokenizer = None
            self._write("totals", "No tokens to be seen here: this tokenizer changes a text before it splits it.")
        else:
            self.area.tokenizer = SpecialsAllowed.of(tokenizer) if tokenizer and self.specials else tokenizer
        self.watch_view(self.view)

    # The lines below the text

    def _write(self, line: str, content: object) -> None:
        self.query_one(f"#{line}-line", Static).update(content, layout=False)  # type: ignore[arg-type]

    def on_token_area_tokenized(self, event: TokenArea.Tokenized) -> None:
        """The totals, in one line."""
        event.stop()
        self._totals = event
        self._write_totals()

    def _write_totals(self) -> None:
        area, live, totals = self.area, self.area.live, self._totals
        first, last = sorted(map(area.document.get_index_from_location, area.selection))
        if live is not None and 0 < last - first <= _MOST_SELECTED:
            ids = [token for span in live.spans(first, last) for token in span.ids]
            n_bytes = len(live.between(first, last).encode())
            self._write("totals", selection_line(ids, len(ids), n_bytes, last - first))
        elif totals is not None:
            line = totals_line(totals.n_tokens, totals.n_bytes, totals.n_characters, self.tokenizer)
            self._write("totals", line)

    def on_text_area_selection_changed(self) -> None:
        """The totals are those of what is selected; a pitfall that one leaves is no longer told."""
        self._write_totals()
        if self._gone_to is not None:
            self._write_pitfalls()

    def on_token_area_edited(self, event: TokenArea.Edited) -> None:
        """What the last edit did to the tokens."""
        event.stop()
        if self.tokenizer is not None:
            self._edits.append(Edited(event.change, self.tokenizer))
            self._back = 0
            self._write("edit", edit_line(self._edits))

    def action_walk_edits(self, by: int) -> None:
        """Show what the edit before did, or the one after."""
        if self._edits:
            self._back = max(0, min(self._back + by, len(self._edits) - 1))
            self._write("edit", edit_line(self._edits, self._back))

    def action_pin(self) -> None:
        """Compare the text with what it is now, from now on; or no longer."""
        self.area.pin()
        self.set_class(self.area.baseline is not None, "-pinned")

    def on_review_area_reviewed(self, event: ReviewArea.Reviewed) -> None:
        """More is known about the text."""
        event.stop()
        if self.area.baseline is not None:
            self._write("baseline", baseline_line(self.area.comparison, self.tokenizer))
        else:
            self.remove_class("-pinned")
        self._write_pitfalls()
        if self.side == "ahead":
            self._tell_story()

    def _write_pitfalls(self) -> None:
        area, review = self.area, self.area.review
        if review is None:
            self._write("pitfall", "")
        elif review.settled:
            here = min(map(area.document.get_index_from_location, area.selection))
            gone_to = self._gone_to = self._gone_to if self._gone_to and self._gone_to.start == here else None
            number = review.number(gone_to) if gone_to else None
            self._write("pitfall", pitfall_line(review.n_pitfalls, gone_to or review.worst, number))

    def action_go_to_pitfall(self, by: int) -> None:
        """Select the next pitfall, or the one before."""
        area, review = self.area, self.area.review
        here = min(map(area.document.get_index_from_location, area.selection))
        found = review.next_pitfall(here, by) if review else None
        if found is not None:
            self.view = "text"
            self._gone_to = found
            start, end = map(area.document.get_location_from_index, (found.start, found.end))
            area.move_cursor(end)
            area.move_cursor(start)
            area.move_cursor(end, select=True)
            self._write_pitfalls()

    def action_toggle_specials(self) -> None:
        """Take the texts of special tokens for these tokens, or for text again."""
        self.specials = not self.specials
        if self.specials and self.tokenizer is not None and not self.tokenizer.special_tokens:
            self.notify("This tokenizer has no special tokens.")
        self.watch_tokenizer(self.tokenizer)

    def action_toggle_spaces(self) -> None:
        """Draw spaces and tabs as glyphs, or no longer."""
        self.area.show_spaces = not self.area.show_spaces

    def action_turn_view(self) -> None:
        """Show the text in the next way; ways other than the text itself are there to be read."""
        self.view = VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)]

    def watch_view(self, view: str) -> None:
        """Text or view, the one that is seen has the focus."""
        area, other = self.area, self.query_one(TokenView)
        had_focus = area.has_focus or other.has_focus
        if area.live is None or view == "text":
            self.set_reactive(EditorPane.view, "text")
            self.remove_class("-viewing")
            seen: Widget = area
        else:
            self.add_class("-viewing")
            offset = area.document.get_index_from_location(area.cursor_location)
            other.show(view, area.live, offset, area.palette)
            seen = other
        told = ("special tokens are tokens" if self.specials else "", TITLES.get(self.view, ""))
        self.border_subtitle = " · ".join(filter(None, told))
        if had_focus:
            seen.focus()

    # The side

    def action_turn_side(self) -> None:
        """Show the next of the three things that can stand on the right."""
        sides = SideTitle.SIDES
        self.side = sides[(sides.index(self.side) + 1) % len(sides)]

    def watch_side(self, side: str) -> None:
        """Only that one is seen."""
        self.query_one(SideTitle).side = side
        for name in SideTitle.SIDES:
            self.set_class(name == side, f"-side-{name}")
        self.call_after_refresh(self.inspect)

    def on_token_area_cursor_moved(self, event: TokenArea.CursorMoved) -> None:
        """Show the token under the cursor."""
        event.stop()
        self.inspect()

    def watch_findings(self) -> None:
        """An audit may know something about the token under the cursor."""
        self.inspect()

    def inspect(self) -> None:
        """Look anew at the token under the cursor."""
        inspector, under = self.query_one(Inspector), self.area.under_cursor
        if self.side != "token":
            self._tell_story()
        if self.tokenizer is None or under is None:
            inspector.clear()
            return
        token = under.ids[0]
        findings = [finding for finding in self.findings if finding.id == token]
        place = about_place(under, max(8, inspector.size.width - 2))
        inspector.show(self.tokenizer, token, findings=findings, place=place)

    def _tell_story(self) -> None:
        area, tokenizer = self.area, self.tokenizer
        lines = self.query_one(f"#{self.side}", LineList)
        if tokenizer is None or area.live is None:
            lines.show_lines(())
        elif self.side == "ahead":
            lines.show_lines(what_may_come(area.review, tokenizer, lines.room))
        elif area.under_cursor is not None:
            piece = area.live.between(*area.under_cursor.piece)
            lines.show_lines(why_this_split(tokenizer, piece, lines.room))

    # Copies

    def selected_ids(self) -> list[int]:
        """The tokens that meet the selection, or all of them where nothing is selected."""
        area, live = self.area, self.area.live
        if live is None:
            return []
        first, last = sorted(map(area.document.get_index_from_location, area.selection))
        if first == last:
            return list(live.ids)
        return [token for span in live.spans(first, last) for token in span.ids]

    def action_copy(self, what: str) -> None:
        """Copy the selection, or the whole text: the "text" itself, its "ids" with spaces between, or as a "list"."""
        area, ids = self.area, self.selected_ids()
        copies = {"text": area.selected_text or area.text, "ids": " ".join(map(str, ids)), "list": str(ids)}
        self.app.copy_to_clipboard(copies[what])
        told = {"text": "The text is", "ids": f"{count(len(ids), 'id')} are", "list": f"A list of {len(ids):,} ids is"}
        self.notify(f"{told[what]} in the clipboard.")
