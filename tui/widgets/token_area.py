"""TokenArea: a text area in which one sees the tokens of what one types.

Each edit is spliced into the text where all edits pass; rows are drawn from what it says. What is under the cursor,
what an edit changed and how many tokens there are goes out as messages. As long as there is no tokenizer, it is an
editor, and nothing of the engine is imported.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.message import Message
from textual.reactive import var
from textual.timer import Timer

import bpe_core
from bpe_core.errors import BpeError
from tui.widgets.tinted_area import TintedArea

if TYPE_CHECKING:
    from bpe_core import Change, Tokenizer
    from bpe_core.aligned_text import FollowedText
    from bpe_core.patterns import Splitter
    from tui.text.tokens import UnderCursor

_BIG: Final = 500_000
"""Characters of a text above which it is split into pieces in a thread, and shown without tokens meanwhile."""
_BIG_EDIT: Final = 100_000
"""Characters of an edit above which its tokens are not compared; the text is read anew."""
_SLICE: Final = 0.008
"""Seconds of settling at a time, short enough for a frame."""
_PAUSE: Final = 1 / 30
"""Seconds from one slice to the next."""
_SOON: Final = 1.0
"""Seconds until patterns are compiled that the first text did without; the start is over then."""


@dataclass
class _Told(Message):
    """What an area tells."""

    area: TokenArea

    @property
    def control(self) -> TokenArea:
        """The sender."""
        return self.area


class TokenArea(TintedArea):
    """An editor that shows the tokens of its text under `tokenizer`; without one, just an editor."""

    tokenizer: var[Tokenizer | None] = var(None, init=False)
    """What tokenizes the text. May be replaced many times a second."""

    @dataclass
    class Tokenized(_Told):
        """The text has other tokens than before, or more of them are known."""

        n_tokens: int | None
        """None as long as the text has not settled."""
        n_bytes: int
        """Of the text in UTF-8."""
        n_characters: int
        """Code points."""
        settled: bool
        """False while a big text is still being tokenized beside the screen."""

        def can_replace(self, message: Message) -> bool:
            """Only the newest counts."""
            return isinstance(message, TokenArea.Tokenized)

    @dataclass
    class Edited(_Told):
        """The text was edited; an undo or redo of several edits is told as one message each."""

        change: Change | None
        """None for an edit whose tokens were not compared, as it was too big."""

    @dataclass
    class CursorMoved(_Told):
        """Something else is under the cursor, because it moved or because the tokens did."""

        under: UnderCursor | None
        """None in an empty text, without a tokenizer, and on what a lossy pattern drops."""

        def can_replace(self, message: Message) -> bool:
            """Only the newest counts."""
            return isinstance(message, TokenArea.CursorMoved)

    def __init__(
        self,
        *,
        soft_wrap: bool = True,
        show_line_numbers: bool = False,
        read_only: bool = False,
        placeholder: str = "",
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        self._missed: list[tuple[int, int, str]] | None = None
        """The edits made while a big text is being read; None when none is."""
        self.why_none = ""
        """Why a text has no tokens to be shown although there is a tokenizer: a sentence, or nothing."""
        self._settling: Timer | None = None
        self._splitter: Splitter | None = None
        """What splits the text; soon after it has come it compiles all of its patterns."""
        super().__init__(
            soft_wrap=soft_wrap,
            show_line_numbers=show_line_numbers,
            read_only=read_only,
            placeholder=placeholder,
            highlight_cursor_line=False,
            name=name,
            id=id,
            classes=classes,
        )

    def on_mount(self) -> None:
        """Take the tokenizer that was set before there was a screen."""
        self.watch_tokenizer(self.tokenizer)

    @property
    def live(self) -> FollowedText | None:
        """The text with its tokens; None without a tokenizer, while a big text is read, and if there is `why_none`."""
        return None if self._tokens is None else self._tokens.live

    def _set_document(self, text: str, language: str | None) -> None:
        self._tokens = None
        super()._set_document(text, language)
        self._read(self.tokenizer)

    def watch_tokenizer(self, tokenizer: Tokenizer | None) -> None:
        """Show the text as another tokenizer sees it, or as the same one does after more merges."""
        if tokenizer is None or (self._tokens is None and self._missed is None):
            self._read(tokenizer)
        elif self._tokens is not None and tokenizer is not self._tokens.live.tokenizer:
            if tokenizer.by_piece and isinstance(self._tokens.live, bpe_core.LiveText):
                self._tokens.use(tokenizer)
                self._tokens_changed()
            else:
                self._read(tokenizer)
        if tokenizer is not None and tokenizer.by_piece and tokenizer.splitter is not self._splitter:
            self._splitter = tokenizer.splitter
            self.set_timer(_SOON, self._compile)

    def _compile(self) -> None:
        """See to it that no key has to wait for a pattern: the first accent is one that ASCII did without."""
        if self._splitter is not None:
            self.run_worker(to_thread(self._splitter.compile_all), group="patterns")

    def _read(self, tokenizer: Tokenizer | None) -> None:
        """Begin anew, with all of the text; with a big one beside the screen."""
        self._tokens, self._missed, self.why_none = None, None, ""
        if self.is_running:
            self.workers.cancel_group(self, "tokens")
        if tokenizer is not None and tokenizer.by_piece and self.is_running and self.document.n_characters > _BIG:
            self._missed = []
            self.run_worker(self._read_big(tokenizer, self.document.text), group="tokens")
        elif tokenizer is not None:
            from bpe_core.aligned_text import followed
            from tui.text.tokens import Tokens

            try:
                self._tokens = Tokens(followed(tokenizer, self.document.text))
            except BpeError as error:
                self.why_none = str(error)
        self._tokens_changed()

    async def _read_big(self, tokenizer: Tokenizer, text: str) -> None:
        from tui.text.tokens import Tokens

        live = await to_thread(bpe_core.LiveText, tokenizer, text)
        self._tokens = Tokens(live)
        for start, end, replacement in self._missed or ():
            self._tokens.splice(start, end, replacement)
        self._missed = None
        self._tokens.settle_changes()
        self.watch_tokenizer(self.tokenizer)
        self._tokens_changed()

    def spliced(self, start: int, end: int, text: str) -> None:
        """Bring the tokens up to date with an edit."""
        if self.tokenizer is not None and (self.why_none or max(len(text), end - start) > _BIG_EDIT):
            self._read(self.tokenizer)
            self.post_message(self.Edited(self, None))
        elif self._tokens is not None:
            change: Change | None = None
            try:
                change = self._tokens.splice(start, end, text)
            except BpeError as error:
                self._tokens, self.why_none = None, str(error)
            self.post_message(self.Edited(self, change))
        elif self._missed is not None:
            self._missed.append((start, end, text))

    def edit(self, edit: Edit) -> EditResult:
        """Perform an edit; what the one before had changed is no longer marked."""
        with self._one_change():
            return super().edit(edit)

    def _undo_batch(self, edits: Sequence[Edit]) -> None:
        with self._one_change():
            super()._undo_batch(edits)

    def _redo_batch(self, edits: Sequence[Edit]) -> None:
        with self._one_change():
            super()._redo_batch(edits)

    @contextmanager
    def _one_change(self) -> Iterator[None]:
        if self._tokens is not None:
            self._tokens.settle_changes()
        yield
        self._tokens_changed()

    def _tokens_changed(self) -> None:
        self._look_under_cursor()
        self.repaint()
        if self._tokens is not None and not self._tokens.settle(_SLICE) and self.is_running:
            if self._settling is None:
                self._settling = self.set_interval(_PAUSE, self._settle)
            self._settling.resume()
        self._tell_tokenized()

    def _settle(self) -> None:
        if self._settling is not None and (self._tokens is None or self._tokens.settle(_SLICE)):
            self._settling.pause()
            self._tokens_changed()

    def _tell_tokenized(self) -> None:
        if self.tokenizer is not None and self.is_running:
            n_tokens = self._tokens.live.n_tokens_known if self._tokens is not None else None
            document, settled = self.document, n_tokens is not None
            self.post_message(self.Tokenized(self, n_tokens, document.n_bytes, document.n_characters, settled))

    # Where the cursor is

    @property
    def under_cursor(self) -> UnderCursor | None:
        """The token under the cursor."""
        return self._under

    def watch_selection(self) -> None:
        """The cursor moved, or might have."""
        self._look_under_cursor()
        self.repaint()

    def _look_under_cursor(self) -> None:
        under = None
        if self._tokens is not None:
            anchor, cursor = map(self.document.get_index_from_location, self.selection)
            # Behind a selection, one wants to know about what is selected last.
            under = self._tokens.under(cursor - (anchor < cursor))
        if under != self._under:
            self._under = under
            if self.is_running:
                self.post_message(self.CursorMoved(self, under))
