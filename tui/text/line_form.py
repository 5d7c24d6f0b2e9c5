"""How lines about merges are written: their width, their tokens and their colors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rich.style import Style


@dataclass(frozen=True, slots=True)
class LineForm:
    """How lines are written."""

    width: int
    """Cells in a line."""
    write: Callable[[int], str]
    """Writes a token, from its id."""
    inks: Mapping[str, Style]
    """Styles by name: "accent" for the chosen pair, "secondary" for pairs that tied with it."""

    def pair(self, left: int, right: int) -> str:
        return f"{self.write(left)} + {self.write(right)}"
