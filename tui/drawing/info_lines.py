"""A fact in a narrow column: something at the left, a number or a name at the right edge."""

from dataclasses import dataclass

from rich.text import Text


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of such a column."""

    left: str | Text = ""
    """Text with styles of its own is drawn in these."""
    right: str = ""
    ink: str = "text"
    """Which of the column's styles `left` has."""
    lead: str = ""
    """Drawn before `left`: a box line, a mark, an indent."""
