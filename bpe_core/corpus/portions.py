"""Dividing files into portions of about one size: small files together, large ones in parts.

Only an unpacked file in UTF-8 is divided, and only at safe cuts, across which no piece reaches. A file that is
packed or in another encoding cannot be read from the middle, and stays whole.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from bpe_core.corpus.reading import BLOCK, TextFile
from bpe_core.utf8 import CONTINUATIONS

Cut = Callable[[str], int]
"""Text -> the first index > 0 where it may be cut safely, or its length if there is none."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Whole files, or a part of one."""

    files: tuple[TextFile, ...]
    start: int = 0
    """Byte offset where the part begins in its file; 0 for whole files."""
    end: int | None = None
    """Byte offset where the part ends; None for whole files."""

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files) if self.end is None else self.end - self.start


def portions(files: Iterable[TextFile], wanted: int, cut: Cut | None) -> Iterator[Portion]:
    """Yield the files in order, in portions of about `wanted` bytes on disk: small files together, large ones in parts.

    `cut` finds where a text may be cut; None: all files stay whole.
    """
    bundle: list[TextFile] = []
    size = 0
    for file in files:
        parts = _parts(file, wanted, cut)
        if bundle and (parts or size + file.size > wanted):
            yield Portion(tuple(bundle))
            bundle, size = [], 0
        if parts:
            yield from parts
        else:
            bundle.append(file)
            size += file.size
    if bundle:
        yield Portion(tuple(bundle))


def _parts(file: TextFile, size: int, cut: Cut | None) -> list[Portion]:
    """The parts, of about `size` bytes, of a file that is large enough and can be cut; otherwise an empty list."""
    if file.size < 2 * size or file.packing or file.encoding.codec != "utf-8" or not cut:
        return []
    offsets = range(size, file.size - size // 2, size)
    cuts = [0, *filter(None, (_cut(file, offset, cut) for offset in offsets)), file.size]
    return [Portion((file,), start, end) for start, end in pairwise(cuts)] if len(cuts) > 2 else []


def _cut(file: TextFile, offset: int, cut: Cut) -> int:
    """The byte offset of the first safe cut after `offset`; 0 if there is none within one block."""
    try:
        with file.path.open("rb") as disk:
            disk.seek(offset)
            data = disk.read(BLOCK)
    except OSError:
        return 0  # whoever reads the text will meet the error, and report it
    begins = next((i for i, byte in enumerate(data[:4]) if byte not in CONTINUATIONS), 0)
    text = data[begins:].decode(errors="replace")
    at = cut(text)
    exact = at < len(text) and "\ufffd" not in text[: at + 1]
    return offset + begins + len(text[:at].encode()) if exact else 0
