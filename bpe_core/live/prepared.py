"""The parts of a text whose tokenizer changes it before encoding it: normalizers, added spaces, ends of words.

The bytes of a token are then not those of the text (see `bpe_core.live.alignment`), and a rule may depend on any other
character. So the text is divided where it provably may be cut, and an edit encodes whole parts again.

Two adjacent characters decide whether there is a safe cut between them, as in `patterns.automaton`. Each rule of
normalization says which characters are *apart*: they are changed independently of their neighbors, and don't affect how
these are changed. If both characters are apart in all rules, the text on either side is changed as if it ended there.
Then there are two kinds of safe cuts. Either the pattern always cuts between the two characters. Or they are inside of
one piece, and no token contains them next to each other: then no merge crosses the border, and each side is merged as if
it were alone.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from itertools import chain, pairwise
from typing import Final, NamedTuple

from bpe_core.cached import cached_property
from bpe_core.common_ends import same_ends
from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.live.alignment import Alignment, Range
from bpe_core.live.change import Change, Cut, Edit, Part, PieceAt, Span
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

SIZE: Final = 512
"""Characters after which a part ends at the next cut."""
REST: Final = 1_024
"""Characters of a part within which a cut between two pieces is preferred. The last ones of a text are one part."""
LONGEST: Final = 200_000
"""Characters of the longest part. Until there is a cut, each edit encodes all of it again."""
_CACHED: Final = 64  # parts whose tokens are cached
_RUNS: Final = {
    "": "",
    r"\S+": WHITE_SPACE,
    f"{METASPACE}[^{METASPACE}]*": METASPACE,
    f"{METASPACE}+[^{METASPACE}]*|[^{METASPACE}]+": METASPACE,
}
"""Source of a pattern -> the characters that are not in the runs with which its options end. No piece begins or ends
within a run. So a run may be cut: the end of its piece and all later pieces are the same if a text begins there."""
_SEPARATOR: Final = "\ud800"  # between the joined texts of tokens; no text contains it


class PreparedReader:
    """Divides texts into parts. Raises `UnknownTokenError` for a character that has no token."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer: Final = tokenizer
        self._cuts: Final = PreparedCuts(tokenizer)
        self.align: Final = lru_cache(_CACHED)(partial(Alignment, tokenizer))

    def read(
        self, text: str, before: Cut | None = None, behind: Cut | None = None
    ) -> list[Part]:
        """Divide a text into parts.

        Args:
            text: A part of a text.
            before: The kind of cut before it; None at the beginning of the whole text.
            behind: The kind of cut after it; None at the end of the whole text.

        Raises:
            OptionError: A part would have more than `LONGEST` characters.
        """
        parts: list[Part] = []
        start = 0
        while start < len(text):
            end, cut = self._next_cut(text, start, behind)
            if end - start > LONGEST:
                raise OptionError(
                    f"{end - start:,} characters in a row have no safe place to cut. This tokenizer encodes them all "
                    f"again after each edit, and {LONGEST:,} is the limit; shorten the text or use another tokenizer."
                )
            parts.append(Part(self, text[start:end], before, cut))
            start = end
            before = cut
        return parts

    def _next_cut(
        self, text: str, start: int, behind: Cut | None
    ) -> tuple[int, Cut | None]:
        """Return the end of the part that begins at `start`, and the kind of cut there."""
        if len(text) - start > REST:
            for end in range(start + SIZE, start + REST):
                if kind := self._cuts.kind(text[end - 1 : end + 1], False):
                    return end, kind
            for end in range(start + SIZE, len(text)):
                if kind := self._cuts.kind(text[end - 1 : end + 1], True):
                    return end, kind
        return len(text), behind

    def edited(
        self, old_parts: Sequence[Part], edit: Edit
    ) -> tuple[list[Part], Change]:
        """Edit adjacent parts. Return the new parts, with all tokens computed, and how the tokens changed.

        Offsets count from the first part. The first and the last character of the parts must stay, except at the
        beginning and the end of the text.
        """
        text = edit.of("".join([part.text for part in old_parts]))
        before = None
        behind = None
        if old_parts:
            before = old_parts[0].before
            behind = old_parts[-1].behind
        new_parts = self.read(text, before, behind)
        for part in new_parts:
            part.settle()
        n_old_bytes = sum(part.n_bytes for part in old_parts)
        n_bytes = sum(part.n_bytes for part in new_parts) - n_old_bytes
        old = self._placed_tokens(old_parts)
        new = self._placed_tokens(new_parts)
        return new_parts, _change(old, new, edit, text, n_bytes)

    def _placed_tokens(self, parts: Sequence[Part]) -> "_PlacedTokens":
        ids: list[int] = []
        places: list[Range] = []
        offset = 0
        for part in parts:
            alignment = self.alignment(part)
            ids += alignment.ids
            places += [
                (offset + start, offset + end) for start, end in alignment.places
            ]
            offset += part.n_characters
        return _PlacedTokens(tuple(ids), places)

    def alignment(self, part: Part) -> Alignment:
        return self.align(part.text, part.before, part.behind)

    def tokens(self, part: Part) -> Sequence[int]:
        return self.alignment(part).ids

    def spans_of(self, part: Part, start: int, end: int) -> list[Span]:
        return self.alignment(part).spans(start, end)

    def piece_at(
        self, parts: Sequence[Part], index: int, offset: int
    ) -> PieceAt | None:
        """Return the piece at `offset` of a part; None outside of all pieces.

        `parts` are adjacent parts, which the piece may span. It is not followed beyond them.
        """
        first = index
        while first and parts[first].before is Cut.INSIDE:
            first -= 1
        last = index + 1
        while last < len(parts) and parts[last].before is Cut.INSIDE:
            last += 1
        text = "".join([part.text for part in parts[first:last]])
        before = parts[first].before
        behind = parts[last - 1].behind
        n_before = sum([part.n_characters for part in parts[first:index]])
        piece = self.align(text, before, behind).piece_at(offset + n_before)
        if piece is None:
            return None
        return piece.moved(-n_before)


class _PlacedTokens(NamedTuple):
    """The tokens of adjacent parts, and the characters that each covers, even partially."""

    ids: tuple[int, ...]
    places: list[Range]


def _change(
    old: _PlacedTokens, new: _PlacedTokens, edit: Edit, text: str, n_bytes: int
) -> Change:
    """Return how the tokens of adjacent parts changed. After the edit they have `text`, and `n_bytes` more bytes."""
    n_first, n_last = same_ends(old.ids, new.ids)
    old_end = len(old.ids) - n_last
    new_end = len(new.ids) - n_last
    removed_places = old.places[n_first:old_end]
    inserted_places = new.places[n_first:new_end]
    if not removed_places and not inserted_places:
        return Change(edit.start, (), (), edit.start, n_bytes)
    # The same in the old and in the new text: where the first changed token begins, but not before the edited text.
    end_of_same = edit.start
    if n_first:
        _, end_of_same = new.places[n_first - 1]
    if inserted_places:
        start = inserted_places[0][0]
        if removed_places:
            start = min(start, removed_places[0][0])
        stop = max(start, inserted_places[-1][1])
    else:
        start = min(end_of_same, removed_places[0][0])
        stop = start
    head = 0
    if n_first and end_of_same > start:  # the first changed token shares a character
        head = len(utf8(text[start]))
    return Change(
        start=start,
        removed=old.ids[n_first:old_end],
        inserted=new.ids[n_first:new_end],
        stop=stop,
        n_bytes=n_bytes,
        head=head,
        ripple=_ripple(removed_places, inserted_places, edit, text),
    )


def _ripple(
    removed: Sequence[Range], inserted: Sequence[Range], edit: Edit, text: str
) -> int:
    """Return the bytes from the edited text to the farthest border of a token that was removed or inserted."""
    old_borders = set(chain.from_iterable(removed))
    new_borders = set(chain.from_iterable(inserted))
    # Distances to the edited text, in characters.
    old_left = {edit.start - border for border in old_borders if border < edit.start}
    new_left = {edit.start - border for border in new_borders if border < edit.start}
    old_right = {border - edit.end for border in old_borders if border > edit.end}
    new_right = {border - edit.stop for border in new_borders if border > edit.stop}
    n_left = max(old_left ^ new_left, default=0)
    n_right = max(old_right ^ new_right, default=0)
    left_text = text[edit.start - n_left : edit.start]
    right_text = text[edit.stop : edit.stop + n_right]
    return max(len(utf8(left_text)), len(utf8(right_text)))


class _TokenTexts(NamedTuple):
    """What the tokens of a vocabulary contain."""

    joined: str  # the texts of all tokens, with a separator
    adjacent_bytes: set[bytes]
    """Each two adjacent bytes in tokens that are not valid text."""


class PreparedCuts:
    """Finds the kind of cut between two adjacent characters. `Cut.INSIDE` takes longer to find out."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        preparation = tokenizer.preparation
        if preparation is None:
            preparation = Preparation((), None, (SplitStep(tokenizer.splitter),))
        self._rules = [rule.part(False, False) for rule in preparation.normalize or ()]
        self._steps = preparation.steps
        self._raw = _AddedTexts(preparation.raw.tokens)
        self._normalized = _AddedTexts(preparation.normalized.tokens)
        self._has_metaspace = preparation.has_metaspace
        self._vocabulary = tokenizer.vocabulary
        has_marker = tokenizer.vocabulary.end_of_word is not None
        self._pieces_can_be_cut = not has_marker and not preparation.within
        self.kind: Final = cache(self._kind)

    def _kind(self, pair: str, may_be_inside: bool) -> Cut:
        """Return the kind of cut between the two characters of `pair`; `Cut.INSIDE` only if it may be."""
        if self._raw.may_meet(pair[0], pair[1]):
            return Cut.NONE
        left_text = self._normalized_text(pair[0])
        right_text = self._normalized_text(pair[1])
        if not left_text or not right_text:
            return Cut.NONE
        left = left_text[-1]
        right = right_text[0]
        if self._normalized.may_meet(left, right):
            return Cut.NONE
        may_be_inside = may_be_inside and self._pieces_can_be_cut
        was_split = False
        for step in self._steps:
            match step:
                case ReplaceStep(old, new) if len(old) == len(new) == 1:
                    left = left.replace(old, new)
                    right = right.replace(old, new)
                case PrefixStep(prefix) if len(prefix) == 1:
                    may_be_inside = may_be_inside and not was_split
                case SplitStep(splitter):
                    if not was_split and splitter.cut(left + right, 1) == 1:
                        return Cut.PIECES
                    not_in_run = _RUNS.get(splitter.source)
                    if not_in_run is None or left in not_in_run or right in not_in_run:
                        may_be_inside = False
                    was_split = True
                case _:
                    return Cut.NONE
        if may_be_inside and self._are_never_joined(left, right):
            return Cut.INSIDE
        return Cut.NONE

    def _normalized_text(self, character: str) -> str:
        """Return what the rules make of a character; "" if it is not apart in all of them."""
        text = character
        for rule in self._rules:
            if not all(map(rule.is_apart, text)):
                return ""
            text = rule(text)
        return text

    def _are_never_joined(self, left: str, right: str) -> bool:
        """Whether no token contains the two characters next to each other."""
        if self._has_metaspace:
            left = left.replace(METASPACE, " ")
            right = right.replace(METASPACE, " ")
        adjacent_bytes = utf8(left)[-1:] + utf8(right)[:1]
        if left + right in self._tokens.joined:
            return False
        if adjacent_bytes in self._tokens.adjacent_bytes:
            return False
        may_fuse = self._is_unknown(left) and self._is_unknown(right)
        return not may_fuse

    @cached_property
    def _tokens(self) -> _TokenTexts:
        texts: list[str] = []
        adjacent_bytes: set[bytes] = set()
        for data in self._vocabulary.bytes_of.values():
            try:
                texts.append(data.decode())
            except UnicodeDecodeError:
                pairs = (data[i : i + 2] for i in range(len(data) - 1))
                adjacent_bytes.update(pairs)
        return _TokenTexts(_SEPARATOR.join(texts), adjacent_bytes)

    def _is_unknown(self, character: str) -> bool:
        data = utf8(character)
        with suppress(UnknownTokenError):
            symbols = self._vocabulary.symbols(data)
            return b"".join(map(self._vocabulary.token_bytes, symbols)) != data
        return True


class _AddedTexts:
    """The texts of the added tokens, to check whether one may match across or next to a border between two characters."""

    def __init__(self, tokens: Mapping[str, AddedToken]) -> None:
        """`tokens` maps the text that is searched for to the token."""
        self._pairs: set[str] = set()
        self._first: set[str] = set()
        self._last: set[str] = set()
        self._strips = False
        for text, token in tokens.items():
            if not text:
                continue
            self._pairs.update(left + right for left, right in pairwise(text))
            if not token.special:
                # A special token is not found here. But no other token is found inside of its text.
                self._first.add(text[0])
                self._last.add(text[-1])
            if token.lstrip or token.rstrip:
                self._strips = True

    def may_meet(self, left: str, right: str) -> bool:
        """Whether a token may end or begin between the two, contain both, or take white space that is there."""
        if self._strips and (left in WHITE_SPACE or right in WHITE_SPACE):
            return True
        if left in self._last or right in self._first:
            return True
        return left + right in self._pairs
