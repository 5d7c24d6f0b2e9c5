"""The editor pane: a text and its tokens, the token under the cursor, and lines about the last edits and pitfalls.

The text is there first and can be edited; the panels about its tokens are loaded after the first frame.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from textual import events, getters
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.reactive import var
from textual.widget import Widget

from tui.commands.command import Command, features_of
from tui.commands.key_names import short_name
from tui.commands.keys import PartBindings, action_of
from tui.commands.table import NEXT_EXAMPLE, PIN, SHOW_SPACES, SHOW_SPECIALS, TURN_VIEW
from tui.state import Audit, KnownTokenizer, ShownLane, known_name, step_name
from tui.widgets.pane import Pane
from tui.widgets.token_area import TokenArea

if TYPE_CHECKING:
    from bpe_core.content.samples import Example
    from bpe_core.tokenizer import Tokenizer
    from tui.widgets.colored_rows import TokenView
    from tui.widgets.status_lines import StatusLines
    from tui.widgets.token_side import TokenSide

HINT: Final = (
    "Type to see tokens change. Alt+A selects all, and Alt+T trains on this text."
)
_HINT_OF_LANES: Final = (
    "Each line is shown once per lane; faint: split as in the first lane."
)
_HINT_OF_VIEWS: Final = (
    "The tokens around the cursor; what you type goes into the text."
)
_EXAMPLE_START: Final = 8
"""How many first characters must still match an example for it to count as unchanged."""


class _KeyLabel(NamedTuple):
    """A key on the lower border, and the state that it changes."""

    command: Command
    state: str
    is_on: bool

    @property
    def markup(self) -> str:
        state = f"[bold $accent]{self.state}[/]" if self.is_on else self.state
        action = action_of(self.command)
        return f"[@click={action}]{short_name(self.command.keys)} {state}[/]"


class EditorPane(Pane):
    """Text on the left, a token or its explanation on the right, totals, edits and pitfalls below."""

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Editor")

    hint: var[str] = var(HINT)
    """What to look at in the example that is shown, or else what can be done."""
    in_force: var[Tokenizer | None] = var(None, init=False)
    """The tokenizer on the screen, at the current step."""
    lanes: var[tuple[ShownLane, ...]] = var((), init=False)
    """The lanes after the first."""
    kept: var[tuple[KnownTokenizer, ...]] = var((), init=False)
    """The list of tokenizers, with their names."""
    path: var[str] = var("", init=False)
    """The file of the tokenizer on the screen; "" while it is being trained."""
    audit: var[Audit] = var(Audit(), init=False)
    """The audit of that tokenizer."""
    playing: var[bool] = var(False, init=False)
    """Whether the merges are played."""
    specials: var[bool] = var(False, init=False)
    """Whether text that looks like a special token is encoded as this token."""
    example: var[int] = var(-1, init=False)
    """The number of the example that was shown last."""
    not_kept: var[str] = var("", init=False)
    """Why the text cannot be saved for the next start; "" if it can."""
    view: var[str] = var("text", init=False)
    """How the text is shown: one of `VIEWS`."""

    is_loaded = False
    """Whether the panels about the tokens are mounted."""
    put_last = ""
    """The greeting, or the last text that was put in place of another. It is not the user's."""
    _shown_example: Example | None = None
    """The example that was shown, while the text starts like it."""
    _key_labels: tuple[_KeyLabel, ...] = ()
    """The labels on the lower border."""

    area: getters.query_one[TokenArea] = getters.query_one(TokenArea)
    status_lines: StatusLines
    side: TokenSide
    token_view: TokenView

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield TokenArea(id="text")
            yield Vertical(id="side")
        yield Vertical(id="status-lines")

    async def load(self) -> None:
        from tui.widgets.colored_rows import TokenView
        from tui.widgets.status_lines import StatusLines
        from tui.widgets.token_side import TokenSide

        self.side = TokenSide(self.area, id="side")
        self.token_view = TokenView(id="view")
        self.status_lines = StatusLines(self.area, id="status-lines")
        await self.query("#side, #status-lines").remove()
        await self.query_one(Horizontal).mount(self.token_view, self.side)
        await self.mount(self.status_lines)
        self.is_loaded = True

    def parts(self) -> tuple[Widget, ...]:
        return (self.area if self.view == "text" else self.token_view,)

    def on_mount(self) -> None:
        self._show_keys()

    def on_resize(self) -> None:
        self.call_after_refresh(self.show_names)

    # The text and its tokenizers

    def put(self, text: str, token: int | None = None, *, own: bool = False) -> None:
        """Replace the text by one edit, which can be undone.

        The user's text is set aside. If `own` is true, `text` is such a text that comes back.
        The cursor goes to the first place of `token`.
        """
        area = self.area
        before = area.text
        if before.strip() and before != self.put_last:
            features_of(self).texts.set_aside(before, own)
        self.put_last = "" if own else text
        self.view = "text"
        area.replace(text, (0, 0), area.document.end)
        area.move_cursor((0, 0))
        if token is not None:
            for span in area.edited.spans(0, area.document.n_characters):
                if token in span.ids:
                    area.move_to(span.start)
                    break

    def watch_in_force(self, tokenizer: Tokenizer | None) -> None:
        if tokenizer is not None:
            tokenizer = self._with_specials(tokenizer)
        self.area.tokenizer = tokenizer
        if not self.playing:
            self.side.show_token()
        self.show_names()
        self.watch_view(self.view)

    def watch_playing(self, playing: bool) -> None:
        if not playing:
            self.side.show_token()

    def watch_lanes(self, lanes: tuple[ShownLane, ...]) -> None:
        n_before = len(self.area.lanes)
        self.area.lanes = tuple(self._with_specials(lane.tokenizer) for lane in lanes)
        if len(lanes) != n_before:
            self._show_hint()
        self.show_names()

    def _with_specials(self, tokenizer: Tokenizer) -> Tokenizer:
        """Return a tokenizer that encodes text as special tokens if `specials` is on."""
        from bpe_core.tokenizer import SpecialsAllowed

        return SpecialsAllowed.of(tokenizer) if self.specials else tokenizer

    def action_toggle_specials(self) -> None:
        self.specials = not self.specials
        if self.specials and self.in_force is not None:
            if not self.in_force.special_tokens:
                self.notify("This tokenizer has no special tokens.")
            elif not self.in_force.by_piece:
                self.notify(
                    "Special tokens stay text here: this tokenizer changes text before splitting it."
                )

    def watch_specials(self) -> None:
        self.watch_in_force(self.in_force)
        self.watch_lanes(self.lanes)

    # The names of lanes

    @property
    def first_name(self) -> str:
        return known_name(self.path, self.kept) if self.path else "in training"

    def titles(self, *, steps_alone: bool = False) -> list[str]:
        """Return the names of all lanes.

        A lane that keeps another step of the first lane's tokenizer is named by that tokenizer and the step,
        or by the step if `steps_alone`; then the first lane is named like this, too.
        """
        name = "" if steps_alone else self.first_name
        first_title = self.first_name
        titles = []
        for lane in self.lanes:
            if lane.choice.path:
                titles.append(lane.name(self.kept))
                continue
            titles.append(name + lane.name(()))
            if self.in_force is not None:
                first_title = f"{name}{step_name(self.in_force)}"
        return [first_title, *titles]

    def show_names(self) -> None:
        """Show the names of the lanes, after one of them has changed."""
        if not self.is_loaded:
            return
        from tui.text.lane_texts import labels, short_names

        names = short_names(self.titles(steps_alone=True), self.area.size.width)
        self.area.set_labels(labels(names))
        self.status_lines.show_lanes(names)

    watch_path = show_names
    watch_kept = show_names

    # Results

    def watch_not_kept(self, problem: str) -> None:
        self.border_title = self.frame_title
        if problem:
            self.border_title += f"  [$warning]not kept: {problem.lower()}[/]"

    def watch_audit(self, audit: Audit) -> None:
        self.side.verdicts = audit.verdicts
        self.side.show_token()

    def on_token_area_told(self, event: TokenArea.Told) -> None:
        event.stop()
        if self.is_loaded:
            self.status_lines.show_totals()
            self._show_changed_token()

    def _show_changed_token(self) -> None:
        if self.playing:
            self.side.show_playing()
        else:
            self.side.show_changed_token()

    def on_token_area_edited(self, event: TokenArea.Edited) -> None:
        event.stop()
        self._show_hint()
        if self.in_force is not None:
            self.status_lines.show_edit(event)

    def on_token_area_reviewed(self, event: TokenArea.Reviewed) -> None:
        event.stop()
        self._show_keys()
        if not self.is_loaded:
            return
        self.status_lines.show_review()
        if self.side.seen == "ahead":
            self.side.show_token()
        else:
            self._show_changed_token()

    def action_go_to_pitfall(self, by: int) -> None:
        """Select the next pitfall (`by` 1) or the previous pitfall (-1)."""
        area = self.area
        review = area.edited.review
        if review is None:
            return
        pitfall = review.next_pitfall(area.selected[0], by)
        if pitfall is None:
            return
        self.view = "text"
        # Scroll to the end first, then to the start: both are in view if there is room.
        area.move_to(pitfall.end)
        area.move_to(pitfall.start)
        area.move_to(pitfall.end, select=True)
        self.status_lines.go_to(pitfall)

    def action_pin(self) -> None:
        self.area.edited.pin()
        self.area.reviewed()

    # Examples

    def action_show_example(self, number: int) -> None:
        from bpe_core.content.samples import EXAMPLES

        self.example = number % len(EXAMPLES)
        example = EXAMPLES[self.example]
        self._shown_example = example
        self.put(example.text)
        self.area.move_to(example.cursor)
        self._show_hint()

    def action_next_example(self) -> None:
        self.action_show_example(self.example + 1)

    def _show_hint(self) -> None:
        """Explain the example while it is there, or else what is shown."""
        if self._shown_example is not None:
            first_line, _, _ = self._shown_example.text.partition("\n")
            if self.area.document[0].startswith(first_line[:_EXAMPLE_START]):
                self.hint = f"Example: {self._shown_example.see}"
                return
            self._shown_example = None
        if self.view != "text":
            self.hint = _HINT_OF_VIEWS
        elif self.area.lanes:
            self.hint = _HINT_OF_LANES
        else:
            self.hint = HINT

    # Views

    def action_toggle_spaces(self) -> None:
        self.area.show_spaces = not self.area.show_spaces
        self._show_keys()

    def action_turn_view(self) -> None:
        from tui.text.views import VIEWS

        following = VIEWS.index(self.view) + 1
        self.view = VIEWS[following % len(VIEWS)]

    def watch_view(self, view: str) -> None:
        had_focus = any(part.has_focus for part in self.query("#text, #view"))
        if self.area.edited.live is None:
            view = "text"
            self.set_reactive(EditorPane.view, view)
        if view != "text":
            self._show_tokens(view)
        self.set_class(view != "text", "-viewing")
        self._show_keys()
        self._show_hint()
        if had_focus:
            self.focus_next_part()

    def _show_tokens(self, view: str) -> None:
        """Show the tokens around the cursor instead of the text."""
        from tui.text.views import ViewToken, tokens_around, view_rows

        area = self.area
        tokenizer = area.tokenizer
        if tokenizer is None:
            return
        cursor = area.document.get_index_from_location(area.cursor_location)
        n_colors = len(area.palette.tokens)
        tokens: list[ViewToken] = area.edited.ask(
            lambda live: tokens_around(live, cursor, n_colors), []
        )
        rows = partial(view_rows, view, tokens, tokenizer.vocabulary)
        self.token_view.show(rows, area.palette)

    def on_key(self, event: events.Key) -> None:
        edits = event.is_printable or event.key in ("enter", "backspace", "delete")
        if edits and self.view != "text":
            self._pass_to_text(event)

    def on_paste(self, event: events.Paste) -> None:
        if self.view != "text":
            self._pass_to_text(event)

    def _pass_to_text(self, event: events.Key | events.Paste) -> None:
        self.view = "text"
        self.area.post_message(copy(event))
        event.stop()

    def _show_keys(self) -> None:
        """Show on the lower border the keys that change what is shown, and other states that are on."""
        has_pinned = self.area.edited.baseline is not None
        labels = [
            _KeyLabel(NEXT_EXAMPLE, "examples", is_on=False),
            _KeyLabel(TURN_VIEW, self.view, self.view != "text"),
            _KeyLabel(SHOW_SPACES, "spaces", self.area.show_spaces),
        ]
        if self.specials:
            labels.append(_KeyLabel(SHOW_SPECIALS, "specials on", is_on=True))
        if has_pinned:
            labels.append(_KeyLabel(PIN, "pinned", is_on=True))
        # Assign only a new subtitle: it draws the whole pane again.
        if tuple(labels) != self._key_labels:
            self._key_labels = tuple(labels)
            self.border_subtitle = "  ".join(label.markup for label in labels)
