"""TokenPanel: what is known of the token under the cursor of a table, and what an audit looks for."""

from collections.abc import Iterator

from rich.style import Style
from textual.reactive import var

from bpe_core.auditing.findings import KINDS
from bpe_core.tokenizer import Tokenizer
from tui.drawing.evidence_lines import Known, Line, lines_of_texts, paragraph, token_lines
from tui.drawing.info_lines import InfoLine
from tui.requests import PlaceInText, requests
from tui.state.audit import Audit, TokenLines
from tui.widgets.evidence_list import EvidenceList
from tui.widgets.token_table import TokenTable


class TokenPanel(EvidenceList):
    """Asks the screen to find out what is not known yet of the token, once somebody looks at that side."""

    tokenizer: var[Tokenizer | None] = var[Tokenizer | None](None, init=False)
    audit: var[Audit] = var(Audit(), init=False)
    token_lines: var[TokenLines] = var(TokenLines(), init=False)

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

    def watch_token_lines(self) -> None:
        """More lines of the token are found."""
        if self.side == "lines":
            self.show_token()

    def row_selected(self, row: int) -> None:
        """Go where the line leads to."""
        line = self.lines[row]
        if line.token is not None:
            self._table.go_to(line.token)
        elif line.text is not None:
            requests(self).try_text(line.text, self.token)
        elif line.place is not None:
            file, at = line.place
            back = "F5 leads back to the list."
            requests(self).open_place(PlaceInText(str(file.path), at.line, at.column, len(at.left), back))

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
        elif token is None or token not in tokenizer.vocabulary:
            row = self._table.current
            hole = self._table.rows.hole(row) if row is not None else None
            self.show_lines([*paragraph(hole.sentence, self.room)] if hole else [])
        elif self.side == "lines":
            if self.token_lines.token != token:
                requests(self).find_lines(token)
            else:
                self.show_lines(lines_of_texts(self.token_lines, self.room), anew=not self.token_lines.found)
        else:
            self._show_evidence(tokenizer, token)
        self._shown = self.side, token

    def _show_evidence(self, tokenizer: Tokenizer, token: int) -> None:
        measures = {name: column[token] for name, column in self.audit.measures.items() if token in column}
        verdict, audited = self.audit.verdicts.get(token), bool(self.audit.subject)
        known = Known(tokenizer, token, verdict, measures, audited)
        self.show_lines(token_lines(known, self.room), anew=self._shown != ("token", token))

    def _about(self) -> Iterator[Line]:
        """What an audit looks for, with how much it found, and how much others did in the same vocabulary."""
        rows = self._table.rows
        found = rows.n_of_kind if self.audit.subject else {}
        figures = rows.known.figures if rows.known else {}
        yield from paragraph("An audit looks for tokens that a model hardly learns.", self.room)
        if rows.known:
            yield from paragraph(f"Known figures are those of {rows.known.name}.", self.room, "muted")
        for kind, meaning in KINDS.items():
            numbers = [f"{found.get(kind, 0):,}"] if found else []
            numbers += [f"known {figures[kind]:,}"] if kind in figures else []
            yield Line(InfoLine(kind, " · ".join(numbers), "accent"))
            yield from paragraph(meaning, self.room, "muted", "  ")
