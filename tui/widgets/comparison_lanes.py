"""ComparisonLanes: the beginning of a compared text under each tokenizer, and marks below what they cut differently."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from operator import itemgetter
from typing import ClassVar, Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.reactive import var

from bpe_core.metrics.comparison import ComparedText
from bpe_core.metrics.disagreements import TextPlace
from bpe_core.metrics.sampled import SampledText, tokens_between
from bpe_core.pictures import choose_colors
from bpe_core.visible import counted, visible
from tui.commands.keys import PartBindings
from tui.drawing.lines import cut, fit
from tui.drawing.palette import palette_of
from tui.state import LETTERS, ComparisonRun
from tui.text.clusters import lay_out, wrap
from tui.text.lane_texts import labels, short_names
from tui.text.strips import Columns, RowContent, RowToken, clip, draw
from tui.widgets.comparison_views.view import LeadingRows, Row

_MARK: Final = "▔"
"""Drawn below a character that the tokenizers cut differently."""
_CONTEXT: Final = 64
"""Characters before a row whose tokens are colored too."""
_PAGE: Final = 10
"""How many differences Page Down skips."""
_BEGINNING: Final = TextPlace(text=0, line=1, column=0)


class _LaneRow(NamedTuple):
    """The characters of the text on one row, with a newline if there is one, under one of the tokenizers."""

    start: int
    end: int
    lane: int
    """The index of the tokenizer; on the row of marks, the number of tokenizers."""


_NO_SAMPLE: Final = SampledText(-1, "", lanes=(), differences=())


class ComparisonLanes(LeadingRows):
    """A sampled text, with each row repeated for every tokenizer. The keys of lists move through the differences."""

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Compared text")

    at: var[int] = var(-1, init=False)
    """The index of the difference that is emphasized; -1 for none."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._comparison = ComparisonRun()
        self._sample = _NO_SAMPLE
        self._place = _BEGINNING
        self._offset = 0
        """The code point to keep in view."""
        self._rows: list[_LaneRow] = []
        self._labels: list[str] = []

    # What is shown

    def show(self, comparison: ComparisonRun, place: TextPlace | None) -> None:
        """Show the text around a place, or the same place as before if it is None."""
        is_new = comparison.tokenizers != self._comparison.tokenizers
        self._comparison = comparison
        if place is None:
            place = _BEGINNING if is_new else self._place
        sample = comparison.samples.get(place.text, _NO_SAMPLE)
        if sample is self._sample and place == self._place:
            return
        self._place = place
        if sample is not self._sample:
            # The difference that was emphasized is one of the last sample.
            self.set_reactive(ComparisonLanes.at, -1)
            self._sample = sample
            self._lay_out()
        self._go_to_place()

    def _lay_out(self) -> None:
        self._rows = []
        if self._sample is not _NO_SAMPLE and self.row_width:
            names = short_names(self._comparison.headings, self.row_width)
            self._labels = labels(names)
            gutter = len(self._labels[0]) if self._labels else 0
            # One cell is for the sign of a line end.
            width = max(8, self.row_width - gutter - 1)
            self._rows = list(_lane_rows(self._sample, width))
        self.show_rows(range(len(self._rows)))
        self.refresh()

    def on_resize(self) -> None:
        self._lay_out()
        self._show_offset()
        super().on_resize()

    # The difference that is emphasized

    @property
    def _current(self) -> Columns | None:
        return self._sample.differences[self.at] if self.at >= 0 else None

    @property
    def _text(self) -> ComparedText:
        return self._comparison.texts[self._sample.text_index]

    def _go_to_place(self) -> None:
        self.at = -1
        self._offset = 0
        if self._sample is not _NO_SAMPLE:
            n_lines = max(0, self._place.line - self._text.line)
            lines = self._sample.beginning.split("\n")[:n_lines]
            self._offset = sum(len(line) + 1 for line in lines) + self._place.column
        if self._offset:
            for number, (start, end) in enumerate(self._sample.differences):
                if start <= self._offset < end:
                    self.at = number
        self._show_offset()

    def _show_offset(self) -> None:
        """Scroll to the rows that show the code point to keep in view, in all lanes."""
        starts = [row.start for row in self._rows]
        last = bisect_right(starts, self._offset) - 1
        if last >= 0:
            self.move_to(last)
            self.move_to(bisect_left(starts, starts[last]))

    def watch_at(self) -> None:
        self.watch_cursor()
        self.refresh()

    def row_of(self, number: int) -> Row:
        """Return the hint and the place of the difference that is emphasized, which are the same for all rows."""
        sample = self._sample
        if len(sample.lanes) < 2:
            return Row("The beginning of the text; each color is a token.", {})
        if self._current is None:
            return Row("Down goes to the next place where the tokenizers differ.", {})
        start, end = self._current
        ways = []
        for letter, lane in zip(LETTERS, sample.lanes, strict=False):
            tokens = [
                sample.beginning[token.start : token.end]
                for token in tokens_between(lane, start, end)
            ]
            ways.append(f"{letter} {visible('│'.join(tokens))}")
        row = Row(f"{', '.join(ways)}.", {})
        before = sample.beginning[:start]
        line = self._text.line + before.count("\n")
        column = start - before.rfind("\n") - 1
        place = TextPlace(sample.text_index, line, column)
        row.target = self._comparison.place_in_file(place, end - start)
        if row.target:
            row.hint += " Enter selects it in the editor."
        return row

    def action_move(self, by: int) -> None:
        last = len(self._sample.differences) - 1
        if last >= 0:
            self.at = max(0, min(self.at + by, last))
            self._offset, _ = self._sample.differences[self.at]
            self._show_offset()

    def action_move_page(self, by: int) -> None:
        self.action_move(by * _PAGE)

    def action_move_to_end(self, end: int) -> None:
        n_differences = len(self._sample.differences)
        self.action_move(n_differences if end else -n_differences)

    # Drawing

    @property
    def empty(self) -> str:
        if self._comparison.texts and not self._comparison.running:
            return "Only the beginnings of the first texts are shown here."
        return ""

    def render_header(self, width: int) -> Iterable[Segment]:
        sample = self._sample
        title = "Text"
        place = ""
        if sample is not _NO_SAMPLE:
            name = visible(self._text.amounts.name)
            title = f"Text  {cut(name, width // 2, keep='end')}"
        if len(sample.lanes) > 1:
            place = counted(len(sample.differences), "difference")
        if self.at >= 0:
            place = f"{self.at + 1:,} of {place}"
        room = max(0, width - len(place) - 2)
        yield Segment(fit(f" {title}", room), self.style_of("header"))
        yield Segment(f"{place} ", self.style_of("muted"))

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        start, end, lane = self._rows[row]
        beginning = self._sample.beginning
        text = beginning[start:end].removesuffix("\n")
        if lane == len(self._sample.lanes):
            return self._marks(text, start, end)
        palette = palette_of(self.app, self.rich_style, gutter=self.style_of("muted"))
        current = None
        if self._current:
            current = clip(self._current, start, end - start)
        content = RowContent(
            text,
            tuple(self._tokens(lane, start, end, len(palette.tokens))),
            ends_line=end == len(beginning) or beginning[end - 1] == "\n",
            current=current,
            gutter=self._labels[lane] if self._labels else "",
        )
        return draw(content, width, palette)

    def _tokens(
        self, lane: int, start: int, end: int, n_colors: int
    ) -> Iterator[RowToken]:
        """Yield the tokens of a row."""
        lanes = self._sample.lanes
        # Colors depend on the tokens before, but not on where a row begins.
        tokens = tokens_between(lanes[lane], max(0, start - _CONTEXT), end)
        first_borders: set[object] = set()
        if lane > 0:
            first_tokens = tokens_between(lanes[0], start, end)
            first_borders = {token.borders for token in first_tokens}
        for token, color in zip(tokens, choose_colors(tokens, n_colors), strict=True):
            columns = clip((token.start, token.end), start, end - start)
            if columns is not None:
                is_alike = token.borders in first_borders
                yield RowToken(*columns, color, is_alike=is_alike)

    def _marks(self, text: str, start: int, end: int) -> Iterable[Segment]:
        """Draw marks below the characters that the tokenizers cut differently."""
        layout = lay_out(text)
        gutter = len(self._labels[0])
        marks = Text(end="")
        differences = self._sample.differences
        first_number = bisect_right(differences, start, key=itemgetter(1))
        for number in range(first_number, len(differences)):
            columns = clip(differences[number], start, end - start)
            if columns is None:
                break
            first = layout.cell(columns[0])
            last = layout.cell(columns[1])
            if columns[1] > len(text):
                last = layout.width + 1
            ink = "accent" if number == self.at else "muted"
            marks.pad_right(gutter + first - len(marks))
            marks.append(_MARK * (last - first), self.style_of(ink))
        segments = marks.render(self.app.console)
        return Segment.apply_style(segments, self.style_of("text"))


def _lane_rows(sample: SampledText, width: int) -> Iterator[_LaneRow]:
    """Wrap a text into rows of `width` cells. Yield each for every lane, and for the marks if there are any."""
    for start, end in _rows_of_text(sample.beginning, width):
        for lane in range(len(sample.lanes)):
            yield _LaneRow(start, end, lane)
        n_before = bisect_right(sample.differences, start, key=itemgetter(1))
        if bisect_left(sample.differences, end, key=itemgetter(0)) > n_before:
            yield _LaneRow(start, end, len(sample.lanes))


def _rows_of_text(text: str, width: int) -> Iterator[Columns]:
    line_start = 0
    for line in text.split("\n"):
        cuts = [0, *wrap(line, width), len(line) + 1]
        for start, end in pairwise(cuts):
            yield line_start + start, min(line_start + end, len(text))
        line_start += len(line) + 1
