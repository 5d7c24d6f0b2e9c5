"""The editor pane: a text whose tokens re-form as it is typed, what the last edits did, what is under the cursor.

The text comes first, and can be typed in; what tells of its tokens is loaded once it is on the screen.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, getters
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.reactive import var

from bpe_core.errors import BpeError
from bpe_core.visible import counted, visible
from tui.commands.command import Command, features_of, in_background
from tui.commands.key_names import short_name
from tui.commands.keys import PartBindings, action_of
from tui.commands.table import NEXT_EXAMPLE, PIN, SHOW_SPACES, SHOW_SPECIALS, TURN_VIEW
from tui.state import Audit, KnownTokenizer, ShownLane, known_name, step_name
from tui.text.edited_text import MOST_DRAWN, PICTURES
from tui.widgets.pane import Pane
from tui.widgets.token_area import TokenArea

if TYPE_CHECKING:
    from bpe_core.content.samples import Example
    from bpe_core.tokenizer import Tokenizer
    from tui.widgets.colored_rows import TokenView
    from tui.widgets.text_facts import StatusLines, TokenSide

HINT: Final = (
    "Type to see tokens change; the one at the cursor is explained on the right."
)
_HINT_OF_LANES: Final = (
    "Each line is shown once per lane; faint: split as in the first lane."
)
_HINT_OF_VIEWS: Final = (
    "The tokens around the cursor; what you type goes into the text."
)
_HINTED: Final = (NEXT_EXAMPLE, SHOW_SPACES, TURN_VIEW)
"""On the lower border even while they are not on."""
_BEGINNING: Final = 8  # characters by which an example is known again


class EditorPane(Pane):
    """Text on the left, a token or its story on the right, totals and edits and pitfalls below."""

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Editor")

    hint: var[str] = var(
        HINT
    )  # what to look at in the example that is shown; or else what can be done here
    in_force: var[Tokenizer | None] = var(
        None, init=False
    )  # the tokenizer on the screen, as of the step in force
    lanes: var[tuple[ShownLane, ...]] = var((), init=False)  # the lanes after the first
    kept: var[tuple[KnownTokenizer, ...]] = var(
        (), init=False
    )  # the tokenizers that there are, with their names
    path: var[str] = var(
        "", init=False
    )  # the file of the tokenizer on the screen; empty while it is being trained
    audit: var[Audit] = var(Audit(), init=False)  # what an audit found in it
    specials: var[bool] = var(
        False, init=False
    )  # whether the text of a special token is that token, rather than text
    example: var[int] = var(
        -1, init=False
    )  # the number of the example that was shown last
    not_kept: var[str] = var(
        "", init=False
    )  # why the text cannot be kept for the next start; empty where it is
    view: var[str] = var("text", init=False)  # how the text is seen: one of `VIEWS`

    is_loaded = False  # whether what tells of the text is there
    put_last = ""  # what was put in the place of a text of the user's, or greets: nothing is lost with it
    _shown: Example | None = None  # an example, as long as the text begins as it does
    _states: tuple[tuple[Command, str, bool], ...] = ()  # what the lower border tells

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
        from tui.widgets.text_facts import StatusLines, TokenSide

        self.side, self.token_view = (
            TokenSide(self.area, id="side"),
            TokenView(id="view"),
        )
        self.status_lines = StatusLines(self.area, id="status-lines")
        await self.query("#side, #status-lines").remove()
        await self.query_one(Horizontal).mount(self.token_view, self.side)
        await self.mount(self.status_lines)
        self.is_loaded = True

    def focus_next_part(self) -> None:
        self.screen.set_focus(self.area if self.view == "text" else self.token_view)

    def on_key(self, event: events.Key | events.Paste) -> None:
        types = (
            isinstance(event, events.Paste)
            or event.is_printable
            or event.key in ("enter", "backspace", "delete")
        )
        if types and self.view != "text":
            self.view = "text"
            self.area.post_message(copy(event))
            event.stop()

    on_paste = on_key

    def watch_in_force(self, tokenizer: Tokenizer | None) -> None:
        self.area.tokenizer = None if tokenizer is None else self._as_wanted(tokenizer)
        self.side.show_token()
        self.tell_names()
        self.watch_view(self.view)

    def watch_lanes(self, lanes: tuple[ShownLane, ...]) -> None:
        n_before = len(self.area.lanes)
        self.area.lanes = tuple(self._as_wanted(lane.tokenizer) for lane in lanes)
        if len(lanes) != n_before:
            self.tell_example()
        self.tell_names()

    def _as_wanted(self, tokenizer: Tokenizer) -> Tokenizer:
        """The same one, taking the texts of special tokens for these tokens where that is wanted."""
        from bpe_core.tokenizer import SpecialsAllowed

        return SpecialsAllowed.of(tokenizer) if self.specials else tokenizer

    @property
    def first_name(self) -> str:
        return known_name(self.path, self.kept) if self.path else "in training"

    def titles(self, *, steps_alone: bool = False) -> list[str]:
        """What the lanes are called, those that are steps of one tokenizer by its name and the step, or by that alone.

        A lane of the tokenizer on the screen makes the first one a step of it, too.
        """
        name = "" if steps_alone else self.first_name
        others = [
            lane.name(self.kept) if lane.choice.path else name + lane.name(())
            for lane in self.lanes
        ]
        is_step = self.in_force is not None and not all(
            lane.choice.path for lane in self.lanes
        )
        return [
            f"{name}{step_name(self.in_force)}"
            if self.in_force and is_step
            else self.first_name,
            *others,
        ]

    def tell_names(self) -> None:
        """A lane has another name, or its step is known by now."""
        if not self.is_loaded:
            return
        from tui.text.status_texts import labels, short_names

        names = short_names(self.titles(steps_alone=True), self.area.size.width)
        self.area.set_labels(labels(names))
        self.status_lines.show_lanes(names)

    watch_path = watch_kept = tell_names

    def on_resize(self) -> None:
        self.call_after_refresh(self.tell_names)

    def watch_not_kept(self, why: str) -> None:
        self.border_title = (
            self.frame_title + f"  [$warning]not kept: {why.lower()}[/]" * bool(why)
        )

    def watch_audit(self, audit: Audit) -> None:
        self.side.verdicts = audit.verdicts
        self.side.show_token()

    # What the text tells

    def on_token_area_told(self, event: TokenArea.Told) -> None:
        event.stop()
        if self.is_loaded:
            self.status_lines.show_totals()
            self.side.show_token()

    def on_token_area_edited(self, event: TokenArea.Edited) -> None:
        event.stop()
        self.tell_example()
        if self.in_force is not None:
            self.status_lines.show_edit(event)

    def on_token_area_reviewed(self, event: TokenArea.Reviewed) -> None:
        event.stop()
        self.tell_keys()
        if not self.is_loaded:
            return
        self.status_lines.show_review()
        if self.side.seen == "ahead":
            self.side.show_token()

    # What the keys do

    def put(self, text: str, token: int | None = None, *, own: bool = False) -> None:
        """Replace the text, as one edit that can be undone; the cursor goes to the first place of `token`.

        A text of the user's is set aside for it: one that was typed, or edited, or is the user's `own` come back.
        """
        area, before = self.area, self.area.text
        if before.strip() and before != self.put_last:
            features_of(self).texts.set_aside(before, own)
        self.put_last = "" if own else text
        self.view = "text"
        area.replace(text, (0, 0), area.document.end)
        area.move_cursor((0, 0))
        if token is not None:
            spans = area.edited.spans(0, area.document.n_characters)
            start = next((span.start for span in spans if token in span.ids), 0)
            area.move_cursor(area.document.get_location_from_index(start))

    def action_show_example(self, number: int) -> None:
        from bpe_core.content.samples import EXAMPLES

        self.example = number % len(EXAMPLES)
        self._shown = shown = EXAMPLES[self.example]
        self.put(shown.text)
        self.area.move_cursor(self.area.document.get_location_from_index(shown.cursor))
        self.tell_example()

    def tell_example(self) -> None:
        """In the hint what to look at, as long as the example is there."""
        if self._shown and not self.area.document[0].startswith(
            self._shown.text.partition("\n")[0][:_BEGINNING]
        ):
            self._shown = None
        hint = (
            _HINT_OF_VIEWS
            if self.view != "text"
            else _HINT_OF_LANES
            if self.area.lanes
            else HINT
        )
        self.hint = f"Example: {self._shown.see}" if self._shown else hint

    def action_next_example(self) -> None:
        self.action_show_example(self.example + 1)

    def action_pin(self) -> None:
        self.area.edited.pin()
        self.area.reviewed()

    def action_go_to_pitfall(self, by: int) -> None:
        area, review = self.area, self.area.edited.review
        here = min(map(area.document.get_index_from_location, area.selection))
        found = review.next_pitfall(here, by) if review else None
        if found is not None:
            self.view = "text"
            start, end = map(
                area.document.get_location_from_index, (found.start, found.end)
            )
            area.move_cursor(end)
            area.move_cursor(start)
            area.move_cursor(end, select=True)
            self.status_lines.go_to(found)

    def action_toggle_spaces(self) -> None:
        self.area.show_spaces = not self.area.show_spaces
        self.tell_keys()

    def action_turn_view(self) -> None:
        from tui.text.views import VIEWS

        self.view = VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)]

    def watch_view(self, view: str) -> None:
        area = self.area
        had_focus = any(part.has_focus for part in self.query("#text, #view"))
        if area.edited.live is None or view == "text":
            self.set_reactive(EditorPane.view, "text")
        else:
            from tui.text.views import ViewToken, tokens_around, view_rows

            offset, n_colors = (
                area.document.get_index_from_location(area.cursor_location),
                len(area.palette.tokens),
            )
            tokens = area.edited.ask(
                lambda live: tokens_around(live, offset, n_colors), list[ViewToken]()
            )
            rows = partial(
                view_rows, view, tokens, area.edited.live.tokenizer.vocabulary
            )
            self.token_view.show(rows, area.palette)
        self.set_class(self.view != "text", "-viewing")
        self.tell_keys()
        self.tell_example()
        if had_focus:
            self.focus_next_part()

    def tell_keys(self) -> None:
        """On the lower border: the keys that change what is seen, and what is seen now."""
        states = (
            (NEXT_EXAMPLE, "examples", False),
            (TURN_VIEW, self.view, self.view != "text"),
            (SHOW_SPACES, "spaces", self.area.show_spaces),
            (
                SHOW_SPECIALS,
                "specials on" if self.specials else "specials",
                self.specials,
            ),
            (
                PIN,
                "pinned" if self.area.edited.baseline else "pin",
                self.area.edited.baseline is not None,
            ),
        )
        if states != self._states:  # else the whole pane would be drawn again
            self._states = states
            self.border_subtitle = "  ".join(
                f"[@click={action_of(command)}]{short_name(command.keys)} {f'[bold $accent]{state}[/]' if on else state}[/]"
                for command, state, on in states
                if on or command in _HINTED
            )

    on_mount = tell_keys

    def action_copy(self, what: str) -> None:
        """Copy the selection, or the whole text: the "text" itself, its "ids" with spaces between, or as a "list"."""
        area = self.area
        if what != "text" and (problem := area.edited.why_no_ids(area.selected)):
            return self.notify(problem, severity="warning")
        ids = [] if what == "text" else area.edited.ids(area.selected)
        copies = {
            "text": area.selected_text or area.text,
            "ids": " ".join(map(str, ids)),
            "list": str(ids),
        }
        self.app.copy_to_clipboard(copies[what])
        copied = counted(len(ids), "id") + " as a Python list" * (what == "list")
        self.notify(f"Copied {'the text' if what == 'text' else copied}.")

    def action_share(self, kind: str) -> None:
        area = self.area
        whole, selected = (0, area.document.n_characters), area.selected
        part = (
            selected
            if selected[0] < selected[1]
            else whole
            if whole[1] <= MOST_DRAWN
            else area.in_view
        )
        what, suffix = PICTURES[kind]
        if part[1] - part[0] > MOST_DRAWN:
            self.notify(
                f"A picture holds {MOST_DRAWN:,} characters at most: select fewer.",
                severity="warning",
            )
        elif area.edited.live is None:
            self.notify(
                area.edited.why_none or "There are no tokens yet: wait a moment.",
                severity="warning",
            )
        else:
            try:
                draw = area.edited.picture(self.titles(), part, kind)
                texts = features_of(self).texts
                in_background(self, texts.save_picture(draw, what, f"editor{suffix}"))
            except BpeError as error:
                self.notify(
                    visible(f"There is no picture of this part: {error}"),
                    severity="error",
                    markup=False,
                )

    def action_toggle_specials(self) -> None:
        self.specials = not self.specials
        if self.specials and self.in_force is not None:
            if not self.in_force.special_tokens:
                self.notify("This tokenizer has no special tokens.")
            elif not self.in_force.by_piece:
                self.notify(
                    "Special tokens stay text here: this tokenizer changes a text before it splits it."
                )
        self.watch_in_force(self.in_force)
        self.watch_lanes(self.lanes)
