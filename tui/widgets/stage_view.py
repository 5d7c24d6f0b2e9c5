"""StageView: below a text alone on the screen, its newest merge, a sentence, and the curve of its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.message import Message
from textual.widget import Widget

from tui.commands.command import main_screen
from tui.drawing.lines import how_often
from tui.text.stage_captions import Captions, MergeLabels, StageFacts
from tui.text.stage_plot import Point, StagePlot

if TYPE_CHECKING:
    from bpe_core.live.live_text import LiveText
    from bpe_core.trainer import Merge
    from tui.widgets.token_area import TokenArea

_INKS: Final = ("area", "caption", "curve", "label", "number")
_SECONDS_PER_LOOK: Final = 0.1
"""How often the sentence may change."""
_SECONDS_OF_FLASH: Final = 0.4
_SLOW: Final = 0.45
"""Seconds between two merges from which on the new token flashes in the text."""
_ROWS_AROUND_CURVE: Final = 9
"""All rows except those of the curve."""
_MOST_CURVE_ROWS: Final = 20
_SHORTEST_WORD: Final = 5
"""Characters of the shortest word that gets a caption."""
_NOTE: Final = "Press any key to open the panels."
_NAME: Final = "bpescope"


class StageView(Widget):
    """Shows the merge of the screen's step, how many tokens the text has, and a sentence about it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"stage-view--{ink}" for ink in _INKS}

    class Ended(Message):
        """All merges were shown, and the last sentence has been read."""

    def __init__(self, area: TokenArea) -> None:
        super().__init__()
        self._area = area
        self._captions = Captions()
        self._points: list[Point] = []
        self._n_bytes = 0
        """The size of the text, which does not change on the stage."""
        self._nested: MergeLabels | None = None
        self._nested_step = 0
        self._n_searched = 0
        """The merges that were searched for a merge of merged tokens."""
        self._changed_at = 0.0
        """When the last step was shown."""

    def on_mount(self) -> None:
        self.watch(self.screen, "in_force", self._step_shown, init=False)
        # The number of merges is exact once the training has ended.
        self.watch(self.screen, "run", self._run_changed, init=False)
        self.set_interval(_SECONDS_PER_LOOK, self._look)
        self._step_shown()

    # What is shown

    def _run_changed(self) -> None:
        self.refresh()

    def _step_shown(self) -> None:
        # The editor gets the tokenizer of the step by the same change.
        self.call_later(self._measure)

    def _measure(self) -> None:
        """Note how many tokens the text has now, and let the newest token flash if there is time for it."""
        n_tokens = self._area.edited.n_tokens
        step = main_screen(self).step
        if n_tokens is None:
            return
        if not self._points:
            text = self._area.document.text
            self._n_bytes = len(text.encode("utf-8", "replace"))
        # After going back, later points no longer hold.
        while self._points and self._points[-1].step >= step:
            self._points.pop()
        self._points.append(Point(step, n_tokens))
        now = monotonic()
        is_slow = now - self._changed_at >= _SLOW
        self._changed_at = now
        merge = self._merge
        if merge is not None and is_slow:
            self._area.flash(merge.token, _SECONDS_OF_FLASH)
        self._look()
        self.refresh()

    def _look(self) -> None:
        now = monotonic()
        if self._captions.may_change(now):
            before = self._captions.sentence
            self._captions.choose(self._facts(), now)
            if self._captions.sentence != before:
                self.refresh()
        if self._captions.is_over(now):
            self.post_message(self.Ended())

    @property
    def _step(self) -> int:
        """The last step whose tokens were counted. Everything that is shown is about this step."""
        return self._points[-1].step if self._points else 0

    @property
    def _n_steps(self) -> int:
        """The number of merges at the end; 0 before the training has begun."""
        screen = main_screen(self)
        if not screen.loaded.is_set() and self._step == 0:
            return 0
        return screen.features.shown.n_expected

    @property
    def _merges(self) -> Sequence[Merge]:
        return main_screen(self).training.log_of_merges.merges

    @property
    def _merge(self) -> Merge | None:
        """The newest merge that is shown."""
        return self._merges[self._step - 1] if self._step else None

    def _facts(self) -> StageFacts:
        n_tokens = self._points[-1].n_tokens if self._points else 0
        step = self._step
        if not step:
            return StageFacts(0, self._n_steps, self._n_bytes, n_tokens)
        self._find_nested()
        nested = None
        if step >= self._nested_step:
            nested = self._nested
        return StageFacts(
            step,
            self._n_steps,
            self._n_bytes,
            n_tokens,
            first=self._labels(0),
            nested=nested,
            nested_step=self._nested_step,
            whole_word=self._longest_whole_word(),
        )

    def _longest_whole_word(self) -> str:
        area = self._area
        in_view = area.in_view
        return area.edited.ask(lambda live: _longest_whole_word(live, *in_view), "")

    def _labels(self, row: int) -> MergeLabels:
        return MergeLabels.of(*main_screen(self).training.log_of_merges.parts(row))

    def _find_nested(self) -> None:
        """Look for the first merge one of whose parts was merged before."""
        if self._nested is not None:
            return
        merges = self._merges
        made = {merge.token for merge in merges[: self._n_searched]}
        for row in range(self._n_searched, self._step):
            merge = merges[row]
            if merge.left in made or merge.right in made:
                self._nested = self._labels(row)
                self._nested_step = row + 1
                return
            made.add(merge.token)
            self._n_searched = row + 1

    # Drawing

    def render(self) -> Text:
        width, height = self.size
        caption = Text(self._captions.sentence, self._ink("caption"))
        rows = [Text(), caption, Text(), self._merge_line(width), Text()]
        n_curve_rows = min(height - _ROWS_AROUND_CURVE, _MOST_CURVE_ROWS)
        if n_curve_rows > 1:
            plot = StagePlot(
                self._points, self._n_steps, width, n_curve_rows, self._ink
            )
            rows += plot.rows()
        rows += [Text()] * (height - 1 - len(rows))
        rows.append(self._last_line(width))
        return Text("\n", no_wrap=True, overflow="crop").join(rows)

    def _ink(self, name: str) -> Style:
        return self.get_component_rich_style(f"stage-view--{name}")

    def _merge_line(self, width: int) -> Text:
        """Write the two parts of the newest merge, the new token, and how often the pair occurred."""
        line = Text()
        merge = self._merge
        if merge is not None:
            labels = self._labels(self._step - 1)
            style_of = self._area.style_of
            line.append(labels.left, style_of(merge.left)).append(" + ")
            line.append(labels.right, style_of(merge.right)).append("  →  ")
            line.append(labels.token, style_of(merge.token) + Style(bold=True))
            if merge.count:
                line.append(f"   {how_often(merge.count)}", self._ink("label"))
        number = ""
        if self._n_steps:
            number = f"merge {self._step:,} of {self._n_steps:,}"
        room = width - line.cell_len - cell_len(number)
        if room > 0:
            line.append(" " * room).append(number, self._ink("number"))
        return line

    def _last_line(self, width: int) -> Text:
        line = Text(_NOTE, self._ink("label"))
        line.append(" " * (width - len(_NOTE) - len(_NAME)))
        return line.append(_NAME, self._ink("caption"))


def _longest_whole_word(live: LiveText, start: int, end: int) -> str:
    """Return the longest word between two places that is a whole piece and one token; "" if there is none."""
    longest = ""
    for span in live.spans(start, end):
        word = live.between(span.start, span.end).strip()
        if len(span.ids) > 1 or len(word) <= max(len(longest), _SHORTEST_WORD - 1):
            continue
        piece = live.piece_at(span.start)
        is_whole = piece is not None and piece[:2] == (span.start, span.end)
        if is_whole and word.isalpha():
            longest = word
    return longest
