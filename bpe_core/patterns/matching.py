r"""Simulate how a plain pattern matches at the beginning of a text, character by character.

A backtracking matcher tries alternatives in order and takes the first match. The simulation finds the same match by
trying all of them at once, in an ordered list of threads (R. Pike's virtual machine; R. Cox, "Regular Expression
Matching: the Virtual Machine Approach", 2009). A thread is a place in the pattern. If a thread reaches the end of the
pattern, a match ends here, and the threads after it are dropped: a backtracking matcher would not try them any more. The
threads before it go on, since their matches come first. The list of threads is the state, and a pattern has finitely many
of them.

Look-aheads are conditions on the next characters. A possessive repetition of a set is a greedy one that a thread can only
leave if the next character is not in the set, or if it has the maximum length: `\s++` is `\s+(?!\s)`.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import regex

from bpe_core.patterns.alphabet import ANY_CHARACTER, Alphabet, source_of
from bpe_core.patterns.syntax import Lookaround, Node, Repeat

_MOST_INSTRUCTIONS: Final = 1000
"""Maximum size of a pattern, with its repetitions written out. Published patterns have about 100 instructions."""
_MOST_EXAMINED: Final = 3
"""Maximum number of characters that a look-ahead may examine."""

Threads = tuple[int, ...]
"""Numbers of instructions, ordered by priority."""


@dataclass(slots=True)
class _Read:
    """Read a character of a set, then go on."""

    source: str
    after: int


@dataclass(slots=True)
class _Choose:
    """Go on at each of these instructions; the first one has the highest priority."""

    options: tuple[int, ...]


@dataclass(slots=True)
class _Require:
    """Go on if a look-ahead holds."""

    lookahead: regex.Pattern[str]
    after: int


@dataclass(slots=True)
class _Accept:
    """The end of the pattern, or of the skipped character."""

    is_skip: bool


class Step(NamedTuple):
    """What follows from one more character."""

    is_match: bool
    """Whether a match ends before the character. A match that is not empty replaces those found before."""
    threads: Threads
    """The state after the character; empty if no other match can follow."""
    is_skip: bool = False
    """Whether the match is not one of the pattern, but a skipped character."""


class Matcher:
    """A plain pattern, compiled to instructions."""

    def __init__(self, node: Node, alphabet: Alphabet, *, skips: bool = False) -> None:
        """Compile a pattern.

        Args:
            node: The pattern.
            alphabet: The characters of the texts.
            skips: Whether to skip a character, as a match of the lowest priority, where the pattern does not match.

        Raises:
            ValueError: The simulation would not be exact, or the pattern is too large. Not exact are possessive
                repetitions and atomic groups of more than a set, repeated empty matches, and long look-aheads.
        """
        self.examined: Final = _most_examined(node)
        """The largest number of next characters that a step depends on; at least 1."""
        if self.examined > _MOST_EXAMINED:
            raise ValueError
        self.lookaheads: Final[list[regex.Pattern[str]]] = []
        self._alphabet: Final = alphabet
        self._instructions: Final[list[_Read | _Choose | _Require | _Accept]] = [
            _Accept(is_skip=False),
            _Accept(is_skip=True),
        ]
        self._steps: Final[dict[tuple[Threads, str, bool], Step]] = {}
        start = self._compiled(node, after=0)
        if skips:
            skip = self._compiled(ANY_CHARACTER, after=1)
            start = self._added(_Choose((start, skip)))
        self.start: Final[Threads] = (start,)
        """The state at the beginning of a text."""

    def step(self, threads: Threads, rest: str, *, is_first: bool) -> Step:
        """Read the first character of `rest`.

        Args:
            threads: The state before the character.
            rest: The next `examined` characters, or fewer at the end of the text.
            is_first: Whether it is the first character of the text. An empty match before it does not replace others.
        """
        key = (threads, rest, is_first)
        step = self._steps.get(key)
        if step is None:
            step = self._steps[key] = self._computed_step(*key)
        return step

    def _computed_step(self, threads: Threads, rest: str, is_first: bool) -> Step:
        sets = self._alphabet.sets_of[rest[0]] if rest else frozenset[str]()
        next_threads: dict[int, None] = {}  # an ordered set
        is_match = is_skip = False
        done = set[int]()
        waiting = list(reversed(threads))
        while waiting:
            number = waiting.pop()
            if number in done:
                continue
            done.add(number)
            match self._instructions[number]:
                case _Read(source, after):
                    if source in sets:
                        next_threads[after] = None
                case _Choose(options):
                    waiting.extend(reversed(options))
                case _Require(lookahead, after):
                    if lookahead.match(rest):
                        waiting.append(after)
                case _Accept(is_skip):
                    is_match = True
                    if not is_first:
                        break
        return Step(is_match, tuple(next_threads), is_skip)

    def _compiled(self, node: Node, after: int) -> int:
        """Add the instructions of a part of the pattern. Return the number of its first instruction."""
        match node:
            case str():
                return self._added(_Read(node, after))
            case Lookaround():
                lookahead = regex.compile(source_of(node))
                self.lookaheads.append(lookahead)
                return self._added(_Require(lookahead, after))
            case list():
                options = [self._compiled(option, after) for option in node]
                return self._added(_Choose(tuple(options)))
            case tuple():
                for item in reversed(node):
                    after = self._compiled(item, after)
                return after
            case Repeat():
                return self._repeated(node, after)

    def _repeated(self, repeat: Repeat, after: int) -> int:
        item, least, most, mode = repeat.item, repeat.least, repeat.most, repeat.mode
        leave = after
        if mode == "+":
            if isinstance(item, Repeat) and item.mode != "?" and least == most == 1:
                # `(?>\s+)` is `\s++`.
                inner = Repeat(item.item, item.least, item.most, "+")
                return self._repeated(inner, after)
            if not _is_set(item):
                raise ValueError
            leave = self._compiled(Lookaround(item, is_negative=True), after)
        if matches_empty(item) and most != 1:
            raise ValueError
        if most is None:
            loop = _Choose(())
            after = self._added(loop)
            loop.options = _ordered(mode, self._compiled(item, after), leave)
        else:
            for _ in range(most - least):
                enter = self._compiled(item, after)
                after = self._added(_Choose(_ordered(mode, enter, leave)))
        for _ in range(least):
            after = self._compiled(item, after)
        return after

    def _added(self, instruction: _Read | _Choose | _Require) -> int:
        if len(self._instructions) == _MOST_INSTRUCTIONS:
            raise ValueError
        self._instructions.append(instruction)
        return len(self._instructions) - 1


def _ordered(mode: str, enter: int, leave: int) -> tuple[int, int]:
    """Return the ways into and out of a repetition by priority."""
    return (leave, enter) if mode == "?" else (enter, leave)


def _is_set(node: Node) -> bool:
    """Whether a part of a pattern matches exactly one character."""
    if isinstance(node, list):
        return all(map(_is_set, node))
    return isinstance(node, str)


def matches_empty(node: Node) -> bool:
    """Whether a part of a pattern can match the empty string, if all look-aheads hold."""
    match node:
        case str():
            return False
        case Lookaround():
            return True
        case Repeat(item, least):
            return least == 0 or matches_empty(item)
        case list():
            return any(map(matches_empty, node))
        case tuple():
            return all(map(matches_empty, node))


def _most_examined(node: Node) -> int:
    """Return the largest number of characters that a look-ahead in a pattern examines, and at least 1."""
    match node:
        case str():
            return 1
        case Lookaround(item):
            return _length(item)
        case Repeat(item):
            return _most_examined(item)
        case _:
            return max(map(_most_examined, node), default=1)


def _length(node: Node) -> int:
    """Return the largest number of characters that a part of a look-ahead examines.

    Raises:
        ValueError: The number is unlimited, or an atomic group makes the order of matches important.
    """
    match node:
        case str():
            return 1
        case Lookaround(item):
            return _length(item)
        case Repeat(item, _, most, mode):
            if most is None or mode == "+":
                raise ValueError
            return most * _length(item)
        case list():
            return max(map(_length, node))
        case tuple():
            return sum(map(_length, node))
