"""The editor pane: a text whose tokens re-form as it is typed, what the last edit did, what is under the cursor."""

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.reactive import var
from textual.widgets import Static

from bpe_core.audit.findings import Finding
from bpe_core.live_text import Change
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import token_label
from tui.widgets.inspector import Inspector
from tui.widgets.pane import Pane
from tui.widgets.token_area import TokenArea

LONGEST_DIFF = 12
"""Tokens on either side of the edit line before the rest is only counted."""


class EditorPane(Pane):
    """Text on the left, token on the right, totals and the last edit below."""

    BORDER_TITLE = "Editor  [dim]F4[/]"

    tokenizer: var[Tokenizer | None] = var[Tokenizer | None](None)
    """The tokenizer in force, as of the step in force."""

    findings: var[tuple[Finding, ...]] = var[tuple[Finding, ...]](())
    """What an audit found, for the token under the cursor."""

    def compose(self) -> ComposeResult:
        """The text takes what the inspector leaves."""
        with Horizontal():
            with Vertical(id="writing"):
                yield TokenArea(id="text")
                yield Static(id="totals-line", markup=False)
                yield Static(id="edit-line", markup=False)
            yield Inspector(id="inspector")

    @property
    def area(self) -> TokenArea:
        """The text area."""
        return self.query_one(TokenArea)

    def land(self) -> None:
        """Take the focus: into the text."""
        self.area.focus()

    def put(self, text: str, token: int | None = None) -> None:
        """Replace the text, as one edit that can be undone; the cursor goes to the first place of `token`."""
        area = self.area
        area.replace(text, (0, 0), area.document.end)
        area.move_cursor((0, 0))
        if token is not None and area.live is not None:
            spans = area.live.spans(0, area.live.n_characters)
            start = next((span.start for span in spans if token in span.ids), 0)
            area.move_cursor(area.document.get_location_from_index(start))

    def watch_tokenizer(self, tokenizer: Tokenizer | None) -> None:
        """Another tokenizer, or another step of it: the same text, other tokens."""
        self.area.tokenizer = tokenizer

    def on_token_area_tokenized(self, event: TokenArea.Tokenized) -> None:
        """The totals, in one line."""
        event.stop()
        self.query_one("#totals-line", Static).update(
            totals_line(event.n_tokens, event.n_bytes, event.n_characters, self.tokenizer), layout=False
        )

    def on_token_area_edited(self, event: TokenArea.Edited) -> None:
        """What the last edit did to the tokens."""
        event.stop()
        if self.tokenizer is not None:
            self.query_one("#edit-line", Static).update(edit_line(event.change, self.tokenizer), layout=False)

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
        if self.tokenizer is None or under is None:
            inspector.clear()
            return
        token = under.ids[0]
        shared = len(under.ids) > 1
        note = f"The first of {len(under.ids)} tokens that only together make up this text." if shared else ""
        findings = [finding for finding in self.findings if finding.id == token]
        inspector.show(self.tokenizer, token, findings=findings, note=note)


def totals_line(n_tokens: int | None, n_bytes: int, n_characters: int, tokenizer: Tokenizer | None) -> Text:
    """Tokens, bytes, characters, and how much one token covers."""
    counted = "counting tokens" if n_tokens is None else _number(n_tokens, "token")
    line = Text.assemble((counted, "bold"), f"  {_number(n_bytes, 'byte')}  {_number(n_characters, 'character')}")
    if n_tokens:
        line.append(f"  {n_bytes / n_tokens:.2f} bytes/token")
    if tokenizer is not None and tokenizer.splitter.lossy:
        line.append("  whitespace is dropped by this pattern", "italic")
    return line


def edit_line(change: Change | None, tokenizer: Tokenizer) -> Text:
    """The tokens that went, those that came, and how far the edit reached; None: too many to compare."""
    if change is None:
        return Text("last edit  too large to compare its tokens", "dim")
    removed, inserted = len(change.removed), len(change.inserted)
    if not removed and not inserted:
        return Text("last edit  no token changed", "dim")
    line = Text.assemble(("last edit  ", "dim"), no_wrap=True, overflow="ellipsis")
    line.append_text(_tokens(change.removed, tokenizer, Style(strike=True, dim=True)))
    line.append(" → ", "bold")
    line.append_text(_tokens(change.inserted, tokenizer, Style(bold=True)))
    line.append(f"   −{removed} +{inserted}", "dim")
    if change.ripple:
        line.append(f"   ripple {_number(change.ripple, 'byte')}", "dim")
    return line


def _tokens(ids: tuple[int, ...], tokenizer: Tokenizer, style: Style) -> Text:
    shown = ids if len(ids) <= LONGEST_DIFF else ids[: LONGEST_DIFF // 2]
    text = Text("·", "dim").join(Text(token_label(tokenizer.token_bytes(token)), style) for token in shown)
    if len(shown) < len(ids):
        text.append(f" … {len(ids) - len(shown):,} more", "dim")
    return text if ids else Text("nothing", "dim italic")


def _number(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
