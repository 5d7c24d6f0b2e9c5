"""MergeLog: the list of merges, which grows during a training, to filter, search and copy."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import ClassVar, Final

from rich.cells import cell_len
from textual.binding import BindingType
from textual.reactive import var
from textual.timer import Timer

from bpe_core.explain.trace import TokenUses, UseLedger, token_uses
from bpe_core.trainer import Merge, Merges
from bpe_core.visible import counted, token_label
from bpe_core.vocabulary import Vocabulary
from bpe_core.weighted import Count, formatted
from tui.commands.command import features_of, in_background
from tui.commands.keys import PartBindings
from tui.drawing.lines import fit, how_often
from tui.table.columns import Choices, Column
from tui.table.rows import SLICE, Search
from tui.table.search_field import SearchField
from tui.table.table import Table
from tui.terminal.background import SlicedWork, Steps
from tui.widgets.kept_merges import KeptMerges
from tui.widgets.merge_columns import COLUMNS, NEED_COUNTS, SHOWN, lengths, ratio

_MEASURED: Final = 20
"""The columns of numbers fit this many first merges."""


class MergeLog(Table):
    """Merges in the order they were learned; follows the newest until the user looks back.

    `choice` is one of `SHOWN`, or "" for all.
    """

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Merge log")
    COLUMNS = COLUMNS
    FOLLOWS = True
    LEAD = " ←→ "
    GATHER: ClassVar[float] = 0.5
    """Seconds to wait for more merges before a filter or search is applied to the new ones."""

    step: var[int] = var(0, init=False)
    """How many merges are applied; later ones are drawn faint."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.merges: Merges | KeptMerges = Merges()
        """The rows, in order of their step."""
        self.n_bytes: Count = 0
        """The size of the corpus in bytes; 0 if it is not known."""
        self.n_tokens: Count = 0
        """The size of the corpus before the first merge, in tokens; 0 if it is not known."""
        self._uses: UseLedger | None = None
        self._n_counted = 0
        """How many of the merges that are being learned `_uses` has counted."""
        self._newest = 0
        """The newest step shown so far. A step beyond it means growth; before it, travel."""
        self._counting = SlicedWork[UseLedger](self)
        self._gathering: Timer | None = None

    # Merges in

    def show(
        self, merges: Merges | KeptMerges, *, n_bytes: Count = 0, n_tokens: Count = 0
    ) -> None:
        """Replace the list by `merges`.

        `n_bytes` and `n_tokens` are the size of the corpus before the first merge, or 0 if unknown. Call `arrived`
        after the list has grown.
        """
        self._counting.cancel()
        self.n_bytes = n_bytes
        self.n_tokens = n_tokens or n_bytes
        self._uses = UseLedger(self.n_tokens) if self.n_tokens else None
        self._n_counted = 0
        self.merges = merges
        self._newest = len(merges)
        self.set_reactive(MergeLog.choice, "")
        self.following = True
        self.arrived()
        if merges and self._uses is not None and isinstance(merges, KeptMerges):
            self._counting.run(self._count_uses(merges), self._counted)

    def arrived(self) -> None:
        """Show the merges that were added to the list."""
        self.n_rows = len(self.merges)
        self.rows_changed()
        self._fit_columns()
        if not (self.choice or self.search):
            self.rearrange()
        elif self._gathering is None:
            self._gathering = self.set_timer(self.GATHER, self._choose_again)

    def _choose_again(self) -> None:
        self._gathering = None
        self.rearrange()

    @property
    def uses(self) -> UseLedger | None:
        """How often each token is left; None if lengths are not known."""
        merges = self.merges
        if self._uses is None or not isinstance(merges, Merges):
            return self._uses
        # Count the merges that were learned since the last look.
        left, right, token = merges.pairs
        for row in range(self._n_counted, len(merges)):
            self._uses.add(left[row], right[row], token[row], merges.n_tokens[row])
        self._n_counted = len(merges)
        return self._uses

    def uses_of(self, vocabulary: Vocabulary, step: int) -> TokenUses | None:
        """Return how often the token of a step was made, absorbed by later merges, and left.

        Return None if it is not known.
        """
        merges = self.merges
        first_length = self.n_tokens
        # The log may lag behind the vocabulary.
        if not first_length or not 0 < step <= vocabulary.n_merges <= len(merges):
            return None
        merge = merges[step - 1]
        pair_and_token = (merge.left, merge.right, merge.token)
        if not merge.n_tokens or pair_and_token != vocabulary.merge_of(step):
            return None  # the lengths are not recorded, or the log has another tokenizer by now

        def corpus_length_after(step: int) -> Count:
            if step == 0:
                return first_length
            return merges[step - 1].n_tokens

        return token_uses(vocabulary, corpus_length_after, step)

    def _count_uses(self, rows: Sequence[Merge]) -> Steps[UseLedger]:
        uses = UseLedger(self.n_tokens)
        for number, merge in enumerate(rows):
            uses.add(merge.left, merge.right, merge.token, merge.n_tokens)
            if number % SLICE == SLICE - 1:
                yield
        return uses

    def _counted(self, uses: UseLedger) -> None:
        self._uses = uses
        self.rows_changed()
        self.refresh()

    def _fit_columns(self) -> None:
        """Make the columns of numbers as wide as their largest, which is in the first rows or the last."""
        widths: dict[str, int] = {}
        hidden: set[str] = set()
        if not self.n_bytes:
            hidden.add("ratio")
        if self.merges:
            measured = [*self.merges[:_MEASURED], self.merges[-1]]
            widths["step"] = _widest(merge.step for merge in measured)
            widths["count"] = _widest(merge.count for merge in measured)
            widths["uses"] = widths["count"]
            widths["tokens"] = _widest(merge.n_tokens for merge in measured)
            if not measured[0].count:
                hidden |= NEED_COUNTS
        about = SHOWN[self.choice].about if self.choice else ""
        self.fit_columns(widths, frozenset(hidden), about)

    # The text of a row

    def parts(self, row: int) -> tuple[bytes, bytes]:
        """Return the bytes of both parts of a merge."""
        merge = self.merges[row]
        cut = self.merges.length_of(merge.left)
        if cut is None:
            # No merge made the left part, so it is a single byte. A training also starts with an
            # end-of-word marker, but that is always on the right.
            cut = 1
        return merge.token_bytes[:cut], merge.token_bytes[cut:]

    def row_ink(self, row: int) -> str:
        return "faint" if self.merges[row].step > self.step else ""

    def row_hint(self, row: int) -> str:
        merge = self.merges[row]
        labels = []
        for part in self.parts(row):
            label = token_label(part)
            labels.append(fit(label, min(12, cell_len(label))))
        hint = f"Joins {' + '.join(labels)}"
        if merge.count:
            hint += f", {self._times(row)}"
        if merge.ties > 1:
            hint += f", one of {merge.ties:,} ties"
        if merge.n_tokens:
            hint += f"; {counted(merge.n_tokens, 'token')} left"
            if self.n_bytes:
                hint += f", {ratio(self, row)} bytes each"
        return f"{hint}."

    def _times(self, row: int) -> str:
        """Return how often a merge joined its pair. Of occurrences that overlap, it joins only some."""
        count = self.merges[row].count
        before, after = lengths(self, row)
        joined = count
        if before and after:
            joined = before - after  # each join makes the text one token shorter
        if joined != count:
            return f"{formatted(joined)} of its {counted(count, 'occurrence')}"
        return how_often(count)

    def as_text(self, rows: Iterable[int]) -> str:
        """Return rows as lines with tabs between the fields, headings first."""
        lines = ["step\tleft\tright\ttoken\tid\tcount\tties\ttokens"]
        for row in rows:
            merge = self.merges[row]
            left, right = self.parts(row)
            fields = [
                str(merge.step),
                token_label(left),
                token_label(right),
                token_label(merge.token_bytes),
                str(merge.token),
            ]
            if merge.count:
                fields += [str(merge.count), str(merge.ties), str(merge.n_tokens)]
            else:
                fields += ["", "", ""]
            lines.append("\t".join(fields))
        return "\n".join(lines)

    def action_copy(self, what: str) -> None:
        rows: list[int] = []
        if what == "all":
            rows = list(self.order)
        elif self.current is not None:
            rows = [self.current]
        if rows:
            self.app.copy_to_clipboard(self.as_text(rows))
            merges = counted(len(rows), "merge")
            self.notify(
                f"Copied {merges}, with tabs between the columns.", markup=False
            )

    # The step shown

    def row_highlighted(self, row: int) -> None:
        # Moving the cursor to a merge shows its step.
        in_background(self, features_of(self).shown.travel_to(self.merges[row].step))

    row_selected = row_highlighted

    @property
    def target(self) -> str:
        row = self.current
        if row is None or row >= len(self.merges) or self.merges[row].step == self.step:
            return ""
        return "step"

    def note_target(self) -> None:
        # A move of the cursor goes to its step a moment later. Then Enter has nothing to do.
        self.call_after_refresh(super().note_target)

    def watch_step(self, old: int, new: int) -> None:
        # Move the cursor to the step, unless the list grows while the user has scrolled away.
        if not self.merges:
            return
        self.refresh()
        growing = new > self._newest
        self._newest = max(self._newest, new)
        self.note_target()
        row = max(0, new - 1)
        if (new < old or not (growing or self.following)) and row in self.order:
            self.move_to(self.order.index(row))

    def action_move_to_end(self, end: int) -> None:
        if not end or self.choice or self.search:
            super().action_move_to_end(end)
        else:
            self.move_to(self.row_count - 1)
            in_background(self, features_of(self).shown.show_all())

    # The rows shown

    @property
    def choices(self) -> Choices:
        if not self.merges:
            return ()
        choices = [("", counted(len(self.merges), "merge"))]
        for key, shown in SHOWN.items():
            if self.n_tokens or not shown.about:
                choices.append((key, shown.title))
        return choices

    @property
    def sorting(self) -> Column | None:
        sort = SHOWN[self.choice].sort if self.choice else None
        if sort is None:
            return None
        return Column(self.choice, 0, sort=sort, descending=True)

    @property
    def test(self) -> Callable[[int], bool] | None:
        test = SHOWN[self.choice].test if self.choice else None
        if test is None:
            return None
        return partial(test, self)

    @property
    def note(self) -> tuple[str, str]:
        if self.choice or self.search:
            return f" {self.row_count:,} shown ", "muted"
        if self.page_rows >= self.row_count:
            return "", "muted"
        if self.following:
            return " following ", "muted"
        return " ▼ End to follow ", "accent"

    @property
    def empty(self) -> str:
        if not self.merges:
            return "Each merge will appear here as it is learned."
        if self.search:
            return f"None of these merges has “{self.search}” in its token or id."
        return "There are no such merges."

    def watch_choice(self) -> None:
        self._fit_columns()
        self.rearrange(self._go_to_first)

    watch_search = watch_choice

    def _go_to_first(self) -> None:
        """Go to the first row of a filter or search, or else to the step shown."""
        is_filtered = self.choice or self.search
        self.move_to(0 if is_filtered else self.step - 1)

    def footer_clicked(self, x: int) -> None:
        if self.choice_at(x) is None:
            # A click next to the choices follows the newest merge again.
            self.action_move_to_end(1)
        super().footer_clicked(x)

    def action_search(self) -> None:
        self.screen.query_one("#merge-search", SearchField).begin()

    def match(self, row: int, search: Search) -> int:
        """Return how well the new token of a merge matches."""
        merge = self.merges[row]
        label = token_label(merge.token_bytes).casefold()
        return search.match(label, merge.token_bytes, merge.token)


def _widest(numbers: Iterable[Count]) -> int:
    return max(len(formatted(number)) for number in numbers)
