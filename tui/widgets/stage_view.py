"""StageView: below a text alone on the screen, its newest merge, a sentence, and the curve of its tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import ceil, expm1, log1p
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.message import Message
from textual.widget import Widget

from bpe_core.visible import counted
from tui.commands.command import main_screen
from tui.drawing.lines import how_often
from tui.text.stage_captions import Captions, MergeLabels, StageFacts

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
_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
"""A cell that is filled from below, by eighths."""
_SHORTEST_WORD: Final = 5
"""Characters of a word that is worth a sentence."""
_NOTE: Final = "Press any key to open the studio."
_NAME: Final = "bpescope"


class _Point(NamedTuple):
    """How many tokens the text has after a step."""

    step: int
    n_tokens: int


class StageView(Widget):
    """Shows the merge of the screen's step, how many tokens the text has, and a sentence about it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"stage-view--{ink}" for ink in _INKS}

    class Ended(Message):
        """All merges were shown, and the last sentence has been read."""

    def __init__(self, area: TokenArea) -> None:
        super().__init__()
        self._area = area
        self._captions = Captions()
        self._points: list[_Point] = []
        self._nested: MergeLabels | None = None
        self._nested_step = 0
        self._n_searched = 0
        """The merges that were searched for a merge of merged tokens."""
        self._changed_at = 0.0
        """When the last step was shown."""

    def on_mount(self) -> None:
        self.watch(self.screen, "in_force", self._step_shown, init=False)
        self.set_interval(_SECONDS_PER_LOOK, self._look)
        self._step_shown()

    # What is shown

    def _step_shown(self) -> None:
        # The editor gets the tokenizer of the step by the same change.
        self.call_later(self._measure)

    def _measure(self) -> None:
        """Note how many tokens the text has now, and let the newest token flash if there is time for it."""
        n_tokens = self._area.edited.n_tokens
        step = main_screen(self).step
        if n_tokens is None:
            return
        while self._points and self._points[-1].step >= step:
            self._points.pop()
        self._points.append(_Point(step, n_tokens))
        now = monotonic()
        is_slow = now - self._changed_at >= _SLOW
        self._changed_at = now
        merge = self._merge
        if merge is not None and is_slow:
            self._area.flash(merge.token, _SECONDS_OF_FLASH)
        self._look()

    def _look(self) -> None:
        now = monotonic()
        self._captions.choose(self._facts(), now)
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
        n_bytes = len(self._area.document.text.encode("utf-8", "replace"))
        step = self._step
        if not step:
            return StageFacts(0, self._n_steps, n_bytes, n_tokens)
        self._find_nested()
        nested = None
        if step >= self._nested_step:
            nested = self._nested
        return StageFacts(
            step,
            self._n_steps,
            n_bytes,
            n_tokens,
            first=self._labels(0),
            nested=nested,
            nested_step=self._nested_step,
            whole_word=self._area.edited.ask(_longest_whole_word, ""),
        )

    def _labels(self, row: int) -> MergeLabels:
        return MergeLabels.of(*main_screen(self).training.log_of_merges.parts(row))

    def _find_nested(self) -> None:
        """Look for the first merge one of whose parts was merged before."""
        merges = self._merges
        made = {merge.token for merge in merges[: self._n_searched]}
        for row in range(self._n_searched, self._step):
            if self._nested is not None:
                return
            merge = merges[row]
            if merge.left in made or merge.right in made:
                self._nested = self._labels(row)
                self._nested_step = row + 1
            made.add(merge.token)
            self._n_searched = row + 1

    # Drawing

    def render(self) -> Text:
        width, height = self.size
        caption = Text(self._captions.sentence, self._ink("caption"))
        rows = [Text(), caption, Text(), self._merge_line(width), Text()]
        n_curve_rows = min(height - _ROWS_AROUND_CURVE, _MOST_CURVE_ROWS)
        if n_curve_rows > 1:
            rows += self._curve(width, n_curve_rows)
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

    def _curve(self, width: int, height: int) -> list[Text]:
        """Draw the tokens of the text as an area, by the number of merges on a logarithmic scale."""
        most = max((point.n_tokens for point in self._points), default=0)
        label_width = len(f"{most:,}")
        plot_width = width - label_width - 2
        scale = log1p(self._n_steps) / max(1, plot_width - 1)
        heights: list[int] = []
        if most and scale:
            n_drawn = round(log1p(self._step) / scale) + 1
            for column in range(n_drawn):
                share = self._tokens_at(expm1(column * scale)) / most
                heights.append(round(8 * height * share))
        rows: list[Text] = []
        for number in range(height):
            label = f"{most:,}" if most and not number else ""
            row = Text(f"{label:>{label_width}} │", self._ink("label"))
            below = 8 * (height - 1 - number)
            for top in heights:
                eighths = max(0, min(8, top - below))
                is_edge = top - below <= 8
                if is_edge:
                    row.append(_EIGHTHS[eighths], self._ink("curve"))
                else:
                    row.append(" ", self._ink("area"))
            rows.append(row.append(" " * (plot_width - len(heights))))
        if heights:
            self._label_end(rows, heights, label_width + 2)
        axis = "0".rjust(label_width) + " └" + "─" * plot_width
        rows.append(Text(axis, self._ink("label")))
        rows.append(self._ticks(label_width + 2, plot_width))
        return rows

    def _tokens_at(self, step: float) -> float:
        """Return the tokens of the text after `step` merges, between two steps that were shown."""
        after = bisect_right(self._points, step, key=lambda point: point.step)
        left = self._points[max(0, after - 1)]
        right = self._points[min(after, len(self._points) - 1)]
        n_between = right.step - left.step
        if not n_between:
            return left.n_tokens
        share = (step - left.step) / n_between
        return left.n_tokens + share * (right.n_tokens - left.n_tokens)

    def _label_end(self, rows: list[Text], heights: Sequence[int], left: int) -> None:
        """Write the number of tokens next to the end of the curve, or above it at the right edge."""
        text = f" {counted(self._points[-1].n_tokens, 'token')}"
        column = min(left + len(heights), rows[0].cell_len - len(text))
        highest = max(heights[column - left :], default=0)
        row = len(rows) - 1 - heights[-1] // 8
        if highest:
            row = len(rows) - 1 - ceil(highest / 8)
        row = max(0, min(row, len(rows) - 1))
        before = rows[row][:column]
        after = rows[row][column + len(text) :]
        rows[row] = before.append(text, self._ink("number")).append(after)

    def _ticks(self, left: int, width: int) -> Text:
        """Write 0, the powers of ten and the number of merges below the axis."""
        line = " " * left
        n_steps = self._n_steps
        if not n_steps:
            return Text()
        end = f"{n_steps:,} merges"
        for number in (0, *(10**power for power in range(7))):
            column = left + round(log1p(number) / log1p(n_steps) * (width - 1))
            if column + len(f"{number:,}") + len(end) >= left + width:
                break
            if column >= len(line.rstrip()) + 2 or not number:
                line = f"{line[:column]:<{column}}{number:,}"
        line = f"{line:<{left + width - len(end)}}{end}"
        return Text(line, self._ink("label"))


def _longest_whole_word(live: LiveText) -> str:
    """Return the longest word of a text that is a whole piece and one token; "" if none is long enough."""
    longest = ""
    for span in live.spans(0, live.n_characters):
        word = live.between(span.start, span.end).strip()
        if len(span.ids) > 1 or len(word) <= max(len(longest), _SHORTEST_WORD - 1):
            continue
        piece = live.piece_at(span.start)
        is_whole = piece is not None and piece[:2] == (span.start, span.end)
        if is_whole and word.isalpha():
            longest = word
    return longest
