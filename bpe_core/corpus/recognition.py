"""Recognize a file by its first bytes: its packing, its form and its encoding.

Valid UTF-8 is accepted, and so are UTF-16 and UTF-32 with a byte order mark. No other encoding is guessed:
after a wrong guess a model would be trained on characters that nobody wrote.
"""

import codecs
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

HEAD: Final = 8192
"""Bytes from the beginning of a file by which it is recognized."""
_PACKINGS: Final = {
    "gzip": "\x1f\x8b\x08",
    "xz": "\xfd7zXZ\0",
    "bzip2": "BZh[1-9]1A",
    "zstd": r"\(\xb5/\xfd",
}
"""Packing -> a regular expression of the first bytes."""


class _Marks(NamedTuple):
    """How a form is recognized: regular expressions of the first bytes and of the name's end."""

    first_bytes: str = ""
    ending: str = ""


_FORMS: Final = {
    "parquet": _Marks(first_bytes="PAR1"),
    "arrow": _Marks(first_bytes="ARROW1|\xff{4}", ending=r"\.arrow"),
    "warc": _Marks(first_bytes=r"WARC/1\."),
    "tar": _Marks(first_bytes=".{257}ustar"),
    # Office documents and programs have the same first bytes and are not read.
    "zip": _Marks(first_bytes="PK\x03\x04", ending=r"\.zip"),
    "jsonl": _Marks(ending=r"\.(jsonl|ndjson)"),
    "csv": _Marks(ending=r"\.csv"),
    "tsv": _Marks(ending=r"\.tsv"),
}
"""The forms of files that hold several documents."""
TEXTS: Final = ("", "jsonl", "csv", "tsv")
"""The forms of files that can also be read as one text."""
COLUMNAR: Final = ("parquet", "arrow")
"""The forms whose rows are read from columns."""
TABLES: Final = ("jsonl", "csv", "tsv", *COLUMNAR)
"""The forms whose rows have fields."""
ARCHIVES: Final = ("tar", "zip")
"""The forms whose documents are files or the rows of files."""

_MARKED: Final = {
    "utf-8-sig": (codecs.BOM_UTF8,),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    # A mark of UTF-32 begins with a mark of UTF-16, so the last codec that matches is right.
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}
"""Codec -> the byte order marks that it removes."""
_OTHER_KINDS: Final[Mapping[str, str]] = json.loads(
    Path(__file__).with_name("file_kinds.json").read_text("utf-8")
)
"""Kind of a file that is not a text -> a regular expression of the first bytes."""
_CONTROLS: Final = bytes(set(range(32)) - set(b"\b\t\n\v\f\r\x1b"))
"""Control bytes that texts seldom contain, unlike line breaks, tabs and escapes."""


class NotText(Exception):
    """Bytes cannot be read as text.

    The message is a clause that follows "NAME cannot be read:", without a full stop: why, and what
    to do.
    """


def packing_of(head: bytes) -> str:
    """Return the packing of a file that begins with `head`: "gzip", "xz", "bzip2", "zstd" or ""."""
    return _first_match(head, _PACKINGS)


def form_of(head: bytes, name: str) -> str:
    """Return the form of a file that, unpacked, begins with `head`.

    >>> form_of(b"PAR1", "reviews.data"), form_of(b"a,b", "table.csv.gz"), form_of(b"a,b", "a.txt")
    ('parquet', 'csv', '')
    """
    for form, marks in _FORMS.items():
        ending = rf"{marks.ending}(\.(gz|xz|bz2|zst))?$"
        is_named = not marks.ending or re.search(ending, name, re.IGNORECASE)
        if is_named and _begins(head, marks.first_bytes):
            return form
    return ""


class FileForm(NamedTuple):
    """The form and the encoding of an unpacked file."""

    form: str
    """A key of `_FORMS`; "" if the file is one text."""
    codec: str
    is_empty: bool


def recognize(head: bytes, name: str, default_form: str = "") -> FileForm:
    """Recognize a file that, unpacked, begins with `head`.

    Args:
        head: The first `HEAD` bytes, or all if there are fewer.
        name: The name of the file.
        default_form: The form of a file that has no marks of a form.

    Raises:
        NotText: The file has no form, and `codec_of` finds no encoding for its bytes.
    """
    form = form_of(head, name) or default_form
    codec = "utf-8"
    if not form:
        codec = codec_of(head, is_whole=len(head) < HEAD)
    is_empty = form in TEXTS and not head.decode(codec, "replace")
    return FileForm(form, codec, is_empty)


def codec_of(head: bytes, *, is_whole: bool) -> str:
    """Return the codec of a text: "utf-8", or one that removes a byte order mark.

    Args:
        head: The first bytes.
        is_whole: Whether these are all bytes, so that the last character must be complete.

    Raises:
        NotText: The bytes are not a text, or in an unknown encoding.
    """
    codec = "utf-8"
    for marked_codec, marks in _MARKED.items():
        if head.startswith(marks):
            codec = marked_codec
    decoder = codecs.getincrementaldecoder(codec)()
    try:
        decoder.decode(head, is_whole)
    except UnicodeDecodeError as error:
        # Decoders that have removed a mark count from its end.
        offset = len(head) - len(error.object) + error.start
        raise NotText(_why_not_text(head, offset, codec)) from None
    if codec == "utf-8" and _has_many_zeros(head):
        raise NotText(_why_not_text(head, head.index(0), codec))
    return codec


def not_in_encoding(byte: int, offset: int, codec: str, guess: str = "") -> str:
    """Return why a file with this byte is not read. `guess` is a likely encoding, or ""."""
    place = f"byte 0x{byte:02x} at offset {offset:,}"
    encoding = codec.upper().removesuffix("-SIG")
    if encoding != "UTF-8":
        return f"{place} is not {encoding}, although the file begins with its byte order mark"
    problem = "is not UTF-8" if byte else "is NUL"
    if guess:
        problem += f"; it looks like {guess}"
    source = guess or "ENCODING"
    return f"{place} {problem}: convert it first, for example with iconv -f {source} -t UTF-8"


def _begins(head: bytes, expression: str) -> bool:
    """Whether `head` begins with a regular expression, whose characters are bytes."""
    return re.match(expression.encode("latin-1"), head, re.DOTALL) is not None


def _first_match(head: bytes, expressions: Mapping[str, str]) -> str:
    """Return the name of the first expression that `head` begins with, or ""."""
    for name, expression in expressions.items():
        if _begins(head, expression):
            return name
    return ""


def _has_many_zeros(head: bytes) -> bool:
    """Whether valid UTF-8 has too many NULs to be a text. It is then UTF-16 or binary."""
    n_zeros = head.count(0)
    if n_zeros <= 0.1 * len(head):
        return False
    if n_zeros >= 16:
        return True
    return n_zeros > 0.3 * len(head) and bool(_unmarked_utf16(head))


def _why_not_text(head: bytes, offset: int, codec: str) -> str:
    """Return why the byte at `offset` is not part of a text, with a likely kind or encoding."""
    byte = head[offset]
    kind = _first_match(head, _OTHER_KINDS)
    if kind:
        return f"it is {kind}, not text"
    if codec != "utf-8":
        return not_in_encoding(byte, offset, codec)
    guess = _unmarked_utf16(head)
    if not guess:
        if b"\0" in head or _share(head, _CONTROLS) > 0.03:
            return f"it is binary, not text (byte 0x{byte:02x} at offset {offset:,})"
        if _share(head, bytes(range(0x80, 0x100))) <= 0.3:
            guess = "WINDOWS-1252"
    return not_in_encoding(byte, offset, codec, guess)


def _unmarked_utf16(head: bytes) -> str:
    """Return "UTF-16LE" or "UTF-16BE" if the bytes make sense in it, else "".

    The higher byte of spaces and line breaks is NUL, at odd offsets in UTF-16LE and at even ones in
    UTF-16BE.
    """
    n_at_even = head[::2].count(0)
    n_at_odd = head[1::2].count(0)
    if n_at_odd > 20 * n_at_even and _makes_sense(head, "UTF-16LE"):
        return "UTF-16LE"
    if n_at_even > 20 * n_at_odd and _makes_sense(head, "UTF-16BE"):
        return "UTF-16BE"
    return ""


def _makes_sense(head: bytes, codec: str) -> bool:
    """Whether `head`, decoded as UTF-16, has hardly any invalid or unprintable characters."""
    n_whole = len(head) // 2 * 2
    text = head[:n_whole].decode(codec, "replace")
    text = text[:-1]  # the last one can be half of a character
    if not text:
        return False
    n_strange = 0
    for character in text:
        is_usual = character.isprintable() or character.isspace()
        if not is_usual or character == "\ufffd":
            n_strange += 1
    return n_strange <= 0.02 * len(text)


def _share(head: bytes, some: bytes) -> float:
    """Return the fraction of the bytes of `head` that are in `some`."""
    return 1 - len(head.translate(None, some)) / len(head)
