"""Added tokens of Hugging Face's tokenizers: texts that become one id wherever they occur, found before the split."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import regex

from bpe_core.patterns.text_search import TextSearch
from bpe_core.tokenizer.normalizers import WHITE_SPACE

_WORD: Final = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]"
_WORD_BEFORE: Final = regex.compile(rf"{_WORD}\Z")
_WORD_BEHIND: Final = regex.compile(_WORD)


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A text that becomes one id wherever it occurs; the flags are those of tokenizer.json."""

    text: str
    """The text to be found."""
    token: int
    """Its id."""
    special: bool = False
    """Whether it is found only where the caller allows it."""
    single_word: bool = False
    """Whether it is found only where no letter, mark, digit or connector is next to it."""
    lstrip: bool = False
    """Whether white space before it becomes a part of it."""
    rstrip: bool = False
    """Whether white space after it becomes a part of it."""
    normalized: bool = False
    """Whether it is searched for in the normalized text rather than in the text as given."""

    @property
    def is_plain(self) -> bool:
        """Whether none of `single_word`, `lstrip` and `rstrip` is set."""
        return not (self.single_word or self.lstrip or self.rstrip)


class Finder:
    """Finds added tokens in a text from left to right, at each place the longest."""

    def __init__(self, tokens: Iterable[AddedToken], normalize: Callable[[str], str] | None = None) -> None:
        """`normalize` is applied to the texts of the tokens, to find them in a normalized text."""
        self._tokens: dict[str, AddedToken] = {}
        for token in tokens:
            self._tokens.setdefault(normalize(token.text) if normalize else token.text, token)
        self._texts = TextSearch(self._tokens)

    def found(self, text: str, allowed: frozenset[str]) -> Iterator[tuple[int, int, int]]:
        """(start, end, id) of each token found, in code points; special tokens only if their text is in `allowed`."""
        start = done = 0
        for begin, end in self._texts.spans(text):
            token = self._tokens[text[begin:end]]
            if (token.special and token.text not in allowed) or (token.single_word and _is_in_word(text, begin, end)):
                continue
            if token.lstrip:
                while begin > start and text[begin - 1] in WHITE_SPACE:
                    begin -= 1
                begin = max(begin, start)  # rstrip of the token before may have reached behind it
            if token.rstrip and end >= done:
                while end < len(text) and text[end] in WHITE_SPACE:
                    end += 1
            if token.rstrip:
                done = end = max(end, done)
            yield begin, end, token.token
            start = end

    def parts(self, text: str, allowed: frozenset[str]) -> Iterator[str | int]:
        """The text as a sequence of ids, of the tokens found, and of the non-empty texts between them."""
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
