"""Files that hold many documents: JSON lines, tables, web archives, and archives of files. A row is a document."""

import codecs
import csv
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from http.client import parse_headers
from itertools import islice
from math import inf
from pathlib import PurePosixPath
from typing import IO, Any, Final

from bpe_core.corpus.reading import (
    HEAD,
    TABLES,
    TOO_MUCH,
    NotText,
    TextFile,
    decoded,
    form_of,
    limited,
    most_of,
    one_sentence,
    opened,
    packing_of,
    recognize,
    unpacked,
)
from bpe_core.process import installed
from bpe_core.utf8 import without_surrogates
from bpe_core.visible import counted, quoted, shortened, visible

_NAMES: Final = (
    "text",
    "content",
    "document",
    "body",
    "raw_content",
    "article",
    "passage",
    "sentence",
)
_FIRST: Final = 20  # rows by which a field is guessed
_BATCH: Final = 1024  # rows of a column that are unpacked at a time
# How a stream of https://arrow.apache.org/docs/format/Columnar.html ends, and a file, which is one with a frame.
_ARROW_ENDS: Final = (b"\xff\xff\xff\xff\0\0\0\0", b"ARROW1")
_IS_TEXT: Final = re.compile(
    "(dictionary<values=)?(large_)?string"
).match  # a type of Arrow


class RowReader:
    """Reads the documents of one file, and keeps what is left out of it."""

    def __init__(self, field: str, skip_bad: bool) -> None:
        self.field, self.skip_bad = field, skip_bad
        self.omitted: list[
            str
        ] = []  # each row or member that is no document: where it stands, and why

    def documents(self, file: IO[bytes], form: str) -> Iterator[str]:
        """The documents of an unpacked file. Raises NotText where it is damaged or a row has no text in the field,
        unless such rows may be left out, and for an archive that would unpack to too much."""
        if form in ("tar", "zip"):
            return self._of_members(file, form)
        return self._web_pages(file) if form == "warc" else self._texts(file, form)

    def _omit(self, what: str, *, is_bad: bool = False) -> None:
        if is_bad and not self.skip_bad:
            raise NotText(
                f"{what}; train and count leave such rows out with --skip-bad"
            )
        self.omitted.append(what)

    def _texts(self, file: IO[bytes], form: str) -> Iterator[str]:
        if not (
            field := self.field
        ):  # of an archive, whose members are not asked for theirs
            raise NotText(
                "rows have several fields; name that of the text behind the archive, such as ::text"
            )
        keys = _keys(field)
        for number, record in enumerate(_records(file, form, field), 1):
            value = record
            try:
                for key in keys:
                    value = value[int(key) if isinstance(value, list) else key]
            except (LookupError, TypeError, ValueError):
                value = None
            if isinstance(value, str):
                yield without_surrogates(value)
            elif record is not None:
                reason = (
                    record
                    if isinstance(record, NotText)
                    else f"has no text as {quoted(field)}"
                )
                self._omit(
                    f"{'line' if form == 'jsonl' else 'row'} {number:,} {reason}",
                    is_bad=True,
                )

    def _of_members(self, file: IO[bytes], form: str) -> Iterator[str]:
        """Those of an archive; each member is recognized as a file is, and its name is only a name."""
        for name, size, content in _members(file, form):
            if (base := PurePosixPath(name).name).startswith("."):
                continue  # as hidden files of a folder
            content = limited(content, inf)
            content = unpacked(content, packing_of(content.peek(HEAD)), size)
            head, shown = content.peek(HEAD)[:HEAD], visible(name)
            inner = RowReader(self.field, self.skip_bad)
            documents: Iterable[str]
            try:
                if (form := form_of(head, base)) in ("tar", "zip"):
                    raise NotText("it is an archive within an archive; unpack it first")
                if form:
                    documents = inner.documents(content, form)
                else:
                    documents = [
                        "".join(
                            decoded(content, recognize(head, whole=len(head) < HEAD))
                        )
                    ]
            except NotText as error:
                self._omit(f"{shown} is not read ({error})")
                continue
            try:
                yield from documents
            except NotText as error:
                raise NotText(f"in {shown}, {error}") from None
            self.omitted += (f"{shown} {what}" for what in inner.omitted)

    def _web_pages(self, file: IO[bytes]) -> Iterator[str]:
        """The texts of a WET file, and of a WARC file but for what stands there as HTTP sent it: pages are HTML, and to
        be converted first. iipc.github.io/warc-specifications"""
        for number, line in enumerate(iter(lambda: file.readline(HEAD), b""), 1):
            place, head = f"record {number:,}", parse_headers(file)
            length = head.get("Content-Length", "")
            if not line.startswith(b"WARC/") or not re.fullmatch("[0-9]{1,15}", length):
                raise NotText(
                    f"{place} is damaged: it begins with no version, or has no length"
                )
            body = io.BytesIO(file.read(int(length)))
            if file.read(4) != b"\r\n\r\n":  # as behind each record
                raise NotText(
                    f"it ends within {place}, or the length of that is wrong; get it anew"
                )
            if head["WARC-Type"] in ("warcinfo", "request", "metadata", "revisit"):
                continue
            mime, is_packed = (
                head.get("Content-Type", ""),
                "Content-Encoding" in head or "Transfer-Encoding" in head,
            )
            if is_packed or not mime.lower().startswith("text/plain"):
                self._omit(
                    f"{place} is {'packed' if is_packed else visible(shortened(mime, 40)) or 'of no type'}"
                )
                continue
            try:
                yield body.read().decode()
            except UnicodeDecodeError:
                self._omit(f"{place} is not UTF-8")


def fields_of(file: TextFile) -> dict[str, list[str]]:
    """Each field of a file with rows that is a text, and what the first rows hold there; none for an archive. Raises
    Unreadable."""
    found: dict[str, list[str]] = {}
    if file.form in TABLES and not file.empty:
        with (
            one_sentence(file.name),
            opened(file) as disk,
            unpacked(disk, file.packing, file.size) as content,
        ):
            for record in (
                records := [*islice(_records(content, file.form, ""), _FIRST)]
            ):
                for name, value in record.items() if isinstance(record, dict) else ():
                    if isinstance(value, str):
                        found.setdefault(name, []).append(value)
            if records and all(isinstance(record, NotText) for record in records):
                raise NotText(f"its first row {records[0]}")
    return found


def guessed(file: TextFile) -> TextFile:
    """The file with the field that holds the documents: one whose name says so, or that with most characters."""
    if not (fields := fields_of(file)):
        raise NotText(
            "it has no rows, or none of the first has a field that is text; name one, such as ::text or ::/a/b"
        )
    named = next(
        (field for name in _NAMES for field in fields if field.lower() == name), ""
    )
    longest = max(fields, key=lambda field: sum(map(len, fields[field])))
    return replace(file, field=named or longest, fields=tuple(fields))


def _records(file: IO[bytes], form: str, field: str) -> Iterator[Any]:
    """The lines or rows: a dict by field, of a table only `field`, or if that is "" those that are texts; NotText for
    what is none, and None for an empty line."""
    if form in ("parquet", "arrow"):
        return (
            row for batch in _batches(file, form, field) for row in batch.to_pylist()
        )
    return (
        map(_json, file)
        if form == "jsonl"
        else _table(file, "\t" if form == "tsv" else ",", field)
    )


def _json(line: bytes) -> Any:
    try:
        return (
            None
            if line.isspace()
            else json.loads(line.decode().removeprefix("\ufeff")) or {}
        )
    except (ValueError, RecursionError) as error:
        return NotText(
            f"is no JSON ({visible(shortened(getattr(error, 'msg', str(error)), 60))})"
        )


def _table(file: IO[bytes], delimiter: str, field: str) -> Iterator[Any]:
    csv.field_size_limit(
        1 << 30
    )  # a document may be long; the default refuses one of 128 KB
    rows, begin = (
        csv.reader(
            codecs.iterdecode(file, "utf-8-sig"), delimiter=delimiter, strict=True
        ),
        1,
    )
    try:
        head = next(rows, [])
        _columns(field, head)
        begin = rows.line_num + 1
        for row in rows:
            begin = rows.line_num + 1  # of the next row, which may have many lines
            if len(row) == len(head):
                yield dict(zip(head, row, strict=True))
            elif row:
                yield NotText(
                    f"has {counted(len(row), 'field')}, and the first line {len(head):,}"
                )
    except (csv.Error, UnicodeDecodeError) as error:
        raise NotText(
            f"what begins in line {begin:,} is damaged ({visible(str(error))})"
        ) from None


def _batches(file: IO[bytes], form: str, field: str) -> Iterator[Any]:
    """Batches of the column `field`, or of all that are texts."""
    library = installed(
        "pyarrow.parquet" if form == "parquet" else "pyarrow.ipc",
        f"a .{form} file",
        "corpora",
    )
    if not file.seekable():  # packed, or in an archive
        file = io.BytesIO(file.read())
    if form == "parquet":
        table = library.ParquetFile(file)
        columns = _of_arrow(table.schema_arrow, field)
        yield from table.iter_batches(
            batch_size=_BATCH, columns=columns, use_threads=False
        )
        return
    is_file = file.read(6) == b"ARROW1"
    file.seek(-8, io.SEEK_END)
    if not file.read().endswith(_ARROW_ENDS):
        raise NotText("it ends too early, without the mark of its end; get it anew")
    file.seek(8 if is_file else 0)
    reader = library.open_stream(file)
    columns = _of_arrow(reader.schema, field)
    for batch in reader:
        batch.validate(full=True)
        for start in range(0, batch.num_rows, _BATCH):
            yield batch.select(columns).slice(start, _BATCH)


def _keys(field: str) -> list[str]:
    """The names of a field and of what is to be found in it, one in the other."""
    is_pointer = field.startswith("/")  # RFC 6901
    return (
        [key.replace("~1", "/").replace("~0", "~") for key in field[1:].split("/")]
        if is_pointer
        else [field]
    )


def _of_arrow(schema: Any, field: str) -> list[str]:
    is_inner = len(_keys(field)) > 1
    return _columns(
        field, [one.name for one in schema if is_inner or _IS_TEXT(str(one.type))]
    )


def _columns(field: str, texts: list[str]) -> list[str]:
    """Those to read of these, which hold texts: that of `field`, or all if that is ""."""
    (field, *_) = _keys(field)
    if texts.count(field) > 1:
        raise NotText(
            f"it has several columns {quoted(field)}; give each a name of its own"
        )
    if field and field not in texts:
        others = shortened(", ".join(map(quoted, texts)), 200) or "none"
        raise NotText(f"it has no column {quoted(field)} of texts, but {others}")
    return [field] if field else texts


class _Member(tarfile.TarInfo):
    """A member of a tar archive, that does not pass for its end if it is damaged."""

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> "_Member":
        try:
            return super().fromtarfile(tarfile_)
        except tarfile.HeaderError as error:
            if (
                type(error).__name__ == "EOFHeaderError"
            ):  # two blocks of zeros, as there must be
                raise
            raise tarfile.ReadError(f"at offset {tarfile_.offset:,}, {error}") from None


def _members(file: IO[bytes], form: str) -> Iterator[tuple[str, int, IO[bytes]]]:
    """(name, size, content) of the files in an archive, each to be read before the next."""
    if form == "tar":
        with tarfile.open(fileobj=file, mode="r|", tarinfo=_Member) as tar:
            for entry in tar:
                if (
                    entry.isreg()
                    and not entry.issparse()
                    and (content := tar.extractfile(entry))
                ):
                    yield entry.name, entry.size, content
                tar.members = []  # type: ignore[attr-defined]  # which would keep all
        return
    with zipfile.ZipFile(file) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if sum(member.file_size for member in members) > most_of(
            file.seek(0, io.SEEK_END)
        ):  # no more is read of any
            raise NotText(TOO_MUCH)
        for member in members:
            with archive.open(member) as content:
                yield member.filename, member.file_size, content
