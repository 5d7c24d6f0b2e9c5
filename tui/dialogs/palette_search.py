"""PaletteEntry and EntryProvider: the rows of a command palette, found by the words of a query."""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import ClassVar, Final, NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui.commands.key_names import long_name

_IN_NAME: Final = 4.0
_IN_WORDS: Final = 3.5
_BEGINS_IN_NAME: Final = 3.0
_BEGINS_IN_WORDS: Final = 2.5
_ELSEWHERE: Final = 1.0
"""Points for a word of a query, by where it is found in an entry."""
_SMALL_WORDS: Final = frozenset(
    ["a", "an", "and", "for", "in", "my", "of", "or", "the", "this", "to", "with"]
)
"""Words of a query that an entry need not contain."""
_NAME_BEGINS: Final = 1.0
"""Points if the name begins with the query."""


class PaletteEntry(NamedTuple):
    """A row of the palette."""

    name: str
    run: Callable[[], object]
    description: str
    keys: str = ""
    words: str = ""
    """Other words for it, separated by spaces. They are searched, and not shown."""

    @property
    def shown_keys(self) -> Content:
        if not self.keys:
            return Content()
        first_key = self.keys.partition(",")[0]
        return Content.styled(f"  {long_name(first_key)}", "$text-muted")

    def score(self, query: Sequence[str]) -> float:
        """Return how well the entry matches the words of a query: 0 if any but the small words is missing."""
        sought = [word for word in query if word not in _SMALL_WORDS] or query
        points = [_points(self, word) for word in sought]
        if not points or not all(points):
            return 0.0
        score = sum(points) / len(points)
        if words_of(self.name)[: len(query)] == tuple(query):
            score += _NAME_BEGINS
        return score


@lru_cache(2048)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text in the form in which they are compared.

    >>> words_of("Turn ids into text…"), words_of("GPT-2")
    (('turn', 'ids', 'into', 'text'), ('gpt2',))
    """
    return tuple(re.findall(r"\w+", text.casefold().replace("-", "")))


def _points(entry: PaletteEntry, word: str) -> float:
    name = words_of(entry.name)
    others = words_of(entry.words)
    if word in name:
        return _IN_NAME
    if word in others:
        return _IN_WORDS
    if _begins_one(word, name):
        return _BEGINS_IN_NAME
    if _begins_one(word, others):
        return _BEGINS_IN_WORDS
    is_elsewhere = _begins_one(word, words_of(entry.description))
    return _ELSEWHERE if is_elsewhere or word in entry.name.casefold() else 0.0


def _begins_one(word: str, others: Sequence[str]) -> bool:
    # "themes" finds "theme", too.
    beginning = word.removesuffix("s")
    return any(other.startswith(beginning) for other in others)


class EntryProvider(Provider):
    """Offers the entries of a subclass, and finds those that have all words of the query."""

    PREFIX: ClassVar[str] = ""
    """Prefix of the names in a list with entries of other providers, such as "Sample: "."""

    def listed(self) -> Iterator[PaletteEntry]:
        """Yield the entries to show before anything is typed."""
        raise NotImplementedError

    def searched(self) -> Iterator[PaletteEntry]:
        """Yield the entries to search. Of two that match equally well, the first is shown first."""
        return self.listed()

    async def discover(self) -> Hits:
        for entry in self.listed():
            yield DiscoveryHit(
                Content(entry.name) + entry.shown_keys,
                entry.run,
                entry.name,
                entry.description,
            )

    async def search(self, query: str) -> Hits:
        entries = list(self.searched())
        words: Sequence[str] = words_of(query)
        if not any(entry.score(words) for entry in entries):
            words = _corrected(words, entries)
        for entry in entries:
            score = entry.score(words)
            if score:
                yield Hit(
                    score,
                    self._highlighted(entry.name, words) + entry.shown_keys,
                    entry.run,
                    entry.name,
                    entry.description,
                )

    def _highlighted(self, name: str, words: Sequence[str]) -> Content:
        content = Content(name)
        for word in words:
            start = name.lower().find(word)
            if start >= 0 and self.match_style is not None:
                end = start + len(word)
                content = content.stylize(self.match_style, start, end)
        return content


def _corrected(words: Sequence[str], entries: Sequence[PaletteEntry]) -> list[str]:
    """Replace each word by the most similar word of all names, such as "tutoral" by "tutorial"."""
    known: set[str] = set()
    for entry in entries:
        known.update(words_of(entry.name), words_of(entry.words))
    corrected = []
    for word in words:
        similar = get_close_matches(word, sorted(known), n=1, cutoff=0.8)
        corrected += similar or [word]
    return corrected
