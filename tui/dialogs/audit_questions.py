"""What an audit asks for: a tensor of a model."""

from collections.abc import Sequence

from textual.suggester import Suggester, SuggestFromList

from bpe_core.visible import visible
from tui.dialogs.questions import Ask


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
