"""TokenSide: what stands beside a text: the token under the cursor, why its piece is split so, or what may come."""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import reactive, var
from textual.widgets import Static

from bpe_core.tokenizer import Tokenizer
from tui.commands import key_of
from tui.state.audit import Audit
from tui.text.about_place import about_place
from tui.text.explanations import sentence, what_may_come, why_this_split
from tui.widgets.info_list import InfoList
from tui.widgets.inspector import Inspector
from tui.widgets.token_area import TokenArea

TITLES: Final = {"token": "Token", "why": "Why", "ahead": "Ahead"}


class SideTitle(Static):
    """Three words, one of them bright."""

    SIDES: ClassVar[tuple[str, ...]] = tuple(TITLES)
    """What can be seen, in the order in which the key turns to it."""

    DEFAULT_CSS = "SideTitle { height: 1; width: 1fr; padding: 0 1; color: $text; }"

    side: reactive[str] = reactive("token")
    """What is seen."""

    def render(self) -> Text:
        """The words, and the key at the right."""
        words = Text("  ").join(Text(TITLES[name], "bold" if name == self.side else "dim") for name in self.SIDES)
        gap = max(1, self.content_size.width - words.cell_len - 2)
        return words.append(" " * gap).append(key_of("turn_side"), "dim")


class TokenSide(Vertical):
    """Three things in one column, one of them seen."""

    DEFAULT_CSS = """
    TokenSide > Inspector, TokenSide > InfoList { height: 1fr; }
    TokenSide > InfoList, TokenSide.-why > Inspector, TokenSide.-ahead > Inspector { display: none; }
    TokenSide.-why > #why, TokenSide.-ahead > #ahead { display: block; }
    """

    seen: var[str] = var("token", init=False)
    """Which: one of `SideTitle.SIDES`."""

    in_force: var[Tokenizer | None] = var[Tokenizer | None](None, init=False)
    """The tokenizer on the screen, as of the step in force."""

    audit: var[Audit] = var(Audit(), init=False)
    """What an audit found."""

    def __init__(self, area: TokenArea, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._area = area

    def compose(self) -> ComposeResult:
        """One below the other; the style sheet shows one."""
        yield SideTitle(id="side-title")
        yield Inspector(id="inspector")
        yield InfoList(id="why")
        yield InfoList(id="ahead")

    def on_mount(self) -> None:
        """The token has the color that it has in the text."""
        self.query_one(Inspector).token_style = lambda _: self._area.style_under_cursor

    def turn(self) -> None:
        """Show the next of the three."""
        sides = SideTitle.SIDES
        self.seen = sides[(sides.index(self.seen) + 1) % len(sides)]

    def watch_seen(self, seen: str) -> None:
        """Only that one is seen."""
        self.query_one(SideTitle).side = seen
        for name in SideTitle.SIDES:
            self.set_class(name == seen, f"-{name}")
        self.call_after_refresh(self.show_token)

    def watch_in_force(self) -> None:
        """Another step knows other things about the same token."""
        self.show_token()

    def watch_audit(self, old: Audit, audit: Audit) -> None:
        """An audit may know something about the token under the cursor."""
        if audit.verdicts is not old.verdicts:
            self.show_token()

    def on_resize(self) -> None:
        """Other widths have other lines."""
        self.show_token()

    def show_token(self) -> None:
        """Look anew at the token under the cursor, or at its story."""
        inspector, under = self.query_one(Inspector), self._area.under_cursor
        if self.seen != "token":
            self._tell_story()
        if self.in_force is None or under is None:
            inspector.clear()
            return
        token = under.ids[0]
        place = about_place(under, max(8, inspector.size.width - 2))
        inspector.show(self.in_force, token, verdict=self.audit.verdicts.get(token), place=place)

    def _tell_story(self) -> None:
        area, tokenizer = self._area, self.in_force
        lines = self.query_one(f"#{self.seen}", InfoList)
        under = area.under_cursor
        if tokenizer is None or area.live is None:
            lines.show_lines(())
        elif self.seen == "ahead":
            edited = area.edited
            told = edited.why_no_review or what_may_come(edited.review, tokenizer, area.palette, lines.room)
            lines.show_lines(sentence(told, lines.room) if isinstance(told, str) else told)
        elif under is not None:
            piece = area.edited.ask(lambda live: live.prepared_piece(under.start), "")
            lines.show_lines(why_this_split(tokenizer, piece, area.palette, lines.room))
