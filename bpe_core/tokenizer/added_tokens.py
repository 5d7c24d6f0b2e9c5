"""Tokens that are found in a text before anything else is done to it, as Hugging Face's tokenizers do."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import regex

from bpe_core.patterns.texts import Texts
from bpe_core.tokenizer.normalizers import WHITE_SPACE

_WORD: Final = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]"
_WORD_BEFORE: Final = regex.compile(rf"{_WORD}\Z")
_WORD_BEHIND: Final = regex.compile(_WORD)


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A text that is a token wherever it stands."""

    text: str
    """What it is found by."""
    token: int
    """Its id."""
    special: bool = False
    """Whether it is found only if the caller allows it; a text may hold it by accident or malice."""
    single_word: bool = False
    """Whether it is found only where no letter or digit stands beside it."""
    lstrip: bool = False
    """Whether white space before it is taken into it."""
    rstrip: bool = False
    """Whether white space behind it is taken into it."""
    normalized: bool = False
    """Whether it is looked for after the text was normalized rather than before."""

    @property
    def is_plain(self) -> bool:
        """Whether it is found wherever it stands, and is nothing but its text."""
        return not (self.single_word or self.lstrip or self.rstrip)


class Finder:
    """Finds tokens in a text: the leftmost first, and of several at one place the longest."""

    def __init__(self, tokens: Iterable[AddedToken], normalize: Callable[[str], str] | None = None) -> None:
        """`normalize` is applied to the tokens' own texts."""
        self._tokens: dict[str, AddedToken] = {}
        for token in tokens:
            self._tokens.setdefault(normalize(token.text) if normalize else token.text, token)
        self._texts = Texts(self._tokens)

    def found(self, text: str, allowed: frozenset[str]) -> Iterator[tuple[int, int, int]]:
        """Where each token that is found begins and ends, and its id. Special tokens must be `allowed`."""
        start = done = 0
        for begin, end in self._texts.spans(text):
            token = self._tokens[text[begin:end]]
            if (token.special and token.text not in allowed) or (token.single_word and _is_in_word(text, begin, end)):
                continue
            if token.lstrip:
                while begin > start and text[begin - 1] in WHITE_SPACE:
                    begin -= 1
                begin = max(begin, start)
            if token.rstrip and end >= done:
                while end < len(text) and text[end] in WHITE_SPACE:
                    end += 1
            if token.rstrip:
                done = end = max(end, done)
            yield begin, end, token.token
            start = end

    def parts(self, text: str, allowed: frozenset[str]) -> Iterator[str | int]:
        """The text in parts: ids of what was found, and the text between."""
        start = 0
        for begin, end, token in self.found(text, allowed):
            if start < begin:
                yield text[start:begin]
            yield token
            start = end
        if start < len(text):
            yield text[start:]


def _is_in_word(text: str, start: int, end: int) -> bool:
    return bool(_WORD_BEFORE.search(text[max(0, start - 1) : start]) or _WORD_BEHIND.match(text, end))
