"""An opened tokenizer file and the JSON objects in it, both untrusted: each value is checked as it is read.

Errors name the file and the place in it; limits keep a malicious or broken file from exhausting memory or time.
"""

import json
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, Self, TypeGuard

from bpe_core import untrusted_json
from bpe_core.corpus.reading import Unreadable, as_unreadable
from bpe_core.corpus.recognition import NotText, packing_of
from bpe_core.corpus.unpacking import unpacked
from bpe_core.errors import FormatError
from bpe_core.visible import quoted, shortened, visible
from bpe_core.weighted import Count, count_text, exact_fraction, weighted_count

HOLDERS: Final = (
    *(
        "tokenizer.json",
        "tekken.json",
        "tokenizer.model",
        "qwen.tiktoken",
        "tiktoken.model",
    ),
    *("vocab.json", "encoder.json"),
)
"""Names of tokenizer files; of several in one folder, the first in this order is read, since it holds most."""

COMPANIONS: Final = (
    "tokenizer_config.json",
    "merges.txt",
    "vocab.bpe",
    "added_tokens.json",
)
"""Names of further files in the folder that are read with it if they exist."""

LARGEST_ID: Final = (
    1 << 32
) - 1  # the largest that a vocabulary can have; real ones are far below
LARGEST_NUMBER: Final = (
    1 << 53
) - 1  # the largest whole number that every JSON reader represents exactly
LARGEST_FILE: Final = 1 << 27  # bytes; the largest published ones have a quarter of it
MOST_VALUES: Final = (
    10_000_000  # in a JSON file; the largest published ones have two million
)
LONGEST_TOKEN: Final = 1 << 14
"""Bytes of a token in any format but the native one: an audit of longer ones takes minutes, published ones have some
hundreds."""
_PACKED: Final = {b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd"}


def holder_in(folder: Path) -> Path | None:
    """The path of the first of `HOLDERS` that exists in `folder`; None if none does."""
    return next(
        (path for name in HOLDERS if os.path.isfile(path := folder / name)), None
    )


def tokenizer_at(path: Path) -> Path:
    """The tokenizer file that `path` means: the holder in a folder that has one, else `path` itself."""
    return (holder_in(path) if os.path.isdir(path) else None) or path


def refuse(target: str, problem: str) -> NoReturn:
    """Raise the `FormatError` that a tokenizer cannot be written; `target` says as what, `problem` is a clause."""
    raise FormatError(
        f"This tokenizer cannot be written {target}: {problem}; choose another format."
    )


@dataclass(frozen=True, slots=True)
class TokenizerFile:
    """The whole content of a file, its name in errors, safe to show, and its path."""

    data: bytes
    where: str
    path: Path

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file, unpacked if it is packed by gzip or xz. Raises `FormatError` if it cannot be read, is packed by
        something else, or is larger than `LARGEST_FILE`, packed or not."""
        where = visible(shortened(os.fspath(path), 200))
        try:
            with as_unreadable(where):
                if not stat.S_ISREG(mode := os.stat(path).st_mode) and not stat.S_ISDIR(
                    mode
                ):  # it may never end
                    raise NotText("it is no regular file; save it as one first")
                with (
                    open(path, "rb") as disk,
                    unpacked(disk, packing_of(disk.peek(6))) as file,
                ):
                    data = file.read(LARGEST_FILE + 1)
                if len(data) > LARGEST_FILE:
                    raise NotText(
                        f"it is too large for a tokenizer file, of which none has {LARGEST_FILE >> 20} MB"
                    )
        except Unreadable as error:
            raise FormatError(str(error)) from None
        except ValueError as error:  # of a path with a NUL character
            raise FormatError(f"{where} cannot be read: {error}.") from None
        for beginning, packer in _PACKED.items():
            if data.startswith(beginning):
                raise FormatError(
                    f"{where} is packed with {packer}; unpack it, and open what is in it."
                )
        return cls(data, where, Path(path))

    def beside(self, *names: str) -> Self | None:
        """The first of these file names that exists in the same folder, opened; None if none does."""
        paths = map(self.path.with_name, names)
        return next((self.open(path) for path in paths if path.is_file()), None)

    @property
    def stem(self) -> str:
        """The file name without its suffix, and without that of its packing."""
        return (
            self.path.with_suffix("")
            if self.path.suffix in (".gz", ".xz")
            else self.path
        ).stem

    @property
    def text(self) -> str:
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            self.broken(f"it is not UTF-8 at byte {error.start}")

    def fields(self) -> "Fields":
        try:
            value = untrusted_json.parse(self.data, most=MOST_VALUES)
        except ValueError as error:
            self.broken(str(error))
        return Fields(value, self.where)

    def broken(self, problem: str) -> NoReturn:
        """Raise the `FormatError` that the file is broken; `problem` is a clause."""
        raise FormatError(f"{self.where} is broken: {problem}.")

    def unsupported(self, what: str) -> NoReturn:
        raise FormatError(f"{self.where} cannot be used: {what}.")


class Fields:
    """A JSON object, and where it is in its file; methods return the value of a key, of a type, or raise `FormatError`.
    A value that is null or not there is the `default`, if one is given, and not `in` the object."""

    def __init__(self, value: object, where: str, path: str = "") -> None:
        self._where = where
        self._path = path
        if not isinstance(value, dict):
            self.fail("", f"an object was expected, not {_named(value)}")
        self.values: Final[dict[str, Any]] = value

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise the `FormatError` that the file is broken at `key`; `problem` is a clause."""
        place = shortened(".".join(filter(None, (self._path, key))), 120)
        raise FormatError(
            f"{self._where} is broken: {f'in {place}, ' if place else ''}{problem}."
        )

    def unsupported(self, what: str, supported: str) -> NoReturn:
        """Raise the `FormatError` that `what` is not supported; `supported` lists what is."""
        what = visible(shortened(what, 120))
        raise FormatError(
            f"{self._where} cannot be used: {what} is not supported; supported: {supported}."
        )

    def __contains__(self, key: str) -> bool:
        return self.values.get(key) is not None

    def any(self, key: str, default: object = None) -> Any:
        if default is None and key not in self.values:
            self.fail(key, "there is no value")
        return self.values[key] if key in self else default

    def text(self, key: str, default: str | None = None) -> str:
        value = self.any(key, default)
        if not isinstance(value, str):
            self.fail(key, f"a text was expected, not {_named(value)}")
        if not is_text(value):
            self.fail(key, f"{quoted(value)} holds half of a character")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false; null is neither."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            self.fail(key, f"true or false was expected, not {_named(value)}")
        return value

    def number(
        self, key: str, default: int | None = None, *, largest: int = LARGEST_NUMBER
    ) -> int:
        value = self.any(key, default)
        if not is_number(value) or value > largest:
            self.fail(
                key,
                f"a whole number from 0 to {largest} was expected, not {_named(value)}",
            )
        return value

    def count(self, key: str, default: int | None = None) -> Count:
        """A number of a training, which may be a fraction: see `count_in`."""
        value = count_in(self.any(key, default))
        return self.number(key, default) if value is None else value

    def items(self, key: str, default: list[Any] | None = None) -> list[Any]:
        value = self.any(key, default)
        if not isinstance(value, list):
            self.fail(key, f"a list was expected, not {_named(value)}")
        return value

    def fields(self, key: str, default: dict[str, Any] | None = None) -> "Fields":
        return self._inside(self.any(key, default), key)

    def objects(self, key: str, default: list[Any] | None = None) -> list["Fields"]:
        return [
            self._inside(value, f"{key}[{index}]")
            for index, value in enumerate(self.items(key, default))
        ]

    def ids(self, key: str = "") -> dict[str, int]:
        """The object at `key`, or this one itself, if it is name -> id, no two ids equal."""
        ids = self.fields(key).values if key else self.values
        if not is_text("".join(ids)):
            name = next(name for name in ids if not is_text(name))
            self.fail(key, f"{quoted(name)} holds half of a character")
        numbers = set(ids.values()) if set(map(type, ids.values())) <= {int} else set()
        if (
            len(numbers) == len(ids)
            and 0 <= min(numbers, default=0) <= max(numbers, default=0) <= LARGEST_ID
        ):
            return ids
        seen: dict[int, str] = {}
        for name, token in ids.items():
            if not is_number(token, LARGEST_ID):
                self.fail(
                    key,
                    f"the id of {quoted(name)} is not a whole number from 0 to {LARGEST_ID}",
                )
            if seen.setdefault(token, name) != name:
                self.fail(
                    key,
                    f"{quoted(seen[token])} and {quoted(name)} have the same id {token}",
                )
        return ids

    def _inside(self, value: object, key: str) -> "Fields":
        return Fields(value, self._where, ".".join(filter(None, (self._path, key))))

    def columns(
        self, key: str, names: Sequence[str], *, counts: Sequence[str] = ()
    ) -> list[tuple[Any, ...]]:
        """The columns of a list of rows: strings in the column "text", whole numbers >= 0 in the others; in `counts`
        also what `count_in` takes for a number."""
        rows = self.items(key)
        if set(map(type, rows)) - {list} or set(map(len, rows)) - {len(names)}:
            index = next(
                i
                for i, row in enumerate(rows)
                if not isinstance(row, list) or len(row) != len(names)
            )
            self.fail(
                f"{key}[{index}]",
                f"a row of {len(names)} values ({', '.join(names)}) was expected",
            )
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        for place, (column, values) in enumerate(
            zip(names, columns if rows else (), strict=False)
        ):
            if (
                column in counts
                and str in map(type, values)
                and None not in (read := tuple(map(count_in, values)))
            ):
                columns[place] = read
                continue
            kind, expected = (
                (str, "a text")
                if column == "text"
                else (int, "a whole number from 0 on")
            )
            is_sound = set(map(type, values)) == {
                kind
            }  # a large table has a million values: as few calls as can be
            if not is_sound or (
                kind is int and not (is_number(min(values)) and is_number(max(values)))
            ):
                index = [
                    isinstance(value, str) if kind is str else is_number(value)
                    for value in values
                ].index(False)
                self.fail(
                    f"{key}[{index}]",
                    f"{expected} was expected for {column}, not {_named(values[index])}",
                )
        return columns


def is_number(value: object, largest: int = LARGEST_NUMBER) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= largest


def count_in(value: object) -> Count | None:
    """Read a count: a whole number, or a fraction as `count_text` writes it; None for anything else."""
    if isinstance(value, str):
        with suppress(ValueError):
            number = weighted_count(exact_fraction(value))
            return (
                number
                if 0 <= number <= LARGEST_NUMBER
                and count_text(number) == value
                and not is_number(number)
                else None
            )
    return value if is_number(value) else None


def id_in(digits: str | bytes) -> int | None:
    is_id = (
        digits.isascii()
        and digits.isdigit()
        and len(digits) <= 10
        and int(digits) <= LARGEST_ID
    )
    return int(digits) if is_id else None


def is_text(value: object) -> TypeGuard[str]:
    """Whether `value` is a string without surrogates, so that it can be written as UTF-8."""
    return isinstance(value, str) and value.encode(errors="ignore").decode() == value


def _named(value: object) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return quoted(value) if isinstance(value, str) else shortened(json.dumps(value), 40)
