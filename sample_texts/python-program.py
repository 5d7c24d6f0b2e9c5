"""A spreadsheet in one file: cells, formulas, and a table drawn with characters.

Run it to see a small household budget. A cell holds a number, a text, or a formula such as
`=SUM(B2:B5) * 1.2`. Formulas may refer to cells that are filled later, but never to themselves.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Value = float | str

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|([A-Z]+\d+)|([A-Z]+)|(.))")
FUNCTIONS: dict[str, Callable[[list[float]], float]] = {
    "SUM": sum,
    "MIN": min,
    "MAX": max,
    "MEAN": statistics.fmean,
    "COUNT": len,
}


class FormulaError(ValueError):
    """A formula that cannot be computed; the message is shown in the cell."""


def column_name(index: int) -> str:
    """The letters over a column: 0 is A, 25 is Z, 26 is AA."""
    letters = ""
    while index >= 0:
        index, remainder = divmod(index, 26)
        letters = chr(ord("A") + remainder) + letters
        index -= 1
    return letters


def column_index(letters: str) -> int:
    """The inverse of `column_name`."""
    index = 0
    for letter in letters:
        index = index * 26 + ord(letter) - ord("A") + 1
    return index - 1


def position(name: str) -> tuple[int, int]:
    """Column and row of a cell name: `B3` is (1, 2)."""
    letters = name.rstrip("0123456789")
    return column_index(letters), int(name[len(letters) :]) - 1


@dataclass
class Sheet:
    """Cells by name, each with the text that was typed into it."""

    cells: dict[str, str] = field(default_factory=dict)

    def __setitem__(self, name: str, text: str) -> None:
        self.cells[name] = text

    def __getitem__(self, name: str) -> Value:
        return self.value(name, visiting=())

    def value(self, name: str, visiting: tuple[str, ...]) -> Value:
        """What the cell shows; `visiting` holds the cells that wait for this one."""
        if name in visiting:
            raise FormulaError("circle: " + " > ".join((*visiting, name)))
        text = self.cells.get(name, "")
        if text.startswith("="):
            return Parser(self, text[1:], (*visiting, name)).formula()
        try:
            return float(text)
        except ValueError:
            return text

    def block(self, first: str, last: str) -> Iterator[str]:
        """The names of all cells in the rectangle between two corners."""
        (left, top), (right, bottom) = position(first), position(last)
        for row in range(min(top, bottom), max(top, bottom) + 1):
            for column in range(min(left, right), max(left, right) + 1):
                yield f"{column_name(column)}{row + 1}"


@dataclass
class Parser:
    """Recursive descent: a formula is terms, a term is factors, a factor may be a formula again."""

    sheet: Sheet
    text: str
    visiting: tuple[str, ...]
    at: int = 0

    def peek(self) -> str:
        """The next token without taking it; an empty string at the end."""
        match = TOKEN.match(self.text, self.at)
        return match[0].strip() if match else ""

    def take(self, expected: str | None = None) -> str:
        """The next token, which must be `expected` if something is expected."""
        token = self.peek()
        if not token or expected not in (None, token):
            raise FormulaError(f"expected {expected or 'a value'} at {self.at + 1}")
        match = TOKEN.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return token

    def formula(self) -> float:
        """The value of the whole text."""
        result = self.terms()
        if self.peek():
            raise FormulaError(f"cannot read {self.peek()!r}")
        return result

    def terms(self) -> float:
        """Factors joined by + and -."""
        result = self.factors()
        while self.peek() in ("+", "-"):
            if self.take() == "+":
                result += self.factors()
            else:
                result -= self.factors()
        return result

    def factors(self) -> float:
        """Single values joined by * and /."""
        result = self.single()
        while self.peek() in ("*", "/"):
            if self.take() == "*":
                result *= self.single()
            else:
                divisor = self.single()
                if divisor == 0:
                    raise FormulaError("division by zero")
                result /= divisor
        return result

    def single(self) -> float:
        """A number, a cell, a function, or a formula in parentheses."""
        token = self.take()
        if token == "(":
            result = self.terms()
            self.take(")")
            return result
        if token == "-":
            return -self.single()
        if token in FUNCTIONS:
            return self.function(token)
        if token[0].isdigit():
            return float(token)
        if token[0].isalpha() and token[-1].isdigit():
            return self.number(token)
        raise FormulaError(f"unknown name {token}")

    def function(self, name: str) -> float:
        """A function of a block of cells, of which the texts are left out."""
        self.take("(")
        first = self.take()
        self.take(":")
        last = self.take()
        self.take(")")
        values = [
            self.sheet.value(cell, self.visiting)
            for cell in self.sheet.block(first, last)
        ]
        numbers = [value for value in values if isinstance(value, float)]
        if not numbers:
            raise FormulaError(f"{name} of nothing")
        return float(FUNCTIONS[name](numbers))

    def number(self, name: str) -> float:
        """The value of a cell, where an empty cell counts as zero."""
        value = self.sheet.value(name, self.visiting)
        if value == "":
            return 0.0
        if isinstance(value, str):
            raise FormulaError(f"{name} is a text")
        return value


def shown(sheet: Sheet, name: str) -> str:
    """The text for a cell of the drawn table, errors included."""
    try:
        value = sheet[name]
    except FormulaError as error:
        return f"#{error}"
    return value if isinstance(value, str) else f"{value:,.2f}"


def draw(sheet: Sheet) -> str:
    """The whole sheet as a table: texts to the left, numbers to the right."""
    places = [position(name) for name in sheet.cells]
    columns = range(max(column for column, _ in places) + 1)
    rows = range(max(row for _, row in places) + 1)
    table = [[shown(sheet, f"{column_name(c)}{r + 1}") for c in columns] for r in rows]
    widths = [max(len(line[c]) for line in table) for c in columns]

    lines = [
        "   " + "  ".join(column_name(c).center(widths[c]) for c in columns).rstrip()
    ]
    for number, line in enumerate(table, start=1):
        cells = []
        for text, width in zip(line, widths, strict=True):
            is_number = text[:1].isdigit() or text[:1] == "-"
            cells.append(text.rjust(width) if is_number else text.ljust(width))
        lines.append(f"{number:>2} " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def budget() -> Sheet:
    """A month in the life of somebody who likes cheese."""
    sheet = Sheet()
    rows = [
        ("item", "planned", "spent", "left"),
        ("rent", "640", "640", "=B2 - C2"),
        ("bread", "45", "38.20", "=B3 - C3"),
        ("cheese", "30", "97.45", "=B4 - C4"),
        ("books", "25", "61.90", "=B5 - C5"),
        ("total", "=SUM(B2:B5)", "=SUM(C2:C5)", "=B6 - C6"),
        ("cheese per day", "=B4 / 30", "=C4 / 30", "=B7 - C7"),
        ("hope", "", "", "=D8"),
    ]
    for number, row in enumerate(rows, start=1):
        for column, text in enumerate(row):
            if text:
                sheet[f"{column_name(column)}{number}"] = text
    return sheet


if __name__ == "__main__":
    print(draw(budget()))
