"""Decide whether two split patterns split every text alike, or find a short text that they split differently.

A plain pattern has no look-behind. So the first piece of a text, from any place, depends only on the text after the place,
and two patterns that match alike at the beginning of every text split every text alike. `patterns.first_match` decides
whether they do. Patterns that are not plain are tried on texts of a few characters, which proves nothing if no difference is
found. Every text that is returned was split by both splitters.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, product
from typing import Final, NamedTuple

from bpe_core.common_ends import common_prefix, common_suffix
from bpe_core.difference.records import written
from bpe_core.errors import PatternError
from bpe_core.patterns import Splitter, patience
from bpe_core.patterns.alphabet import ANY_CHARACTER, Alphabet, sources_of
from bpe_core.patterns.first_match import FirstMatchSearch
from bpe_core.patterns.pattern import Else, Pattern, Split, Then
from bpe_core.patterns.syntax import Node, Repeat, parse
from bpe_core.visible import counted

_PATIENCE: Final = 2.0
"""Seconds for all expressions together."""
_LONGEST_TRIED: Final = 3
"""Characters of the texts that are tried if a pattern is not plain."""
MOST_TRIED: Final = 10_000
"""Maximum number of texts that are tried."""
_SAMPLE: Final = "1aA .\n'\t\r-_/\"é中\u0301"
"""Characters that are tried with patterns that are not plain."""
_MOST_LITERALS: Final = 20
"""Maximum number of texts of one pattern that are tried like characters."""


class SplitComparison(NamedTuple):
    """The result of comparing two patterns, A and B."""

    is_same: bool | None
    """True if both split every text into the same pieces, False if not, None if undecided."""
    text: str
    """The shortest text found that they split differently; "" if none was found."""
    n_tried: int
    """The number of texts that both have split."""
    sentence: str
    """Why they are the same, how they split the text, or why nothing is decided."""


def compare_splits(
    a: Splitter, b: Splitter, *, most_tried: int = MOST_TRIED
) -> SplitComparison:
    """Decide whether two splitters split every text into the same pieces, and find a short text that shows a difference.

    It is decided for plain patterns, and for combinations of such patterns that have the same form. The text is the
    shortest one for two plain patterns that match any text, as the published ones do. It takes a tenth of a second for
    published patterns.

    Args:
        a: The splitter of A.
        b: The splitter of B.
        most_tried: Maximum number of texts that are tried at a time if it can't be decided otherwise.

    Examples:
        >>> from bpe_core.patterns import splitter
        >>> comparison = compare_splits(splitter("llama3"), splitter("qwen2"))
        >>> comparison.text, comparison.sentence
        ('11', "A keeps '11' in one piece, and B splits it into '1' and '1'.")
    """
    if a == b:
        return SplitComparison(True, "", 0, "The split patterns are equal.")
    comparison = _Comparison(a, b, most_tried)
    try:
        with patience(_PATIENCE):
            text = comparison.different_text()
    except PatternError:
        text = ""
        comparison.doubt = "A pattern takes too long."
    n_tried = comparison.n_tried
    if text:
        of_a, of_b = describe_pieces(a.split(text), b.split(text))
        return SplitComparison(False, text, n_tried, f"A {of_a}, and B {of_b}.")
    if comparison.doubt:
        sentence = f"{comparison.doubt} Both split {counted(n_tried, 'text')} alike."
        return SplitComparison(None, "", n_tried, sentence)
    n_states = counted(comparison.n_states, "pair")
    sentence = f"The split patterns split every text alike, as a search of all {n_states} of their states proves."
    return SplitComparison(True, "", n_tried, sentence)


def describe_pieces(
    a: Sequence[str], b: Sequence[str], known: str = ""
) -> tuple[str, str]:
    """Describe how A and B split a text, from its pieces: "keeps '11' in one piece", "splits it into '1' and '1'".

    Pieces that both have at the beginning and at the end are left out. The text is "it" if it is `known`.
    """
    n_before = common_prefix(a, b)
    n_after = common_suffix(a, b, min(len(a), len(b)) - n_before)
    pieces_of_a = a[n_before : len(a) - n_after]
    pieces_of_b = b[n_before : len(b) - n_after]
    changed = max("".join(pieces_of_a), "".join(pieces_of_b), key=len)
    name = "it" if changed == known else written(changed)
    return (
        _predicate(pieces_of_a, changed, name),
        _predicate(pieces_of_b, changed, "it"),
    )


def _predicate(pieces: Sequence[str], text: str, name: str) -> str:
    """Describe how a text becomes pieces; `name` is used for the text."""
    names = [written(piece) for piece in pieces]
    if not pieces:
        return f"drops {name}"
    if "".join(pieces) != text:
        return f"makes only {_listed(names)} of {name}"
    if len(pieces) == 1:
        return f"keeps {name} in one piece"
    return f"splits {name} into {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


class _Comparison:
    """A search for a text that two splitters split differently."""

    def __init__(self, a: Splitter, b: Splitter, most_tried: int) -> None:
        self._a = a
        self._b = b
        self._most_tried = most_tried
        self.n_tried = 0
        self.n_states = 0
        self.doubt = ""
        """Why the search proves nothing if it finds no text; "" if it proves that no text exists."""

    def different_text(self) -> str:
        """Return the shortest text found; "" if none was found."""
        splits = aligned(self._a.tree, self._b.tree)
        if splits is None:
            self.doubt = "The patterns combine splits in different ways."
        for split_of_a, split_of_b in splits or ():
            text = self._first_different(self._likely_texts(split_of_a, split_of_b))
            if text:
                return text
        if self.doubt:
            units = distinguished(self._a, self._b)
            return self._first_different(short_texts(units))
        return ""

    def _likely_texts(self, a: Split, b: Split) -> Iterator[str]:
        """Yield texts that show a difference between two parts of the patterns, the shortest first.

        There can be none in the pieces, for example if one pattern matches a text that is kept as a piece by the other
        one since it does not match. Then such texts follow with one more character.
        """
        if a == b:
            return
        without_effect = deque[str]()
        try:
            search = FirstMatchSearch(
                node_of(a), node_of(b), a_drops=a.drops_rest, b_drops=b.drops_rest
            )
            for text in search.texts(search.start):
                while without_effect and len(without_effect[0]) < len(text):
                    yield from _extended(
                        without_effect.popleft(), search.alphabet.sets_of
                    )
                yield text
                without_effect.append(text)
                self.doubt = (
                    f"The patterns match differently at the beginning of {written(without_effect[0])}, but no text was "
                    "found that they split into other pieces."
                )
            for text in without_effect:
                yield from _extended(text, search.alphabet.sets_of)
            self.n_states += search.n_states
        except (ValueError, RecursionError):
            self.doubt = "A pattern has parts that can't be analyzed exactly, such as look-behinds, or is too large."

    def _first_different(self, texts: Iterable[str]) -> str:
        for text in islice(texts, self._most_tried):
            self.n_tried += 1
            if self._a.split(text) != self._b.split(text):
                return text
        return ""


def _extended(text: str, characters: Iterable[str]) -> Iterator[str]:
    for character in characters:
        yield text + character
        yield character + text


def node_of(split: Split) -> Node:
    """Return the syntax tree of a split.

    Raises:
        ValueError: It is not plain.
    """
    if split.source or split.drops_rest:
        return parse(split.source)
    return Repeat(ANY_CHARACTER, 1, None, "")  # any text is one piece


def aligned(a: Pattern, b: Pattern) -> list[tuple[Split, Split]] | None:
    """Return the splits of two patterns in pairs; None if they are combined in different ways.

    If the splits of each pair match alike, the patterns split every text alike.
    """
    match a, b:
        case Split(), Split():
            return [(a, b)]
        case Then(first_of_a), Then(first_of_b):
            pairs = [(first_of_a, first_of_b)]
        case Else(str(first_of_a)), Else(str(first_of_b)):
            pairs = [(Split(first_of_a), Split(first_of_b))]
        case Else(tuple(texts_of_a)), Else(tuple(texts_of_b)):
            if set(texts_of_a) != set(texts_of_b):
                return None
            pairs = []
        case _:
            return None
    pairs_of_rest = aligned(a.rest, b.rest)
    return None if pairs_of_rest is None else pairs + pairs_of_rest


def distinguished(a: Splitter, b: Splitter) -> list[str]:
    """Return a character of each kind that two patterns distinguish, and texts that they find first.

    If a pattern can't be analyzed, they are a sample.
    """
    sources = set[str]()
    others: dict[str, None] = {}
    for part in chain(_parts(a.tree), _parts(b.tree)):
        if isinstance(part, tuple):
            others.update(dict.fromkeys(part[:_MOST_LITERALS]))
            continue
        try:
            sources.update(sources_of(node_of(part)))
        except (ValueError, RecursionError):
            others.update(dict.fromkeys(_SAMPLE + part.source[:40]))
    return list({**dict.fromkeys(Alphabet(sources).sets_of), **others})


def short_texts(units: Sequence[str]) -> Iterator[str]:
    """Yield texts of up to three units, those of the fewest units first."""
    for length in range(1, _LONGEST_TRIED + 1):
        yield from map("".join, product(units, repeat=length))


def _parts(tree: Pattern) -> Iterator[Split | tuple[str, ...]]:
    """Yield the splits of a pattern, and the texts that it finds first."""
    match tree:
        case Split():
            yield tree
            return
        case Then(first) | Else(tuple(first)):
            yield first
        case Else(str(expression)):
            yield Split(expression)
    yield from _parts(tree.rest)
