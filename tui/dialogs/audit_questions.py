"""What an audit asks for: another pattern or normalizer to suppose, and a tensor of a model."""

from collections.abc import Sequence
from typing import Final

from textual.suggester import Suggester, SuggestFromList

from bpe_core.auditing.what_if import NORMALIZERS
from bpe_core.patterns import PATTERNS
from bpe_core.visible import visible
from tui.dialogs.questions import Ask
from tui.state.audit import WhatIf

_CHANGES: Final = {"no normalizer" if name == "none" else name: name for name in NORMALIZERS}
"""What is typed for a normalizer -> its name; "none" is the name of a pattern."""


class AskWhatIf(Ask[WhatIf]):
    """Asks for a split pattern or a normalizer that is to be supposed."""

    PLACEHOLDER = "gpt2, NFC, or a regular expression"
    HINT = f"Patterns: {', '.join(PATTERNS)}, or any expression. Normalizers: {', '.join(_CHANGES)}. Tab completes."

    def suggester(self) -> Suggester:
        """The names there are."""
        return SuggestFromList((*PATTERNS, *_CHANGES), case_sensitive=False)

    def understood(self, text: str) -> WhatIf:
        """What is supposed; a pattern, once it has been seen to be one."""
        from bpe_core.patterns import splitter

        normalizer = _CHANGES.get(text.strip())
        return WhatIf(splitter(text).pattern) if normalizer is None else WhatIf(normalizer=normalizer)


class AskTensor(Ask[str]):
    """Asks for one of several tensors; the first is there already."""

    HINT = "Enter takes this one, Tab completes another"

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"Which tensor holds a row for each token? {', '.join(map(visible, names))}", names[0])
        self._names = names

    def suggester(self) -> Suggester:
        """The names there are."""
        return SuggestFromList(self._names)

    def understood(self, text: str) -> str:
        """The name, if it is one of them."""
        if text.strip() not in self._names:
            raise ValueError("There is no such tensor with a row for each token; type one of those above.")
        return text.strip()
