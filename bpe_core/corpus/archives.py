"""Read archives of files (tar and zip) and of web pages (WARC and WET)."""

import codecs
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from http.client import parse_headers
from tempfile import TemporaryFile
from typing import IO, Any, Final, NamedTuple

from bpe_core.corpus.reading import decoded
from bpe_core.corpus.recognition import HEAD, NotText
from bpe_core.corpus.unpacking import BLOCK, Limits
from bpe_core.visible import shortened, visible

_HELD: Final = 1 << 24
"""Characters of a `WholeText` that are held in memory; the rest waits in a temporary file."""
_ENCRYPTED: Final = 1
"""The flag of an encrypted member of a zip archive."""
_LONGEST_NAME: Final = 1 << 20
"""Bytes of the name of a member of a tar archive, or of all its attributes."""
_NAMES_OF_TAR: Final = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)
"""Types of names and attributes in a tar archive. The module `tarfile` holds them in memory."""
_WITHOUT_PAGE: Final = ("warcinfo", "request", "metadata", "revisit")
"""Types of records of a web archive that describe other records."""


class Member(NamedTuple):
    """A file in an archive."""

    name: str
    content: IO[bytes]
    """To be read before the next member."""


def tar_members(file: IO[bytes]) -> Iterator[Member]:
    """Yield the files in a tar archive. The module `tarfile` raises errors if it is damaged."""
    with tarfile.open(fileobj=file, mode="r|", tarinfo=_TarInfo) as tar:
        for entry in tar:
            if entry.isreg() and not entry.issparse():
                content = tar.extractfile(entry)
                if content:
                    yield Member(entry.name, content)
            tar.members = []  # type: ignore[attr-defined]  # it would keep them all


class _TarInfo(tarfile.TarInfo):
    """A member of a tar archive. It is an error if it is damaged or has a huge name."""

    def _proc_member(self, tarfile_: tarfile.TarFile) -> tarfile.TarInfo:
        """Read the names and attributes before a member."""
        if self.size > _LONGEST_NAME and self.type in _NAMES_OF_TAR:
            raise tarfile.ReadError(f"a name of {self.size:,} bytes")
        return super()._proc_member(tarfile_)  # type: ignore[misc, no-any-return]

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> "_TarInfo":
        """Read the next member. A damaged member is an error, not the end of the archive."""
        try:
            return super().fromtarfile(tarfile_)
        except tarfile.HeaderError as error:
            if type(error).__name__ == "EOFHeaderError":
                raise  # two blocks of zeros, which end every archive
            raise tarfile.ReadError(f"at offset {tarfile_.offset:,}, {error}") from None


def zip_members(file: IO[bytes], limits: Limits) -> Iterator[Member]:
    """Yield the files in a zip archive. The module `zipfile` raises errors if it is damaged.

    Raises `NotText` if a member is encrypted, or all together are too large.
    """
    with zipfile.ZipFile(file) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        # No member is read further than the size that it has here.
        limits.unpacked.spend(sum(info.file_size for info in infos))
        for info in infos:
            if info.flag_bits & _ENCRYPTED:
                raise NotText(
                    f"{visible(info.filename)} in it is encrypted; "
                    "unpack it first, with its password"
                )
            with archive.open(info) as content:
                yield Member(info.filename, content)


def web_texts(
    file: IO[bytes], leave_out: Callable[[str], object]
) -> Iterator[Iterator[str]]:
    """Yield the plain texts in a web archive, each in blocks. Read each one before advancing.

    A WET file has a text per page. The pages of a WARC file are HTML as HTTP sent it, and must be
    converted first. See iipc.github.io/warc-specifications.

    Args:
        file: The unpacked archive.
        leave_out: Called with the place of each page that is not a text, and the reason.

    Raises:
        NotText: The archive is damaged.
    """
    first_lines = iter(partial(file.readline, HEAD), b"")
    for number, version in enumerate(first_lines, 1):
        place = f"record {number:,}"
        header = parse_headers(file)
        length = header.get("Content-Length", "")
        if not version.startswith(b"WARC/") or not re.fullmatch("[0-9]{1,15}", length):
            raise NotText(f"{place} is damaged: it has no version or no length")
        body = _blocks(file, int(length))
        has_page = header["WARC-Type"] not in _WITHOUT_PAGE
        problem = _problem_with_page(header) if has_page else ""
        with closing(WholeText()) as text:
            if has_page and not problem:
                try:
                    text.read(codecs.iterdecode(body, "utf-8"))
                except UnicodeDecodeError:
                    problem = "is not UTF-8"
            for _ in body:  # pass over a body that was not read to its end
                pass
            if file.read(4) != b"\r\n\r\n":  # these bytes follow each record
                raise NotText(
                    f"it ends within {place}, or the length of this record is wrong; get it again"
                )
            if problem:
                leave_out(f"{place} {problem}")
            elif has_page:
                yield text.blocks()


def _problem_with_page(header: Any) -> str:
    """Return why the page of a record is not a text, by its header; "" if it can be one."""
    if "Content-Encoding" in header or "Transfer-Encoding" in header:
        return "is packed"
    mime = header.get("Content-Type", "")
    if mime.lower().startswith("text/plain"):
        return ""
    if not mime:
        return "has no type"
    return f"is {visible(shortened(mime, 40))}"


def _blocks(file: IO[bytes], n_bytes: int) -> Iterator[bytes]:
    """Yield the next `n_bytes` of a file in blocks; fewer if it ends before."""
    while n_bytes:
        data = file.read(min(n_bytes, BLOCK))
        if not data:
            return
        n_bytes -= len(data)
        yield data


class WholeText:
    """A text that is read to its end before its first block is used.

    This way, a file whose last bytes are not text is left out as a whole. A long text waits in a
    temporary file.
    """

    def __init__(self) -> None:
        self._held: list[str] = []
        self._file: IO[bytes] | None = None

    def close(self) -> None:
        if self._file:
            self._file.close()

    def read(self, blocks: Iterable[str]) -> None:
        """Read all blocks; more than `_HELD` characters are moved to a temporary file."""
        n_held = 0
        for block in blocks:
            self._held.append(block)
            n_held += len(block)
            if n_held > _HELD:
                self._write_held()
                n_held = 0
        if self._file:
            self._write_held()

    def blocks(self) -> Iterator[str]:
        """Return the blocks of the text, to be read once."""
        if self._file is None:
            return iter(self._held)
        self._file.seek(0)
        return decoded(self._file, "utf-8")

    def _write_held(self) -> None:
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115  see `close`
        self._file.write("".join(self._held).encode())
        self._held = []
