"""WhyPanel: beside the merge log, why the merge under its cursor was chosen, the pairs of that step, or the code."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.reactive import var
from textual.timer import Timer
from textual.widget import Widget

from bpe_core.errors import BpeError
from bpe_core.explain.code import CodeLine, encode_in_code, merge_in_code
from bpe_core.explain.merge_choice import PairRanking, PairRow
from bpe_core.explain.trace import TokenUses, token_uses
from bpe_core.tokenizer import Tokenizer
from bpe_core.weighted import Count, formatted
from tui.commands.command import features_of, in_background
from tui.commands.keys import HasCommands, PartBindings
from tui.drawing.lines import (
    INKS,
    InfoLine,
    Lines,
    Titles,
    bar,
    how_often,
    ink_of,
    sentence,
)
from tui.drawing.palette import writer
from tui.state import Run, StepExplained, steps_known
from tui.table.columns import Cell, Column
from tui.table.table import Table
from tui.text.code_lines import code_lines
from tui.text.token_lines import RECOVERING
from tui.text.why_lines import LineForm, why_lines, word_lines
from tui.widgets.token_area import TokenArea

if TYPE_CHECKING:
    from tui.widgets.merge_log import MergeLog

SIDES: Final = {
    "why": "Why",
    "pairs": "Pairs",
    "code": "Code",
}  # what can be seen -> its title
_WIDEST: Final = 28  # cells of a pair that is not cut; room for longer ones would take that of the numbers
_SEEN: Final = 60  # rows that are seen first: after their pairs the column of pairs is as wide as it is


def _mark(table: "PairTable", row: int) -> str:
    return "▸" if table.is_next(row) else "=" if table.is_tied(row) else ""


def _pair(table: "PairTable", row: int) -> Cell:
    return Cell(table.written(table.pairs[row]), bold=table.is_next(row))


def _bar(table: "PairTable", row: int) -> Cell:
    most, count = table.pairs[0].times, table.pairs[row].times
    return Cell(
        lambda width: bar(count, most, width), "" if table.is_next(row) else "muted"
    )


def _change(table: "PairTable", row: int) -> Cell:
    pair = table.pairs[row]
    sign = "*" if pair.change == pair.times else " "
    return Cell(
        formatted(pair.change, signed=True) + sign if pair.change else "",
        "accent" if pair.change > 0 else "warning",
    )


_COUNT: Final = "How often the pair occurs in the corpus now."


class PairTable(Table):
    """Pairs in the order of their counts after the merges in force, those that are tied for the next merge marked."""

    # Where even these columns have no room it is the pair that is cut, and no number.
    COLUMNS = (
        Column(
            "mark",
            1,
            _mark,
            "▸ the pair that is next in line, = others as frequent: ties.",
            title=" ",
            gap=1,
        ),
        Column(
            "pair", 9, _pair, "The left and the right part of the pair.", most=10, gap=1
        ),
        Column(
            "bar",
            5,
            _bar,
            "Its count, beside that of the most frequent one.",
            most=30,
            rank=1,
            title=" ",
            gap=1,
        ),
        Column(
            "count",
            5,
            lambda table, row: formatted(table.pairs[row].times),
            _COUNT,
            right=True,
            gap=1,
        ),
        Column(
            "change",
            6,
            _change,
            "By how much the newest merge changed that; * a pair that is new.",
            right=True,
        ),
    )

    _ranking: PairRanking | None = None
    pairs: Sequence[PairRow] = ()  # the rows

    def show(
        self,
        ranking: PairRanking | None,
        following: tuple[int, int] | None = None,
        write: Callable[[int], str] = str,
    ) -> None:
        """These pairs, None for none known; `following` is merged next. `write` writes a token."""
        self._ranking, self._next, self._write = ranking, following, write
        self.pairs = pairs = ranking.rows if ranking else ()
        self.n_rows = len(pairs)
        # As wide as the longest of them, and a sign for what is new: a number that is cut is another number.
        most: Count = max((abs(Fraction(pair.change)) for pair in pairs), default=0)
        widest = max(
            (cell_len(self.written(pair)) for pair in pairs[:_SEEN]), default=0
        )
        count = pairs[0].times if pairs else 0
        self.fit_columns(
            {
                "pair": min(widest, _WIDEST),
                "count": len(formatted(count)),
                "change": len(f"+{formatted(most)}*"),
            }
        )
        self.rearrange()

    def written(self, pair: PairRow) -> str:
        return f"{self._write(pair.left)} + {self._write(pair.right)}"

    def is_next(self, row: int) -> bool:
        return (self.pairs[row].left, self.pairs[row].right) == self._next

    def is_tied(self, row: int) -> bool:
        """Whether a pair is as frequent as the one that is merged next."""
        return self._ranking is not None and row < self._ranking.n_tied > 1

    def row_ink(self, row: int) -> str:
        return (
            "accent" if self.is_next(row) else "secondary" if self.is_tied(row) else ""
        )

    def row_hint(self, row: int) -> str:
        pair = self.pairs[row]
        says = f"{self.written(pair)} occurs {how_often(pair.times)}"
        if pair.change:
            whole = pair.change == pair.times
            says += (
                ", all by the newest merge"
                if whole
                else f", {formatted(pair.change, signed=True)} by the newest merge"
            )
        if self.is_next(row):
            says += "; it is next in line"
        elif self._ranking and self.is_tied(row):
            says += f"; one of {self._ranking.n_tied:,} ties"
        return f"{says}."

    @property
    def note(self) -> tuple[str, str]:
        if (ranking := self._ranking) is None:
            return "", "muted"
        some = (
            f", the first {self.n_rows:,} shown"
            if self.n_rows < ranking.n_pairs
            else ""
        )
        return (
            f" {ranking.n_pairs:,} pairs in {formatted(ranking.n_tokens)} tokens{some}",
            "muted",
        )

    @property
    def empty(self) -> str:
        return (
            "No two tokens stand side by side: there is no pair."
            if self._ranking
            else ""
        )


class WhyPanel(HasCommands, Vertical):
    """Three things in one place, one of them seen; asks for what it needs when it is seen."""

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Code")
    ROOMY: ClassVar[int] = (
        14  # rows from which on the words have room below the table of pairs
    )
    REST: ClassVar[float] = (
        0.25  # seconds from one question to the next, and until a step is shown without an answer
    )

    hint = "Why this merge and no other; w turns to the table of pairs, b writes bytes."
    step: var[int] = var(
        0, init=False
    )  # the step that is explained: that of the log's cursor
    tokenizer: var[Tokenizer | None] = var(
        None, init=False, always_update=True
    )  # as far as it is learned
    run: var[Run] = var(Run(), init=False)
    explained: var[StepExplained] = var(
        StepExplained(), init=False
    )  # what has been found out
    seen: var[str] = var("why", init=False)  # one of `SIDES`
    writing: var[str] = var(
        "text", init=False
    )  # how tokens are written: one of `WRITINGS`
    encodes: var[bool] = var(
        False, init=False
    )  # whether the code is that of encoding, and not that of the merge

    def __init__(self, log: "MergeLog", *, id: str | None = None) -> None:
        super().__init__(id=id, classes="-why")
        self._log = log
        self._asks = False
        self._soon: Timer | None = None  # until it may be asked again
        self._has_moved = False  # whether the step has changed since it was asked last
        self._area: TokenArea | None = None  # the text of which a piece is encoded
        self._code: list[CodeLine] = []  # the lines of the algorithm that run
        self._line: int | None = (
            None  # which of them is marked, at any merge; None for the one that makes it
        )

    def compose(self) -> ComposeResult:
        yield Titles(SIDES)
        yield Lines(id="why")
        yield PairTable(id="pairs")
        yield Lines(id="words")
        code = Lines(id="code")
        code.tooltip = "reference.py on a few words: F7 runs the next line, ← goes back, i encodes."
        yield code

    def follow(self, area: TokenArea) -> None:
        """Encode the piece that is under the cursor of a text."""
        self._area = area
        self.watch(area, "selection", self._show_piece, init=False)

    def _show_piece(self) -> None:
        if self.encodes and self.seen == "code":
            self._line = None
            self._show()

    def begin(self) -> None:
        """Another vocabulary; one that was opened is asked about once somebody goes to its merges or travels to one."""
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
        # Another step: ask about it, but of steps that follow one another fast only a few in a second.
        # What is known of the one before stays until the answer comes, lest all flickers.
        self._has_moved = self._soon is not None
        if self._soon is None:
            self._want()
            self._soon = self.set_timer(self.REST, self._rested)

    def _rested(self) -> None:
        self._soon = None
        if self._has_moved:
            self.watch_step()
        else:
            self._show()

    @property
    def _shown_step(self) -> int:
        """The step that is explained: the one in force, or, as long as steps go by, the last that was explained."""
        return (
            self.explained.step
            if self._soon and self.explained.explanation
            else self.step
        )

    def watch_tokenizer(self) -> None:
        if self.explained.step == self.step:
            self._show()

    def watch_seen(self) -> None:
        self.update_classes({f"-{side}": side == self.seen for side in SIDES})
        self.refresh_bindings()
        self._show()

    def parts(self) -> tuple[Widget, ...]:
        return (self.query_one(f"#{self.seen}"),) if self.display else ()

    def turn(self) -> bool:
        """Show the next of them, or nothing; whether one is to be seen. Who has the log or this goes to the code."""
        sides = [*SIDES]
        is_seen = not (self.display and self.seen == sides[-1])
        if is_seen:
            self.seen = sides[sides.index(self.seen) + 1] if self.display else sides[0]
        if self.has_focus_within or self._log.has_focus:
            goes_to = (
                self.query_one("#code")
                if is_seen and self.seen == "code"
                else self._log
            )
            self.call_after_refresh(self.screen.set_focus, goes_to)
        self.call_after_refresh(self.ask)
        return is_seen

    def action_turn_code(self) -> None:
        self._line, self.encodes = None, not self.encodes

    def action_run_line(self, by: int) -> None:
        """Mark the next line, or the one before; behind the last that of the next merge, or the first of encoding."""
        here, more = (self._line or 0) + by, self.step < steps_known(self.tokenizer)
        if here < len(self._code) or self.encodes:
            self._line = max(0, here) if here < len(self._code) else 0
            self._show()
        elif more or self.run.busy or not self._code:
            self._line = 0
            features = features_of(self)
            if more and not self.run.busy:
                in_background(self, features.shown.travel(1))
            else:
                in_background(self, features.training.step_once())
        else:
            self.notify("That was the last line of the last merge.")

    def _show(self) -> None:
        if not self.display or not self.is_mounted:
            return
        titles = self.query_one(Titles)
        where, step = "after" if self.seen == "pairs" else "merge", self._shown_step
        titles.choice = self.seen
        titles.keys = (
            f"w  b {self.writing}" if self.size.width >= 40 else ""
        )  # the pane's border tells them, too
        titles.note = f"  {where} {step:,}" if step else "  before the first merge"
        if self.tokenizer is not None:
            getattr(self, f"_show_{self.seen}")(self.tokenizer)

    watch_explained = watch_writing = watch_encodes = on_resize = on_mount = _show

    def _form(self, write: Callable[[int], str]) -> LineForm:
        lines = self.query_one("#why", Lines)
        # Of the panel, and a scroll bar's cell left free: what is not seen yet has no size of its own.
        return LineForm(
            max(8, self.content_size.width - 3),
            write,
            {name: ink_of(lines, name) for name in INKS},
        )

    def _show_why(self, tokenizer: Tokenizer) -> None:
        merges, step, explained = self._log.merges, self._shown_step, self.explained
        if (
            self._wants
            and not (explained.explanation and explained.step == step)
            and not explained.problem
        ):
            explained = replace(
                explained,
                waiting=explained.waiting or "counting the pairs of this step",
            )
        merge = merges[step - 1] if 0 < step <= len(merges) else None
        ties = tokenizer.record.ties if tokenizer.record else explained.ties
        uses: TokenUses | None = (
            None  # what became of the token that the step made, if that is known
        )
        if (
            (n_tokens := self._log.n_tokens)
            and merge
            and step <= tokenizer.step
            and merge.n_tokens
        ):
            uses = token_uses(
                tokenizer.vocabulary,
                lambda at: merges[at - 1].n_tokens if at else n_tokens,
                step,
            )
        form = self._form(writer(self.writing, tokenizer.token_bytes))
        self.query_one("#why", Lines).show_lines(
            why_lines(explained, merge, ties, uses, form, len(merges))
        )

    def _show_pairs(self, tokenizer: Tokenizer) -> None:
        table, explained, room = (
            self.query_one(PairTable),
            self.explained,
            self.size.height - 1,
        )
        if (explanation := explained.explanation) is None:
            table.show(None)
            waiting = (
                f"{explained.waiting or 'counting the pairs of this step'} …".capitalize()
                if self._wants
                else ""
            )
            self._show_words(
                [*sentence(explained.problem or waiting, self.size.width - 4)], room
            )
            return
        following = (
            tokenizer.vocabulary.merge_of(explained.step + 1)[:2]
            if explained.step < tokenizer.step
            else None
        )
        if following is None and explanation.table.rows and explained.ties:
            following = explanation.table.rows[0].left, explanation.table.rows[0].right
        write = writer(self.writing, tokenizer.token_bytes)
        table.show(explanation.table, following, write)
        token = explanation.choice.token if explanation.choice else None
        lines = word_lines(explanation.words, token, self._form(write))
        title = InfoLine("words before and after", ink="accent")
        self._show_words([title, *lines] if room >= self.ROOMY else [], room // 2)

    def _show_words(self, lines: Sequence[InfoLine], most: int) -> None:
        """Below the table of pairs, in so many rows at most."""
        words = self.query_one("#words", Lines)
        self.set_class(len(lines) > 0, "-words")
        words.styles.height = max(1, min(len(lines), most))
        words.show_lines(lines)

    def _show_code(self, tokenizer: Tokenizer) -> None:
        lines, step, vocabulary = (
            self.query_one("#code", Lines),
            self._shown_step,
            tokenizer.vocabulary,
        )
        form = self._form(writer(self.writing, tokenizer.token_bytes))
        explanation = (
            self.explained.explanation if self.explained.step == step else None
        )
        self._code = []
        try:
            if not vocabulary.knows_merges:
                return lines.show_lines(sentence(RECOVERING, form.width))
            if self.encodes:
                self._code = encode_in_code(
                    vocabulary.at(step),
                    self._area.piece_under_cursor if self._area else "",
                )
            elif not step:
                return lines.show_lines(
                    why_lines(
                        StepExplained(), None, "", None, form, len(self._log.merges)
                    )
                )
            else:
                ties = (
                    tokenizer.record.ties if tokenizer.record else self.explained.ties
                )
                self._code = merge_in_code(
                    vocabulary, step, explanation.words if explanation else (), ties
                )
        except BpeError as error:
            return lines.show_lines(sentence(str(error), form.width))
        at = (
            max(n for n, line in enumerate(self._code) if line.values)
            if self._line is None
            else self._line
        )
        self._line = at = min(at, len(self._code) - 1)
        self.query_one(
            Titles
        ).note = (
            f"  {'encode' if self.encodes else 'line'} {at + 1} of {len(self._code)}"
        )
        choice, height = (
            explanation.choice if explanation else None,
            self.content_size.height - 1,
        )
        lines.show_lines(
            code_lines(
                self._code[: at + 1], choice, form, height, self.app.current_theme.dark
            )
        )
