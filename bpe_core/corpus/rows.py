"""Files that hold many documents: JSON lines, tables, web archives, and archives of files. A row is a document."""

import codecs
import csv
import json
import re
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from http.client import parse_headers
from pathlib import PurePosixPath
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, Any, Final, Self

from bpe_core.corpus.reading import (
    BLOCK,
    COLUMNAR,
    HEAD,
    TABLES,
    Budget,
    Limits,
    NotText,
    TextFile,
    TooMuch,
    decoded,
    form_of,
    in_blocks,
    limited,
    one_sentence,
    opened,
    packing_of,
    recognize,
    unpacked,
)
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
_SAMPLE: Final = 1 << 20  # bytes of the first rows after which no more are read for it
_HELD: Final = (
    1 << 24
)  # bytes of a text in an archive that wait in memory until it is checked
_LONGEST_NAME: Final = (
    1 << 20
)  # bytes of a name, or of all that a tar archive says of a member
_IS_TEXT: Final = re.compile(
    "(dictionary<values=)?(large_)?string"
).match  # a type of Arrow


class RowReader:
    """Reads the documents of one file, and keeps what is left out of it."""

    def __init__(self, field: str, skip_bad: bool, limits: Limits) -> None:
        self.field, self.skip_bad = field, skip_bad
        self.limits = limits
        self.omitted: list[
            str
        ] = []  # each row or member that is no document: where it stands, and why

    def documents(self, file: IO[bytes], form: str) -> Iterator[Iterator[str]]:
        """Yield the documents of an unpacked file in blocks, each to be read before the next.

        Raises NotText where the file is damaged or a row has no text in the field, unless such rows
        may be left out, and for a file that would unpack to too much."""
        if form in ("tar", "zip"):
            return self._of_members(file, form)
        return self._web_pages(file) if form == "warc" else self._texts(file, form)

    def _omit(self, what: str, *, is_bad: bool = False) -> None:
        if is_bad and not self.skip_bad:
            raise NotText(
                f"{what}; train and count leave such rows out with --skip-bad"
            )
        self.omitted.append(what)

    def _texts(self, file: IO[bytes], form: str) -> Iterator[Iterator[str]]:
        if not (
            field := self.field
        ):  # of an archive, whose members are not asked for theirs
            raise NotText(
                "rows have several fields; name that of the text behind the archive, such as ::text"
            )
        keys = _keys(field)
        text_in = _text_finder(form)
        for number, record in enumerate(_records(file, form, field, self.limits), 1):
            if record is None:
                continue
            try:
                blocks = text_in(record, keys, self.limits)
            except (LookupError, TypeError, ValueError):
                blocks = None
            if blocks is not None:
                yield blocks
                continue
            reason = f"has no text as {quoted(field)}"
            if isinstance(record, NotText):
                reason = str(record)
            row = "line" if form == "jsonl" else "row"
            self._omit(f"{row} {number:,} {reason}", is_bad=True)

    def _of_members(self, file: IO[bytes], form: str) -> Iterator[Iterator[str]]:
        """Those of an archive; each member is recognized as a file is, and its name is only a name."""
        for name, content in _members(file, form, self.limits):
            if (base := PurePosixPath(name).name).startswith("."):
                continue  # as hidden files of a folder
            content = limited(content)
            content = self.limits.unpacked_file(content, packing_of(content.peek(HEAD)))
            head, shown = content.peek(HEAD)[:HEAD], visible(name)
            inner = RowReader(self.field, self.skip_bad, self.limits)
            with _WholeText() as text:
                try:
                    if (form := form_of(head, base)) in ("tar", "zip"):
                        raise NotText(
                            "it is an archive within an archive; unpack it first"
                        )
                    if form:
                        documents = inner.documents(content, form)
                    else:
                        codec = recognize(head, whole=len(head) < HEAD)
                        text.read(decoded(content, codec))
                        documents = iter([text.blocks()])
                except TooMuch:
                    raise
                except NotText as error:
                    self._omit(f"{shown} is not read ({error})")
                    continue
                try:
                    yield from documents
                except NotText as error:
                    raise NotText(f"in {shown}, {error}") from None
            self.omitted += (f"{shown} {what}" for what in inner.omitted)

    def _web_pages(self, file: IO[bytes]) -> Iterator[Iterator[str]]:
        """The texts of a WET file, and of a WARC file but for what stands there as HTTP sent it: pages are HTML, and to
        be converted first. iipc.github.io/warc-specifications"""
        for number, line in enumerate(iter(lambda: file.readline(HEAD), b""), 1):
            place, head = f"record {number:,}", parse_headers(file)
            length = head.get("Content-Length", "")
            if not line.startswith(b"WARC/") or not re.fullmatch("[0-9]{1,15}", length):
                raise NotText(
                    f"{place} is damaged: it begins with no version, or has no length"
                )
            body = _blocks(file, int(length))
            mime, is_packed = (
                head.get("Content-Type", ""),
                "Content-Encoding" in head or "Transfer-Encoding" in head,
            )
            omitted = ""
            with _WholeText() as text:
                if head["WARC-Type"] in ("warcinfo", "request", "metadata", "revisit"):
                    is_text = False
                elif is_packed or not mime.lower().startswith("text/plain"):
                    is_text = False
                    omitted = f"{place} is {'packed' if is_packed else visible(shortened(mime, 40)) or 'of no type'}"
                else:
                    is_text = True
                    try:
                        text.read(codecs.iterdecode(body, "utf-8"))
                    except UnicodeDecodeError:
                        is_text = False
                        omitted = f"{place} is not UTF-8"
                for _ in body:
                    pass
                if file.read(4) != b"\r\n\r\n":  # as behind each record
                    raise NotText(
                        f"it ends within {place}, or the length of that is wrong; get it anew"
                    )
                if is_text:
                    yield text.blocks()
                elif omitted:
                    self._omit(omitted)


class _WholeText:
    """A text that is read to its end before its first block is given out: it may prove to be none.

    A long one waits in a temporary file.
    """

    def __init__(self) -> None:
        self._held: list[str] = []
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()

    def read(self, blocks: Iterable[str]) -> None:
        n_held = 0
        for block in blocks:
            self._held.append(block)
            n_held += len(block)
            if n_held > _HELD:
                self._write_held()
                n_held = 0
        if self._file:
            self._write_held()

    def _write_held(self) -> None:
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115  closed at the end
        self._file.write("".join(self._held).encode())
        self._held = []

    def blocks(self) -> Iterator[str]:
        if self._file is None:
            return iter(self._held)
        self._file.seek(0)
        return decoded(self._file, "utf-8")


def _blocks(file: IO[bytes], n_bytes: int) -> Iterator[bytes]:
    """Yield the next so many bytes of a file, or fewer at its end."""
    while data := file.read(min(n_bytes, BLOCK)):
        n_bytes -= len(data)
        yield data


def fields_of(file: TextFile) -> dict[str, list[str]]:
    """Each field of a file with rows that is a text, and what the first rows hold there; none for an archive. Raises
    Unreadable."""
    found: dict[str, list[str]] = {}
    problem = None
    n_problems = n_records = 0
    if file.form in TABLES and not file.empty:
        limits = file.limits()
        text_in = _text_finder(file.form)
        left = _SAMPLE
        with (
            one_sentence(file.name),
            opened(file) as disk,
            unpacked(disk, file.packing, Budget(file.size)) as content,
            closing(_records(content, file.form, "", limits)) as records,
        ):
            for number, record in enumerate(records):
                if number == _FIRST or left < 0:
                    break
                n_records += 1
                if isinstance(record, NotText):
                    problem = problem or record
                    n_problems += 1
                for name in record if isinstance(record, dict) else ():
                    blocks = text_in(record, [name], limits)
                    if blocks is not None:
                        text = "".join(blocks)
                        left -= len(text)
                        found.setdefault(name, []).append(text)
            if problem and n_problems == n_records:
                raise NotText(f"its first row {problem}")
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


def _records(
    file: IO[bytes], form: str, field: str, limits: Limits
) -> Generator[Any, None, None]:
    """The lines or rows: a dict by field, of a table only `field`, or if that is "" those that are texts; NotText for
    what is none, and None for an empty line. The values of a parquet or arrow file are scalars of Arrow."""
    if form in COLUMNAR:
        return _column_rows(file, form, field, limits)
    if form == "jsonl":
        return _json_lines(file, limits)
    return _table(file, "\t" if form == "tsv" else ",", field, limits)


def _text_finder(form: str) -> Callable[..., Iterator[str] | None]:
    if form not in COLUMNAR:
        return _text
    from bpe_core.corpus.columns import text_in  # late: few need pyarrow

    return text_in


def _text(record: Any, keys: list[str], limits: Limits) -> Iterator[str] | None:
    """Return the text that is found by these keys, one in the other, in blocks; None for another value."""
    for key in keys:
        record = record[int(key) if isinstance(record, list) else key]
    if not isinstance(record, str):
        return None
    return in_blocks(without_surrogates(record))


def _json_lines(file: IO[bytes], limits: Limits) -> Generator[Any, None, None]:
    most = limits.longest_row
    while line := file.readline(most + 1):
        if len(line) <= most:
            yield _json(line)
            continue
        while not line.endswith(b"\n") and (line := file.readline(BLOCK)):
            pass
        yield _too_long(most)


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


def _too_long(most: int) -> NotText:
    return NotText(
        f"has more than {most:,} bytes, too many for the memory; make it a file of its own, or allow more --memory"
    )


class _RowLines:
    """The lines of a table, whose rows may have several."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        self._file = file
        self._most = most
        self._left = most
        self.number = 1  # of the line in which the row begins
        self._n_read = 0

    def begin_row(self) -> None:
        self._left = self._most
        self.number = self._n_read + 1

    def __iter__(self) -> Iterator[bytes]:
        while line := self._file.readline(self._left + 1):
            self._left -= len(line)
            if self._left < 0:
                raise NotText(
                    f"the row that begins in line {self.number:,} {_too_long(self._most)}"
                )
            self._n_read += 1
            yield line


class _LongFields:
    """Lets fields of CSV be long while tables are read: the module `csv` has one limit for all, of 128 KB."""

    lock = Lock()
    n_readers = 0
    limit_before = 0

    @classmethod
    @contextmanager
    def allowed(cls) -> Iterator[None]:
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


def _table(
    file: IO[bytes], delimiter: str, field: str, limits: Limits
) -> Generator[Any, None, None]:
    lines = _RowLines(file, limits.longest_row)
    rows = csv.reader(
        codecs.iterdecode(lines, "utf-8-sig"), delimiter=delimiter, strict=True
    )
    try:
        with _LongFields.allowed():
            head = next(rows, [])
            _columns(field, head)
            lines.begin_row()
            for row in rows:
                lines.begin_row()
                if len(row) == len(head):
                    yield dict(zip(head, row, strict=True))
                elif row:
                    yield NotText(
                        f"has {counted(len(row), 'field')}, and the first line {len(head):,}"
                    )
    except (csv.Error, UnicodeDecodeError) as error:
        raise NotText(
            f"what begins in line {lines.number:,} is damaged ({visible(str(error))})"
        ) from None


def _column_rows(
    file: IO[bytes], form: str, field: str, limits: Limits
) -> Generator[Any, None, None]:
    from bpe_core.corpus import columns  # late: few need it

    with ExitStack() as stack:
        if not file.seekable():  # packed, or in an archive
            copy = stack.enter_context(TemporaryFile())
            shutil.copyfileobj(file, copy)
            copy.seek(0)
            file = copy
        of_form = {"parquet": columns.parquet_batches, "arrow": columns.arrow_batches}
        for batch in of_form[form](file, partial(_of_arrow, field=field), limits):
            names = batch.schema.names
            for values in zip(*columns.values_of(batch, limits), strict=True):
                yield dict(zip(names, values, strict=True))


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


_ENCRYPTED: Final = 1  # a flag of a member of a zip archive
# Members of a tar archive that are no files: tarfile holds them in memory.
_NAMES_OF_TAR: Final = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)


class _Member(tarfile.TarInfo):
    """A member of a tar archive, that does not pass for its end if it is damaged."""

    def _proc_member(self, tarfile_: tarfile.TarFile) -> tarfile.TarInfo:
        if self.size > _LONGEST_NAME and self.type in _NAMES_OF_TAR:
            raise tarfile.ReadError(f"a name of {self.size:,} bytes")
        return super()._proc_member(tarfile_)  # type: ignore[misc, no-any-return]

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


def _members(
    file: IO[bytes], form: str, limits: Limits
) -> Iterator[tuple[str, IO[bytes]]]:
    """(name, content) of the files in an archive, each to be read before the next."""
    if form == "tar":
        with tarfile.open(fileobj=file, mode="r|", tarinfo=_Member) as tar:
            for entry in tar:
                if (
                    entry.isreg()
                    and not entry.issparse()
                    and (content := tar.extractfile(entry))
                ):
                    yield entry.name, content
                tar.members = []  # type: ignore[attr-defined]  # which would keep all
        return
    with zipfile.ZipFile(file) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        # No more than this is read of any.
        limits.unpack(sum(member.file_size for member in members))
        for member in members:
            if member.flag_bits & _ENCRYPTED:
                raise NotText(
                    f"{visible(member.filename)} in it is encrypted; unpack it first, with its password"
                )
            with archive.open(member) as content:
                yield member.filename, content
