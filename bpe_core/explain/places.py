"""Where a token, or the pair of a merge, stands in the texts of a corpus: text, line, and what is around it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Final

from bpe_core.errors import UnknownTokenError
from bpe_core.explain.pair_counts import PairCounts
from bpe_core.live.alignment import Alignment
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import CONTINUATIONS, n_characters, utf8

AROUND: Final = 60  # characters of the line that a place keeps on either side
_FEW: Final = 12  # up to so many pieces are searched in a part of a text before it is split
PART: Final = 1 << 12  # characters that a part of a text has at least, unless it is the last

_Offsets = tuple[int, int, int]  # where a match, its right part, and what follows it begin in a part of a text


@dataclass(frozen=True, slots=True)
class CorpusPlace:
    """An occurrence of a token or a pair."""

    name: str  # of the text
    line: int  # the number of the line in which it begins, from 1
    column: int  # characters of that line before it; `before` are the last `AROUND` of them
    before: str
    left: str  # the token, or the left part of the pair; a character whose bytes lie in both parts counts for this one
    right: str  # the right part; empty for a token, or if it has no character of its own, such as an end-of-word marker
    after: str  # what follows in the line: its first `AROUND` characters


@dataclass(frozen=True, slots=True)
class CorpusText:
    """A document of a corpus."""

    name: str
    blocks: Iterable[str]
    first_line: int = 1  # the number of its first line, if it is a part of a file


def pair_places(counts: PairCounts, step: int, texts: Iterable[CorpusText], *, most: int = 3) -> Iterator[CorpusPlace]:
    """The first places in `texts` where the merge of `step` joins its pair; reads no farther.

    No two are in one line and, if enough different pieces hold the pair, no two in equal pieces.
    """
    splitter, bytes_of = counts.tokenizer.splitter, counts.tokenizer.token_bytes
    pair = counts.tokenizer.merges[step - 1][:2]
    words = counts.effect(step).words
    pieces = {counts.pieces[number]: before for number, before, _ in words if pair in pairwise(before)}
    repeats = len(pieces) < most
    piece = ""

    def find(part: str) -> Iterator[_Offsets]:
        nonlocal piece
        if len(pieces) <= _FEW and not any(piece in part for piece in pieces):
            return
        for start, end in splitter.places(part):
            piece = part[start:end]
            for found in _offsets(bytes_of, piece, start, pieces.get(piece, ()), pair):
                yield found
                if piece not in pieces:
                    break

    for place in _search(texts if pieces else (), splitter.parts, find):
        if place is not None:
            yield place
            most -= 1
            if not most:
                return
            if not repeats:
                del pieces[piece]


def token_places(tokenizer: Tokenizer, token: int, texts: Iterable[CorpusText]) -> Iterator[CorpusPlace | None]:
    """The places of `token` in `texts`, one a line, in order; None after every part of a text.

    O(bytes of the texts). Raises `Unreadable` for a file that cannot be read any more.
    """
    own = tokenizer.vocabulary.text_bytes(token).decode(errors="replace")
    if "\ufffd" in own:
        own = ""  # a part of a character may be in any text

    def find(part: str) -> Iterator[_Offsets]:
        for start, end in tokenizer.splitter.places(part) if own in part else ():
            piece = part[start:end]
            if own in piece:
                yield from _offsets(tokenizer.token_bytes, piece, start, tokenizer.encode_piece(piece), (token,))

    def find_changed(part: str) -> Iterator[_Offsets]:  # for tokenizers that change a text before they split it
        if token in tokenizer.encode_ordinary(part):
            alignment = Alignment(tokenizer, part)
            for id, (start, end) in zip(alignment.ids, alignment.places(0, len(alignment.ids)), strict=True):
                if id == token:
                    yield start, end, end

    if tokenizer.by_piece:
        return _search(texts, tokenizer.splitter.parts, find)
    return _search(texts, _lines, find_changed)


def _search(
    texts: Iterable[CorpusText],
    parts_of: Callable[[Iterable[str]], Iterable[str]],
    find: Callable[[str], Iterator[_Offsets]],
) -> Iterator[CorpusPlace | None]:
    """The first place that `find` gives in each line of the texts, and None after each part."""
    for text in texts:
        newest, line, column, line_before = 0, text.first_line, 0, ""
        for part, following in pairwise(chain(_joined(parts_of(text.blocks)), ("",))):
            try:
                for begin, middle, end in find(part):
                    here = line + part.count("\n", 0, begin)
                    if here != newest:
                        newest = here
                        before = (line_before + part[:begin])[-AROUND:].rpartition("\n")[2]
                        after = (part[end : end + AROUND] + following[:AROUND]).partition("\n")[0][:AROUND]
                        at = begin - part.rfind("\n", 0, begin) - 1 + (column if here == line else 0)
                        yield CorpusPlace(text.name, here, at, before, part[begin:middle], part[middle:end], after)
            except UnknownTokenError:
                pass  # this part holds a byte that the vocabulary lacks
            yield None
            newline = part.rfind("\n")
            column = len(part) - newline - 1 + (column if newline < 0 else 0)
            line += part.count("\n")
            line_before = (line_before + part)[-AROUND:].rpartition("\n")[2]


def _joined(parts: Iterable[str]) -> Iterator[str]:
    """The same text in longer parts, so that one holds all that a place in the one before needs of what follows."""
    held = ""
    for part in parts:
        held += part
        if len(held) >= PART:
            yield held
            held = ""
    if held:
        yield held


def _lines(blocks: Iterable[str]) -> Iterator[str]:
    """Whole lines of a text, several at a time."""
    rest = ""
    for block in blocks:
        ended, newline, rest = (rest + block).rpartition("\n")
        if newline:
            yield ended + newline
    if rest:
        yield rest


def _offsets(
    bytes_of: Callable[[int], bytes], piece: str, start: int, ids: Sequence[int], wanted: tuple[int, ...]
) -> Iterator[_Offsets]:
    """Each place of a token or a pair in the ids of a piece that begins at `start`; no two overlap."""
    if wanted[0] not in ids:
        return
    data, n = utf8(piece), len(wanted)
    ends = [0, *(min(end, len(data)) for end in accumulate(len(bytes_of(id)) for id in ids))]
    free, counted, begun = 0, 0, start
    for at in range(len(ids) - n + 1):
        if at >= free and tuple(ids[at : at + n]) == wanted:
            free = at + n
            offsets = []
            for end in (ends[at], ends[at + 1], ends[at + n]):
                begun, counted = begun + n_characters(data[counted:end]), end
                offsets.append(begun)
            is_inside = data[ends[at] : ends[at] + 1] in CONTINUATIONS and ends[at] < len(data)
            yield offsets[0] - is_inside, offsets[1], offsets[2]
