"""TokenPanel: what is known of the token under the cursor of a table, and what an audit looks for."""

from collections.abc import Callable, Iterator

from rich.style import Style
from textual.message import Message
from textual.reactive import var

from bpe_core.auditing.findings import KINDS
from bpe_core.auditing.partial_utf8 import torn_ends
from bpe_core.tokenizer import Tokenizer
from tui.drawing.evidence_lines import Known, Line, lines_of_texts, paragraph, token_lines
from tui.drawing.info_lines import InfoLine
from tui.drawing.model_lines import USUAL, OwnRow, model_lines
from tui.messages import IndicatorChosen, LinesWanted, NearestWanted, PartnersWanted, PlaceOpened, TextTried
from tui.state.audit import Audit, NearestRows, Partners, TokenLines
from tui.widgets.evidence_list import EvidenceList
from tui.widgets.token_table import TokenTable


class TokenPanel(EvidenceList):
    """Asks the screen to find out what is not known yet of the token, once somebody looks at that side."""

    tokenizer: var[Tokenizer | None] = var[Tokenizer | None](None, init=False)
    audit: var[Audit] = var(Audit(), init=False)
    token_lines: var[TokenLines] = var(TokenLines(), init=False)
    nearest_rows: var[NearestRows] = var(NearestRows(), init=False)
    partners: var[Partners] = var(Partners(), init=False)
    percentile: var[float] = var(USUAL, init=False)
    """Where the threshold of the histogram is, in percent of ordinary tokens."""

    def __init__(self, table: TokenTable, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.token_style = self._style_of_token
        self._table = table
        self._shown: tuple[str, int | None] = "", None
        """The side that is shown, and of which token."""

    # What changes

    def watch_side(self) -> None:
        """Something else is to be seen of the token."""
        self.refresh()
        self.show_token()

    def watch_audit(self, old: Audit, audit: Audit) -> None:
        """Whether the rows of a model are waited for has changed."""
        if old.running != audit.running and self.side == "model":
            self.show_token()

    def watch_token_lines(self) -> None:
        """More lines of the token are found."""
        if self.side == "lines":
            self.show_token()

    def watch_nearest_rows(self) -> None:
        """More is known of the rows near that of the token."""
        if self.side == "model":
            self.show_token()

    def watch_partners(self) -> None:
        """More is known of what makes text of the token."""
        if self.side == "token":
            self.show_token()

    def watch_percentile(self) -> None:
        """The threshold is elsewhere."""
        self.show_token()

    def row_selected(self, row: int) -> None:
        """Go where the line leads to."""
        line = self.lines[row]
        if line.token is not None:
            self._table.go_to(line.token)
        elif line.text is not None:
            self.post_message(TextTried(line.text, self.token))
        elif line.indicator is not None:
            self.post_message(IndicatorChosen(line.indicator))
        elif line.sort is not None:
            self._table.sort_key = line.sort
        elif line.place is not None:
            file, at = line.place
            back = "F5 leads back to the list."
            self.post_message(PlaceOpened(str(file.path), at.line, at.column, len(at.text), back))

    # What is shown

    @property
    def token(self) -> int | None:
        """The id under the cursor of the table; None on a hole."""
        row, rows = self._table.current, self._table.rows
        return None if row is None or rows.hole(row) else rows.ids[row]

    def _style_of_token(self) -> Style | None:
        style, token = self._table.token_style, self.token
        return style(token) if style and token is not None else None

    def show_token(self) -> None:
        """Show the side that is to be seen, of the token under the cursor of the table as it is now."""
        tokenizer, token = self.tokenizer, self.token
        if self.side == "about" or tokenizer is None:
            self.show_lines([*self._about()])
        elif self.side == "model":
            self._show_model(tokenizer, token)
        elif token is None or token not in tokenizer.vocabulary:
            row = self._table.current
            hole = self._table.rows.hole(row) if row is not None else None
            self.show_lines([*paragraph(hole.sentence, self.room)] if hole else [])
        elif self.side == "lines":
            if self.token_lines.token != token:
                self._want(lambda: LinesWanted(token))
            else:
                self.show_lines(lines_of_texts(self.token_lines, self.room), anew=not self.token_lines.found)
        else:
            self._show_evidence(tokenizer, token)
        self._shown = self.side, token

    def _want(self, wanted: Callable[[], Message]) -> None:
        # By its own hand: what is posted from a handler of the pane around it goes no further than that pane.
        self.call_later(lambda: self.post_message(wanted()))

    def _show_evidence(self, tokenizer: Tokenizer, token: int) -> None:
        measures = {name: column[token] for name, column in self.audit.measures.items() if token in column}
        torn = torn_ends(tokenizer.vocabulary.token_bytes(token))
        partners = self.partners if torn and torn.where != "both" else None
        if partners is not None and partners.token != token:
            self._want(lambda: PartnersWanted(token))
        verdict, audited = self.audit.verdicts.get(token), bool(self.audit.subject)
        known = Known(tokenizer, token, verdict, measures, audited, partners)
        self.show_lines(token_lines(known, self.room), anew=self._shown != ("token", token))

    def _show_model(self, tokenizer: Tokenizer, token: int | None) -> None:
        judged, vocabulary = self.audit.judged_rows, tokenizer.vocabulary
        own = None
        if token is not None and token in vocabulary:
            own = OwnRow(token, self.audit.measures.get("indicator", {}).get(token))
            if judged is not None and self.nearest_rows.token != token:
                self._want(lambda: NearestWanted(token))
        waiting, nearest = self.audit.running and bool(self.audit.inputs.embeddings), self.nearest_rows
        lines = model_lines(judged, vocabulary, own, nearest, self.percentile, self.room, waiting=waiting)
        self.show_lines(lines, anew=self._shown != ("model", token))

    def _about(self) -> Iterator[Line]:
        """What an audit looks for, with how much it found, and how much others did in the same vocabulary."""
        rows = self._table.rows
        found = rows.choices if self.audit.subject else {}
        figures = rows.known.figures if rows.known else {}
        yield from paragraph("An audit looks for tokens that a model hardly learns.", self.room)
        if rows.known:
            yield from paragraph(f"Known figures are those of {rows.known.name}.", self.room, "muted")
        for kind, meaning in KINDS.items():
            numbers = [f"{found.get(kind, 0):,}"] if found else []
            numbers += [f"known {figures[kind]:,}"] if kind in figures else []
            yield Line(InfoLine(kind, " · ".join(numbers), "accent"))
            yield from paragraph(meaning, self.room, "muted", "  ")
