"""Read rows with fields: JSON lines, CSV and TSV, and columns of parquet and arrow files.

A row is read as a *record*:

- A dict by field. Its values are any of JSON, the texts of CSV, or texts and scalars of Arrow.
- Another value of JSON: a row without fields.
- None: an empty line, which is not a row.
- A `NotText`: a row that cannot be read. The message follows "line 7" or "row 7".
"""

import codecs
import csv
import json
import re
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, Any, Final

from bpe_core.corpus.reading import in_blocks
from bpe_core.corpus.recognition import COLUMNAR, NotText
from bpe_core.corpus.unpacking import BLOCK, Limits
from bpe_core.utf8 import without_surrogates
from bpe_core.visible import counted, quoted, shortened, visible

_TEXT_TYPE: Final = re.compile("(dictionary<values=)?(large_)?string")
"""A type of a column of Arrow that holds texts."""

TextFinder = Callable[[Any, list[str]], Iterator[str] | None]
"""A function of a record and the keys of a value in it, such as `text_in_record`."""


def records(
    file: IO[bytes], form: str, field: str, limits: Limits
) -> Generator[Any, None, None]:
    """Return the records of an unpacked file, in order.

    Args:
        file: The file.
        form: One of `TABLES`.
        field: Only this column of a table is read; "" for all columns of texts.
        limits: The memory and the unpacked bytes that reading may use.

    Raises:
        NotText: The file is damaged, has no such column, or exceeds a limit.
    """
    if form in COLUMNAR:
        return _column_records(file, form, field, limits)
    if form == "jsonl":
        return _json_records(file, limits)
    delimiter = "\t" if form == "tsv" else ","
    return _table_records(file, delimiter, field, limits)


def keys_of(field: str) -> list[str]:
    """Return the name of a field, and the keys of the value within it.

    >>> keys_of("text"), keys_of("/chat/0/a~1b")
    (['text'], ['chat', '0', 'a/b'])
    """
    if not field.startswith("/"):
        return [field]
    # A JSON pointer, RFC 6901.
    return [key.replace("~1", "/").replace("~0", "~") for key in field[1:].split("/")]


def text_finder(form: str, limits: Limits) -> TextFinder:
    """Return the function that finds the text in a record of a file."""
    if form not in COLUMNAR:
        return text_in_record
    # In a column, many rows can share one text, so the texts that are given out are limited too.
    # The import is late because it needs pyarrow.
    from bpe_core.corpus.columns import text_in_columns

    return partial(text_in_columns, limits)


def text_in_record(record: Any, keys: list[str]) -> Iterator[str] | None:
    """Return the text at a path of keys, in blocks.

    Returns None if the value is not a text. Raises LookupError, TypeError or ValueError if there
    is nothing at the path.
    """
    value = record
    for key in keys:
        value = value[int(key) if isinstance(value, list) else key]
    if not isinstance(value, str):
        return None
    return in_blocks(without_surrogates(value))


def _json_records(file: IO[bytes], limits: Limits) -> Generator[Any, None, None]:
    longest = limits.longest_row
    for line in iter(partial(file.readline, longest + 1), b""):
        if len(line) <= longest or line.endswith(b"\n"):
            yield _json_record(line)
            continue
        while line and not line.endswith(b"\n"):  # pass over the rest of the line
            line = file.readline(BLOCK)
        yield _too_long(longest)


def _json_record(line: bytes) -> Any:
    if line.isspace():
        return None
    try:
        value = json.loads(line.decode().removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        problem = getattr(error, "msg", str(error))
        return NotText(f"is not JSON ({visible(shortened(problem, 60))})")
    # null has no text; as None it would pass for an empty line.
    return {} if value is None else value


def _too_long(longest: int) -> NotText:
    return NotText(
        f"has more than {longest:,} bytes, too many for the memory; "
        "make it a file of its own, or allow more --memory"
    )


def _table_records(
    file: IO[bytes], delimiter: str, field: str, limits: Limits
) -> Generator[Any, None, None]:
    lines = _RowLines(file, limits.longest_row)
    decoded_lines = codecs.iterdecode(lines, "utf-8-sig")
    rows = csv.reader(decoded_lines, delimiter=delimiter, strict=True)
    try:
        with _LongFields.allowed():
            names = next(rows, [])
            _check_column(field, names)
            lines.begin_row()
            for row in rows:
                lines.begin_row()  # the next one, for errors in it
                if len(row) == len(names):
                    yield dict(zip(names, row, strict=True))
                elif row:
                    yield NotText(
                        f"has {counted(len(row), 'field')}, and the first line {len(names):,}"
                    )
    except (csv.Error, UnicodeDecodeError) as error:
        raise NotText(
            f"the row that begins in line {lines.number:,} is damaged ({visible(str(error))})"
        ) from None


class _RowLines:
    """The lines of a table, whose rows can have several lines. A row has a limited length."""

    def __init__(self, file: IO[bytes], longest_row: int) -> None:
        self._file = file
        self._longest_row = longest_row
        self._n_bytes_left_in_row = longest_row
        self._n_lines = 0
        self.number = 1
        """The number of the line in which the row begins."""

    def begin_row(self) -> None:
        """Begin the next row with the next line."""
        self._n_bytes_left_in_row = self._longest_row
        self.number = self._n_lines + 1

    def __iter__(self) -> Iterator[bytes]:
        while True:
            line = self._file.readline(self._n_bytes_left_in_row + 1)
            if not line:
                return
            self._n_bytes_left_in_row -= len(line)
            if self._n_bytes_left_in_row < 0:
                problem = _too_long(self._longest_row)
                raise NotText(f"the row that begins in line {self.number:,} {problem}")
            self._n_lines += 1
            yield line


class _LongFields:
    """Lets fields be long while tables are read: `csv` has one limit for all readers, of 128 KB."""

    lock = Lock()
    n_readers = 0
    limit_before = 0
    """The limit before the first of the readers."""

    @classmethod
    @contextmanager
    def allowed(cls) -> Iterator[None]:
        """Raise the limit while a table is read. The last of several readers restores it."""
        with cls.lock:
            if not cls.n_readers:
                cls.limit_before = csv.field_size_limit(1 << 30)
            cls.n_readers += 1
        try:
            yield
        finally:
            with cls.lock:
                cls.n_readers -= 1
                if not cls.n_readers:
                    csv.field_size_limit(cls.limit_before)


def _column_records(
    file: IO[bytes], form: str, field: str, limits: Limits
) -> Generator[Any, None, None]:
    # Imported late: it needs pyarrow.
    from bpe_core.corpus import columns

    with ExitStack() as stack:
        if not file.seekable():  # packed, or in an archive
            copy = stack.enter_context(TemporaryFile())
            shutil.copyfileobj(file, copy)
            copy.seek(0)
            file = copy
        choose = partial(_arrow_columns_to_read, field=field)
        if form == "parquet":
            batches = columns.parquet_batches(file, choose, limits)
        else:
            batches = columns.arrow_batches(file, choose, limits)
        for batch in batches:
            names = batch.schema.names
            for values in zip(*columns.values_of(batch, limits), strict=True):
                yield dict(zip(names, values, strict=True))


def _arrow_columns_to_read(schema: Any, field: str) -> list[str]:
    """Return the names of the columns to read: the one that holds `field`, or all columns of texts if it is ""."""
    is_within_column = len(keys_of(field)) > 1
    names = [
        column.name
        for column in schema
        if is_within_column or _TEXT_TYPE.match(str(column.type))
    ]
    _check_column(field, names)
    name = keys_of(field)[0]
    return [name] if name else names


def _check_column(field: str, names: list[str]) -> None:
    """Raise `NotText` unless `field` is "" or in one of the columns."""
    name = keys_of(field)[0]
    if names.count(name) > 1:
        raise NotText(f"it has several columns {quoted(name)}; rename one of them")
    if name and name not in names:
        others = shortened(", ".join(map(quoted, names)), 200) or "none"
        raise NotText(
            f"it has no column {quoted(name)} of texts; choose one of: {others}"
        )
