"""The editor pane: a text whose tokens re-form as it is typed, what the last edits did, what is under the cursor.

The text comes first, and can be typed in; what tells of its tokens is loaded once it is on the screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.reactive import var
from textual.widget import Widget

from tui.commands import bindings, key_of
from tui.state import Audit, KnownTokenizer, ShownLane, known_name
from tui.widgets.pane import Pane
from tui.widgets.token_area import TokenArea

if TYPE_CHECKING:
    from bpe_core.content.examples import Example
    from bpe_core.tokenizer import Tokenizer
    from tui.widgets.status_lines import StatusLines
    from tui.widgets.token_side import TokenSide
    from tui.widgets.token_view import TokenView

_MOST_COPIED: Final = 200_000
"""Ids that are copied without being selected; terminals do not take megabytes into their clipboards."""


HINT: Final = "Type: each color is one token; the one under the cursor is told at the right."
_BEGINNING: Final = 8
"""Characters by which an example is known again."""


class EditorPane(Pane):
    """Text on the left, a token or its story on the right, totals and edits and pitfalls below."""

    hint: var[str] = var(HINT)
    """What to look at in the example that is shown; or else what can be done here."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Editor")

    LATER = ("tui.text.lane_texts", "tui.widgets.status_lines", "tui.widgets.token_side", "tui.widgets.token_view")

    in_force: var[Tokenizer | None] = var(None)
    """The tokenizer on the screen, as of the step in force."""

    lanes: var[tuple[ShownLane, ...]] = var((), init=False)
    """The lanes after the first."""

    kept: var[tuple[KnownTokenizer, ...]] = var((), init=False)
    """The tokenizers that there are, with their names."""

    path: var[str] = var("")
    """The file of the tokenizer on the screen; empty while it is being trained."""

    audit: var[Audit] = var(Audit())
    """What an audit found in it."""

    specials: var[bool] = var(False, init=False)
    """Whether the text of a special token is that token, rather than text."""

    example: var[int] = var(-1, init=False)
    """The number of the example that was shown last."""

    view: var[str] = var("text", init=False)
    """How the text is seen: one of `VIEWS`."""

    def compose(self) -> ComposeResult:
        """The text takes what the side leaves; below both there is room for what is to be said in lines."""
        with Horizontal():
            yield TokenArea(id="text")
            yield Vertical(id="side")
        yield Vertical(id="status-lines")

    is_loaded = False
    """Whether what tells of the text is there."""

    async def load(self) -> None:
        """Put what tells of the text where there is room for it."""
        from tui.widgets.status_lines import StatusLines
        from tui.widgets.token_side import TokenSide
        from tui.widgets.token_view import TokenView

        side = TokenSide(self.area, id="side")
        await self.query("#side, #status-lines").remove()
        await self.query_one(Horizontal).mount(TokenView(id="view"), side)
        await self.mount(StatusLines(self.area, id="status-lines"))
        self.is_loaded = True
        side.in_force, side.audit = self.in_force, self.audit
        self.watch_lanes(self.lanes)

    @property
    def area(self) -> TokenArea:
        """The text area."""
        return self.query_one(TokenArea)

    @property
    def status_lines(self) -> StatusLines:
        """The lines below the text."""
        return cast("StatusLines", self.query_one("#status-lines"))

    @property
    def side(self) -> TokenSide:
        """What stands beside the text."""
        return cast("TokenSide", self.query_one("#side"))

    @property
    def token_view(self) -> TokenView:
        """The text in another way."""
        return cast("TokenView", self.query_one("#view"))

    def focus_next_part(self) -> None:
        """Take the focus: into the text, or what is seen in its place."""
        self.screen.set_focus(self.area if self.view == "text" else self.token_view)

    def put(self, text: str, token: int | None = None) -> None:
        """Replace the text, as one edit that can be undone; the cursor goes to the first place of `token`."""
        area = self.area
        self.view = "text"
        area.replace(text, (0, 0), area.document.end)
        area.move_cursor((0, 0))
        if token is not None:
            spans = area.edited.spans(0, area.document.n_characters)
            start = next((span.start for span in spans if token in span.ids), 0)
            area.move_cursor(area.document.get_location_from_index(start))

    def show_example(self, number: int) -> None:
        """Put an example in the place of the text, and tell what to look at."""
        from bpe_core.content.examples import examples

        self.example = number % len(examples())
        shown = examples()[self.example]
        self.put(shown.text)
        self.area.move_cursor(self.area.document.get_location_from_index(shown.cursor))
        self._shown = shown
        self._tell_example()

    _shown: Example | None = None
    """An example, as long as the text begins as it does."""

    def _tell_example(self) -> None:
        if self._shown is not None:
            begins = self._shown.text.partition("\n")[0][:_BEGINNING]
            if not self.area.document[0].startswith(begins):
                self._shown = None
        self.hint = f"Example: {self._shown.see}" if self._shown else HINT

    def action_next_example(self) -> None:
        """Show the next example; the first, if none was shown yet."""
        self.show_example(self.example + 1)

    def watch_in_force(self, tokenizer: Tokenizer | None) -> None:
        """Another tokenizer, or another step of it: the same text, other tokens."""
        self.area.tokenizer = None if tokenizer is None else self._as_wanted(tokenizer)
        if self.is_loaded:
            self.side.in_force = self.in_force
            self._label_lanes()
        self.watch_view(self.view)

    def watch_lanes(self, lanes: tuple[ShownLane, ...]) -> None:
        """Other lanes, or other steps in them; what edits did is told anew where there are more or fewer of them."""
        if not self.is_loaded:
            return
        n_before = len(self.area.lanes)
        self.area.lanes = tuple(self._as_wanted(lane.tokenizer) for lane in lanes)
        if len(lanes) != n_before:
            self.forget_edits()
        self._label_lanes()

    def _as_wanted(self, tokenizer: Tokenizer) -> Tokenizer:
        """The same one, taking the texts of special tokens for these tokens where that is wanted."""
        if not self.specials:
            return tokenizer
        from bpe_core.tokenizer.specials_allowed import SpecialsAllowed

        return SpecialsAllowed.of(tokenizer)

    @property
    def first_name(self) -> str:
        """What the tokenizer of the first lane is called."""
        return known_name(self.path, self.kept) if self.path else "in training"

    def watch_path(self) -> None:
        """The first lane has another name."""
        if self.is_loaded:
            self._label_lanes()

    watch_kept = watch_path

    def _label_lanes(self) -> None:
        from tui.text.lane_texts import labels, short_names

        # Where another lane is a step of the same tokenizer, it is the step that tells them apart.
        by_step = self.in_force is not None and any(not lane.choice.path for lane in self.lanes)
        first = f"@{self.in_force.step:,}" if self.in_force is not None and by_step else self.first_name
        names = short_names([first, *(lane.name(self.kept) for lane in self.lanes)], self.area.size.width)
        self.area.set_labels(labels(names))
        self.status_lines.show_lanes(names)

    def on_resize(self) -> None:
        """Other widths have other room for labels."""
        if self.is_loaded:
            self.call_after_refresh(self._label_lanes)

    def watch_audit(self, audit: Audit) -> None:
        """What is told of a token may have changed."""
        if self.is_loaded:
            self.side.audit = audit

    def forget_edits(self) -> None:
        """Another tokenizer: what edits did to the tokens of the one before is no longer told."""
        self.status_lines.forget_edits()

    # What the text tells

    def on_token_area_tokenized(self, event: TokenArea.Tokenized) -> None:
        """The totals, in one line."""
        event.stop()
        if self.area.edited.why_none:
            self.status_lines.say(self.area.edited.why_none)
        else:
            self.status_lines.show_totals(event)

    def on_text_area_selection_changed(self) -> None:
        """What is told of the place of the cursor."""
        if self.is_loaded:
            self.status_lines.cursor_moved()

    def on_token_area_edited(self, event: TokenArea.Edited) -> None:
        """What the last edit did to the tokens."""
        event.stop()
        self._tell_example()
        if self.in_force is not None:
            self.status_lines.show_edit(event)

    def on_token_area_cursor_moved(self, event: TokenArea.CursorMoved) -> None:
        """Show the token under the cursor."""
        event.stop()
        self.inspect()

    def on_token_area_reviewed(self, event: TokenArea.Reviewed) -> None:
        """More is known about the text."""
        event.stop()
        self._tell_keys()
        if not self.is_loaded:
            return
        self.status_lines.show_review(self.in_force)
        if self.side.seen == "ahead":
            self.inspect()

    def inspect(self) -> None:
        """Look anew at the token under the cursor."""
        self.side.show_token()

    # What the keys do

    def action_walk_edits(self, by: int) -> None:
        """Show what the edit before did, or the one after."""
        self.status_lines.walk(by)

    def action_pin(self) -> None:
        """Compare the text with what it is now, from now on; or no longer."""
        self.area.pin()

    def action_turn_side(self) -> None:
        """Show the next of the three things that can stand on the right."""
        self.side.turn()

    def action_go_to_pitfall(self, by: int) -> None:
        """Select the next pitfall, or the one before."""
        area, review = self.area, self.area.edited.review
        here = min(map(area.document.get_index_from_location, area.selection))
        found = review.next_pitfall(here, by) if review else None
        if found is not None:
            self.view = "text"
            start, end = map(area.document.get_location_from_index, (found.start, found.end))
            area.move_cursor(end)
            area.move_cursor(start)
            area.move_cursor(end, select=True)
            self.status_lines.go_to(found)

    def action_toggle_specials(self) -> None:
        """Take the texts of special tokens for these tokens, or for text again."""
        self.specials = not self.specials
        if self.specials and self.in_force is not None and not self.in_force.special_tokens:
            self.notify("This tokenizer has no special tokens.")
        elif self.specials and self.in_force is not None and not self.in_force.by_piece:
            self.notify("Special tokens stay text here: this tokenizer changes a text before it splits it.")
        self.watch_in_force(self.in_force)
        self.watch_lanes(self.lanes)

    def action_toggle_spaces(self) -> None:
        """Draw spaces and tabs as glyphs, or no longer."""
        self.area.show_spaces = not self.area.show_spaces
        self._tell_keys()

    def action_turn_view(self) -> None:
        """Show the text in the next way; ways other than the text itself are there to be read."""
        from tui.text.views import VIEWS

        self.view = VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)]

    def watch_view(self, view: str) -> None:
        """Text or view, the one that is seen has the focus."""
        if not self.is_loaded:
            self._tell_keys()
            return
        area, other = self.area, self.token_view
        had_focus = area.has_focus or other.has_focus
        if area.live is None or view == "text":
            self.set_reactive(EditorPane.view, "text")
            self.remove_class("-viewing")
            seen: Widget = area
        else:
            self.add_class("-viewing")
            offset = area.document.get_index_from_location(area.cursor_location)
            from tui.text.views import ViewToken, tokens_around

            n_colors = len(area.palette.tokens)
            tokens = area.edited.ask(lambda live: tokens_around(live, offset, n_colors), list[ViewToken]())
            other.show(view, tokens, area.live.tokenizer.vocabulary, area.palette)
            seen = other
        self._tell_keys()
        if had_focus:
            seen.focus()

    def _tell_keys(self) -> None:
        """On the lower border: the keys that change what is seen, and what is seen now."""
        states = (
            ("next_example", "examples", False),
            ("walk_edits(1)", "edits", False),
            ("turn_view", self.view, self.view != "text"),
            ("toggle_spaces", "spaces", self.area.show_spaces),
            ("toggle_specials", "specials on" if self.specials else "specials", self.specials),
            ("pin", "pinned" if self.area.edited.baseline else "pin", self.area.edited.baseline is not None),
        )
        self.border_subtitle = "  ".join(
            f"[@click={action}]{key_of(action)} {f'[bold $accent]{state}[/]' if on else state}[/]"
            for action, state, on in states
        )

    # Copies

    def selected_ids(self) -> list[int]:
        """The tokens that meet the selection, or all of them where nothing is selected."""
        area = self.area
        first, last = sorted(map(area.document.get_index_from_location, area.selection))
        if first == last:
            return area.edited.ask(lambda live: live.ids, [])
        return [token for span in area.edited.spans(first, last) for token in span.ids]

    def _why_no_ids(self) -> str:
        """What stands in the way of copying ids, in a sentence; empty if nothing does."""
        edited = self.area.edited
        n_tokens = edited.n_tokens
        if n_tokens is None:
            return edited.why_none or "The tokens are not known yet: wait a moment, and copy then."
        if self.area.selection.is_empty and n_tokens > _MOST_COPIED:
            return f"{n_tokens:,} ids are too many for a clipboard: select a part, or run bpescope encode."
        return ""

    def action_copy(self, what: str) -> None:
        """Copy the selection, or the whole text: the "text" itself, its "ids" with spaces between, or as a "list"."""
        from bpe_core.plurals import counted

        area = self.area
        if what != "text" and (problem := self._why_no_ids()):
            self.notify(problem, severity="warning")
            return
        ids = self.selected_ids()
        copies = {"text": area.selected_text or area.text, "ids": " ".join(map(str, ids)), "list": str(ids)}
        self.app.copy_to_clipboard(copies[what])
        ids_told = counted(len(ids), "id")
        told = {"text": "the text", "ids": ids_told, "list": f"{ids_told} as a Python list"}
        self.notify(f"Copied {told[what]}.")
