"""A piece too long to be encoded again at each key: it is kept in fragments, of which an edit encodes a few again.

A document without a split pattern is one piece, and so is a megabyte of letters under any pattern. A fragment has some
hundred characters, and their tokens once they are asked for. Where two fragments meet, their tokens may be
wrong until the border is *verified*: the tokens beside it are compatible (see `bpe_core.merging.windows`). With all
borders verified the tokens are exactly those of the whole piece.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from time import perf_counter
from typing import Final

from bpe_core.editing.live_text.fragments import SIZE, Fragment, Fragments, Ids, cut, unencoded
from bpe_core.editing.spans import Span, layout
from bpe_core.surrogates import utf8
from bpe_core.vocabulary import Vocabulary

LONG: Final = 512
"""Characters above which a piece is kept in fragments."""
_LONGEST_MISFIT: Final = 12
"""Tokens that `_move_misfit` moves at most."""


class LongPiece:
    """The text and tokens of one piece; offsets are code points from its beginning. Never empty."""

    __slots__ = ("_row", "_vocabulary")

    def __init__(self, vocabulary: Vocabulary, fragments: Sequence[Fragment]) -> None:
        """The tokens of a fragment, if it has any, must be those that encoding it alone gives."""
        self._vocabulary = vocabulary
        self._row = Fragments(fragments)
        self._row.verify_known(vocabulary.compatible)

    def copy(self) -> "LongPiece":
        """An independent copy."""
        copied = object.__new__(LongPiece)
        copied._vocabulary, copied._row = self._vocabulary, self._row.copy()
        return copied

    def __len__(self) -> int:
        return self._row.lengths.start(len(self._row))

    @property
    def text(self) -> str:
        """Its text."""
        return "".join(self._row.texts)

    @property
    def edges(self) -> tuple[str, str]:
        """Its first and its last character."""
        return self._row.texts[0][0], self._row.texts[-1][-1]

    def between(self, start: int, end: int) -> str:
        """A part of its text."""
        first, at = self._row.lengths.find(start)
        last, _ = self._row.lengths.find(max(start, end - 1))
        return "".join(self._row.texts[first : last + 1])[start - at : end - at]

    @property
    def fragments(self) -> list[Fragment]:
        """All its fragments, in order."""
        return self._row.between(0, len(self._row))

    @property
    def settled(self) -> bool:
        """Whether every border is verified."""
        return self._row.n_unverified == 0

    def use(self, vocabulary: Vocabulary) -> None:
        """Forget all tokens; the next ones are those of another vocabulary."""
        self._vocabulary = vocabulary
        self._row.forget()

    def settle(self, seconds: float) -> bool:
        """Encode fragments and verify borders for about `seconds`, at least one; whether all are verified now."""
        deadline = perf_counter() + seconds
        while self._row.n_unverified:
            unknown = self._row.next_unknown()
            if unknown is None:
                self._make_compatible(self._row.next_unverified())
            else:
                self._tokens(unknown)
            if perf_counter() >= deadline:
                break
        return self.settled

    def ids(self) -> Iterator[int]:
        """Its tokens; settles it."""
        return chain.from_iterable(self._all())

    @property
    def n_tokens(self) -> int:
        """How many tokens it has; settles it."""
        return sum(map(len, self._all()))

    def n_tokens_between(self, start: int, end: int) -> int | None:
        """How many tokens meet a range that is not empty; None if it is not settled."""
        if not self.settled:
            return None
        first, at = self._row.lengths.find(start)
        last, last_at = self._row.lengths.find(end - 1)
        inner = sum(map(len, filter(None, self._row.ids[first + 1 : last])))
        edges = (
            [(first, start - at, end - at)]
            if first == last
            else [(first, start - at, end - at), (last, 0, end - last_at)]
        )
        return inner + sum(
            len(span.ids)
            for index, begin, stop in edges
            for span in self._layout(index)
            if span.start < stop and begin < span.end
        )

    def _all(self) -> list[Ids]:
        """The tokens of all fragments, settled."""
        self.settle(float("inf"))
        return [ids or self._tokens(index) for index, ids in enumerate(self._row.ids)]

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of code points; provisional while borders farther away are not verified."""
        self._verify_around(start, end)
        found: list[Span] = []
        index, at = self._row.lengths.find(start)
        while index < len(self._row) and at < end:
            found += [Span(at + span.start, at + span.end, span.ids) for span in self._layout(index)]
            at += self._row.lengths[index]
            index += 1
        return [span for span in found if span.start < end and start < span.end]

    def splice(self, start: int, end: int, replacement: str) -> tuple[int, list[Fragment], list[Fragment]]:
        """Replace a range of code points; the piece must not become empty.

        Returns (offset of the first changed fragment, the changed fragments before, those after the edit).
        """
        self._verify_around(start, end)
        was_settled = self.settled
        texts, ids = self._row.texts[:], self._row.ids[:]
        self._row.track()
        self._put(start, end, replacement)
        if was_settled:
            self.settle(float("inf"))
        else:
            self._verify_around(start, start + len(replacement))
        head, tail = self._row.n_untouched()
        gone = slice(head, len(texts) - tail)
        before = list(zip(texts[gone], ids[gone], strict=True))
        return self._row.lengths.start(head), before, self._row.between(head, len(self._row) - tail)

    def _put(self, start: int, end: int, replacement: str) -> None:
        """Replace the range in the fragments in which it begins and ends; the borders around them become unverified."""
        texts, lengths = self._row.texts, self._row.lengths
        first, at = lengths.find(start)
        last, last_at = lengths.find(max(start, end - 1))
        if start <= at and last_at + lengths[last] <= end and not replacement:  # nothing would be left of them
            first, last = (first - 1, last) if first else (first, last + 1)
            at, last_at = lengths.start(first), lengths.start(last)
        head, tail = texts[first][: start - at], texts[last][max(0, end - last_at) :]
        if len(replacement) > SIZE:
            fragments = unencoded(head + replacement + tail)
        else:
            before = [span for span in self._layout(first) if span.end <= len(head)]
            behind = len(texts[last]) - len(tail)
            after = [span for span in self._layout(last) if span.start >= behind]
            middle = head[before[-1].end if before else 0 :] + replacement
            middle += tail[: (after[0].start if after else len(texts[last])) - behind]
            parts = _ids(before), utf8(middle), _ids(after)
            _, _, tokens = self._encoded_around(*parts, first, last, to_left=False, to_right=False)
            fragments = cut(head + replacement + tail, tokens, self._vocabulary.token_bytes)
        self._row.replace(first, last + 1, fragments)
        self._row.doubt(first - 1)
        self._row.doubt(first + len(fragments) - 1)

    def _tokens(self, index: int) -> Ids:
        ids = self._row.ids[index]
        if ids is None:
            ids = self._row.ids[index] = self._vocabulary.join(utf8(self._row.texts[index]))
        return ids

    def _layout(self, index: int) -> tuple[Span, ...]:
        """The spans of a fragment."""
        return layout(self._row.texts[index], self._tokens(index), self._vocabulary.token_bytes)

    def _verify_around(self, start: int, end: int) -> None:
        """Verify the borders of the fragments in a range of code points, and one fragment to either side."""
        index, _ = self._row.lengths.find(start)
        border = max(0, index - 1)
        while border < len(self._row) - 1 and self._row.lengths.start(border) < end:
            if not self._row.is_verified(border):
                self._make_compatible(border)
            border += 1

    def _make_compatible(self, border: int) -> None:
        """Make the tokens beside a border compatible; the next border to the right may become unverified by it."""
        left, right = self._tokens(border), self._tokens(border + 1)
        if self._vocabulary.compatible(left[-1], right[0]):
            self._row.verify(border)
        elif not self._move_misfit(border):
            # In a periodic run the window could grow to its end. Instead it ends at the next border, which may be wrong
            # then: each step is short, and what is to be done moves to the right until all is well.
            first, last, tokens = self._encoded_around(left, b"", right, border, border + 1, to_right=False)
            text = "".join(self._row.texts[first : last + 1])
            fragments = cut(text, tokens, self._vocabulary.token_bytes)
            self._row.replace(first, last + 1, fragments)
            if tokens[-1] != right[-1]:
                self._row.doubt(first + len(fragments) - 1)

    def _encoded_around(
        self, left: Ids, middle: bytes, right: Ids, first: int, last: int, to_left: bool = True, to_right: bool = True
    ) -> tuple[int, int, Ids]:
        """The tokens of `left`, `middle` and `right` joined; only the middle and what is not compatible is encoded.

        The window over the middle grows on the side that is not compatible until both are. Where it may, it reaches
        into the fragments around `first` and `last`, which the two end in; they are returned with the tokens.
        """
        compatible, token_bytes = self._vocabulary.compatible, self._vocabulary.token_bytes
        n_left = n_right = 1
        while True:
            while to_left and n_left >= len(left) and first > 0:
                first -= 1
                left = self._tokens(first) + left
            while to_right and n_right >= len(right) and last < len(self._row) - 1:
                last += 1
                right += self._tokens(last)
            n_left, n_right = min(n_left, len(left)), min(n_right, len(right))
            kept = left[: len(left) - n_left]
            taken = left[len(kept) :]
            ids = self._vocabulary.join(
                b"".join((*map(token_bytes, taken), middle, *map(token_bytes, right[:n_right])))
            )
            left_agrees = not kept or compatible(kept[-1], ids[0])
            right_agrees = n_right == len(right) or compatible(ids[-1], right[n_right])
            if left_agrees and right_agrees:
                return first, last, kept + ids + right[n_right:]
            n_left *= 1 if left_agrees else 2
            n_right *= 1 if right_agrees else 2

    def _move_misfit(self, border: int) -> bool:
        """In a periodic run, move what is not compatible to the end of the run; the tokens in between stay as they are.

        An edit in the middle of a million equal letters leaves a few of them over, which shifts all that follow. But
        the text is the same if these few stand behind the run instead: `misfit + run == run + misfit`. Only the shorter
        of two is ever moved, so nothing goes in circles.
        """
        texts = self._row.texts
        ids, following, first_right = self._tokens(border), texts[border + 1], self._tokens(border + 1)[0]
        before = self._tokens(border - 1)[-1:] if border else ()
        for n in range(1, min(_LONGEST_MISFIT, len(ids)) + 1):
            data = b"".join(map(self._vocabulary.token_bytes, ids[-n:]))
            misfit = data.decode(errors="ignore")
            if utf8(misfit) != data or len(misfit) >= len(following) or misfit + following != following + misfit:
                continue
            if all(self._vocabulary.compatible(token, first_right) for token in (before + ids)[:-n][-1:]):
                break
        else:
            return False
        behind = border + 1
        while behind < len(texts) and misfit + texts[behind] == texts[behind] + misfit:
            behind += 1
            if behind < len(texts) and self._row.ids[behind] is None:  # not looked at yet: that can wait, too
                break
        self._row.insert(behind, (misfit, ids[-n:]))
        self._row.shorten(border, len(misfit), n)
        return True


def _ids(spans: Sequence[Span]) -> Ids:
    return tuple(chain.from_iterable(span.ids for span in spans))
