"""Fetch: a tokenizer by its name, from a cache or over the network."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from bpe_core.errors import FetchError
from bpe_core.visible import visible
from bpe_core.worker.fetch import FetchRequest
from bpe_core.worker.messages import Failed, Saved, WorkProgress
from tui.owners.owner import Awaited, Host
from tui.workers.process import WorkerProcess


class Fetch(Awaited):
    """Fetches in a thread, and then tells where the file lies."""

    def __init__(self, host: Host, publish: Callable[[], None], fetched: Callable[[Path], None]) -> None:
        super().__init__(host, publish)
        self._fetched = fetched

    def fetch(self, name: str) -> None:
        """Fetch the tokenizer of this name; a fetch under way is given up."""
        self._begin(partial(self._fetch, visible(name), name))

    async def _fetch(self, shown: str, name: str) -> None:
        self._replace(f"fetching {shown} … Esc leaves it")
        path = None
        async with WorkerProcess(FetchRequest(name)) as worker:
            async for events in worker.batches():
                for event in events:
                    match event:
                        case WorkProgress(_, done, total, file):
                            self._replace(f"fetching {shown} · {visible(file)}, {done + 1} of {total} … Esc leaves it")
                        case Saved(found):
                            path = Path(found)
                        case Failed(message):
                            raise FetchError(message)
        self._replace("")
        if path is not None:
            self._fetched(path)
