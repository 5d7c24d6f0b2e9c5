"""Read files that hold many documents: rows with fields, archives of files, and web archives."""

import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import IO, Final

from bpe_core.corpus.archives import WholeText, tar_members, web_texts, zip_members
from bpe_core.corpus.reading import TextFile, as_unreadable, decoded, open_file
from bpe_core.corpus.recognition import (
    ARCHIVES,
    HEAD,
    TABLES,
    NotText,
    codec_of,
    form_of,
    packing_of,
)
from bpe_core.corpus.tables import keys_of, records, text_finder
from bpe_core.corpus.unpacking import Budget, Limits, TooMuch, limited, unpacked
from bpe_core.visible import quoted, visible

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
"""Usual names of the field that holds the documents, the most usual first."""
_FIRST_ROWS: Final = 20
"""Rows by which the field is guessed."""
_FIRST_CHARACTERS: Final = 1 << 20
"""Characters of the first rows. If they have more, fewer rows are read."""


class RowReader:
    """Reads the documents of one file, and notes what it leaves out."""

    def __init__(self, field: str, skip_bad: bool, limits: Limits) -> None:
        """Make a reader.

        Args:
            field: The field of each row that holds the document; see `keys_of`.
            skip_bad: Leave out rows that have no text in the field. Otherwise they are an error.
            limits: The memory and the unpacked bytes that reading may use.
        """
        self.field = field
        self.skip_bad = skip_bad
        self.limits = limits
        self.omitted: list[str] = []
        """The place of each row or member that is left out, and the reason."""

    def documents(self, file: IO[bytes], form: str) -> Iterator[Iterator[str]]:
        """Return the documents of an unpacked file, each in blocks. Read each one before advancing.

        Raises:
            NotText: The file is damaged, a row has no text in the field, or a limit is exceeded.
        """
        if form in ARCHIVES:
            return self._documents_of_members(file, form)
        if form == "warc":
            return web_texts(file, self.omitted.append)
        return self._documents_in_rows(file, form)

    def _documents_in_rows(self, file: IO[bytes], form: str) -> Iterator[Iterator[str]]:
        if not self.field:  # no field is guessed for the files in an archive
            raise NotText(
                "rows have several fields; "
                "name the field that holds the text after the archive, such as ::text"
            )
        row = "line" if form == "jsonl" else "row"
        keys = keys_of(self.field)
        text_in = text_finder(form, self.limits)
        all_records = records(file, form, self.field, self.limits)
        for number, record in enumerate(all_records, 1):
            if record is None:  # an empty line
                continue
            if isinstance(record, NotText):
                self._leave_out_row(f"{row} {number:,} {record}")
                continue
            try:
                blocks = text_in(record, keys)
            except (LookupError, TypeError, ValueError):
                blocks = None
            if blocks is None:
                place = f"{row} {number:,}"
                self._leave_out_row(f"{place} has no text as {quoted(self.field)}")
            else:
                yield blocks

    def _leave_out_row(self, problem: str) -> None:
        if not self.skip_bad:
            raise NotText(
                f"{problem}; train, count and audit leave such rows out with --skip-bad"
            )
        self.omitted.append(problem)

    def _documents_of_members(
        self, file: IO[bytes], form: str
    ) -> Iterator[Iterator[str]]:
        is_tar = form == "tar"
        members = tar_members(file) if is_tar else zip_members(file, self.limits)
        for member in members:
            base_name = PurePosixPath(member.name).name
            if base_name.startswith("."):  # hidden, as in a folder
                continue
            name = visible(member.name)
            content = limited(member.content)
            packing = packing_of(content.peek(HEAD))
            content = unpacked(content, packing, self.limits.unpacked)
            reader = RowReader(self.field, self.skip_bad, self.limits)
            with closing(WholeText()) as text:
                try:
                    documents = reader._documents_of_member(content, base_name, text)
                except TooMuch:
                    raise
                except NotText as error:
                    self.omitted.append(f"{name} is not read ({error})")
                    continue
                try:
                    yield from documents
                except NotText as error:
                    raise NotText(f"in {name}, {error}") from None
            for problem in reader.omitted:
                self.omitted.append(f"{name} {problem}")

    def _documents_of_member(
        self, content: io.BufferedReader, name: str, text: WholeText
    ) -> Iterator[Iterator[str]]:
        """Return the documents of a member, recognized in the same way as a file on disk.

        Args:
            content: The unpacked member.
            name: Without folders.
            text: Takes the text of a member that has no rows; the caller closes it.

        Raises:
            NotText: The member is not a text and has no rows.
        """
        head = content.peek(HEAD)[:HEAD]
        form = form_of(head, name)
        if form in ARCHIVES:
            raise NotText("it is an archive within an archive; unpack it first")
        if form:
            return self.documents(content, form)
        codec = codec_of(head, is_whole=len(head) < HEAD)
        # Read it to its end first: if the last bytes are not text, the whole member is left out.
        text.read(decoded(content, codec))
        return iter([text.blocks()])


def fields_of(file: TextFile) -> dict[str, list[str]]:
    """Return each field that holds texts -> its texts in the first rows.

    Empty if the file has no rows with fields, as an archive. Raises `Unreadable`.
    """
    if file.form not in TABLES or file.empty:
        return {}
    texts_of: dict[str, list[str]] = {}
    problems: list[NotText] = []
    n_records = 0
    n_left = _FIRST_CHARACTERS
    limits = file.limits()
    text_in = text_finder(file.form, limits)
    with (
        as_unreadable(file.name),
        open_file(file) as disk,
        unpacked(disk, file.packing, Budget(file.size)) as content,
        closing(records(content, file.form, "", limits)) as all_records,
    ):
        for record in islice(all_records, _FIRST_ROWS):
            if n_left < 0:
                break
            n_records += 1
            if isinstance(record, NotText):
                problems.append(record)
            if not isinstance(record, dict):
                continue
            for name in record:
                blocks = text_in(record, [name])
                if blocks is not None:
                    text = "".join(blocks)
                    n_left -= len(text)
                    texts_of.setdefault(name, []).append(text)
        if problems and len(problems) == n_records:
            raise NotText(f"its first row {problems[0]}")
    return texts_of


def with_guessed_field(file: TextFile) -> TextFile:
    """Return the file with the field that likely holds its documents: by its name or its length."""
    texts_of = fields_of(file)
    if not texts_of:
        raise NotText(
            "it has no rows, or none of the first rows has a field that is text; "
            "name a field, such as ::text or ::/a/b"
        )
    longest = max(texts_of, key=lambda field: sum(map(len, texts_of[field])))
    field = _usual_field(texts_of) or longest
    return replace(file, field=field, fields=tuple(texts_of))


def _usual_field(texts_of: dict[str, list[str]]) -> str:
    """Return the field with the most usual name, or ""."""
    for name in _NAMES:
        for field in texts_of:
            if field.lower() == name:
                return field
    return ""
