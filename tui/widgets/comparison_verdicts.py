"""Verdicts: whether the compared tokenizers are the same, with the tokens of the shortest text that shows a difference."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType

from bpe_core.difference import DecodedWitness, Difference, Witness
from bpe_core.live.change import Span
from bpe_core.pictures import choose_colors
from bpe_core.visible import counted, token_label
from tui.commands.command import features_of, main_screen
from tui.commands.keys import PartBindings
from tui.drawing.lines import fit
from tui.drawing.palette import palette_of
from tui.state import LETTERS, ComparisonRun, PairWitness
from tui.table.row_list import RowList
from tui.text.clusters import lay_out
from tui.text.strips import RowContent, RowToken, draw
from tui.widgets.comparison_views.differences import ENTER

_GAP: Final = "  "


class Verdicts(RowList):
    """One row for each tokenizer that the first one is compared with."""

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Verdicts")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._comparison = ComparisonRun()

    def show(self, comparison: ComparisonRun) -> None:
        self._comparison = comparison
        n_others = max(0, len(comparison.tokenizers) - 1)
        self.set_class(n_others == 0, "-empty")
        self.styles.height = n_others + 1
        self.show_rows(range(n_others))
        self.refresh()

    def _difference(self, row: int) -> Difference | None:
        found = self._comparison.differences.get(row + 1)
        return found.difference if found else None

    # Keys

    @property
    def _witness(self) -> PairWitness | None:
        """The text of the row under the cursor that can be shown in the editor."""
        row = self.current
        difference = None if row is None else self._difference(row)
        if row is None or difference is None:
            return None
        if isinstance(difference.witness, Witness):
            return PairWitness(row + 1, difference.witness)
        return None

    @property
    def target(self) -> str:
        return "witness" if self._witness else ""

    def row_selected(self, row: int) -> None:
        if self._witness:
            features_of(self).comparison.show_witness(self._witness)

    def action_move(self, by: int) -> None:
        """Move the cursor; below the last row, go on in the table."""
        if by > 0 and self.cursor + by >= self.row_count:
            self.screen.focus_next()
        else:
            super().action_move(by)

    def action_view(self, by: int) -> None:
        """Turn to another view of the table."""
        main_screen(self).compare_pane.table.action_choice(by)

    def row_hint(self, row: int) -> str:
        difference = self._difference(row)
        if difference is None:
            return "The tokens are counted first; then the tokenizers themselves are compared."
        reason = _reason(difference, row)
        return f"{reason} {ENTER}" if self.target else reason

    # Drawing

    def render_header(self, width: int) -> Iterable[Segment]:
        title = " Verdict, and the shortest text that shows it"
        yield Segment(fit(title, width), self.style_of("header"))

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        ink = "text"
        reason = ""
        difference = self._difference(row)
        if difference is not None:
            reason = _reason(difference, row)
            ink = "accent" if difference.witness else "text"
        segments = [Segment(f" {self._verdict(row)}{_GAP}", self.style_of(ink, base))]
        segments += self._tokens(row, width, base)
        left = width - sum(segment.cell_length for segment in segments)
        rest = fit(reason, max(0, left))
        return [*segments, Segment(rest, self.style_of("muted", base))]

    def _verdict(self, row: int) -> str:
        pair = f"A and {LETTERS[row + 1]}"
        difference = self._difference(row)
        if difference is None:
            return f"{pair}: not decided yet"
        match difference.witness:
            case Witness():
                return f"{pair} differ"
            case DecodedWitness(ids):
                return f"{pair} decode {' '.join(map(str, ids))} differently"
        if difference.verdict == "same":
            return f"{pair} are the same: proved"
        n_tried = counted(difference.n_tried, "text")
        return f"No difference between {pair} found in {n_tried}"

    def _tokens(self, row: int, width: int, base: Style) -> Iterator[Segment]:
        """Draw the tokens of the witness in both tokenizers, with their ids if they are the same."""
        found = self._comparison.differences.get(row + 1)
        if found is None or not found.tokens:
            return
        style = self.style_of("text", base)
        witness = found.difference.witness
        assert isinstance(witness, Witness)
        assert witness.a is not None and witness.b is not None
        shows_ids = found.tokens[0] == found.tokens[1]
        letters = ("A", LETTERS[row + 1])
        ids_of_pair = (witness.a, witness.b)
        for letter, tokens, ids in zip(letters, found.tokens, ids_of_pair, strict=True):
            yield Segment(f"{letter} ", style)
            yield from self._strip(tokens, ids, width // 3)
            listed = f" {' '.join(map(str, ids))}" if shows_ids else ""
            yield Segment(f"{listed}{_GAP}", style)

    def _strip(
        self, tokens: Sequence[bytes], ids: Sequence[int], room: int
    ) -> Iterable[Segment]:
        """Draw tokens in the colors of the editor, at most `room` cells of them."""
        text = ""
        spans = []
        for token, token_id in zip(tokens, ids, strict=True):
            start = len(text)
            text += token_label(token)
            spans.append(Span(start, len(text), (token_id,)))
        palette = palette_of(self.app, self.rich_style)
        colors = choose_colors(spans, len(palette.tokens))
        row_tokens = [
            RowToken(span.start, span.end, color)
            for span, color in zip(spans, colors, strict=True)
        ]
        content = RowContent(text, tuple(row_tokens), ends_line=False)
        n_cells = lay_out(text).width
        if n_cells <= room:
            return draw(content, n_cells, palette)
        return [*draw(content, room - 1, palette), Segment("…", palette.base)]


def _reason(difference: Difference, row: int) -> str:
    """Describe the verdict: different, undecided or the same.

    A sentence about the witness calls the second tokenizer B. For a third, only name the parts.
    """
    if difference.witness is None:
        return " ".join(difference.undecided or difference.reasons)
    for cause in difference.causes:
        if cause.witness == difference.witness and row == 0:
            return cause.what
    parts = dict.fromkeys(cause.part for cause in difference.causes)
    return f"Different: {', '.join(parts)}."
