"""TextFiles: texts from disk into the editor, and from the editor onto the disk."""

import os
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from pathlib import Path

from bpe_core.visible import visible
from tui.dialogs.button_questions import Confirm
from tui.dialogs.questions import AskPath, AskPlace
from tui.disk import files
from tui.disk.sources import TextSource, file_source, text_of, whole_text
from tui.owners.owner import Host, Owner
from tui.terminal.background import in_thread


class TextFiles(Owner[None]):
    """Reads and writes beside the screen; `opened` gets the text that was read.

    `as_text` is asked for each path that is to be opened, with what that is called; it gives None for what is no text.
    """

    def __init__(
        self,
        host: Host,
        opened: Callable[[str], None],
        as_text: Callable[[Path, str], Coroutine[None, None, Path | None]],
    ) -> None:
        super().__init__(host, None, lambda _: None)
        self._opened = opened
        self._as_text = as_text

    def open(self, source: TextSource | None = None) -> None:
        """Open `source`, a text of the corpus pane; None: ask for a path."""
        self._begin(partial(self._open, source))

    def save(self, text: str, what: str = "the text", name: str = "") -> None:
        """Ask for a path and write `text` there, byte for byte; the question says `what`, and proposes `name`."""
        self._host.run_worker(
            partial(self._done, partial(self._save, text, what, name))
        )  # whatever is opened meanwhile

    def read(self, path: Path, then: Callable[[str], None]) -> None:
        """Read a text, and give it to `then`."""
        self._begin(partial(self._read, path, then))

    async def _read(self, path: Path, then: Callable[[str], None]) -> None:
        then(await in_thread(whole_text, path))

    def save_rows(self, parts: Callable[[str], Iterable[bytes]], suffixes: Sequence[str]) -> None:
        """Ask for a path, whose suffix is one of these, and write there what `parts` gives for it."""
        self._host.run_worker(partial(self._done, partial(self._save_rows, parts, suffixes)))

    async def _save_rows(self, parts: Callable[[str], Iterable[bytes]], suffixes: Sequence[str]) -> None:
        path = await self.place(f"Where to? {', '.join(suffixes)}", suffixes=suffixes)
        if path is not None:
            await in_thread(files.write_file, path, parts(path.suffix))
            self._host.say(f"Saved as {path}.")

    async def _open(self, source: TextSource | None) -> None:
        if source is None:
            path = await self._host.ask(AskPath("Which text should be opened in the editor?", only_file=True))
            source = file_source(path) if path is not None else None
        if source is not None and not source.preset:
            path = await self._as_text(Path(source.path), "" if source.is_folder else "Read it as a text")
            source = source if path is not None else None
        if source is not None:
            self._opened(await in_thread(text_of, source))

    async def _save(self, text: str, what: str, name: str) -> None:
        path = await self.place(f"Where should {what} be saved?", name)
        if path is None:
            return
        try:
            # In one step: a disk that is full must not cost what stood there before.
            await in_thread(files.write_file, path, (text.encode("utf-8", "replace"),))
            self._host.say(f"Saved as {path}.")
        except (OSError, ValueError) as error:  # ValueError: no path can hold a NUL character
            problem = error.strerror if isinstance(error, OSError) else error
            self._failed(f"{path} could not be written: {problem}.")

    async def place(self, question: str, name: str = "", suffixes: Sequence[str] = ()) -> Path | None:
        """Ask for a file that may be written, `name` being proposed; None if none may."""
        path = await self._host.ask(AskPlace(question, name, suffixes))
        if path is None or not os.path.exists(path):
            return path
        replace = await self._host.ask(Confirm(f"Replace {visible(str(path))}?", "Replace"))
        return path if replace else None
