"""WhyPanel: next to the merge log, why a merge was chosen, the pairs of its step, or the code that makes it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.reactive import var
from textual.theme import Theme
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from bpe_core.explain.merge_choice import Explanation
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import Merge
from tui.commands.command import features_of, in_background
from tui.commands.keys import HasCommands, PartBindings
from tui.drawing.lines import INKS, InfoLine, Lines, ink_of, sentence
from tui.drawing.token_labels import writer
from tui.state import Run, StepExplained, steps_known
from tui.text.line_form import LineForm
from tui.text.why_lines import why_lines, word_lines
from tui.widgets.code_side import CodeSide
from tui.widgets.pair_table import PairTable
from tui.widgets.side_titles import SideTitles
from tui.widgets.token_area import TokenArea

if TYPE_CHECKING:
    from tui.widgets.merge_log import MergeLog

SIDES: Final = {"why": "Why", "pairs": "Pairs", "code": "Code"}
"""The sides of the panel, with their titles."""
_LEAST_FOR_NOTE: Final = 40
"""Cells of a panel with room for a large number and a word after the titles."""
_COUNTING: Final = "counting the pairs of this step"


class WhyPanel(HasCommands, Vertical):
    """Three sides in one place. It asks for an explanation only while it is seen."""

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Code")
    ROOMY: ClassVar[int] = 14
    """From this many rows on, the words fit below the table of pairs."""
    REST: ClassVar[float] = 0.25
    """Seconds from one question to the next, and until a step is shown without an answer."""

    hint = "Why this merge was chosen; w shows the table of pairs, b writes bytes."
    step: var[int] = var(0, init=False)
    """The step to explain: the one under the log's cursor."""
    tokenizer: var[Tokenizer | None] = var(None, init=False, always_update=True)
    """The tokenizer with all merges learned so far."""
    run: var[Run] = var(Run(), init=False)
    explained: var[StepExplained] = var(StepExplained(), init=False)
    seen: var[str] = var("why", init=False)
    """The side that is shown: a key of `SIDES`."""
    writing: var[str] = var("text", init=False)
    """How tokens are written: one of `WRITINGS`."""

    def __init__(self, log: "MergeLog", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._log = log
        self._titles = SideTitles(SIDES, "w")
        self._code = CodeSide(id="code")
        self._asks = False
        """Whether the user has gone to the merges of this tokenizer."""
        self._resting: Timer | None = None
        """Runs until the next question may be asked."""
        self._has_moved = False
        """Whether the step has changed while `_resting` runs."""

    def compose(self) -> ComposeResult:
        yield self._titles
        with ContentSwitcher(initial=self.seen):
            yield Lines(id="why")
            with Vertical(id="pairs"):
                yield PairTable()
                yield Lines(id="words")
            yield self._code

    def follow(self, area: TokenArea) -> None:
        """Encode the piece under the cursor of a text."""
        self._code.area = area
        self.watch(area, "selection", self._show_piece, init=False)

    def _show_piece(self) -> None:
        if self._code.encodes and self.shows_code:
            self._code.mark_merge()
            self._show()

    def begin(self) -> None:
        """Prepare for another tokenizer. Explain an opened one only after the user goes to its merges."""
        self._asks = self._log.has_focus or self.run.busy

    def ask(self) -> None:
        self._asks = True
        self._want()

    @property
    def shows_code(self) -> bool:
        return self.seen == "code"

    @property
    def _wants(self) -> bool:
        asks = self._asks or self.run.busy or self.step != steps_known(self.tokenizer)
        return asks and self.tokenizer is not None and self.display

    def _want(self) -> None:
        if self._wants:
            features_of(self).explaining.explain(self.step)

    def watch_step(self) -> None:
        # Ask about the step, but only a few times a second. The last answer stays until then, to avoid flicker.
        is_resting = self._resting is not None
        self._has_moved = is_resting
        if not is_resting:
            self._want()
            self._resting = self.set_timer(self.REST, self._rested)

    def _rested(self) -> None:
        self._resting = None
        if self._has_moved:
            self.watch_step()
        else:
            self._show()

    @property
    def _shown_step(self) -> int:
        """The step that is explained. While steps pass quickly, the last one that was explained."""
        if self._resting and self.explained.explanation:
            return self.explained.step
        return self.step

    @property
    def _explanation(self) -> Explanation | None:
        """The explanation of the step that is shown, if it is known."""
        if self.explained.step != self._shown_step:
            return None
        return self.explained.explanation

    def watch_tokenizer(self) -> None:
        if self.explained.step == self.step:
            self._show()

    # Sides

    def watch_seen(self, seen: str) -> None:
        self._titles.show(seen)
        self.query_one(ContentSwitcher).current = seen
        self.set_class(self.shows_code, "-code")
        self.refresh_bindings()
        self._show()

    @property
    def _part(self) -> Widget:
        """The visible widget that can have the focus."""
        if self.seen == "pairs":
            return self.query_one(PairTable)
        return self.query_one(f"#{self.seen}", Lines)

    def parts(self) -> tuple[Widget, ...]:
        return (self._part,) if self.display else ()

    @on(SideTitles.Chosen)
    def choose_side(self, event: SideTitles.Chosen) -> None:
        self.seen = event.side
        self._went_to_side()

    @on(SideTitles.NoteClicked)
    def turn_length_of_code(self) -> None:
        if self.shows_code:
            self.action_turn_length()

    def turn(self) -> bool:
        """Show the next side, or hide the panel after the last. Return whether a side is seen."""
        sides = list(SIDES)
        is_seen = True
        if not self.display:
            self.seen = sides[0]
        elif self.seen == sides[-1]:
            is_seen = False
        else:
            self.seen = sides[sides.index(self.seen) + 1]
        self._went_to_side(is_seen)
        return is_seen

    def _went_to_side(self, is_seen: bool = True) -> None:
        """Explain the step. If the log or the panel has the focus, the code takes it, or else the log."""
        if self.has_focus_within or self._log.has_focus:
            goes_to: Widget = self._log
            if is_seen and self.shows_code:
                goes_to = self._code
            self.call_after_refresh(self.screen.set_focus, goes_to)
        self.call_after_refresh(self.ask)

    def action_turn_code(self) -> None:
        self._code.mark_merge()
        self._code.encodes = not self._code.encodes
        self._show()

    def action_turn_length(self) -> None:
        """Show the code of the merge in twelve lines, or the reference with all options."""
        self._code.mark_merge()
        self._code.is_short = not self._code.is_short
        self._code.encodes = False
        self._show()

    def action_run_line(self, by: int) -> None:
        """Mark the next line of the code or the one before it.

        After the last line comes the first one of the next merge, or of the same piece if the code encodes.
        """
        code = self._code
        if code.go_by(by):
            self._show()
            return
        has_next = self.step < steps_known(self.tokenizer)
        if code.position and not has_next and not self.run.busy:
            self.notify("That was the last line of the last merge.")
            return
        code.mark_first()
        features = features_of(self)
        if has_next and not self.run.busy:
            in_background(self, features.shown.travel(1))
        else:
            in_background(self, features.goals.step_once())

    def _show(self) -> None:
        if not self.display or not self.is_mounted:
            return
        if self.tokenizer is not None:
            if self.seen == "why":
                self._show_why(self.tokenizer)
            elif self.seen == "pairs":
                self._show_pairs(self.tokenizer)
            else:
                self._show_code(self.tokenizer)
        self._titles.show_note(self._note)

    watch_explained = watch_writing = on_resize = _show

    @property
    def _note(self) -> str:
        """The step that is shown, or the line of its code."""
        step = self._shown_step
        if self.shows_code and self._code.position:
            return f"{self._code.length}  {self._code.position}"
        if not step:
            return "before the first merge"
        if step >= 1000 and self.size.width < _LEAST_FOR_NOTE:
            return f"{step:,}"
        if self.seen == "pairs":
            return f"after {step:,}"
        return f"merge {step:,}"

    def on_mount(self) -> None:
        # The lines hold the colors of the theme.
        self.app.theme_changed_signal.subscribe(self, self._draw_again)
        self._show()

    def _draw_again(self, theme: Theme) -> None:
        self._show()

    def _form(self, tokenizer: Tokenizer) -> LineForm:
        # A hidden side has no size of its own, so take the panel's, less the cells of a scroll bar.
        width = max(8, self.content_size.width - 3)
        lines = self.query_one("#why", Lines)
        inks = {name: ink_of(lines, name) for name in INKS}
        return LineForm(width, self._writer(tokenizer), inks)

    def _writer(self, tokenizer: Tokenizer) -> Callable[[int], str]:
        return writer(self.writing, tokenizer.token_bytes)

    def _ties(self, tokenizer: Tokenizer) -> str:
        """Return the tie rule of the tokenizer; empty if it is not known."""
        if tokenizer.record:
            return tokenizer.record.ties
        return self.explained.ties

    def _show_code(self, tokenizer: Tokenizer) -> None:
        self._code.show_run(
            tokenizer,
            self._shown_step,
            self._explanation,
            self._ties(tokenizer),
            self._form(tokenizer),
            self.content_size.height - 1,
        )

    # Why

    def _show_why(self, tokenizer: Tokenizer) -> None:
        step = self._shown_step
        explained = self.explained
        if self._wants and not self._explanation and not explained.problem:
            explained = replace(explained, waiting=explained.waiting or _COUNTING)
        merge: Merge | None = None
        if 0 < step <= len(self._log.merges):
            merge = self._log.merges[step - 1]
        lines = why_lines(
            explained,
            merge,
            self._ties(tokenizer),
            self._log.uses_of(tokenizer.vocabulary, step),
            self._form(tokenizer),
            len(self._log.merges),
        )
        self.query_one("#why", Lines).show_lines(lines)

    # Pairs

    def _show_pairs(self, tokenizer: Tokenizer) -> None:
        table = self.query_one(PairTable)
        room = self.size.height - 1
        explained = self.explained
        explanation = explained.explanation
        if explanation is None:
            table.show(None)
            remark = explained.problem
            if not remark and self._wants:
                remark = f"{explained.waiting or _COUNTING} …".capitalize()
            self._show_words(list(sentence(remark, self.size.width - 4)), room)
            return
        table.show(
            explanation.table, self._next_pair(tokenizer), self._writer(tokenizer)
        )
        lines: list[InfoLine] = []
        if room >= self.ROOMY:
            token = explanation.choice.token if explanation.choice else None
            lines.append(InfoLine("words before and after", ink="accent"))
            lines += word_lines(explanation.words, token, self._form(tokenizer))
        self._show_words(lines, room // 2)

    def _next_pair(self, tokenizer: Tokenizer) -> tuple[int, int] | None:
        """Return the pair that is merged after the explained step, if it is known."""
        explained = self.explained
        if explained.step < tokenizer.step:
            merge = tokenizer.vocabulary.merge_of(explained.step + 1)
            return merge[0], merge[1]
        if explained.explanation is None or not explained.ties:
            return None
        pairs = explained.explanation.table.rows
        return (pairs[0].left, pairs[0].right) if pairs else None

    def _show_words(self, lines: Sequence[InfoLine], most: int) -> None:
        """Show lines below the table of pairs, in at most `most` rows."""
        words = self.query_one("#words", Lines)
        self.set_class(len(lines) > 0, "-words")
        words.styles.height = max(1, min(len(lines), most))
        words.show_lines(lines)
