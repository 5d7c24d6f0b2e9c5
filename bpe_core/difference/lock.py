"""A lock: a file that describes the meaning of a tokenizer. `bpe_core.difference.check` holds a tokenizer to it.

A lock has a digest of each part, and some hundred probe texts with their ids. Equal digests prove that a tokenizer is the
same. A probe with other ids shows that it is different. It is JSON in ASCII, one probe per line, so that no editor changes
a text and a change is easy to read.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from bpe_core.difference.digests import PartDigest, digests
from bpe_core.difference.probes import probe_ids, probe_texts
from bpe_core.difference.records import PARTS, encoded
from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.json_fields import LARGEST_ID, Fields, is_number
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
    """Ids and the text that they are decoded to."""

    ids: Ids
    text: str
    """Bytes that are not UTF-8 are U+FFFD."""


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
        for probe in self.probes:
            row = probe._asdict()
            if probe.ids == probe.with_specials:
                del row["with_specials"]
            rows.append(json.dumps(row))
        yield from _block(' "encoded": [', rows, " ],")
        rows = [json.dumps(probe._asdict()) for probe in self.decode_probes]
        yield from _block(' "decoded": [', rows, " ]")
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
        DecodeProbe(ids, tokenizer.decode(ids)) for ids in probe_ids(tokenizer)
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
    for row in fields.objects("encoded"):
        ids = _ids(row, "ids")
        key = "with_specials" if "with_specials" in row.values else "ids"
        probes.append(Probe(row.text("text"), ids, _ids(row, key)))
    decode_probes = [
        DecodeProbe(_ids(row, "ids") or (), row.text("text"))
        for row in fields.objects("decoded")
    ]
    return Lock(fields.text("name"), parts, probes, decode_probes)


def _ids(row: Fields, key: str) -> Ids | None:
    """Return a list of ids; None for null."""
    if key in row.values and row.values[key] is None:
        return None
    ids = row.items(key)
    if not all(is_number(token, LARGEST_ID) for token in ids):
        row.fail(key, "expected a list of ids")
    return tuple(ids)
