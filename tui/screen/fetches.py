"""What the main screen does about tokenizers that are known by name: fetch one beside the screen, put it in force."""

from pathlib import Path

from textual import work

from bpe_core.visible import visible
from tui.screen.tokenizers import TokenizersScreen
from tui.state import Run


class FetchesScreen(TokenizersScreen):
    """The part that minds names."""

    @work
    async def action_fetch_tokenizer(self) -> None:
        """Ask for a name and fetch the tokenizer."""
        from tui.dialogs import AskName

        if self.run.busy:
            self._say("A training is running: stop it first (F8), what it learned is kept.", "warning")
            return
        name = await self.app.push_screen_wait(AskName("Which tokenizer should be fetched?"))
        if name is not None:
            self._fetch(name)

    @work(exclusive=True, group="take")
    async def _fetch(self, name: str) -> None:
        from bpe_core.wire import Failed, Fetching, Saved
        from tui.engine import Job

        path = None
        with self._waiting(f"fetching {visible(name)}"):
            self._say(f"Fetching {name}; Escape leaves it.")
            async with Job("fetch", name, "--stream") as job:
                async for events in job.batches():
                    for event in events:
                        match event:
                            case Fetching(done, total, file):
                                what = f"fetching {visible(name)} · {visible(file)}, {done + 1} of {total}"
                                self.run = Run(detail=what)
                            case Saved(found):
                                path = Path(found)
                            case Failed(message):
                                self._say(message, "error")
        if path is not None:
            self._take_from(path)
            self._find()
