"""Choice: a list that opens under a field, and tells what each of its entries means."""

from collections.abc import Callable, Iterable

from textual.content import Content
from textual.reactive import var
from textual.widgets import OptionList, Select

from bpe_core.visible import visible


class Choice(Select[str]):
    """One of some names; `meaning` gives the sentence for each."""

    hint: var[str] = var("")
    """What the name under the cursor means: of the open list, or else the chosen one."""

    def __init__(self, names: Iterable[str], value: str, meaning: Callable[[str], str], *, id: str) -> None:
        self._names = list(names)
        self._meaning = meaning
        super().__init__(_options(self._names), value=value, id=id, compact=True, allow_blank=False)

    def on_mount(self) -> None:
        self.watch(self.query_one(OptionList), "highlighted", self._tell)

    def offer(self, names: Iterable[str], value: str) -> None:
        """Other names, and the one that is chosen; nobody is told of a change."""
        if (names := list(names)) == self._names and value == self.value:
            return  # else the whole screen would be laid out anew
        self._names = names
        with self.prevent(Select.Changed):
            self.set_options(_options(self._names))
            self.value = value
        self._tell(self.query_one(OptionList).highlighted)

    def _tell(self, highlighted: int | None) -> None:
        if highlighted is not None and highlighted < len(self._names):
            self.hint = self._meaning(self._names[highlighted])


def _options(names: Iterable[str]) -> list[tuple[Content, str]]:
    # As content and not as a str, which would be markup: a regular expression is full of brackets.
    return [(Content(visible(name) or "another …"), name) for name in names]
