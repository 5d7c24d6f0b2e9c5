"""Reading untrusted JSON objects: every value is checked as it is read, and errors name the file and the key."""

import json
from collections.abc import Sequence
from typing import Any, Final, NoReturn, TypeGuard

from bpe_core import untrusted_json
from bpe_core.errors import FormatError
from bpe_core.formats.file import MOST_VALUES
from bpe_core.visible import quoted, shortened, visible

LARGEST_NUMBER: Final = (1 << 53) - 1
"""The largest whole number that every JSON reader represents exactly."""


class Fields:
    """A JSON object, and where it is in its file; each method returns the value of a key or raises `FormatError`.

    `key in fields` is true if the key has a value that is not null.
    """

    def __init__(self, value: object, where: str, path: str = "") -> None:
        self._where = where
        self._path = path
        if not isinstance(value, dict):
            self.fail("", f"an object was expected, not {_named(value)}")
        self._values: dict[str, Any] = value

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise the `FormatError` that the file is broken at `key`; `problem` is a clause."""
        place = shortened(".".join(filter(None, (self._path, key))), 120)
        raise FormatError(f"{self._where} is broken: {f'in {place}, ' if place else ''}{problem}.")

    def unsupported(self, what: str, supported: str) -> NoReturn:
        """Raise the `FormatError` that `what` is not supported; `supported` lists what is."""
        what = visible(shortened(what, 120))
        raise FormatError(f"{self._where} cannot be used: {what} is not supported; supported: {supported}.")

    def __contains__(self, key: str) -> bool:
        return self._values.get(key) is not None

    @property
    def values(self) -> dict[str, Any]:
        """The object as a dict, unchecked."""
        return self._values

    def renamed(self, key: str, other: str) -> "Fields":
        """An object with the value of `key` only, under the key `other`."""
        return self._inside({other: self.any(key)}, "")

    def any(self, key: str) -> Any:
        """The value, of any type."""
        if key not in self._values:
            self.fail(key, "there is no value")
        return self._values[key]

    def text(self, key: str) -> str:
        """A string without lone surrogates."""
        value = self.any(key)
        if not isinstance(value, str):
            self.fail(key, f"a text was expected, not {_named(value)}")
        if not is_text(value):
            self.fail(key, f"{quoted(value)} holds half of a character")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false; `default` where there is no value."""
        value = self._values.get(key, default)
        if not isinstance(value, bool):
            self.fail(key, f"true or false was expected, not {_named(value)}")
        return value

    def number(self, key: str, *, largest: int = LARGEST_NUMBER) -> int:
        """A whole number from 0 to `largest`."""
        value = self.any(key)
        if not is_number(value) or value > largest:
            self.fail(key, f"a whole number from 0 to {largest} was expected, not {_named(value)}")
        return value

    def items(self, key: str) -> list[Any]:
        """A list."""
        value = self.any(key)
        if not isinstance(value, list):
            self.fail(key, f"a list was expected, not {_named(value)}")
        return value

    def fields(self, key: str) -> "Fields":
        """An object inside this one."""
        return self._inside(self.any(key), key)

    def objects(self, key: str) -> list["Fields"]:
        """A list of objects."""
        return [self._inside(value, f"{key}[{index}]") for index, value in enumerate(self.items(key))]

    def _inside(self, value: object, key: str) -> "Fields":
        return Fields(value, self._where, ".".join(filter(None, (self._path, key))))

    def rows(self, key: str, columns: Sequence[str]) -> list[list[Any]]:
        """A list of rows with a value per column: a string in the column "text", a whole number >= 0 in the others."""
        rows = self.items(key)
        if _is_table(rows, [str if column == "text" else int for column in columns]):
            return rows
        kinds = [column == "text" for column in columns]
        for index, row in enumerate(rows):
            if not isinstance(row, list) or len(row) != len(columns):
                self.fail(f"{key}[{index}]", f"a row of {len(columns)} values ({', '.join(columns)}) was expected")
            for value, is_text, column in zip(row, kinds, columns, strict=True):
                if not (isinstance(value, str) if is_text else is_number(value)):
                    expected = "a text" if is_text else "a whole number from 0 on"
                    self.fail(f"{key}[{index}]", f"{expected} was expected for {column}, not {_named(value)}")
        return rows


def is_number(value: object) -> TypeGuard[int]:
    """Whether `value` is an int, and no bool, from 0 to `LARGEST_NUMBER`."""
    return type(value) is int and 0 <= value <= LARGEST_NUMBER


def _is_table(rows: list[Any], types: Sequence[type]) -> bool:
    """Whether all rows are lists of values of these types, the numbers as `is_number` wants them."""
    # Column by column, since a large table has a million values: only where something is wrong, each is looked at.
    if set(map(type, rows)) != {list} or set(map(len, rows)) != {len(types)}:
        return not rows
    for column, expected in zip(zip(*rows, strict=True), types, strict=False):
        if set(map(type, column)) != {expected}:
            return False
        if expected is int and not (is_number(min(column)) and is_number(max(column))):
            return False
    return True


def is_text(value: object) -> TypeGuard[str]:
    """Whether `value` is a string without lone surrogates, so that it can be written as UTF-8."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def parse(data: bytes, where: str, *, strict: bool = True) -> Any:
    """The JSON value in `data`, read by `untrusted_json.parse`. Raises `FormatError`, which calls the file `where`."""
    try:
        return untrusted_json.parse(data, strict=strict, most=MOST_VALUES)
    except untrusted_json.JsonError as error:
        raise FormatError(f"{where} is broken: {error}.") from None


def _named(value: object) -> str:
    """The value, short enough for a sentence."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return quoted(value) if isinstance(value, str) else shortened(json.dumps(value), 40)
