"""Where the pair of a merge stands in the texts of a corpus: file, line, and what is around it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice, pairwise
from typing import Final

from bpe_core.explain.pair_counts import PairCounts
from bpe_core.patterns import Splitter
from bpe_core.utf8 import utf8

AROUND: Final = 60
"""Characters of the line that are told before and behind the pair."""
_FEW: Final = 12
"""If no more pieces than this are looked for, a part of a text without any of them is not split."""
_LONG: Final = 1 << 12
"""Characters that a part of a text has at least, unless it is the last."""
_WITHIN: Final = 64
"""Occurrences in one piece that are looked at."""


@dataclass(frozen=True, slots=True)
class CorpusPlace:
    """An occurrence of a pair in a text."""

    name: str
    """What the text is called."""
    line: int
    """The number of the line, from 1, in which the pair begins."""
    before: str
    """What stands before the pair in that line: its last `AROUND` characters."""
    left: str
    """The left part of the pair; a character whose bytes lie in both parts is told here."""
    right: str
    """The right part; empty if it has no character of its own, such as an end-of-word marker."""
    after: str
    """What stands behind the pair until the end of the line: its first `AROUND` characters."""


@dataclass(frozen=True, slots=True)
class CorpusText:
    """A document of a corpus."""

    name: str
    blocks: Iterable[str]
    """Its text."""
    first_line: int = 1
    """The number of its first line, if it is a part of a file."""


def corpus_places(
    counts: PairCounts, step: int, texts: Iterable[CorpusText], splitter: Splitter, *, most: int = 3
) -> Iterator[CorpusPlace]:
    """The first places in `texts` where the merge of `step` joins its pair.

    No two are in one line and, if enough different pieces hold the pair, no two in equal pieces. Reads the texts only
    until `most` places are found.
    """
    pair, bytes_of = counts.tokenizer.merges[step - 1][:2], counts.tokenizer.token_bytes
    words = counts.difference(step).words
    pieces = {counts.pieces[number]: before for number, before, _ in words if pair in pairwise(before)}
    repeats = len(pieces) < most
    for text in texts if pieces else ():
        newest, line, line_before = 0, text.first_line, ""
        for part, following in pairwise(chain(_joined(splitter.parts(text.blocks)), ("",))):
            for piece, at in _pieces_in(part, pieces, splitter):
                for begin, middle, end in islice(_offsets(bytes_of, piece, pieces.get(piece, ()), pair), _WITHIN):
                    here = line + part.count("\n", 0, at + begin)
                    if here == newest:
                        continue
                    newest = here
                    before = _last_line(line_before + part[: at + begin])
                    after = (part[at + end : at + end + AROUND] + following[:AROUND]).partition("\n")[0][:AROUND]
                    yield CorpusPlace(text.name, here, before, piece[begin:middle], piece[middle:end], after)
                    most -= 1
                    if not most:
                        return
                    if not repeats:
                        del pieces[piece]
                        break
            line += part.count("\n")
            line_before = _last_line(line_before + part)


def _joined(parts: Iterable[str]) -> Iterator[str]:
    """The same text in longer parts, so that one holds all that is told behind an occurrence in the one before."""
    held, size = list[str](), 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= _LONG:
            yield "".join(held)
            held, size = [], 0
    if held:
        yield "".join(held)


def _pieces_in(part: str, pieces: Mapping[str, object], splitter: Splitter) -> Iterator[tuple[str, int]]:
    """(piece, where it begins) for each of `pieces` in a part of a text."""
    if len(pieces) <= _FEW and not any(piece in part for piece in pieces):
        return
    for start, end in splitter.places(part):
        if (piece := part[start:end]) in pieces:
            yield piece, start


def _offsets(
    bytes_of: Callable[[int], bytes], piece: str, ids: Sequence[int], pair: tuple[int, int]
) -> Iterator[tuple[int, int, int]]:
    """Where a pair begins, where its right part does, and where it ends, in characters, for each place in a piece."""
    data = utf8(piece)
    ends = [min(end, len(data)) for end in accumulate(len(bytes_of(id)) for id in ids)]
    behind = -1
    for at, found in enumerate(pairwise(ids)):
        if found == pair and at > behind:
            behind = at + 1  # that token is taken
            begin = len(data[: ends[at - 1] if at else 0].decode(errors="ignore"))
            middle, end = (len(data[:to].decode(errors="replace")) for to in ends[at : at + 2])
            yield begin, middle, end


def _last_line(text: str) -> str:
    """The last characters of what stands in the last line of a text."""
    return text[-AROUND:].rpartition("\n")[2]
