"""Where a token, or the pair of a merge, stands in the texts of a corpus: text, line, and what is around it."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import accumulate, chain, pairwise
from typing import Final

from bpe_core.corpus import Counts
from bpe_core.errors import UnknownTokenError
from bpe_core.explain.merge_choice import PairCounts
from bpe_core.live.alignment import Alignment
from bpe_core.patterns import Splitter
from bpe_core.process import shares
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import byte_offsets, without_surrogates

AROUND: Final = 60  # characters of the line that a place keeps on either side
PART: Final = (
    1 << 12
)  # characters that a part of a text has at least, unless it is the last

_Offsets = tuple[
    int, int, int
]  # where a match, its right part, and what follows it begin in a part of a text


@dataclass(frozen=True, slots=True)
class CorpusPlace:
    name: str  # of the text
    line: int  # the number of the line in which it begins, from 1
    column: (
        int  # characters of that line before it; `before` are the last `AROUND` of them
    )
    before: str
    left: str  # the token, or the left part of the pair; a character whose bytes lie in both parts counts for this one
    right: str  # the right part; empty for a token, or if it has no character of its own, such as an end-of-word marker
    after: str  # what follows in the line: its first `AROUND` characters
    n: int = 0  # how often the pair occurs in this text, an amount; 0 for a token, and for further places in a text


@dataclass(frozen=True, slots=True)
class CorpusText:
    """A file of a corpus, or one of the parts that are read of it, which have its name."""

    name: str
    documents: Callable[
        [], Iterable[Iterable[str]]
    ]  # reads it: each document in blocks
    has_rows: bool = False  # its documents are rows, in each of which lines are counted
    before: Callable[[], Iterable[str]] = (
        tuple  # reads what a file holds before this part
    )
    weight: int = 1  # how many times it counts: an amount
    pieces: Mapping[str, int] | None = (
        None  # how often each occurs in it, where many steps are asked about
    )


def pair_places(
    counts: PairCounts, step: int, texts: Iterable[CorpusText], *, most: int = 3
) -> Iterator[CorpusPlace]:
    """Places where the merge of `step` joins its pair, in the texts where that occurs most often, the first one first.

    In each text they are those of the pieces that hold the pair most often there, no two of them in one line, and if
    enough pieces hold it, no two in equal ones. All of `texts` is read, and some of it twice. O(bytes).
    """
    tokenizer, splitter = counts.tokenizer, counts.tokenizer.splitter
    left, right, token = tokenizer.vocabulary.merge_of(step)
    ids_of = {
        counts.pieces[number]: before for number, before, _ in counts.effect(step).words
    }
    times = {
        piece: n
        for piece, ids in ids_of.items()
        if (n := list(pairwise(ids)).count((left, right)))
    }
    own = tokenizer.vocabulary.text_bytes(token).decode(
        errors="ignore"
    )  # the characters that it holds whole
    held: dict[
        str, Counter[str]
    ] = {}  # name of a text -> how often each piece brings the pair there
    read: dict[str, list[CorpusText]] = {}
    for text in texts if times else ():
        found = text.pieces or pieces_in(splitter, text, own)
        here = {
            piece: text.weight * found[piece] * n
            for piece, n in times.items()
            if piece in found
        }
        if here:
            held.setdefault(text.name, Counter()).update(here)
            read.setdefault(text.name, []).append(text)
    ranked = nlargest(most, held, key=lambda name: held[name].total())
    piece, wanted = "", dict[str, int]()

    def find(part: str) -> Iterator[_Offsets]:
        nonlocal piece
        if any(piece in part for piece in wanted):
            for start, end in splitter.places(part):
                piece = part[start:end]
                if piece in wanted:
                    yield from _offsets(
                        tokenizer.token_bytes,
                        piece,
                        start,
                        ids_of[piece],
                        (left, right),
                    )

    for number, name in enumerate(ranked):
        n, quota = held[name].total(), -(-most // (len(ranked) - number))
        wanted = dict(held[name].most_common(quota))
        repeats = len(wanted) < quota
        for place in _search(read[name], splitter.parts, find):
            if place is not None and piece in wanted:
                yield replace(place, n=n)
                n, quota, most = 0, quota - 1, most - 1
                if not repeats:
                    del wanted[piece]
                if not quota:
                    break


def pieces_in(splitter: Splitter, text: CorpusText, own: str = "") -> Mapping[str, int]:
    """How often each piece occurs in those parts of a text that hold `own`."""
    parts = (
        part
        for document in text.documents()
        for part in _joined(splitter.parts(document))
        if own in part
    )
    return Counts.of(parts, splitter.pattern).pieces


def token_places(
    tokenizer: Tokenizer, token: int, texts: Iterable[CorpusText]
) -> Iterator[CorpusPlace | None]:
    """The places of `token` in `texts`, one a line, in order; None after every part of a text.

    O(bytes of the texts). Raises `Unreadable` for a file that cannot be read any more.
    """
    own = tokenizer.vocabulary.text_bytes(token).decode(
        errors="ignore"
    )  # the characters that it holds whole

    def find(part: str) -> Iterator[_Offsets]:
        for start, end in tokenizer.splitter.places(part) if own in part else ():
            piece = part[start:end]
            if own in piece:
                yield from _offsets(
                    tokenizer.token_bytes,
                    piece,
                    start,
                    tokenizer.encode_piece(piece),
                    (token,),
                )

    def find_changed(
        part: str,
    ) -> Iterator[_Offsets]:  # for tokenizers that change a text before they split it
        if token in tokenizer.encode_ordinary(part):
            alignment = Alignment(tokenizer, part)
            for id, (start, end) in zip(alignment.ids, alignment.places, strict=True):
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
    for text, (row, document) in (
        (one, rows) for one in texts for rows in enumerate(one.documents(), 1)
    ):
        name = f"{text.name} row {row:,}" if text.has_rows else text.name
        newest, line, column, line_before = (
            0,
            1 + sum(block.count("\n") for block in text.before()),
            0,
            "",
        )
        for part, following in pairwise(chain(_joined(parts_of(document)), ("",))):
            try:
                for begin, middle, end in find(part):
                    here = line + part.count("\n", 0, begin)
                    if here != newest:
                        newest = here
                        before = (line_before + part[:begin])[-AROUND:].rpartition(
                            "\n"
                        )[2]
                        after = (
                            part[end : end + AROUND] + following[:AROUND]
                        ).partition("\n")[0][:AROUND]
                        at = (
                            begin
                            - part.rfind("\n", 0, begin)
                            - 1
                            + (column if here == line else 0)
                        )
                        yield CorpusPlace(
                            name,
                            here,
                            at,
                            before,
                            part[begin:middle],
                            part[middle:end],
                            after,
                        )
            except UnknownTokenError:
                pass  # this part holds a byte that the vocabulary lacks
            yield None
            newline = part.rfind("\n")
            column = len(part) - newline - 1 + (column if newline < 0 else 0)
            line += part.count("\n")
            line_before = (line_before + part)[-AROUND:].rpartition("\n")[2]


def _joined(parts: Iterable[str]) -> Iterator[str]:
    """The same text in longer parts, so that one holds all that a place in the one before needs of what follows."""
    return filter(None, ("".join(share) for _, share in shares(parts, PART)))


def _lines(blocks: Iterable[str]) -> Iterator[str]:
    rest = ""
    for block in blocks:
        ended, newline, rest = (rest + block).rpartition("\n")
        yield ended + newline
    yield rest


def _offsets(
    bytes_of: Callable[[int], bytes],
    piece: str,
    start: int,
    ids: Sequence[int],
    wanted: tuple[int, ...],
) -> Iterator[_Offsets]:
    """Each place of a token or a pair in the ids of a piece that begins at `start`; no two overlap."""
    if wanted[0] not in ids:
        return
    begins, n, free = byte_offsets(without_surrogates(piece)), len(wanted), 0
    ends = [
        0,
        *(min(end, begins[-1]) for end in accumulate(len(bytes_of(id)) for id in ids)),
    ]
    for at in range(len(ids) - n + 1):
        if at >= free and tuple(ids[at : at + n]) == wanted:
            free = at + n
            middle, end = (start + bisect_left(begins, ends[i]) for i in (at + 1, free))
            yield start + bisect_right(begins, ends[at]) - 1, middle, end
