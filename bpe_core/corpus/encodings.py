"""Recognizing the encoding of a text file from its first bytes; other files are refused, with the reason.

Accepted is what is valid UTF-8, or UTF-16 or UTF-32 with a byte order mark. No other encoding is guessed: a wrong guess
would silently train on characters that nobody wrote.
"""

import codecs
import re
from typing import Final

HEAD: Final = 8192  # bytes from the beginning of a file by which it is recognized

# What a byte order mark says; UTF-32 first, since its mark begins with that of UTF-16.
_MARKED: Final = ("utf-8", "utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")

_KINDS: Final = {  # what a file is -> a regular expression of its first bytes
    **{"a PNG image": rb"\x89PNG\r\n", "a JPEG image": rb"\xff\xd8\xff", "a GIF image": rb"GIF8[79]a"},
    **{"a PDF document": rb"%PDF-", "a sound, film or image": rb"RIFF|OggS|ID3[\x03\x04]|.{4}ftyp"},
    "a ZIP archive (as .docx, .epub, .whl and .npz are)": rb"PK(?:\x03\x04|\x05\x06)",
    **{"a 7z archive": rb"7z\xbc\xaf\x27\x1c", "a RAR archive": rb"Rar!\x1a\x07", "a tar archive": rb".{257}ustar"},
    **{"packed by gzip once more": rb"\x1f\x8b", "packed by xz once more": rb"\xfd7zXZ\x00"},
    **{"packed by bzip2": rb".{4}1AY&SY", "packed by zstd": rb"\x28\xb5\x2f\xfd"},
    **{"a program": rb"\x7fELF|\xca\xfe\xba\xbe|\xcf\xfa\xed\xfe|\x00asm", "compiled Python": rb".\r\r\n"},
    **{"an SQLite database": rb"SQLite format 3\x00", "a Parquet table": rb"PAR1", "a GGUF model": rb"GGUF"},
    **{"a NumPy array": rb"\x93NUMPY", "a Python pickle": rb"\x80\x04\x95"},
}

_CONTROLS: Final = bytes(set(range(32)) - set(b"\b\t\n\v\f\r\x1b"))
"""Control bytes that hardly occur in texts; line breaks, tabs and the escape of terminal recordings do."""


class NotText(Exception):
    """The bytes are no text that can be read. The message is a clause without a full stop: why, and what to do."""


def recognize(head: bytes, *, whole: bool) -> tuple[str, int]:
    """(codec, bytes of the byte order mark) of a file that begins with `head`; `whole`: that is all of it.

    NotText for what is no text.
    """
    codec = next((codec for codec in _MARKED if head.startswith("\ufeff".encode(codec))), "")
    codec, mark = (codec, len("\ufeff".encode(codec))) if codec else ("utf-8", 0)
    try:
        codecs.getincrementaldecoder(codec)().decode(head[mark:], whole)
    except UnicodeDecodeError as error:
        raise NotText(_why_not(head, error.start + mark, codec, mark)) from None
    body = head[mark:]
    zeros = body.count(0) if codec == "utf-8" else 0  # a few NULs are allowed; with many it must be UTF-16 or binary
    if len(body) >= 4 and zeros > 0.3 * len(body) and (guess := _unmarked_utf16(body)):
        raise NotText(not_in_encoding(0, body.index(0), "utf-8", guess).replace("is not UTF-8", "is NUL", 1))
    if zeros >= 16 and zeros > 0.1 * len(body):
        raise NotText(f"it is {_kind(body) or 'binary'}, not text ({zeros:,} of its first {len(body):,} bytes are NUL)")
    return codec, mark


def not_in_encoding(byte: int, offset: int, codec: str, guess: str = "") -> str:
    """The reason why a file with this undecodable byte at this offset is not read; `guess`: a likely other encoding."""
    name = codec.upper().removesuffix("-LE").removesuffix("-BE")
    where = f"byte 0x{byte:02x} at offset {offset:,} is not {name}"
    if name != "UTF-8":
        return f"{where}, though its byte order mark says so"
    looks = f"; it looks like {guess}" if guess else ""
    return f"{where}{looks}: convert it first, for example with iconv -f {guess or 'ENCODING'} -t UTF-8"


def _why_not(head: bytes, offset: int, codec: str, mark: int) -> str:
    if kind := _kind(head):
        return f"it is {kind}, not text"
    if mark:
        return not_in_encoding(head[offset], offset, codec)
    if guess := _unmarked_utf16(head):
        return not_in_encoding(head[offset], offset, "utf-8", guess)
    if b"\0" in head or _share(head, _CONTROLS) > 0.03:
        return f"it is binary, not text (byte 0x{head[offset]:02x} at offset {offset:,} is not UTF-8)"
    guess = "WINDOWS-1252" if _share(head, bytes(range(0x80, 0xA0))) else "ISO-8859-1"
    is_likely = _share(head, bytes(range(0x80, 0x100))) <= 0.3
    return not_in_encoding(head[offset], offset, "utf-8", guess if is_likely else "")


def _kind(head: bytes) -> str:
    return next((kind for kind, begins in _KINDS.items() if re.match(begins, head, re.DOTALL)), "")


def _unmarked_utf16(head: bytes) -> str:
    """The codec if the bytes make sense as UTF-16, else "". Spaces and line breaks put NULs at even or odd offsets."""
    for zeros, other, name in ((head[1::2], head[::2], "UTF-16LE"), (head[::2], head[1::2], "UTF-16BE")):
        if zeros.count(0) <= 20 * other.count(0):
            continue
        text = head[: len(head) & ~1].decode(name, "replace")[:-1] or "\ufffd"
        odd = sum(not (c.isprintable() or c.isspace()) or c == "\ufffd" for c in text)
        if odd <= 0.02 * len(text):
            return name
    return ""


def _share(head: bytes, of: bytes) -> float:
    return 1 - len(head.translate(None, of)) / len(head)
