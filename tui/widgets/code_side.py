"""CodeSide: the code that makes a merge or encodes a piece of text, run line by line."""

from collections.abc import Sequence

from textual.reactive import var

from bpe_core.errors import BpeError
from bpe_core.explain.code import (
    SHORT_SOURCE,
    SOURCE,
    CodeLine,
    encode_in_code,
    merge_in_code,
)
from bpe_core.explain.merge_choice import Explanation
from bpe_core.tokenizer import Tokenizer
from tui.drawing.lines import InfoLine, Lines, sentence
from tui.text.code_lines import code_lines
from tui.text.line_form import LineForm
from tui.text.token_lines import RECOVERING
from tui.text.why_lines import step_zero
from tui.widgets.token_area import TokenArea


class CodeSide(Lines):
    """The lines of the code as they run on a few words, and their variables."""

    encodes: var[bool] = var(False, init=False)
    """Whether the code encodes a piece of text; otherwise it makes the merge."""
    is_short: var[bool] = var(True, init=False)
    """Whether the twelve lines make the merge; otherwise the reference with its options."""
    area: TokenArea | None = None
    """The text whose pieces are encoded."""
    position: str = ""
    """The line that is marked and the number of lines; empty if no code is shown."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.tooltip = "The code on a few words: F7 runs the next line, ← goes back, i encodes, f shows more or less."
        self._run: Sequence[CodeLine] = ()
        """The lines that run."""
        self._marked: int | None = None
        """The marked line. None means the line that makes the merge; it is looked up when the code is shown."""

    @property
    def length(self) -> str:
        """Whether the "short" code is shown or the "full" one. Only the full one encodes."""
        return "short" if self.is_short and not self.encodes else "full"

    def go_by(self, by: int) -> bool:
        """Mark the next line or the one before it.

        After the last line, encoding starts again. A merge has no further line; then return False.
        """
        marked = self._marked or 0  # None only while no code is shown
        line = marked + by
        if line < len(self._run):
            self._marked = max(0, line)
            return True
        if self.encodes:
            self._marked = 0
            return True
        return False

    def mark_first(self) -> None:
        self._marked = 0

    def mark_merge(self) -> None:
        """Mark the line that makes the merge."""
        self._marked = None

    def show_run(
        self,
        tokenizer: Tokenizer,
        step: int,
        explanation: Explanation | None,
        ties: str,
        form: LineForm,
        height: int,
    ) -> None:
        """Show the code of a step in `height` lines. `explanation` is None unless this step is explained."""
        self._run = ()
        self.position = ""
        vocabulary = tokenizer.vocabulary
        if not vocabulary.knows_merges:
            self.show_lines(sentence(RECOVERING, form.width))
            return
        if not step and not self.encodes:
            self.show_lines(step_zero(vocabulary.n_merges, form.width))
            return
        try:
            if self.encodes:
                piece = self.area.piece_under_cursor if self.area else ""
                self._run = encode_in_code(vocabulary.at(step), piece)
            else:
                words = explanation.words if explanation else ()
                self._run = merge_in_code(
                    vocabulary, step, words, ties, is_short=self.is_short
                )
        except BpeError as error:
            self.show_lines(sentence(str(error), form.width))
            return
        self.show_lines(self._source_and_variables(explanation, form, height))

    def _source_and_variables(
        self, explanation: Explanation | None, form: LineForm, height: int
    ) -> Sequence[InfoLine]:
        run = self._run
        line = self._marked
        if line is None:
            # The last line with values makes the merge.
            line = max(n for n, code in enumerate(run) if code.values)
        line = min(line, len(run) - 1)
        self._marked = line
        source = SOURCE
        kind = "encode" if self.encodes else "line"
        if self.length == "short":
            source = SHORT_SOURCE
        self.position = f"{kind} {line + 1} of {len(run)}"
        choice = explanation.choice if explanation else None
        dark = self.app.current_theme.dark
        return code_lines(source, run[: line + 1], choice, form, height, dark)
