"""A piece too long to be encoded again at each key: it is kept as fragments, and only the seams by an edit are mended.

A document without a split pattern is one piece, and so is a megabyte of letters under any pattern. A fragment is some
hundred characters with their tokens, worked out when somebody looks. Where two fragments meet, their tokens may be
wrong until the seam is *closed*, that is, until the tokens beside it are compatible (see `bpe_core.seams`).
With all seams closed the tokens are exactly those of the whole piece.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from time import perf_counter
from typing import Final

from bpe_core.bpe import utf8
from bpe_core.prefix_sums import PrefixSums
from bpe_core.seams import Seams
from bpe_core.spans import Span, layout

LONG: Final = 512
"""A piece of more characters than this is a long one."""
SIZE: Final = 256
"""Characters of a fragment, about."""
_LONGEST_MISFIT: Final = 12

Ids = tuple[int, ...]
Fragment = tuple[str, Ids | None]
"""Text, and its tokens if somebody has asked for them."""


class LongPiece:
    """The text and tokens of one piece; offsets are code points from its beginning. Never empty."""

    __slots__ = (
        "_closed",
        "_first_open",
        "_first_unknown",
        "_ids",
        "_kept",
        "_layouts",
        "_lengths",
        "_n_open",
        "_seams",
        "_texts",
    )

    def __init__(self, seams: Seams, texts: Sequence[str], ids: Sequence[Ids | None] = ()) -> None:
        """`texts` are its fragments, none empty; `ids` their tokens where known, each as if it stood alone."""
        self._texts = list(texts)
        self._lengths = PrefixSums(list(map(len, self._texts)))
        self._kept = (0, 0)
        self.use(seams)
        if ids:
            self._ids[:] = ids

    def __len__(self) -> int:
        return self._lengths.start(len(self._texts))

    @property
    def text(self) -> str:
        """Its text."""
        return "".join(self._texts)

    @property
    def edges(self) -> tuple[str, str]:
        """Its first and its last character."""
        return self._texts[0][0], self._texts[-1][-1]

    @property
    def bounds(self) -> list[int]:
        """Where its only piece ends."""
        return [len(self)]

    def between(self, start: int, end: int) -> str:
        """A part of its text."""
        first, at = self._lengths.find(start)
        last, _ = self._lengths.find(max(start, end - 1))
        return "".join(self._texts[first : last + 1])[start - at : end - at]

    @property
    def fragments(self) -> list[Fragment]:
        """All of them, in order."""
        return list(zip(self._texts, self._ids, strict=True))

    @property
    def settled(self) -> bool:
        """Whether every seam is closed."""
        return self._n_open == 0

    def use(self, seams: Seams) -> None:
        """Forget all tokens; the next ones are those of another vocabulary."""
        self._seams = seams
        self._ids: list[Ids | None] = [None] * len(self._texts)
        self._closed = [False] * (len(self._texts) - 1)  # the seam at `i` is the one behind fragment `i`
        self._n_open = len(self._closed)
        self._first_open = 0
        self._first_unknown = 0
        self._layouts: dict[str, tuple[Span, ...]] = {}

    def settle(self, seconds: float) -> bool:
        """Close seams for so long; whether all are closed now. At least one step is done, so calling on gets there."""
        deadline = perf_counter() + seconds
        while self._n_open:
            self._settle_one()
            if perf_counter() >= deadline:
                break
        return self.settled

    def _settle_one(self) -> None:
        """Encode a fragment; or when that is done for all, close a seam."""
        if self._first_unknown < len(self._ids):
            self._tokens(self._first_unknown)
            self._first_unknown += 1
        else:
            self._first_open = self._closed.index(False, self._first_open)
            self._close(self._first_open)

    def ids(self) -> Iterator[int]:
        """Its tokens. Settles it."""
        self.settle(float("inf"))
        return chain.from_iterable(map(self._tokens, range(len(self._texts))))

    @property
    def n_tokens(self) -> int:
        """How many tokens it has. Settles it."""
        self.settle(float("inf"))
        return sum(map(len, map(self._tokens, range(len(self._texts)))))

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of code points. They may yet change at open seams farther away."""
        self._close_around(start, end)
        found: list[Span] = []
        index, at = self._lengths.find(start)
        while index < len(self._texts) and at < end:
            found += [Span(at + s.start, at + s.end, s.ids) for s in self._layout(index) if at + s.end > start]
            at += self._lengths[index]
            index += 1
        while found and found[-1].start >= end:
            found.pop()
        return found

    def _layout(self, index: int) -> tuple[Span, ...]:
        """The spans of a fragment. Fragments of equal text have equal tokens, so this can be remembered."""
        text, ids = self._texts[index], self._tokens(index)
        spans = self._layouts.get(text)
        if spans is None:
            spans = layout(text, ids, self._seams.token_bytes)
            if len(self._layouts) > 1 << 10:
                self._layouts.clear()
            self._layouts[text] = spans
        return spans

    def splice(self, start: int, end: int, replacement: str) -> tuple[int, list[Fragment], list[Fragment]]:
        """Replace a range of code points; the piece must not become empty.

        Returns where the first fragment that changed begins, and the changed fragments as they were and as they are.
        """
        self._close_around(start, end)
        was_settled = self.settled
        texts, ids = self._texts[:], self._ids[:]
        self._kept = (len(texts), len(texts))
        self._put(start, end, replacement)
        if was_settled:
            self.settle(float("inf"))
        else:
            self._close_around(start, start + len(replacement))
        head, tail = self._kept
        old, new = slice(head, len(texts) - tail), slice(head, len(self._texts) - tail)
        return (
            self._lengths.start(head),
            list(zip(texts[old], ids[old], strict=True)),
            list(zip(self._texts[new], self._ids[new], strict=True)),
        )

    def _put(self, start: int, end: int, replacement: str) -> None:
        """Make the edit, without a look beyond the fragments in which it begins and ends."""
        first, at = self._lengths.find(start)
        last, last_at = self._lengths.find(max(start, end - 1))
        if start <= at and last_at + self._lengths[last] <= end and not replacement:  # nothing would be left of them
            first, last = (first - 1, last) if first else (first, last + 1)
            at, last_at = self._lengths.start(first), self._lengths.start(last)
        head, tail = self._texts[first][: start - at], self._texts[last][max(0, end - last_at) :]
        fragments: list[Fragment]
        if len(replacement) > SIZE:
            fragments = [(text, None) for text in chopped(head + replacement + tail)]
        else:
            before = [span for span in self._layout(first) if span.end <= len(head)]
            behind = len(self._texts[last]) - len(tail)
            after = [span for span in self._layout(last) if span.start >= behind]
            middle = head[before[-1].end if before else 0 :] + replacement
            middle += tail[: (after[0].start if after else len(self._texts[last])) - behind]
            tokens = self._fitted(_ids(before), utf8(middle), _ids(after), first, last, confined=True)[2]
            fragments = list(_cut(head + replacement + tail, tokens, self._seams))
        self._replace(first, last + 1, fragments)
        self._open(first - 1)
        self._open(first + len(fragments) - 1)

    def _tokens(self, index: int) -> Ids:
        ids = self._ids[index]
        if ids is None:
            ids = self._ids[index] = self._seams.encode(utf8(self._texts[index]))
        return ids

    def _open(self, seam: int) -> None:
        if 0 <= seam < len(self._closed) and self._closed[seam]:
            self._closed[seam] = False
            self._n_open += 1
            self._first_open = min(self._first_open, seam)

    def _replace(self, first: int, last: int, fragments: Sequence[Fragment]) -> None:
        """Put fragments in the place of others. The seams around them stay as they are; those between encoded ones, all
        of one encoding, are closed.
        """
        self._kept = (min(self._kept[0], first), min(self._kept[1], len(self._texts) - last))
        texts = [text for text, _ in fragments]
        closed = [ids is not None for _, ids in fragments[1:]]
        self._n_open += closed.count(False) - self._closed[first : last - 1].count(False)
        self._first_open = min(self._first_open, first)
        self._first_unknown = min(self._first_unknown, first)
        self._texts[first:last] = texts
        self._ids[first:last] = [ids for _, ids in fragments]
        self._closed[first : last - 1] = closed
        self._lengths.replace(first, last, list(map(len, texts)))

    def _close_around(self, start: int, end: int) -> None:
        """Close the seams of the fragments in a range of code points, and one fragment to either side."""
        index, _ = self._lengths.find(start)
        seam = max(0, index - 1)
        while seam < len(self._closed) and self._lengths.start(seam) < end:
            if not self._closed[seam]:
                self._close(seam)
            seam += 1

    def _close(self, seam: int) -> None:
        """Make the tokens beside a seam compatible; may open others if the text is periodic."""
        left, right = self._tokens(seam), self._tokens(seam + 1)
        if self._seams.fit(left[-1], right[0]):
            self._closed[seam] = True
            self._n_open -= 1
        elif not self._slide(seam):
            first, last, tokens = self._fitted(left, b"", right, seam, seam + 1)
            self._replace(first, last + 1, _cut("".join(self._texts[first : last + 1]), tokens, self._seams))

    def _fitted(
        self, left: Ids, middle: bytes, right: Ids, first: int, last: int, confined: bool = False
    ) -> tuple[int, int, Ids]:
        """The tokens of `left`, `middle` and `right` joined; only the middle and what does not fit it is encoded.

        The window over the middle grows on the side that does not fit until both sides do. Unless it is confined, it
        reaches into the fragments around `first` and `last`, which the two end in; they are returned with the tokens.
        """
        encode, fit, token_bytes = self._seams.encode, self._seams.fit, self._seams.token_bytes
        n_left = n_right = 1
        while True:
            while not confined and n_left >= len(left) and first > 0:
                first -= 1
                left = self._tokens(first) + left
            while not confined and n_right >= len(right) and last < len(self._closed):
                last += 1
                right += self._tokens(last)
            n_left, n_right = min(n_left, len(left)), min(n_right, len(right))
            kept = left[: len(left) - n_left]
            taken = left[len(kept) :]
            window = b"".join((*map(token_bytes, taken), middle, *map(token_bytes, right[:n_right])))
            ids = encode(window)
            left_fits = not kept or fit(kept[-1], ids[0])
            right_fits = n_right == len(right) or fit(ids[-1], right[n_right])
            if left_fits and right_fits:
                return first, last, kept + ids + right[n_right:]
            n_left *= 1 if left_fits else 2
            n_right *= 1 if right_fits else 2

    def _slide(self, seam: int) -> bool:
        """In a periodic run, move what does not fit to the end of the run; the tokens in between stay as they are.

        An edit in the middle of a million equal letters leaves a few of them over, which shifts all that follow. But
        the text is the same if these few stand behind the run instead: `misfit + run == run + misfit`.
        """
        ids, following = self._tokens(seam), self._texts[seam + 1]
        before = self._tokens(seam - 1)[-1:] if seam else ()
        first_right = self._tokens(seam + 1)[0]
        for n in range(1, min(_LONGEST_MISFIT, len(ids)) + 1):
            data = b"".join(map(self._seams.token_bytes, ids[-n:]))
            misfit = data.decode(errors="ignore")
            if utf8(misfit) != data or len(misfit) >= len(following) or misfit + following != following + misfit:
                continue
            if all(self._seams.fit(token, first_right) for token in (before + ids)[:-n][-1:]):
                break
        else:
            return False
        behind = seam + 1
        while behind < len(self._texts) and misfit + self._texts[behind] == self._texts[behind] + misfit:
            behind += 1
            if behind < len(self._ids) and self._ids[behind] is None:  # not looked at yet: that can wait, too
                break
        self._insert(behind, misfit, ids[-n:])
        self._shorten(seam, len(misfit), n)
        return True

    def _insert(self, index: int, text: str, ids: Ids) -> None:
        """Put a fragment between two, or behind the last one."""
        self._replace(index - 1, index, [(self._texts[index - 1], self._ids[index - 1]), (text, ids)])
        self._open(index - 1)
        self._open(index)

    def _shorten(self, index: int, n_characters: int, n_tokens: int) -> None:
        """Take some tokens from the end of a fragment, of which it is known that the next one fits what is left."""
        text, ids = self._texts[index][:-n_characters], self._tokens(index)[:-n_tokens]
        if ids:
            self._replace(index, index + 1, [(text, ids)])
        elif index:
            index -= 1
            self._replace(index, index + 2, [(self._texts[index], self._ids[index])])
        else:
            self._replace(index, index + 2, [(self._texts[1], self._ids[1])])
            return
        self._n_open -= not self._closed[index]
        self._closed[index] = True


def _ids(spans: Sequence[Span]) -> Ids:
    return tuple(chain.from_iterable(span.ids for span in spans))


def chopped(text: str) -> list[str]:
    """A text as fragments that nobody has encoded yet."""
    if len(text) <= 2 * SIZE:
        return [text]
    return [text[i : i + SIZE] for i in range(0, len(text), SIZE)]


def _cut(text: str, ids: Ids, seams: Seams) -> list[tuple[str, Ids]]:
    """Encoded text as fragments, parted where a token and a character both end."""
    n_fragments = round(len(text) / SIZE)
    if n_fragments <= 1:
        return [(text, ids)]
    length = len(text) // n_fragments + 1
    found: list[tuple[str, Ids]] = []
    begin = first = last = 0
    for span in layout(text, ids, seams.token_bytes):
        last += len(span.ids)
        if span.end - begin >= length or span.end == len(text):
            found.append((text[begin : span.end], ids[first:last]))
            begin, first = span.end, last
    return found
