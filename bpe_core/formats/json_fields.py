"""JSON objects from untrusted files. Each value is checked when it is read.

Errors name the file and the place in it, such as `model.merges[3]`.
"""

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, NoReturn, TypeGuard

from bpe_core.errors import FormatError
from bpe_core.visible import quoted, shortened, visible
from bpe_core.weighted import Count, count_text, exact_fraction, weighted_count

LARGEST_ID: Final = (1 << 32) - 1
"""The largest id that a vocabulary can have. Real ids are far smaller."""
LARGEST_NUMBER: Final = (1 << 53) - 1
"""The largest whole number that every JSON reader represents exactly."""


class Fields:
    """A JSON object and its place in a file.

    Methods with a `key` return the value of that key. They raise `FormatError` if the value has
    another type, or if it is missing or null and no `default` is given. `key in fields` means
    that the value is neither missing nor null.
    """

    def __init__(self, value: object, where: str, path: str = "") -> None:
        """Check that a value is an object.

        Args:
            value: A value that `json.loads` returned.
            where: The name of the file in errors.
            path: The place of the value in the file, such as "model.vocab"; "" for all of it.

        Raises:
            FormatError: The value is not an object.
        """
        self._where = where
        self._path = path
        if not isinstance(value, dict):
            self.fail("", f"expected an object, found {_description(value)}")
        self.values: Final[dict[str, Any]] = value

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise the `FormatError` that the file is broken at `key`; `problem` is a clause."""
        place = shortened(self._path_of(key), 120)
        if place:
            problem = f"in {place}, {problem}"
        raise FormatError(f"{self._where} is broken: {problem}.")

    def unsupported(self, feature: str, supported: str) -> NoReturn:
        """Raise the `FormatError` for an unsupported feature; `supported` lists the others."""
        feature = visible(shortened(feature, 120))
        raise FormatError(
            f"{self._where} cannot be used: {feature} is not supported; supported: {supported}."
        )

    def _path_of(self, key: str) -> str:
        return ".".join(filter(None, (self._path, key)))

    def __contains__(self, key: str) -> bool:
        return self.values.get(key) is not None

    def any(self, key: str, default: object = None) -> Any:
        """Return a value of any type."""
        if default is None and key not in self.values:
            self.fail(key, "the value is missing")
        return self.values[key] if key in self else default

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string; fail if it contains a surrogate."""
        value = self.any(key, default)
        if not isinstance(value, str):
            self.fail(key, f"expected a text, found {_description(value)}")
        if not is_text(value):
            self.fail(key, f"{quoted(value)} contains half of a character")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Return a boolean. Null is an error, and does not give the default."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            self.fail(key, f"expected true or false, found {_description(value)}")
        return value

    def number(
        self, key: str, default: int | None = None, *, largest: int = LARGEST_NUMBER
    ) -> int:
        """Return a whole number from 0 to `largest`."""
        value = self.any(key, default)
        if not is_number(value) or value > largest:
            self.fail(
                key,
                f"expected a whole number from 0 to {largest}, found {_description(value)}",
            )
        return value

    def count(self, key: str, default: int | None = None) -> Count:
        """Return a count of a training run, which may be a fraction; see `count_in`."""
        count = count_in(self.any(key, default))
        return self.number(key, default) if count is None else count

    def items(self, key: str, default: list[Any] | None = None) -> list[Any]:
        """Return a list of any values."""
        value = self.any(key, default)
        if not isinstance(value, list):
            self.fail(key, f"expected a list, found {_description(value)}")
        return value

    def fields(self, key: str, default: dict[str, Any] | None = None) -> "Fields":
        """Return an object."""
        return Fields(self.any(key, default), self._where, self._path_of(key))

    def objects(self, key: str, default: list[Any] | None = None) -> list["Fields"]:
        """Return a list of objects."""
        items = enumerate(self.items(key, default))
        return [
            Fields(item, self._where, self._path_of(f"{key}[{index}]"))
            for index, item in items
        ]

    def ids(self, key: str = "") -> dict[str, int]:
        """Return the object at `key`, or this object, as name -> id, with no two ids equal."""
        ids = self.fields(key).values if key else self.values
        if not is_text("".join(ids)):  # one call for all names, since there may be many
            name = next(name for name in ids if not is_text(name))
            self.fail(key, f"{quoted(name)} contains half of a character")
        if _are_distinct_ids(ids.values()):
            return ids
        name_of: dict[int, str] = {}
        for name, token in ids.items():
            if not is_number(token, LARGEST_ID):
                self.fail(
                    key,
                    f"the id of {quoted(name)} is not a whole number from 0 to {LARGEST_ID}",
                )
            other_name = name_of.setdefault(token, name)
            if other_name != name:
                self.fail(
                    key,
                    f"{quoted(other_name)} and {quoted(name)} have the same id {token}",
                )
        return ids

    def columns(
        self, key: str, names: Sequence[str], *, counts: Sequence[str] = ()
    ) -> list[tuple[Any, ...]]:
        """Return the columns of a list of rows. Each row is a list with a value per name.

        Args:
            key: The key of the list.
            names: The names of the columns. "text" holds strings, all others whole numbers.
            counts: The columns that may also hold fractions, see `count_in`.

        Raises:
            FormatError: The value is not such a list.
        """
        rows = self.items(key)
        if not rows:
            return [()] * len(names)
        self._check_rows(key, rows, names)
        columns = list(zip(*rows, strict=True))
        for place, name in enumerate(names):
            values = columns[place]
            # A large table has a million values, so each check takes few calls.
            types = set(map(type, values))
            if name == "text":
                if types != {str}:
                    self._fail_in_column(key, name, values, _is_string, "a text")
            elif name in counts and str in types:
                columns[place] = tuple(map(count_in, values))
                if None in columns[place]:
                    self._fail_in_column(
                        key, name, values, _is_count, "a whole number or a fraction"
                    )
            elif types != {int} or min(values) < 0 or max(values) > LARGEST_NUMBER:
                self._fail_in_column(
                    key, name, values, is_number, "a whole number of at least 0"
                )
        return columns

    def _check_rows(self, key: str, rows: list[Any], names: Sequence[str]) -> None:
        if set(map(type, rows)) == {list} and set(map(len, rows)) == {len(names)}:
            return
        for index, row in enumerate(rows):
            if not isinstance(row, list) or len(row) != len(names):
                self.fail(
                    f"{key}[{index}]",
                    f"expected a row of {len(names)} values ({', '.join(names)})",
                )

    def _fail_in_column(
        self,
        key: str,
        name: str,
        values: Sequence[object],
        is_valid: Callable[[object], bool],
        expected: str,
    ) -> NoReturn:
        """Raise the `FormatError` for the first value of a column that is not valid."""
        index = list(map(is_valid, values)).index(False)
        self.fail(
            f"{key}[{index}]",
            f"expected {expected} in the column {name}, found {_description(values[index])}",
        )


def _are_distinct_ids(values: Collection[Any]) -> bool:
    """Whether all values are ids, and no two are equal."""
    if not set(map(type, values)) <= {int}:
        return False
    ids = set(values)
    if len(ids) < len(values):
        return False
    return min(ids, default=0) >= 0 and max(ids, default=0) <= LARGEST_ID


def is_number(value: object, largest: int = LARGEST_NUMBER) -> TypeGuard[int]:
    """Whether a value is a whole number from 0 to `largest`. True and False are not numbers."""
    return type(value) is int and 0 <= value <= largest


def is_text(value: object) -> TypeGuard[str]:
    """Whether a value is a string without surrogates, so that it can be written as UTF-8."""
    return isinstance(value, str) and value.encode(errors="ignore").decode() == value


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return count_in(value) is not None


def count_in(value: object) -> Count | None:
    """Return the count in a JSON value, which is a whole number or a fraction; None if invalid.

    A fraction is a text, exactly as `count_text` writes it.

    >>> count_in(3), count_in("4.5"), count_in("3.0")
    (3, Fraction(9, 2), None)
    """
    if isinstance(value, str):
        return _fraction_in(value)
    return value if is_number(value) else None


def _fraction_in(text: str) -> Count | None:
    try:
        count = weighted_count(exact_fraction(text))
    except ValueError:
        return None
    is_in_range = 0 <= count <= LARGEST_NUMBER
    if is_in_range and not is_number(count) and count_text(count) == text:
        return count
    return None


def id_in(digits: str | bytes) -> int | None:
    """Return the id that is written in ASCII digits; None if it is not a valid id."""
    if not digits.isascii() or not digits.isdigit() or len(digits) > 10:
        return None
    token = int(digits)
    return token if token <= LARGEST_ID else None


def _description(value: object) -> str:
    """Describe a JSON value in an error."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return quoted(value)
    return shortened(json.dumps(value), 40)
