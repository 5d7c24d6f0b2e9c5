"""TokenizerList: the tokenizers that can be put in force, one a row."""

from pathlib import Path
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var
from textual.widgets.option_list import Option

from bpe_core.visible import visible
from tui.commands import applies, bindings
from tui.drawing.cells import cut
from tui.drawing.tokenizer_texts import distinct_names, sentences
from tui.state import KnownTokenizer, requests
from tui.terminal.guards import PagedOptionList


class TokenizerList(PagedOptionList):
    """Enter puts one in force; it can be renamed, split in another way, taken off the list."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Tokenizers")

    hint: var[str] = var("Tokenizers trained here, opened, or found on this computer; none yet.")
    """What there is to know of the one under the cursor."""

    class Pointed(Message):
        """The cursor is on another one, or something else is known of it."""

    _kept: tuple[KnownTokenizer, ...] = ()
    _in_force = ""
    _shown: tuple[tuple[KnownTokenizer, ...], str, int] | None = None
    """What is listed, and in how many cells."""

    @property
    def pointed(self) -> KnownTokenizer | None:
        place = self.highlighted
        return self._kept[place] if place is not None and place < len(self._kept) else None

    def on_focus(self) -> None:
        requests(self).check_tokenizer_files()
        self.post_message(self.Pointed())

    def watch_highlighted(self, highlighted: int | None) -> None:
        super().watch_highlighted(highlighted)
        if self.pointed is not None:
            self.hint = " ".join(sentences(self.pointed))
            self.refresh_bindings()
            self.post_message(self.Pointed())

    def show(self, kept: tuple[KnownTokenizer, ...], in_force: str) -> None:
        """List `kept`, the one in force marked; the cursor on it when it is new, or else where it was."""
        width = max(16, self.scrollable_content_region.width or 26)
        if self._shown == (kept, in_force, width):
            return  # else the whole screen would be laid out anew
        self._shown = kept, in_force, width
        place = self.highlighted
        on = self.pointed.path if self.pointed else in_force
        if in_force != self._in_force and not self.has_focus:
            on = in_force  # it is seen, however long the list is
        self._kept, self._in_force = kept, in_force
        self.clear_options()
        names = distinct_names(kept)
        self.add_options(Option(self._row(one, names[one.path], width), id=one.path) for one in kept)
        if kept:
            paths = [tokenizer.path for tokenizer in kept]
            self.highlighted = paths.index(on) if on in paths else min(place or 0, len(kept) - 1)

    def _row(self, one: KnownTokenizer, name: str, width: int) -> Text:
        sign = "● " if one.path == self._in_force else "  "
        note = one.trouble or (f"{one.n_vocab:,}" if one.n_vocab else "")
        room = width - len(note) - 3
        shown = cut(visible(name), room, "ends")
        row = Text(f"{sign}{shown}{' ' * (room - cell_len(shown))} ", no_wrap=True)
        return row.append(note, Style(bold=True, italic=True) if one.trouble else "")

    def on_resize(self) -> None:
        self.show(self._kept, self._in_force)

    # What the keys do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return applies("Tokenizers", self, action)

    def action_rename(self) -> None:
        """Ask for another name for the one under the cursor."""
        if self.pointed is not None:
            requests(self).rename_tokenizer(Path(self.pointed.path))

    def action_change_pattern(self) -> None:
        """Show how the one under the cursor splits a text, and ask for another way."""
        if self.pointed is not None:
            requests(self).change_pattern_of(Path(self.pointed.path))

    def action_delete(self) -> None:
        """Delete the one under the cursor, once that is confirmed."""
        self._discard()

    def action_forget(self) -> None:
        """Take the one under the cursor off the list."""
        self._discard()

    def _discard(self) -> None:
        if self.pointed is not None:
            requests(self).discard_tokenizer(Path(self.pointed.path))
