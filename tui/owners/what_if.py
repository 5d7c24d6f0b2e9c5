"""WhatIfRun: a worker finds the tokens that no text would become under another split pattern or normalizer."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tui.owners.owner import Host, Owner
from tui.state.audit import WhatIf
from tui.workers.auditing import what_if


class WhatIfRun(Owner[WhatIf]):
    """Its value is what was asked about, and the tokens found so far."""

    def __init__(self, host: Host, publish: Callable[[WhatIf], None]) -> None:
        super().__init__(host, WhatIf(), publish)

    def ask(self, tokenizer: Path, given: str | None, asked: WhatIf) -> None:
        """Find the tokens; `given` is the split pattern that the user gave for the tokenizer's file, if any."""
        self._begin(partial(self._ask, tokenizer, given, asked))

    def forget(self) -> None:
        """Give up, and know nothing."""
        self.cancel()
        self._replace(WhatIf())

    async def _ask(self, tokenizer: Path, given: str | None, asked: WhatIf) -> None:
        async for told in what_if(tokenizer, given, asked):
            self._replace(told)

    def _failed(self, sentence: str) -> None:
        self._replace(WhatIf(progress=sentence))
        super()._failed(sentence)
