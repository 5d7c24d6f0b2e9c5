"""Verdicts: whether the compared tokenizers are the same, with the tokens of the shortest text that shows a difference."""

from collections.abc import Iterable
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType

from bpe_core.difference import DecodedWitness, Difference, Witness
from bpe_core.visible import counted, visible
from bpe_core.worker.differences import DifferenceFound
from tui.commands.command import main_screen
from tui.commands.keys import PartBindings
from tui.drawing.lines import fit
from tui.drawing.palette import palette_of
from tui.drawing.token_labels import token_labels
from tui.state import LETTERS, ComparisonRun
from tui.widgets.comparison_views.view import LeadingRows, Row

_GAP: Final = "  "
_NOT_DECIDED: Final = (
    "The tokens are counted first; then the tokenizers themselves are compared."
)


class Verdicts(LeadingRows):
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

    def _found(self, row: int) -> DifferenceFound | None:
        return self._comparison.differences.get(row + 1)

    # Keys

    def row_of(self, number: int) -> Row | None:
        found = self._found(number)
        if found is None:
            return Row(_NOT_DECIDED, {})
        return Row.about(found.other, _reason(found), found.difference.witness)

    def action_move(self, by: int) -> None:
        """Move the cursor; below the last row, go on in the table."""
        if by > 0 and self.cursor + by >= self.row_count:
            self.screen.focus_next()
        else:
            super().action_move(by)

    def action_view(self, by: int) -> None:
        """Turn to another view of the table."""
        main_screen(self).compare_pane.table.action_choice(by)

    # Drawing

    def render_header(self, width: int) -> Iterable[Segment]:
        title = " Verdict, and the shortest text that shows it"
        yield Segment(fit(title, width), self.style_of("header"))

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        line = Text(end="")
        found = self._found(row)
        if found is None:
            line.append(f" A and {LETTERS[row + 1]}: not decided yet")
        else:
            ink = "accent" if found.difference.witness else "text"
            line.append(f" {_verdict(found)}{_GAP}", self.style_of(ink, base))
            line.append_text(self._tokens(found, width // 3))
            line.append(visible(_reason(found)), self.style_of("muted", base))
        line.truncate(width, overflow="ellipsis")
        segments = line.render(self.app.console)
        return Segment.apply_style(segments, self.style_of("text", base))

    def _tokens(self, found: DifferenceFound, room: int) -> Text:
        """Draw the tokens of the witness in both tokenizers, with their ids if they are the same."""
        line = Text()
        match found.difference.witness:
            case Witness(_, tuple(a), tuple(b)):
                encodings = {"A": a, LETTERS[found.other]: b}
            case _:
                return line
        of_a, of_b = found.tokens
        palette = palette_of(self.app, self.rich_style)
        for (letter, ids), tokens in zip(encodings.items(), found.tokens, strict=True):
            bytes_of = dict(zip(ids, tokens, strict=True)).__getitem__
            line.append(f"{letter} ")
            line.append_text(token_labels(ids, bytes_of, palette, room, between=""))
            if of_a == of_b:
                line.append(f" {' '.join(map(str, ids))}")
            line.append(_GAP)
        return line


def _verdict(found: DifferenceFound) -> str:
    pair = f"A and {LETTERS[found.other]}"
    match found.difference:
        case Difference(witness=Witness()):
            return f"{pair} differ"
        case Difference(witness=DecodedWitness(ids)):
            return f"{pair} decode {' '.join(map(str, ids))} differently"
        case Difference("same"):
            return f"{pair} are the same: proved"
    n_tried = counted(found.difference.n_tried, "text")
    return f"No difference between {pair} found in {n_tried}"


def _reason(found: DifferenceFound) -> str:
    """Describe the verdict: different, undecided or the same.

    A sentence about the witness calls the second tokenizer B. For a third, only name the parts.
    """
    difference = found.difference
    if difference.witness is None:
        return "The last view, causes, says why."
    for cause in difference.causes:
        if cause.witness == difference.witness and found.other == 1:
            return cause.what
    parts = dict.fromkeys(cause.part for cause in difference.causes)
    return f"Different: {', '.join(parts)}."
