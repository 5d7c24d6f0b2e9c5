"""The editor pane: a text whose tokens re-form as it is typed, what the last edits did, what is under the cursor.

The text comes first, and can be typed in; what tells of its tokens is loaded once it is on the screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.reactive import var

from tui.commands import bindings
from tui.state import Audit, KnownTokenizer, ShownLane, known_name, step_name
from tui.widgets.editor_keys import EditorKeys
from tui.widgets.token_area import TokenArea

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer


class EditorPane(EditorKeys):
    """Text on the left, a token or its story on the right, totals and edits and pitfalls below."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Editor")

    LATER = ("tui.widgets.text_facts", "tui.widgets.colored_rows")

    in_force: var[Tokenizer | None] = var(None)  # the tokenizer on the screen, as of the step in force
    lanes: var[tuple[ShownLane, ...]] = var((), init=False)  # the lanes after the first
    kept: var[tuple[KnownTokenizer, ...]] = var((), init=False)  # the tokenizers that there are, with their names
    path: var[str] = var("")  # the file of the tokenizer on the screen; empty while it is being trained
    audit: var[Audit] = var(Audit())  # what an audit found in it

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield TokenArea(id="text")
            yield Vertical(id="side")
        yield Vertical(id="status-lines")

    async def load(self) -> None:
        from tui.widgets.colored_rows import TokenView
        from tui.widgets.text_facts import StatusLines, TokenSide

        side = TokenSide(self.area, id="side")
        await self.query("#side, #status-lines").remove()
        await self.query_one(Horizontal).mount(TokenView(id="view"), side)
        await self.mount(StatusLines(self.area, id="status-lines"))
        self.is_loaded = True
        side.in_force, side.audit = self.in_force, self.audit
        self.watch_lanes(self.lanes)

    def focus_next_part(self) -> None:
        self.screen.set_focus(self.area if self.view == "text" else self.token_view)

    def watch_in_force(self, tokenizer: Tokenizer | None) -> None:
        self.area.tokenizer = None if tokenizer is None else self._as_wanted(tokenizer)
        if self.is_loaded:
            self.side.in_force = self.in_force
            self._label_lanes()
        self.watch_view(self.view)

    def watch_lanes(self, lanes: tuple[ShownLane, ...]) -> None:
        if not self.is_loaded:
            return
        n_before = len(self.area.lanes)
        self.area.lanes = tuple(self._as_wanted(lane.tokenizer) for lane in lanes)
        if len(lanes) != n_before:
            self.status_lines.forget_edits()
            self.tell_example()
        self._label_lanes()

    def _as_wanted(self, tokenizer: Tokenizer) -> Tokenizer:
        """The same one, taking the texts of special tokens for these tokens where that is wanted."""
        from bpe_core.tokenizer import SpecialsAllowed

        return SpecialsAllowed.of(tokenizer) if self.specials else tokenizer

    @property
    def first_name(self) -> str:
        """What the tokenizer of the first lane is called."""
        return known_name(self.path, self.kept) if self.path else "in training"

    def titles(self, *, steps_alone: bool = False) -> list[str]:
        """What the lanes are called, those that are steps of one tokenizer by its name and the step, or by that alone.

        A lane of the tokenizer on the screen makes the first one a step of it, too.
        """
        name = "" if steps_alone else self.first_name
        others = [lane.name(self.kept) if lane.choice.path else name + lane.name(()) for lane in self.lanes]
        is_step = self.in_force is not None and not all(lane.choice.path for lane in self.lanes)
        return [f"{name}{step_name(self.in_force)}" if self.in_force and is_step else self.first_name, *others]

    def tell_names(self) -> None:
        """A lane has another name, or its step is known by now."""
        if self.is_loaded:
            self._label_lanes()

    watch_path = watch_kept = tell_names

    def _label_lanes(self) -> None:
        from tui.text.status_texts import labels, short_names

        names = short_names(self.titles(steps_alone=True), self.area.size.width)
        self.area.set_labels(labels(names))
        self.status_lines.show_lanes(names)

    def on_resize(self) -> None:
        if self.is_loaded:
            self.call_after_refresh(self._label_lanes)

    def watch_audit(self, audit: Audit) -> None:
        if self.is_loaded:
            self.side.audit = audit

    # What the text tells

    def on_token_area_tokenized(self, event: TokenArea.Tokenized) -> None:
        event.stop()
        if self.area.edited.why_none:
            self.status_lines.say(self.area.edited.why_none)
        else:
            self.status_lines.show_totals()

    def on_text_area_selection_changed(self) -> None:
        if self.is_loaded:
            self.status_lines.cursor_moved()

    def on_token_area_edited(self, event: TokenArea.Edited) -> None:
        event.stop()
        self.tell_example()
        if self.in_force is not None:
            self.status_lines.show_edit(event)

    def on_token_area_cursor_moved(self, event: TokenArea.CursorMoved) -> None:
        event.stop()
        self.side.show_token()

    def on_token_area_reviewed(self, event: TokenArea.Reviewed) -> None:
        event.stop()
        self.tell_keys()
        if not self.is_loaded:
            return
        self.status_lines.show_review(self.in_force)
        if self.side.seen == "ahead":
            self.side.show_token()

    def action_toggle_specials(self) -> None:
        """Take the texts of special tokens for these tokens, or for text again."""
        self.specials = not self.specials
        if self.specials and self.in_force is not None:
            if not self.in_force.special_tokens:
                self.notify("This tokenizer has no special tokens.")
            elif not self.in_force.by_piece:
                self.notify("Special tokens stay text here: this tokenizer changes a text before it splits it.")
        self.watch_in_force(self.in_force)
        self.watch_lanes(self.lanes)
