"""A lock: a file that says what a tokenizer means. `bpe_core.difference.check` holds a tokenizer to it.

A lock has a digest of each part, and some hundred probe texts with their ids. Equal digests prove that a tokenizer is the
same. A probe with other ids shows that it is different. It is JSON in ASCII, one probe per line, so that no editor changes
a text and a change is easy to read.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from bpe_core.difference.digests import PartDigest, digests
from bpe_core.difference.probes import probe_ids, probe_texts
from bpe_core.difference.records import PARTS, encoded
from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.json_fields import LARGEST_ID, Fields, is_number, is_text
from bpe_core.tokenizer import Tokenizer
from bpe_core.whole_file import write_atomically

FORMAT: Final = "bpescope lock"
VERSION: Final = 1
Ids = tuple[int, ...]


class Probe(NamedTuple):
    """A text and its ids."""

    text: str
    ids: Ids | None
    """The ids with special tokens as ordinary text; None if the text can't be encoded."""
    with_specials: Ids | None
    """The ids with special tokens read."""


class DecodeProbe(NamedTuple):
    """Ids and what they are decoded to."""

    ids: Ids
    data: bytes
    text: str
    """Their text, in which bytes that are not UTF-8 become U+FFFD."""


@dataclass(frozen=True)
class Lock:
    """The content of a lock."""

    name: str
    """The name of the tokenizer."""
    parts: Mapping[str, PartDigest]
    """The digest of each of `PARTS`."""
    probes: Sequence[Probe]
    decode_probes: Sequence[DecodeProbe]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""
        yield "{\n"
        yield f' "format": {json.dumps(FORMAT)},\n'
        yield f' "version": {VERSION},\n'
        yield f' "name": {json.dumps(self.name)},\n'
        parts = [
            f"{json.dumps(part)}: {json.dumps(digest._asdict())}"
            for part, digest in self.parts.items()
        ]
        yield from _block(' "parts": {', parts, " },")
        rows = []
        for text, ids, with_specials in self.probes:
            row = [text, ids] if ids == with_specials else [text, ids, with_specials]
            rows.append(json.dumps(row))
        yield from _block(' "texts": [', rows, " ],")
        rows = [
            json.dumps([ids, data.hex(), text])
            for ids, data, text in self.decode_probes
        ]
        yield from _block(' "ids": [', rows, " ]")
        yield "}\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, atomically. Raises `FormatError` if it can't be written."""
        write_atomically((path, self.lines()))


def _block(start: str, rows: Sequence[str], end: str) -> Iterator[str]:
    """Yield a list or object with one row per line."""
    yield start + "\n"
    yield ",\n".join(f"  {row}" for row in rows) + "\n"
    yield end + "\n"


def lock(tokenizer: Tokenizer) -> Lock:
    """Return the lock of a tokenizer. Takes seconds for 200,000 tokens.

    Examples:
        >>> from bpe_core import train
        >>> low = lock(train("low lower lowest", vocab_size=258))
        >>> low.parts["merges"].summary, low.probes[0]
        ('2 merges', Probe(text='1', ids=(49,), with_specials=(49,)))
    """
    probes = [
        Probe(text, encoded(tokenizer, text, False), encoded(tokenizer, text, True))
        for text in probe_texts(tokenizer)
    ]
    decode_probes = [
        DecodeProbe(ids, tokenizer.decode_bytes(ids), tokenizer.decode(ids))
        for ids in probe_ids(tokenizer)
    ]
    return Lock(tokenizer.name, digests(tokenizer), probes, decode_probes)


def read_lock(path: str | os.PathLike[str]) -> Lock:
    """Read a lock.

    Raises:
        FormatError: The file can't be read, is not a lock, is broken, or is from a later version of bpescope.
    """
    file = TokenizerFile.open(path)
    if FORMAT.encode() not in file.data[:200]:
        file.unsupported("it is not a lock; bpescope lock TOKENIZER -o LOCK writes one")
    fields = file.fields()
    version = fields.number("version")
    if version != VERSION:
        file.unsupported(
            f"it is a lock of version {version}, and this bpescope reads version {VERSION}; install a newer bpescope"
        )
    digests_of_parts = fields.fields("parts")
    parts = {}
    for part in PARTS:
        digest = digests_of_parts.fields(part)
        parts[part] = PartDigest(digest.text("summary"), digest.text("sha256"))
    probes = []
    for n, row in enumerate(fields.items("texts")):
        match row:
            case [str() as text, ids] if is_text(text):
                probes.append(_probe(fields, n, text, ids, ids))
            case [str() as text, ids, with_specials] if is_text(text):
                probes.append(_probe(fields, n, text, ids, with_specials))
            case _:
                fields.fail(f"texts[{n}]", "expected a text and its ids")
    decode_probes = []
    for n, row in enumerate(fields.items("ids")):
        match row:
            case [ids, str() as digits, str() as text] if _is_ids(ids):
                try:
                    data = bytes.fromhex(digits)
                except ValueError:
                    fields.fail(f"ids[{n}]", "expected bytes in hexadecimal digits")
                decode_probes.append(DecodeProbe(tuple(ids), data, text))
            case _:
                fields.fail(f"ids[{n}]", "expected ids, their bytes and their text")
    return Lock(fields.text("name"), parts, probes, decode_probes)


def _probe(fields: Fields, n: int, text: str, ids: Any, with_specials: Any) -> Probe:
    for value in (ids, with_specials):
        if value is not None and not _is_ids(value):
            fields.fail(f"texts[{n}]", "expected a list of ids")
    return Probe(
        text,
        None if ids is None else tuple(ids),
        None if with_specials is None else tuple(with_specials),
    )


def _is_ids(value: object) -> bool:
    return isinstance(value, list) and all(is_number(id, LARGEST_ID) for id in value)
