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

from bpe_core.difference.digests import digests
from bpe_core.difference.probes import probe_ids, probe_texts
from bpe_core.difference.records import PARTS, encoded
from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.json_fields import LARGEST_ID, Fields, is_number
from bpe_core.tokenizer import Tokenizer
from bpe_core.whole_file import write_atomically

FORMAT: Final = "bpescope lock"
VERSION: Final = 1


class Probe(NamedTuple):
    """A text and its ids."""

    text: str
    ids: tuple[int, ...] | None
    """None if the text can't be encoded."""


@dataclass(frozen=True)
class Lock:
    """The content of a lock."""

    name: str
    """The name of the tokenizer."""
    parts: Mapping[str, str]
    """The digest of each of `PARTS`."""
    encoded: Sequence[Probe]
    """Texts with their ids, with special tokens as ordinary text."""
    with_specials: Sequence[Probe]
    """Those of the texts that get other ids if special tokens are read, with these ids."""
    decoded: Sequence[Probe]
    """Ids with the text that they are decoded to. Bytes that are not UTF-8 are U+FFFD."""

    def lines(self) -> Iterator[str]:
        """Yield the text of the file, in parts."""
        about = {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "parts": self.parts,
        }
        yield json.dumps(about, indent=1).removesuffix("\n}")
        yield from _list("encoded", self.encoded)
        yield from _list("with_specials", self.with_specials)
        yield from _list("decoded", self.decoded)
        yield "\n}\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, atomically. Raises `FormatError` if it can't be written."""
        write_atomically((path, self.lines()))


def _list(name: str, probes: Sequence[Probe]) -> Iterator[str]:
    """Yield a list of probes, one per line, as the next value of an object."""
    yield f',\n "{name}": [\n'
    yield ",\n".join(f"  {json.dumps(probe._asdict())}" for probe in probes)
    yield "\n ]"


def lock(tokenizer: Tokenizer) -> Lock:
    """Return the lock of a tokenizer. Takes seconds for 200,000 tokens.

    Examples:
        >>> from bpe_core import train
        >>> lock(train("low lower lowest", vocab_size=258)).encoded[0]
        Probe(text='1', ids=(49,))
    """
    texts = probe_texts(tokenizer)
    ordinary = [Probe(text, encoded(tokenizer, text, False)) for text in texts]
    with_specials = [Probe(text, encoded(tokenizer, text, True)) for text in texts]
    return Lock(
        tokenizer.name,
        digests(tokenizer),
        ordinary,
        [probe for probe in with_specials if probe not in ordinary],
        [Probe(tokenizer.decode(ids), ids) for ids in probe_ids(tokenizer)],
    )


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
    parts = fields.fields("parts")
    return Lock(
        fields.text("name"),
        {part: parts.text(part) for part in PARTS},
        _probes(fields, "encoded"),
        _probes(fields, "with_specials"),
        _probes(fields, "decoded"),
    )


def _probes(fields: Fields, key: str) -> list[Probe]:
    probes = []
    for row in fields.objects(key):
        ids = row.any("ids")
        if ids is not None:
            ids = tuple(row.items("ids"))
            if not all(is_number(token, LARGEST_ID) for token in ids):
                row.fail("ids", "expected a list of ids")
        probes.append(Probe(row.text("text"), ids))
    return probes
