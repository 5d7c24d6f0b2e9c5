"""TokenTable: all tokens of a vocabulary, those that an audit found first."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import BindingType
from textual.reactive import var

from bpe_core.auditing.findings import KINDS
from bpe_core.visible import token_label
from bpe_core.weighted import Measure
from tui.commands.command import features_of
from tui.commands.keys import PartBindings
from tui.drawing.token_rows import HOLE, SPECIAL, TokenRows, number
from tui.table.columns import Choices
from tui.table.rows import MATCHES_BY_ID, Search
from tui.table.table import Table
from tui.terminal.background import SlicedWork, Steps
from tui.widgets.token_columns import ALWAYS_SHOWN, COLUMNS, kinds_of

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.vocabulary import Vocabulary

_SEVERITIES: Final = {0: "", 1: "○ and worse", 2: "● and worse", 3: "▲ only"}
"""The least severity shown -> its label."""
_MEANINGS: Final = {
    SPECIAL: "Special tokens have reserved ids and are not made by merging.",
    HOLE: "No token has these ids, although higher ids are in use.",
}


class TokenTable(Table):
    """A row for each token, the most suspicious first until another order is chosen; unused ids last.

    `choice` is the only kind of rows that is shown; "" shows all tokens.
    """

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Tokens")
    COLUMNS = COLUMNS

    severity: var[int] = var(0, init=False)
    """The least severity shown; 0 shows also tokens without a finding."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(TokenTable.sort_key, "score")
        self.rows = TokenRows()
        """All rows, shown or not."""
        self.waits_for = ""
        """The sentence to show in a table without tokens."""
        self._vocabulary: Vocabulary | None = None
        self._reading = SlicedWork[TokenRows](self)
        self.opened: set[int] = set()
        """The first tokens of the families that are shown."""
        self.marked: set[int] = set()
        """The tokens that the user has marked."""
        self._chosen = False
        """Whether the user has moved to a row of this vocabulary."""
        self._fit_columns()

    # Reading rows

    @property
    def is_working(self) -> bool:
        return self._reading.is_working or self._arranging.is_working

    def list_tokens(self, vocabulary: "Vocabulary | None") -> None:
        """List the tokens of a vocabulary that was not audited yet."""
        self._vocabulary = vocabulary
        self._chosen = False
        self.opened = set()
        self.marked = set()
        self._reading.cancel()
        # Clear the rows now: until the new ones are sorted, the cursor would be on a row that is gone.
        self.show_rows(())
        self.set_reactive(TokenTable.choice, "")
        self.set_reactive(TokenTable.severity, 0)
        self._list(TokenRows())
        if vocabulary is not None:
            self.judge((), {})

    def _list(self, rows: TokenRows, then: Callable[[], None] = lambda: None) -> None:
        self.rows = rows
        self.n_rows = len(rows)
        self.rows_changed()
        self._fit_columns()
        self.rearrange(then)

    def judge(
        self,
        verdicts: "Sequence[Verdict]",
        measures: Mapping[str, Mapping[int, Measure]],
    ) -> None:
        """Add the results of an audit. Keep the order, the filter, the search and the cursor's row."""

        def steps() -> Steps[TokenRows]:
            rows = self.rows
            if self._vocabulary is not None and not len(rows):
                rows = yield from TokenRows().read(self._vocabulary)
            return (yield from rows.judge(verdicts, measures))

        self._reading.run(steps(), self._judged)

    def _judged(self, rows: TokenRows) -> None:
        if self.choice not in rows.n_of_kind:
            self.set_reactive(TokenTable.choice, "")
        if self.sort_key not in ALWAYS_SHOWN and self.sort_key not in rows.greatest:
            self.set_reactive(TokenTable.sort_key, "score")
        rows_above = self.cursor - self.scroll_offset.y

        def keep_place() -> None:
            if self._chosen:
                self.scroll_top(self.cursor - rows_above)
            else:
                self.move_to(0)

        self._list(rows, keep_place)

    def _fit_columns(self) -> None:
        rows = self.rows
        widths = {
            name: len(number(name, greatest))
            for name, greatest in rows.greatest.items()
        }
        hidden = {column.key for column in COLUMNS} - ALWAYS_SHOWN - widths.keys()
        if rows.verdicts:
            hidden -= {"score", "bar"}
        if rows.members:
            hidden.discard("family")
        if self.marked:
            hidden.discard("marked")
        widths["id"] = len(f"{rows.largest_id:,}")
        self.fit_columns(widths, hidden)

    # The text of a row

    def reason(self, row: int) -> str:
        """Return why an audit found a token, or else the parts it was merged from."""
        verdict = self.rows.verdict(row)
        if verdict:
            return verdict.reason
        hole = self.rows.hole(row)
        if hole:
            return hole.sentence
        token = self.rows.ids[row]
        vocabulary = self._vocabulary
        if vocabulary is None or not vocabulary.knows_merges or token not in vocabulary:
            return ""
        parents = vocabulary.parents(token) or ()
        labels = [token_label(vocabulary.token_bytes(part)) for part in parents]
        return " + ".join(labels)

    def row_hint(self, row: int) -> str:
        first_kind = kinds_of(self, row).partition(", ")[0]
        if first_kind in KINDS:
            return KINDS[first_kind].meaning
        return _MEANINGS.get(first_kind, "")

    # The rows shown

    @property
    def choices(self) -> Choices:
        if not len(self.rows):
            return ()
        return [
            (kind, f"{kind or 'all'} {count:,}")
            for kind, count in self.rows.n_of_kind.items()
        ]

    @property
    def note(self) -> tuple[str, str]:
        parts = []
        if self.marked:
            parts.append(f"× {len(self.marked):,} marked")
        if self.severity and len(self.rows):
            parts.append(_SEVERITIES[self.severity])
        ink = "accent" if parts else "muted"
        if self.search or (self.severity and len(self.rows)):
            parts.append(f"{self.row_count:,} shown")
        return f" {' · '.join(parts)} ", ink

    @property
    def empty(self) -> str:
        if not len(self.rows):
            return self.waits_for
        filters = []
        if self.choice:
            filters.append(f"of kind {self.choice}")
        if self.severity:
            filters.append(f"with {_SEVERITIES[self.severity]}")
        if self.search:
            filters.append(f"with “{self.search}” in its text, its id or its bytes")
        return f"No tokens {', '.join(filters)}."

    @property
    def test(self) -> Callable[[int], bool] | None:
        rows = self.rows
        if self.choice == HOLE:
            return lambda row: row >= rows.n_tokens
        if self.choice == SPECIAL:
            return lambda row: row < rows.n_tokens and rows.ids[row] in rows.specials
        if self.choice:
            return self._is_found
        if self.severity:
            return lambda row: self._is_found(row) and not self._is_folded(row)
        if self.search:
            return None
        # Unused ids are shown only if the user chooses or searches them.
        return lambda row: row < rows.n_tokens and not self._is_folded(row)

    def _is_found(self, row: int) -> bool:
        """Whether an audit found a token, with the chosen kind and severity."""
        verdict = self.rows.verdict(row)
        if verdict is None or (verdict.severity or 0) < self.severity:
            return False
        return not self.choice or self.choice in verdict.kinds

    @property
    def _folds(self) -> bool:
        """Whether one row stands for a family: in the order of scores, without a filter."""
        return self.sort_key == "score" and not self.choice and not self.search

    def _is_folded(self, row: int) -> bool:
        """Whether the row of another token of the family stands for this one."""
        if not self._folds:
            return False
        first = self.rows.first_of_family(row)
        if first == self.rows.ids[row] or first in self.opened:
            return False
        row_of_first = self.rows.row_of(first)
        return row_of_first is not None and self._is_found(row_of_first)

    def match(self, row: int, search: Search) -> int:
        """Return how well a token matches. A row of unused ids matches a search for one of them."""
        rows = self.rows
        hole = rows.hole(row)
        if hole is None:
            label = rows.labels[row] or ""
            return search.match(label, rows.tokens[row], rows.ids[row])
        if search.id is not None and hole.first <= search.id <= hole.last:
            return MATCHES_BY_ID
        return 0

    watch_severity = Table.watch_choice

    def action_severity(self) -> None:
        self.severity = (self.severity + 1) % len(_SEVERITIES)

    @property
    def has_family(self) -> bool:
        """Whether the row under the cursor stands for other tokens, too."""
        row = self.current
        return row is not None and self.members_of(row) > 0

    def members_of(self, row: int) -> int:
        """Return how many tokens the row stands for in addition to its own."""
        if not self._folds:
            return 0
        return len(self.rows.members.get(self.rows.ids[row], ()))

    def action_family(self) -> None:
        """Show the other tokens of the family, or hide them again."""
        row = self.current
        if row is not None and self.has_family:
            self.opened ^= {self.rows.ids[row]}
            self.rearrange()

    def action_mark(self) -> None:
        """Mark the token under the cursor, or unmark it."""
        row = self.current
        if row is not None and self.target:
            self.marked ^= {self.rows.ids[row]}
            self._fit_columns()
            self.refresh()

    def marked_in(self, vocabulary: "Vocabulary") -> tuple[int, ...]:
        """Return the marked tokens of a vocabulary; none if another one is listed."""
        if vocabulary is not self._vocabulary:
            return ()
        return tuple(sorted(self.marked))

    def go_to(self, token: int) -> None:
        """Move the cursor to a token. Open its family, and clear the filters that hide it."""
        row = self.rows.row_of(token)
        if row is not None:
            if row not in self.order:
                self.severity = 0
                self.opened.add(self.rows.first_of_family(row))
            self.reveal(row, tell=True)

    @property
    def unfolded(self) -> list[int]:
        """The rows shown and those that they stand for, in the order of the table."""
        rows: list[int] = []
        for row in self.order:
            family = [row]
            for token in self.rows.members.get(self.rows.ids[row], ()):
                member = self.rows.row_of(token)
                if member is None or not self._is_folded(member):
                    continue
                if self._is_found(member):
                    family.append(member)
            if self.reverse:
                family.reverse()
            rows += family
        return rows

    # The user's choices

    @property
    def target(self) -> str:
        row = self.current
        vocabulary = self._vocabulary
        if row is None or vocabulary is None or self.rows.hole(row):
            return ""
        token = self.rows.ids[row]
        if token not in vocabulary or not vocabulary.knows_merges:
            return "example"
        return "merge" if vocabulary.parents(token) else "example"

    @property
    def on_merge(self) -> bool:
        return self.target == "merge"

    @property
    def on_example(self) -> bool:
        return self.target == "example"

    def row_highlighted(self, row: int) -> None:
        self._chosen = True
        self.watch_cursor()

    def row_selected(self, row: int) -> None:
        if self.rows.hole(row) is None:
            audit = features_of(self).audit
            audit.open_token(self.rows.ids[row], self.rows.verdict(row))
