"""A lock: a file that describes the meaning of a tokenizer. `bpe_core.difference.check` holds a tokenizer to it.

A lock has a digest of each part, and some hundred probe texts with their ids. Equal digests prove that a tokenizer is the
same. A probe with other ids shows that it is different. It is JSON in ASCII, one probe per line, so that no editor changes
a text and a change is easy to read.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, Self

from bpe_core.difference.digests import digests
from bpe_core.difference.probes import probe_texts
from bpe_core.difference.records import PARTS, encoded
from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.json_fields import LARGEST_ID, Fields, is_number
from bpe_core.tokenizer import Tokenizer
from bpe_core.whole_file import write_atomically

FORMAT: Final = "bpescope lock 1"
"""The format and its version."""
Ids = tuple[int, ...]


class Probe(NamedTuple):
    """A text, its ids, and the text that these are decoded to."""

    text: str
    ids: Ids | None
    """None if the text can't be encoded."""
    decoded: str
    """Bytes that are not UTF-8 are U+FFFD."""


class Subject(NamedTuple):
    """The functions of a tokenizer to lock or to check."""

    encode: Callable[[str, bool], Ids | None]
    """Returns the ids of a text; None if it can't be encoded. The flag says whether special tokens in it are read."""
    decode: Callable[[Ids], str]
    always_reads_specials: bool = False

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Self:
        return cls(partial(encoded, tokenizer), tokenizer.decode)

    def probe(self, text: str, reads_specials: bool) -> Probe:
        ids = self.encode(text, reads_specials)
        return Probe(text, ids, self.decode(ids or ()))


@dataclass(frozen=True)
class Lock:
    """The content of a lock."""

    parts: Mapping[str, str]
    """The digest of each of `PARTS`."""
    probes: Sequence[Probe]
    """Texts in which special tokens are ordinary text."""
    special_probes: Sequence[Probe]
    """Those of the texts that get other ids if special tokens are read, with these ids."""

    def lines(self) -> Iterator[str]:
        """Yield the text of the file."""
        about = {"format": FORMAT, "parts": self.parts}
        yield json.dumps(about, indent=1).removesuffix("\n}")
        yield from _list("probes", self.probes)
        yield from _list("special_probes", self.special_probes)
        yield "\n}\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, atomically. Raises `FormatError` if it can't be written."""
        write_atomically((path, self.lines()))


def _list(name: str, probes: Sequence[Probe]) -> Iterator[str]:
    """Yield the JSON of one more field of the lock: a list of probes, one per line."""
    yield f',\n "{name}": [\n'
    yield ",\n".join(f"  {json.dumps(probe._asdict())}" for probe in probes)
    yield "\n ]"


def lock(tokenizer: Tokenizer) -> Lock:
    """Return the lock of a tokenizer. Takes seconds for 200,000 tokens.

    Examples:
        >>> from bpe_core import train
        >>> lock(train("low lower lowest", vocab_size=258)).probes[0]
        Probe(text='1', ids=(49,), decoded='1')
    """
    subject = Subject.of(tokenizer)
    probes = []
    special_probes = []
    for text in probe_texts(tokenizer):
        probe = subject.probe(text, False)
        special_probe = subject.probe(text, True)
        probes.append(probe)
        if special_probe != probe:
            special_probes.append(special_probe)
    return Lock(digests(tokenizer), probes, special_probes)


def read_lock(path: str | os.PathLike[str]) -> Lock:
    """Read a lock.

    Raises:
        FormatError: The file can't be read, is not a lock of this version, or is broken.
    """
    file = TokenizerFile.open(path)
    if FORMAT.encode() not in file.data[:200]:
        file.unsupported(
            "it is not a lock that this version of bpescope reads; bpescope lock TOKENIZER -o LOCK writes one"
        )
    fields = file.fields()
    parts = fields.fields("parts")
    return Lock(
        {part: parts.text(part) for part in PARTS},
        _probes(fields, "probes"),
        _probes(fields, "special_probes"),
    )


def _probes(fields: Fields, key: str) -> list[Probe]:
    probes = []
    for row in fields.objects(key):
        ids = row.any("ids")
        if ids is not None:
            ids = tuple(row.items("ids"))
            if not all(is_number(token, LARGEST_ID) for token in ids):
                row.fail("ids", "expected a list of ids")
        probes.append(Probe(row.text("text"), ids, row.text("decoded")))
    return probes
