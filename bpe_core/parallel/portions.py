"""A corpus in portions of about one size, each of which can be counted by itself: small files together, large in parts.

A text in plain UTF-8 is parted only where it is known that nothing lies across. Every other file stays whole: what is
packed, or in another encoding, cannot be entered in the middle.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final

from bpe_core.corpus.reading import BLOCK, TextFile

SMALLEST: Final = 1 << 20
"""Bytes on disk that make a portion, at least; less is not worth the words about it."""

LARGEST: Final = 1 << 22
"""Bytes on disk that make a portion, at most: what comes of it takes room."""

_PER_PROCESS: Final = 6
"""Portions for each process, about: when one has done its last, the others should not have much left."""

_CONTINUATION: Final = range(0x80, 0xC0)
"""Bytes that go on with a character of UTF-8."""


OnProgress = Callable[[int], None]
"""Called now and then with the bytes on disk that are done; an exception it raises ends the work."""

Cut = Callable[[str], int]
"""The first place in a text, not at its very beginning, where it may be cut; its length if there is none."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Whole files, or a part of one."""

    files: tuple[TextFile, ...]
    start: int = 0
    """Of a part: where it begins in its file, in bytes."""
    end: int | None = None
    """Of a part: where it ends. None: these are whole files."""

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files) if self.end is None else self.end - self.start

    @property
    def name(self) -> str:
        """Of its first file."""
        return self.files[0].name

    def texts(self, progress: OnProgress) -> Iterator[tuple[TextFile, Iterator[str]]]:
        """Each file with its text in blocks; before each, `progress` is called with the bytes done of all files."""
        before = 0
        for file in self.files:
            yield file, file.blocks_with_progress(partial(_add, progress, before), start=self.start, end=self.end)
            before += file.size

    def data(self) -> Iterator[bytes]:
        """The bytes of a part, without byte order mark."""
        (file,) = self.files
        with file.path.open("rb") as disk:
            position = disk.seek(max(self.start, file.encoding.mark))
            while block := disk.read(min(BLOCK, (self.end or file.size) - position)):
                position += len(block)
                yield block


def _add(progress: OnProgress, before: int, n_bytes: int) -> None:
    progress(before + n_bytes)


def portion_size(total: int, processes: int) -> int:
    """Bytes on disk of a portion, for `total` bytes and so many processes."""
    return min(max(SMALLEST, total // (_PER_PROCESS * processes)), LARGEST)


def portions(files: Iterable[TextFile], wanted: int, cut: Cut | None) -> Iterator[Portion]:
    """The files in order, bundled into portions of about the `wanted` size in bytes on disk, large ones in parts.

    Without a `cut` all files stay whole.
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
    """The parts of a large file that can be parted; otherwise none."""
    if file.size < 2 * size or file.packing or file.encoding.codec != "utf-8" or not cut:
        return []
    offsets = range(size, file.size - size // 2, size)
    cuts = [0, *filter(None, (_cut(file, offset, cut) for offset in offsets)), file.size]
    return [Portion((file,), start, end) for start, end in pairwise(cuts)] if len(cuts) > 2 else []


def _cut(file: TextFile, offset: int, cut: Cut) -> int:
    """The first safe cut behind `offset`, in bytes; 0 if there is none within a block."""
    try:
        with file.path.open("rb") as disk:
            disk.seek(offset)
            data = disk.read(BLOCK)
    except OSError:
        return 0  # whoever reads it in earnest will say what is wrong
    begins = next((i for i, byte in enumerate(data[:4]) if byte not in _CONTINUATION), 0)
    text = data[begins:].decode(errors="replace")
    at = cut(text)
    exact = at < len(text) and "\ufffd" not in text[: at + 1]
    return offset + begins + len(text[:at].encode()) if exact else 0
