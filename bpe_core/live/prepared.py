"""The parts of a text whose tokenizer changes it before encoding it: normalizers, added spaces, ends of words.

There a token's bytes are not the text's (see `bpe_core.live.alignment`), and a rule may depend on any other character.
So the text is divided where it is proved that it may be cut, and an edit encodes whole parts anew.

It is decided from two adjacent characters alone, as in `patterns.automaton`. A rule of normalization says which
characters *stand apart*: they are changed independently of their neighbors, and do not affect how these are changed. If
both characters do so in all rules, the text on either side is changed as if it ended there. Then there are two kinds of
safe cuts: the pattern always cuts between the two; or they are inside of one piece, and no token contains the two side
by side, so that no merge joins across the border, and each side is merged as if it were alone.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, lru_cache, partial
from itertools import accumulate, chain, pairwise
from typing import Final

from bpe_core.common_ends import same_ends
from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.live.alignment import Alignment, Range
from bpe_core.live.change import Change, Cut, Edit, Part, Span
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import WHITE_SPACE
from bpe_core.tokenizer.preparation import (
    METASPACE,
    AddedToken,
    PrefixStep,
    Preparation,
    ReplaceStep,
    SplitStep,
)
from bpe_core.utf8 import utf8

SIZE: Final = 512  # characters after which a part ends at the next cut
REST: Final = 1_024
"""Characters of a part within which a cut between two pieces is preferred; and those at the end that are one part."""
LONGEST: Final = 200_000
"""Characters of the longest part that is accepted; as long as it has no cut, each edit encodes all of it again."""
_CACHED: Final = 64  # parts of which the tokens and their places are cached
_RUNS: Final = {
    "": "",
    r"\S+": WHITE_SPACE,
    f"{METASPACE}[^{METASPACE}]*": METASPACE,
    f"{METASPACE}+[^{METASPACE}]*|[^{METASPACE}]+": METASPACE,
}
"""Source of a pattern -> the characters that are not in the runs with which its options end. Within a run no piece ends
or begins, so it may be cut: the end of its piece and all later pieces are the same if a text begins there."""
_BETWEEN: Final = (
    "\ud800"  # separator of joined token texts, a character that no text contains
)


class PreparedReader:
    """Divides texts into parts. Raises `UnknownTokenError` for a character that has no token."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer: Final = tokenizer
        self._cuts: Final = PreparedCuts(tokenizer)
        self.align: Final = lru_cache(_CACHED)(
            partial(Alignment, tokenizer)
        )  # the tokens of a part and their places

    def read(
        self, text: str, before: Cut | None = None, behind: Cut | None = None
    ) -> "list[Part]":
        """A text between cuts of these kinds in parts; None is the beginning or the end of all text. OptionError if a
        part would be over LONGEST."""
        parts: list[Part] = []
        at = 0
        while at < len(text):
            end, cut = self._next_cut(text, at, behind)
            if end - at > LONGEST:
                raise OptionError(
                    f"{end - at:,} characters have no place to cut them; this tokenizer must encode them again at each "
                    f"key, and up to {LONGEST:,} are shown."
                )
            parts.append(Part(self, text[at:end], before, cut))
            at, before = end, cut
        return parts

    def _next_cut(
        self, text: str, at: int, behind: Cut | None
    ) -> tuple[int, Cut | None]:
        """(end, kind of cut there) of the part that begins at `at`; a cut between two pieces is preferred."""
        if len(text) - at > REST:
            for stop, may_go_inside in (at + REST, False), (len(text), True):
                for end in range(at + SIZE, stop):
                    if kind := self._cuts.kind(text[end - 1 : end + 1], may_go_inside):
                        return end, kind
        return len(text), behind

    def edited(self, old: "Sequence[Part]", edit: Edit) -> "tuple[list[Part], Change]":
        """What an edit makes of adjacent parts, and how their tokens changed; offsets count from the first part. The
        first and the last character of the parts must stay, but where the text ends there."""
        text = edit.of("".join([part.text for part in old]))
        new = self.read(
            text, old[0].before if old else None, old[-1].behind if old else None
        )
        n_bytes = sum(part.n_bytes for part in new) - sum(part.n_bytes for part in old)
        for part in new:
            part.settle()
        before, after = [*map(self.alignment, old)], [*map(self.alignment, new)]
        old_ids, ids = (
            tuple(chain.from_iterable(part.ids for part in parts))
            for parts in (before, after)
        )
        head, tail = same_ends(old_ids, ids)
        places = _places(after)
        gone, added = (
            _places(before)[head : len(old_ids) - tail],
            places[head : len(ids) - tail],
        )
        if not gone and not added:
            return new, Change(edit.start, (), (), edit.start, n_bytes)
        last = places[head - 1][1] if head else edit.start
        start = min(
            [place[0] for place in (*added[:1], *gone[:1])]
            if added
            else [last, gone[0][0]]
        )
        was, now = (
            {border for place in places for border in place} for places in (gone, added)
        )
        left = {edit.start - at for at in was if at < edit.start} ^ {
            edit.start - at for at in now if at < edit.start
        }
        right = {at - edit.end for at in was if at > edit.end} ^ {
            at - edit.stop for at in now if at > edit.stop
        }
        reach = (
            text[edit.start - max(left, default=0) : edit.start],
            text[edit.stop :][: max(right, default=0)],
        )
        return new, Change(
            start,
            old_ids[head : len(old_ids) - tail],
            ids[head : len(ids) - tail],
            max(start, added[-1][1] if added else start),
            n_bytes,
            len(utf8(text[start : start + 1])) if head and last > start else 0,
            max(len(utf8(part)) for part in reach),
        )

    def alignment(self, part: Part) -> Alignment:
        return self.align(part.text, part.before, part.behind)

    def tokens(self, part: Part) -> Sequence[int]:
        return self.alignment(part).ids

    def spans_of(self, part: Part, start: int, end: int) -> list[Span]:
        return self.alignment(part).spans(start, end)

    def piece_at(
        self, parts: Sequence[Part], index: int, offset: int
    ) -> tuple[int, int, str] | None:
        """(start, end, prepared text) of the piece at `offset` of a part; None if there is none. `parts` are adjacent
        ones, which the piece may span; beyond them it is not followed."""
        first, last = index, index + 1
        while first and parts[first].before is Cut.INSIDE:
            first -= 1
        while last < len(parts) and parts[last].before is Cut.INSIDE:
            last += 1
        start = -sum([part.n_characters for part in parts[first:index]])
        text = "".join([part.text for part in parts[first:last]])
        found = self.align(text, parts[first].before, parts[last - 1].behind).piece_at(
            offset - start
        )
        return found and (start + found[0], start + found[1], found[2])


def _places(parts: Sequence[Alignment]) -> list[Range]:
    """The characters that each token of adjacent parts covers, even partially, counted from the first part."""
    starts = accumulate([len(part.text) for part in parts], initial=0)
    return [
        (at + begin, at + end)
        for at, part in zip(starts, parts, strict=False)
        for begin, end in part.places
    ]


class PreparedCuts:
    """The kind of cut between two adjacent characters, a `str` of length 2; each computed when first asked for.
    Whether it may be `Cut.INSIDE` takes longer to find out."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        preparation = tokenizer.preparation or Preparation(
            (), None, (SplitStep(tokenizer.splitter),)
        )
        self._rules = [rule.part(False, False) for rule in preparation.normalize or ()]
        self._steps = preparation.steps
        self._raw, self._normalized = (
            _Texts(preparation.raw.tokens),
            _Texts(preparation.normalized.tokens),
        )
        self._has_metaspace = preparation.has_metaspace
        self._vocabulary = tokenizer.vocabulary
        self._goes_inside = (
            tokenizer.vocabulary.end_of_word is None and not preparation.within
        )
        self.kind: Final = cache(self._kind)

    def _kind(self, pair: str, may_go_inside: bool) -> Cut:
        left, right = pair[0], pair[1]
        may_go_inside &= self._goes_inside
        if self._raw.meet(left, right):
            return Cut.NONE
        one, other = self._prepared(left), self._prepared(right)
        if not one or not other or self._normalized.meet(one[-1], other[0]):
            return Cut.NONE
        left, right, was_split = one[-1], other[0], False
        for step in self._steps:
            match step:
                case ReplaceStep(old, new) if len(old) == len(new) == 1:
                    left, right = left.replace(old, new), right.replace(old, new)
                case PrefixStep(prefix) if len(prefix) == 1:
                    may_go_inside = may_go_inside and not was_split
                case SplitStep(splitter):
                    if not was_split and splitter.cut(left + right, 1) == 1:
                        return Cut.PIECES
                    run = _RUNS.get(splitter.source)
                    may_go_inside = (
                        may_go_inside
                        and run is not None
                        and left not in run
                        and right not in run
                    )
                    was_split = True
                case _:
                    return Cut.NONE
        if self._has_metaspace:
            left, right = left.replace(METASPACE, " "), right.replace(METASPACE, " ")
        if not may_go_inside:
            return Cut.NONE
        texts, torn = self._tokens
        is_in_token = left + right in texts or utf8(left)[-1:] + utf8(right)[:1] in torn
        may_fuse = self._is_unknown(left) and self._is_unknown(
            right
        )  # into one unknown token
        return Cut.NONE if is_in_token or may_fuse else Cut.INSIDE

    def _prepared(self, character: str) -> str:
        """What the rules make of a character; "" if it does not stand apart in all of them."""
        text = character
        for rule in self._rules:
            if not all(map(rule.is_apart, text)):
                return ""
            text = rule(text)
        return text

    @cached_property
    def _tokens(self) -> tuple[str, set[bytes]]:
        """(the texts of all tokens, joined; each two adjacent bytes in tokens that are no text)."""
        texts: list[str] = []
        torn: set[bytes] = set()
        for data in self._vocabulary.bytes_of.values():
            try:
                texts.append(data.decode())
            except UnicodeDecodeError:
                torn.update(data[i : i + 2] for i in range(len(data) - 1))
        return _BETWEEN.join(texts), torn

    def _is_unknown(self, character: str) -> bool:
        with suppress(UnknownTokenError):
            data = utf8(character)
            return (
                b"".join(
                    map(self._vocabulary.token_bytes, self._vocabulary.symbols(data))
                )
                != data
            )
        return True


class _Texts:
    """The texts of added tokens, and whether finding one of them can involve two adjacent characters."""

    def __init__(self, found: Mapping[str, AddedToken]) -> None:
        tokens = [(text, token) for text, token in found.items() if text]
        # A special token is not found unless it is allowed; but other tokens are not found inside of its text.
        self._pairs = {
            one + other for text, _ in tokens for one, other in pairwise(text)
        }
        self._first = {text[0] for text, token in tokens if not token.special}
        self._last = {text[-1] for text, token in tokens if not token.special}
        self._strips = any(token.lstrip or token.rstrip for _, token in tokens)

    def meet(self, left: str, right: str) -> bool:
        """Whether a token may end at the border, begin there, reach across it, or take white space that is there."""
        if self._strips and (left in WHITE_SPACE or right in WHITE_SPACE):
            return True
        return left in self._last or right in self._first or left + right in self._pairs
