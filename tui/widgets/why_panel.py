"""WhyPanel: beside the merge log, why the merge under its cursor was chosen, or the pairs of that step."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from rich.style import Style
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import var
from textual.timer import Timer
from textual.widget import Widget

from bpe_core.explain.trace import TokenUses, token_uses
from bpe_core.tokenizer import Tokenizer
from tui.drawing.info_lines import STYLES, InfoLine, sentence
from tui.drawing.token_labels import WRITINGS, writer
from tui.state import Run, StepExplained, requests, steps_known
from tui.text.why_lines import LineForm, why_lines, word_lines
from tui.widgets.lines import Lines, Titles
from tui.widgets.pair_table import PairTable

if TYPE_CHECKING:
    from bpe_core.trainer import Merge
    from tui.widgets.merge_log import MergeLog

SIDES: Final = {"why": "Why", "pairs": "Pairs"}
"""What can be seen -> its title."""


class WhyPanel(Vertical):
    """Two things in one place, one of them seen; asks for what it needs when it is seen."""

    DEFAULT_CSS = """
    WhyPanel > #choice, WhyPanel > #pairs { height: 1fr; }
    WhyPanel > #words { height: auto; }
    WhyPanel > #pairs, WhyPanel > #words, WhyPanel.-pairs > #choice { display: none; }
    WhyPanel.-pairs > #pairs, WhyPanel.-pairs.-words > #words { display: block; }
    WhyPanel > .why-panel--tied { color: $text-secondary; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"why-panel--tied"}
    TURNS: ClassVar[dict[str, str]] = {"why": "pairs", "pairs": "", "": "why"}
    """What is seen -> what is seen after a turn; "" for nothing."""

    ROOMY: ClassVar[int] = 14
    """Rows from which on the words have room below the table of pairs."""
    REST: ClassVar[float] = 0.25
    """Seconds from one question to the next, and until a step is shown without an answer."""

    hint: var[str] = var("Why this merge and no other; w turns to the table of pairs, b writes bytes.")
    """What it is, where the focus is in it."""
    step: var[int] = var(0, init=False)
    """The step that is explained: that of the log's cursor."""
    tokenizer: var[Tokenizer | None] = var[Tokenizer | None](None, init=False)
    """The vocabulary on the screen, as far as it is learned."""
    run: var[Run] = var(Run(), init=False)
    """How far the training is: it is asked about what is being learned, and again once that is over."""
    explained: var[StepExplained] = var(StepExplained(), init=False)
    """What has been found out."""
    seen: var[str] = var("why", init=False)
    """One of `SIDES`."""
    writing: var[str] = var("text", init=False)
    """How tokens are written: one of `WRITINGS`."""

    def __init__(self, log: "MergeLog", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._log = log
        self._n_tokens = 0
        self._asks = False
        self._soon: Timer | None = None  # until it may be asked again
        self._has_moved = False
        """Whether the step has changed since it was asked last."""

    def compose(self) -> ComposeResult:
        yield Titles(SIDES)
        yield Lines(id="choice")
        yield PairTable(id="pairs")
        yield Lines(id="words")

    def on_mount(self) -> None:
        self._show()

    def begin(self, n_tokens: int) -> None:
        """Another vocabulary, whose corpus has `n_tokens` before any merge; one that was opened is asked about once
        somebody goes to its merges or travels to one of them."""
        self._n_tokens, self._asks = n_tokens, self._log.has_focus

    def ask(self) -> None:
        """Somebody looks at the merges: find out about the step in force, and about each that follows."""
        self._asks = True
        self._want()

    @property
    def _wants(self) -> bool:
        tokenizer = self.tokenizer
        if tokenizer is None or not self.display:
            return False
        return self._asks or self.run.busy or self.step != steps_known(tokenizer)

    def _want(self) -> None:
        if self._wants:
            requests(self).explain(self.step)

    def watch_step(self) -> None:
        """Another step: ask about it, but of steps that follow one another fast only a few in a second.

        What is known of the one before stays until the answer comes, lest all flickers.
        """
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
        return self.explained.step if self._soon and self.explained.explanation else self.step

    def watch_run(self, old: Run, run: Run) -> None:
        if old.phase != run.phase and old.phase == "merging":
            self.ask()

    def watch_tokenizer(self, old: Tokenizer | None, tokenizer: Tokenizer | None) -> None:
        if self.explained.step == self.step:
            self._show()

    def watch_explained(self) -> None:
        self._show()

    def watch_seen(self) -> None:
        self.set_class(self.seen == "pairs", "-pairs")
        self._show()

    def watch_writing(self) -> None:
        self._show()

    def parts(self) -> tuple[Widget, ...]:
        """What is seen of it."""
        return (self.query_one("#pairs" if self.seen == "pairs" else "#choice"),) if self.display else ()

    def turn(self) -> bool:
        """Show the next of them, or nothing; whether one is to be seen."""
        turned = self.TURNS[self.seen if self.display else ""]
        self.seen = turned or self.seen
        self.call_after_refresh(self.ask)
        return bool(turned)

    def turn_writing(self) -> None:
        self.writing = WRITINGS[(WRITINGS.index(self.writing) + 1) % len(WRITINGS)]

    def on_resize(self) -> None:
        self._show()

    def _show(self) -> None:
        if not self.display or not self.is_mounted:
            return
        self._show_title()
        tokenizer = self.tokenizer
        if tokenizer is None:
            return
        if self.seen == "pairs":
            self._show_pairs(tokenizer)
        else:
            self._show_choice(tokenizer)

    def _show_title(self) -> None:
        titles = self.query_one(Titles)
        where, step = "after" if self.seen == "pairs" else "merge", self._shown_step
        titles.choice, titles.keys = self.seen, f"w  b {self.writing}"
        titles.note = f"  {where} {step:,}" if step else "  before the first merge"

    def _show_choice(self, tokenizer: Tokenizer) -> None:
        lines = self.query_one("#choice", Lines)
        merges, step, explained = self._log.merges, self._shown_step, self.explained
        if self._wants and not (explained.explanation and explained.step == step) and not explained.problem:
            explained = replace(explained, waiting=explained.waiting or "counting the pairs of this step")
        merge = merges[step - 1] if 0 < step <= len(merges) else None
        ties = tokenizer.record.ties if tokenizer.record else explained.ties
        form = self._form(lines, writer(self.writing, tokenizer.token_bytes))
        lines.show_lines(why_lines(explained, merge, ties, self._uses(tokenizer, merges, step), form))

    def _form(self, lines: Lines, write: Callable[[int], str]) -> LineForm:
        inks = {name: lines.ink(name) for name in STYLES}
        inks["tied"] = inks["text"] + Style(color=self.get_component_rich_style("why-panel--tied").color)
        # Of the panel, and a scroll bar's cell left free: what is not seen yet has no size of its own.
        return LineForm(max(8, self.content_size.width - 3), write, inks)

    def _uses(self, tokenizer: Tokenizer, merges: "Sequence[Merge]", step: int) -> TokenUses | None:
        """What became of the token that a step made; None if that is not known."""
        if not 0 < step <= min(len(merges), tokenizer.step):
            return None
        if not (merges[step - 1].n_tokens and self._n_tokens):
            return None
        return token_uses(
            tokenizer.vocabulary, lambda after: merges[after - 1].n_tokens if after else self._n_tokens, step
        )

    def _show_pairs(self, tokenizer: Tokenizer) -> None:
        table, explained = self.query_one(PairTable), self.explained
        words, room = self.query_one("#words", Lines), self.size.height - 1
        if explained.explanation is None:
            table.clear()
            waiting = (
                f"{(explained.waiting or 'counting the pairs of this step').capitalize()} …" if self._wants else ""
            )
            self._show_words([*sentence(explained.problem or waiting, self.size.width - 4)], room)
            return
        rows = tokenizer.merges
        following = (rows[explained.step][0], rows[explained.step][1]) if explained.step < len(rows) else None
        if following is None and explained.explanation.table.rows and explained.ties:
            first = explained.explanation.table.rows[0]
            following = first.left, first.right
        write = writer(self.writing, tokenizer.token_bytes)
        table.show(explained.explanation.table, following, write)
        choice = explained.explanation.choice
        lines = word_lines(explained.explanation.words, choice.token if choice else None, self._form(words, write))
        title = InfoLine("words before and after", ink="accent")
        self._show_words([title, *lines] if room >= self.ROOMY else [], room // 2)

    def _show_words(self, lines: Sequence[InfoLine], most: int) -> None:
        """Below the table of pairs, in so many rows at most."""
        words = self.query_one("#words", Lines)
        self.set_class(len(lines) > 0, "-words")
        words.styles.height = max(1, min(len(lines), most))
        words.show_lines(lines)
