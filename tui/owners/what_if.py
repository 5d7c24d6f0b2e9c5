"""WhatIfRun: which tokens would die behind another split pattern or normalizer, found by a worker."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tui.owners.owner import Host, Owner
from tui.state.audit import WhatIf
from tui.workers.auditing import what_if


class WhatIfRun(Owner[WhatIf]):
    """What was asked about, and the tokens that it kills."""

    def __init__(self, host: Host, publish: Callable[[WhatIf], None]) -> None:
        super().__init__(host, WhatIf(), publish)

    def ask(self, tokenizer: Path, given: str | None, asked: WhatIf) -> None:
        """Find them; `given` is the pattern that was given for the tokenizer's file."""
        self._begin(partial(self._ask, tokenizer, given, asked))

    def forget(self) -> None:
        """Ask no more."""
        self.cancel()
        self._replace(WhatIf())

    async def _ask(self, tokenizer: Path, given: str | None, asked: WhatIf) -> None:
        async for told in what_if(tokenizer, given, asked):
            self._replace(told)

    def _failed(self, sentence: str) -> None:
        self._replace(WhatIf(progress=sentence))
        super()._failed(sentence)
