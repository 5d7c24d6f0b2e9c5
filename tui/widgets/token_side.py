"""TokenSide: the token under the editor's cursor, why its piece is split this way, or what may follow."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from rich.style import Style
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import var
from textual.theme import Theme
from textual.timer import Timer
from textual.widgets import ContentSwitcher

from bpe_core.auditing.verdicts import Verdict
from bpe_core.explain.trace import TokenUses
from bpe_core.live.change import Span
from bpe_core.live.live_text import LiveText
from bpe_core.tokenizer import Tokenizer
from tui.commands.key_names import short_name
from tui.commands.table import TURN_SIDE
from tui.drawing.lines import InfoLine, Lines, ink_of, sentence
from tui.terminal.background import SlicedWork
from tui.text.byte_strip import TokenColumn
from tui.text.piece_lines import what_may_come, why_this_split
from tui.text.token_lines import NO_TOKEN, TokenFacts
from tui.text.token_places import notes_on_place
from tui.text.token_summary import EditedPlace, SummaryForm, token_summary
from tui.text.token_uses import Uses, find_uses
from tui.text.views import tokens_around
from tui.widgets.side_titles import SideTitles
from tui.widgets.token_area import TokenArea

if TYPE_CHECKING:
    from tui.widgets.merge_log import MergeLog

SIDES: Final = {"token": "Token", "why": "Why", "ahead": "Ahead"}
"""The sides of the panel, with their titles."""

_NEARBY: Final = 40
"""Characters before and after the cursor whose tokens are shown as its neighbors."""
_SHORT: Final = 1_000
"""Characters of the longest text that is searched for its tokens' uses after each edit."""
_PLAYING: Final = 0.15
"""Seconds from one step to the next that is shown while merges are played."""
_REST: Final = 0.2
"""Seconds from a change to the search of a longer text."""


@dataclass(frozen=True, slots=True)
class _Text:
    """A version of the text and its tokens."""

    live: LiveText
    tokenizer: Tokenizer
    n_edits: int
    is_settled: bool

    @staticmethod
    def of(area: TokenArea) -> "_Text | None":
        live = area.edited.live
        if live is None:
            return None
        return _Text(live, live.tokenizer, area.document.n_edits, live.settled)

    def equals(self, other: "_Text | None") -> bool:
        """Whether nothing has changed. Comparing the tokens of two tokenizers would take too long."""
        return (
            other is not None
            and self.live is other.live
            and self.tokenizer is other.tokenizer
            and self.n_edits == other.n_edits
            and self.is_settled == other.is_settled
        )


class TokenSide(Vertical):
    """The token under the cursor, why its piece is split this way, or what may follow.

    The lines about the token fit the room; the other sides scroll.
    """

    seen: var[str] = var("token", init=False)
    """The side that is shown: a key of `SIDES`."""
    verdicts: Mapping[int, Verdict] = MappingProxyType({})
    """The results of an audit, by token id."""
    merge_log: "MergeLog | None" = None
    """The merges, from which the uses of a token in the corpus are known."""

    def __init__(self, area: TokenArea, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._area = area
        self._uses: Uses | None = None
        """Where each token of the text is used; None before it is known."""
        self._text: _Text | None = None
        """The text that was searched for them, or will be soon."""
        self._shown: tuple[Span | None, bool] | None = None
        """The `_cursor_state` that was shown last."""
        self._is_due = False
        """Whether the token is shown after the next frame."""
        self._plays_from = 0.0
        """When the next played step may be shown."""
        self._rest: Timer | None = None
        """Runs until a long text is searched."""

    def on_mount(self) -> None:
        self._search = SlicedWork[Uses](self)
        # The lines hold the colors of the theme.
        self.app.theme_changed_signal.subscribe(self, self._draw_again)

    def _draw_again(self, theme: Theme) -> None:
        # The text gets the colors of the new theme after this signal.
        self.call_after_refresh(self.show_token)

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

    def show_changed_token(self) -> None:
        """Show the token under the cursor, if the cursor or the text has changed."""
        text = _Text.of(self._area)
        is_same_text = text is not None and text.equals(self._text)
        if is_same_text and self._cursor_state == self._shown:
            return
        # The frame that shows the key doesn't wait for the side.
        if not self._is_due:
            self._is_due = True
            self.call_after_refresh(self._show_due)

    @property
    def _cursor_state(self) -> tuple[Span | None, bool]:
        """The token under the cursor, and whether the vocabulary is sorted."""
        return self._area.edited.under_cursor, self._area.is_sorted

    def show_playing(self) -> None:
        """Show the token of another step, but only a few times a second."""
        if monotonic() >= self._plays_from:
            self._plays_from = monotonic() + _PLAYING
            self.show_token()

    def _show_due(self) -> None:
        if self._is_due:
            self.show_token()

    def show_token(self) -> None:
        self._is_due = False
        self._shown = self._cursor_state
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
            return self._summary(edited.live, under, width, height)
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

    def _summary(
        self, live: LiveText, under: Span, width: int, height: int
    ) -> Iterable[InfoLine]:
        """Describe the token under the cursor."""
        area = self._area
        self._search_text()
        place = area.edited.ask(partial(self._place, under), None)
        if place is None:
            return sentence(NO_TOKEN, width)
        verdict = self.verdicts.get(under.ids[0])
        facts = TokenFacts(live.tokenizer, under.ids[0], verdict)
        uses: TokenUses | None = None
        if self.merge_log is not None:
            uses = self.merge_log.uses_of(facts.vocabulary, facts.step)
        accent = ink_of(self.query_one("#token"), "accent")
        form = SummaryForm(width, height, area.palette, accent, area.is_sorted)
        return token_summary(facts, place, uses, form)

    def _place(self, under: Span, live: LiveText) -> EditedPlace:
        """Return what is known about the token under the cursor at its place in the text."""
        colors = self._area.palette.tokens
        tokens = []
        styles: tuple[Style, ...] = ()
        for token in tokens_around(live, under.start, len(colors), _NEARBY):
            ways = colors[token.color]
            style = ways.usual
            if token.is_current:
                style = ways.current
                styles = (ways.current, ways.usual)
            column = TokenColumn(token.id, token.bytes, style, token.is_current)
            tokens.append(column)
        uses: Sequence[int] | None = None
        if self._uses is not None:
            uses = self._uses.get(under.ids[0], ())
        notes = list(notes_on_place(live, under))
        return EditedPlace(under, tokens, styles, notes, live.n_characters, uses)

    def _search_text(self) -> None:
        """Find where tokens are used: at once after an edit of a short text, otherwise when nothing changes."""
        text = _Text.of(self._area)
        before = self._text
        if text is None or text.equals(before):
            return
        self._text = text
        self._uses = None
        self._search.cancel()
        if self._rest is not None:
            self._rest.stop()
        # While merges are played, the tokenizer changes many times a second.
        is_edit = before is not None and before.tokenizer is text.tokenizer
        if is_edit and text.live.n_characters <= _SHORT:
            self._search.run(find_uses(text.live), self._found)
        elif text.is_settled:
            start = partial(self._search.run, find_uses(text.live), self._show_found)
            self._rest = self.set_timer(_REST, start)

    def _found(self, uses: Uses) -> None:
        self._uses = uses

    def _show_found(self, uses: Uses) -> None:
        self._found(uses)
        self.show_token()
