"""The algorithm as code: the lines of the reference implementation as they run on a few words, and what each has set.

The values are read from the running function. `train` has numbers of its own for the symbols and for those merges that
the words need, since a vocabulary may have any ids; in what is given here they are the vocabulary's ids.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from types import FrameType
from typing import Any, Final, NamedTuple

from bpe_core import reference
from bpe_core.errors import TextError
from bpe_core.explain.merge_choice import CorpusPiece
from bpe_core.utf8 import utf8
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import Triple

SOURCE: Final = inspect.getsource(reference).splitlines()
_MOST: Final = 200  # bytes of all words, or of a piece: it takes a few milliseconds
_SETS: Final = re.compile(
    r" *(?:for )?([\w, \[\]]+)(?::.*?)? (?:=|in) "
)  # a line that sets variables, and which
_VALUES: Final = {
    "most",
    "words",
    "new",
    "counts",
    "tied",
    "best",
    "left",
    "right",
    "token",
    "ids",
}


class CodeLine(NamedTuple):
    """A line that was run: its number in the file, from 1, and the variables that it has set."""

    number: int
    values: dict[str, Any]


def _run(
    function: Callable[..., object],
    ids: Mapping[int, int],
    *arguments: object,
    **more: object,
) -> list[CodeLine]:
    """The lines of a function in the order in which they run; `ids` maps its numbers to the ids that are given."""
    lines: list[CodeLine] = []

    def with_ids(value: Any) -> Any:
        if isinstance(value, dict):
            return {with_ids(pair): count for pair, count in value.items()}
        return (
            ids.get(value, value)
            if isinstance(value, int)
            else type(value)(map(with_ids, value))
        )

    def note(frame: FrameType, event: str, _: object) -> Any:
        number, now = lines[-1].number if lines else 0, frame.f_locals
        if number and (sets := _SETS.match(SOURCE[number - 1])):  # it has run by now
            for name in sets[1].split(", "):
                if name in _VALUES and name in now:
                    lines[-1].values[name] = (
                        now[name] if name == "most" else with_ids(now[name])
                    )
        if event == "line" and number != frame.f_lineno:
            lines.append(CodeLine(frame.f_lineno, {}))
        return note

    before = sys.gettrace()
    sys.settrace(
        lambda frame, event, _: note if frame.f_code is function.__code__ else None
    )
    try:
        function(*arguments, **more)
    finally:
        sys.settrace(before)
    return lines


def _unmade(
    vocabulary: Vocabulary, texts: Iterable[Sequence[int]]
) -> tuple[list[list[int]], list[Triple]]:
    """The symbols of texts, and the merges that made the texts of them, in order."""
    steps, symbols = set[int](), list[list[int]]()
    for text in texts:
        symbols.append([])
        stack = [*reversed(text)]
        while stack:
            if made_at := vocabulary.step_of(token := stack.pop()):
                steps.add(made_at)
                stack += vocabulary.merge_of(made_at)[1::-1]
            else:
                symbols[-1].append(token)
    return symbols, [*map(vocabulary.merge_of, sorted(steps))]


def merge_in_code(
    vocabulary: Vocabulary, step: int, words: Sequence[CorpusPiece] = (), ties: str = ""
) -> list[CodeLine]:
    """The lines by which `train` makes the merge of a step, from 1, on some of `words`, those of an `Explanation`.

    These are all of them, each as often as it occurs, if they are few, or else some that change; where it would take
    another pair of them, the two parts of the token alone. Raises `TextError` for a merge that it cannot make.
    """
    pair = vocabulary.merge_of(step)[:2]
    sizes = [
        sum(len(vocabulary.token_bytes(id)) for id in word.before) for word in words
    ]
    texts = [word.before for word in words for _ in range(min(word.times, _MOST))]
    if all(word.before == word.after for word in words):
        texts = []
    elif (
        sum(word.times * size for word, size in zip(words, sizes, strict=True)) > _MOST
    ):
        fit = zip(words, accumulate(sizes), strict=True)
        texts = [
            word.before
            for word, size in fit
            if size <= _MOST and word.before != word.after
        ]
    for tried in (texts, [pair]) if texts else ([pair],):
        symbols, given = _unmade(vocabulary, tried)
        numbers: dict[int, int] = {}
        for symbol in sorted({one for text in symbols for one in text}):
            wanted = (*vocabulary.token_bytes(symbol)[:1], *range(256))
            numbers[symbol] = next(
                number for number in wanted if number not in numbers.values()
            )
        numbers |= {
            token: 256 + n
            for n, (_, _, token) in enumerate([*given, vocabulary.merge_of(step)])
        }
        ids = {number: id for id, number in numbers.items()}
        pieces = [bytes(map(numbers.__getitem__, text)) for text in symbols]
        pairs = [(numbers[left], numbers[right]) for left, right, _ in given]
        lines = _run(
            reference.train, ids, pieces, len(pairs) + 1, ties or "first", given=pairs
        )
        *_, first, end = (n for n, line in enumerate(lines) if "new" in line.values)
        before = next(
            line.values["words"]
            for line in reversed(lines[:first])
            if "words" in line.values
        )
        best = next(
            line.values["best"] for line in lines[first:end] if "best" in line.values
        )
        if best == pair and before == [[*text] for text in tried]:
            return [
                CodeLine(lines[first].number, {"words": before} | lines[first].values),
                *lines[first + 1 : end],
            ]
    raise TextError(
        "The plain algorithm does not come to this merge: its file orders merges in its own way."
    )


def encode_in_code(vocabulary: Vocabulary, piece: str) -> list[CodeLine]:
    """The lines by which `encode` makes the ids of a piece, of all merges those that the piece needs. Raises
    `TextError` for a long one or where the order of training makes others, `UnknownTokenError` as `Vocabulary.encode`.
    """
    if not 0 < len(data := utf8(piece)) <= _MOST:
        raise TextError(
            f"There is no piece of 1 to {_MOST} bytes here, whose merges could be followed."
        )
    (symbols,), merges = _unmade(vocabulary, [encoded := vocabulary.encode(data)])
    lines = _run(reference.encode, {}, symbols, merges)
    if [line.values["ids"] for line in lines if "ids" in line.values][-1] != [*encoded]:
        raise TextError(
            "The merges of this piece are not in an order of training, in which the plain algorithm goes."
        )
    lines[-2].values.clear()  # where there is no further merge, nothing is set
    return lines
