"""Where a text may be cut so that its parts have its tokens, for a tokenizer that changes a text before encoding it.

It is decided from two adjacent characters alone, as in `patterns.automaton`. A rule of normalization says which
characters *stand apart*: they are changed independently of their neighbors, and do not affect how these are changed. If
both characters do so in all rules, the text on either side is changed as if it ended there. Then there are two kinds of
safe cuts: the pattern always cuts between the two; or they are inside of one piece, and no token contains the two side
by side, so that no merge joins across the border, and each side is merged as if it were alone.
"""

from collections.abc import Iterable
from enum import IntEnum
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Final

from bpe_core.errors import UnknownTokenError
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import WHITE_SPACE
from bpe_core.tokenizer.preparation import METASPACE, AddedToken, PrefixStep, Preparation, ReplaceStep, SplitStep
from bpe_core.utf8 import utf8

_RUNS: Final = {
    "": "",
    r"\S+": WHITE_SPACE,
    f"{METASPACE}[^{METASPACE}]*": METASPACE,
    f"{METASPACE}+[^{METASPACE}]*|[^{METASPACE}]+": METASPACE,
}
"""Source of a pattern -> the characters that are not in the runs with which its options end. Within a run no piece ends
or begins, so it may be cut: the end of its piece and all later pieces are the same if a text begins there."""
_BETWEEN: Final = "\ud800"  # separator of joined token texts, a character that no text contains


class Cut(IntEnum):
    """The kind of safe cut between two adjacent characters: none, between two pieces, between two tokens of a piece."""

    NONE = 0
    PIECES = 1
    INSIDE = 2


class PreparedCuts:
    """The kind of cut between two adjacent characters, a `str` of length 2; each computed when first asked for."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        preparation = tokenizer.preparation or Preparation((), None, (SplitStep(tokenizer.splitter),))
        normalize, added = preparation.normalize, preparation.added
        self._rules = [rule.part(False, False) for rule in normalize or ()]
        self._steps = preparation.steps
        self._raw = _Texts((token.text, token) for token in added if not token.normalized)
        changed = normalize if normalize and not preparation.finds_as_written else str
        self._normalized = _Texts((changed(token.text), token) for token in added if token.normalized)
        self._has_metaspace = preparation.has_metaspace
        self._vocabulary = tokenizer.vocabulary
        goes_inside = tokenizer.vocabulary.end_of_word is None and not preparation.within
        self.kind: Final = cache(partial(self._kind, goes_inside))
        self.between_pieces: Final = cache(partial(self._kind, False))
        """Faster than `kind`: it does not test for `Cut.INSIDE`."""

    def _kind(self, may_go_inside: bool, pair: str) -> Cut:
        left, right = pair[0], pair[1]
        if self._raw.meet(left, right):
            return Cut.NONE
        one, other = self._prepared(left), self._prepared(right)
        if not one or not other or self._normalized.meet(one[-1], other[0]):
            return Cut.NONE
        return self._split(one[-1], other[0], may_go_inside)

    def _prepared(self, character: str) -> str:
        """What the rules make of a character; "" if it does not stand apart in all of them."""
        text = character
        for rule in self._rules:
            if not all(map(rule.is_apart, text)):
                return ""
            text = rule(text)
        return text

    def _split(self, left: str, right: str, may_go_inside: bool) -> Cut:
        was_split = False
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
                    may_go_inside = may_go_inside and run is not None and left not in run and right not in run
                    was_split = True
                case _:
                    return Cut.NONE
        if self._has_metaspace:
            left, right = left.replace(METASPACE, " "), right.replace(METASPACE, " ")
        return Cut.INSIDE if may_go_inside and self._is_parted(left, right) else Cut.NONE

    def _is_parted(self, left: str, right: str) -> bool:
        """Whether no token contains the two side by side, and they do not fuse into one unknown token."""
        texts, torn = self._tokens
        if left + right in texts or utf8(left)[-1:] + utf8(right)[:1] in torn:
            return False
        return not (self._is_unknown(left) and self._is_unknown(right))

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
        data = utf8(character)
        try:
            symbols = self._vocabulary.symbols(data)
        except UnknownTokenError:
            return True
        return b"".join(map(self._vocabulary.token_bytes, symbols)) != data


class _Texts:
    """The texts of added tokens, and whether finding one of them can involve two adjacent characters."""

    def __init__(self, found: Iterable[tuple[str, AddedToken]]) -> None:
        tokens = [(text, token) for text, token in found if text]
        # A special token is not found unless it is allowed; but other tokens are not found inside of its text.
        self._pairs = {one + other for text, _ in tokens for one, other in pairwise(text)}
        self._first = {text[0] for text, token in tokens if not token.special}
        self._last = {text[-1] for text, token in tokens if not token.special}
        self._strips = any(token.lstrip or token.rstrip for _, token in tokens)

    def meet(self, left: str, right: str) -> bool:
        """Whether a token may end at the border, begin there, reach across it, or take white space that is there."""
        if self._strips and (left in WHITE_SPACE or right in WHITE_SPACE):
            return True
        return left in self._last or right in self._first or left + right in self._pairs
