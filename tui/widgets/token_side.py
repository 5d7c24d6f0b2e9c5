"""TokenSide: what stands beside a text: the token under the cursor, why its piece is split so, or what may come."""

from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import var

from bpe_core.tokenizer import Tokenizer
from tui.commands import key_of
from tui.drawing.info_lines import sentence
from tui.state import Audit
from tui.text.explanations import what_may_come, why_this_split
from tui.text.token_lines import NO_TOKEN, TokenFacts, about_place, token_summary
from tui.widgets.lines import Lines, Titles
from tui.widgets.token_area import TokenArea

SIDES: Final = {"token": "Token", "why": "Why", "ahead": "Ahead"}
"""What can be seen, in the order in which the key turns to it -> its title."""


class TokenSide(Vertical):
    """Three things in one column, one of them seen; the lines of the first fit the room, the others scroll."""

    DEFAULT_CSS = """
    TokenSide > Lines { height: 1fr; }
    TokenSide > #story, TokenSide.-story > #inspector { display: none; }
    TokenSide.-story > #story { display: block; }
    """

    seen: var[str] = var("token", init=False)
    """Which: a key of `SIDES`."""
    in_force: var[Tokenizer | None] = var[Tokenizer | None](None, init=False)
    """The tokenizer on the screen, as of the step in force."""
    audit: var[Audit] = var(Audit(), init=False)
    """What an audit found."""

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
        """Show the next of the three."""
        names = list(SIDES)
        self.seen = names[(names.index(self.seen) + 1) % len(names)]

    def watch_seen(self, seen: str) -> None:
        self.query_one(Titles).choice = seen
        self.set_class(seen != "token", "-story")
        self.call_after_refresh(self.show_token)

    def watch_in_force(self) -> None:
        self.show_token()

    def watch_audit(self, old: Audit, audit: Audit) -> None:
        if audit.verdicts is not old.verdicts:
            self.show_token()

    def on_resize(self) -> None:
        self.show_token()

    def show_token(self) -> None:
        """Look anew at the token under the cursor, or at its story."""
        if self.seen != "token":
            self._show_story()
            return
        lines, under = self.query_one("#inspector", Lines), self._area.under_cursor
        if self.in_force is None or under is None:
            lines.show_lines(sentence(NO_TOKEN, lines.room))
            return
        facts = TokenFacts(self.in_force, under.ids[0], self.audit.verdicts.get(under.ids[0]))
        place = [*about_place(under, lines.room)]
        lines.show_lines(token_summary(facts, place, lines.room, lines.size.height))

    def _show_story(self) -> None:
        area, tokenizer = self._area, self.in_force
        lines, under = self.query_one("#story", Lines), area.under_cursor
        if tokenizer is None or area.live is None:
            lines.show_lines(())
        elif self.seen == "ahead":
            edited = area.edited
            if edited.why_no_review:
                lines.show_lines(sentence(edited.why_no_review, lines.room))
            else:
                lines.show_lines(what_may_come(edited.review, tokenizer, area.palette, lines.room))
        elif under is not None:
            piece = area.edited.ask(lambda live: live.prepared_piece(under.start), "")
            lines.show_lines(why_this_split(tokenizer, piece, area.palette, lines.room))
