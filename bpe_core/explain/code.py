"""Run the reference implementation on a few words, and record its lines and the values they set.

The values are read from the running function. A vocabulary may have any ids, but `reference.train` numbers the symbols
and the merges in its own way. The values that are returned have the ids of the vocabulary.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

from bpe_core import reference
from bpe_core.errors import TextError
from bpe_core.explain.merge_choice import CorpusPiece
from bpe_core.utf8 import utf8
from bpe_core.visible import counted
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import Triple

SOURCE: Final = tuple(inspect.getsource(reference).splitlines())
SHORT_SOURCE: Final = tuple(
    Path(__file__).with_name("twelve_lines.txt").read_text("utf-8").splitlines()
)
"""The same training in twelve lines, short enough to type. It has no options, and takes the first of tied pairs.

It expects two variables: `words`, which are lists of ids, and `n_merges`.
"""
_MOST: Final = 200
"""Maximum number of bytes of all words together, or of a piece. This many take a few milliseconds."""
_SETS: Final = re.compile(r" *(?:for )?([\w, \[\]]+)(?::.*?)? (?:=|in) ")
"""Matches a line that sets variables, and captures their names."""
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
"""The variables that are shown."""


class CodeLine(NamedTuple):
    """A line that was run."""

    number: int  # its number in the file, from 1
    values: dict[str, Any]  # the variables that it set


def _run(
    function: Callable[..., object],
    id_of: Mapping[int, int],
    *arguments: object,
    **options: object,
) -> list[CodeLine]:
    """Run a function of `reference` and return its lines in the order in which they ran."""
    call = partial(function, *arguments, **options)
    return _trace(call, function.__code__, SOURCE, id_of)


def _trace(
    call: Callable[[], object],
    code: CodeType,
    source: Sequence[str],
    id_of: Mapping[int, int],
) -> list[CodeLine]:
    """Run `call`, and return the lines of `code` in the order in which they ran.

    `id_of` maps the numbers of the code to ids.
    """
    lines: list[CodeLine] = []

    def with_ids(value: Any) -> Any:
        if isinstance(value, dict):
            return {with_ids(pair): count for pair, count in value.items()}
        if isinstance(value, int):
            return id_of.get(value, value)
        return type(value)(map(with_ids, value))

    def note_values(line: CodeLine, variables: Mapping[str, Any]) -> None:
        sets = _SETS.match(source[line.number - 1])
        names = sets[1].split(", ") if sets else []
        for name in names:
            if name in _VALUES and name in variables:
                value = variables[name]
                line.values[name] = value if name == "most" else with_ids(value)

    def trace_line(frame: FrameType, event: str, _: object) -> Any:
        number = 0
        if lines:
            number = lines[-1].number
            note_values(lines[-1], frame.f_locals)  # the line has run by now
        if event == "line" and frame.f_lineno != number:
            lines.append(CodeLine(frame.f_lineno, {}))
        return trace_line

    def trace_call(frame: FrameType, _event: str, _: object) -> Any:
        return trace_line if frame.f_code is code else None

    tracer_before = sys.gettrace()
    sys.settrace(trace_call)
    try:
        call()
    finally:
        sys.settrace(tracer_before)
    return lines


class _Unmerged(NamedTuple):
    """Texts as symbols, before any merge."""

    texts: list[list[int]]  # their symbols
    merges: list[Triple]  # that make the tokens of the texts again, in order


def _unmerge(vocabulary: Vocabulary, texts: Iterable[Sequence[int]]) -> _Unmerged:
    steps: set[int] = set()
    unmerged: list[list[int]] = []
    for text in texts:
        symbols: list[int] = []
        stack = list(reversed(text))
        while stack:
            token = stack.pop()
            step = vocabulary.step_of(token)
            if step:
                steps.add(step)
                left, right, _ = vocabulary.merge_of(step)
                stack += (right, left)
            else:
                symbols.append(token)
        unmerged.append(symbols)
    return _Unmerged(unmerged, [vocabulary.merge_of(step) for step in sorted(steps)])


def merge_in_code(
    vocabulary: Vocabulary,
    step: int,
    words: Sequence[CorpusPiece] = (),
    ties: str = "",
    *,
    is_short: bool = False,
) -> list[CodeLine]:
    """Return the lines with which `reference.train` makes a merge, or those of `SHORT_SOURCE` if `is_short`.

    The function runs on all of `words` if they are short enough together, otherwise on some that the merge changes. If
    another pair would be chosen in these words, the function runs on a single word: the two parts of the token.

    Args:
        vocabulary: A vocabulary whose merges are known.
        step: The number of the merge, from 1.
        words: The pieces of an `Explanation`.
        ties: The tie rule; "" for the default. The short code has only the default.
        is_short: Whether to run the short code.

    Raises:
        TextError: The reference implementation does not make this merge.
    """
    merge = vocabulary.merge_of(step)
    pair = merge[:2]
    words_to_try: list[list[tuple[int, ...]]] = [[pair]]
    chosen = _words_to_run(vocabulary, words)
    if chosen:
        words_to_try.insert(0, chosen)
    for texts in words_to_try:
        if is_short:
            lines = _short_lines_of_merge(merge, texts)
        else:
            lines = _lines_of_merge(vocabulary, merge, texts, ties or "first")
        best = next(line.values["best"] for line in lines if "best" in line.values)
        if best == pair and lines[0].values["words"] == list(map(list, texts)):
            return lines
    raise TextError(
        "The reference implementation chooses another pair: this file has its own order of merges."
    )


def _words_to_run(
    vocabulary: Vocabulary, words: Sequence[CorpusPiece]
) -> list[tuple[int, ...]]:
    """Return all words, each as often as it occurs; or some that change, if all are too long or weights are fractions.

    Empty if no word changes.
    """
    if all(word.before == word.after for word in words):
        return []
    sizes = [sum(map(len, map(vocabulary.token_bytes, word.before))) for word in words]
    n_bytes = sum(word.times * size for word, size in zip(words, sizes, strict=True))
    are_whole = all(word.times == int(word.times) for word in words)
    if are_whole and n_bytes <= _MOST:
        return [word.before for word in words for _ in range(int(word.times))]
    changed: list[tuple[int, ...]] = []
    n_bytes = 0
    for word, size in zip(words, sizes, strict=True):
        n_bytes += size
        if n_bytes <= _MOST and word.before != word.after:
            changed.append(word.before)
    return changed


def _lines_of_merge(
    vocabulary: Vocabulary, merge: Triple, texts: Sequence[Sequence[int]], ties: str
) -> list[CodeLine]:
    """Run `reference.train` on texts, and return the lines after the merges that made their tokens."""
    symbols, given = _unmerge(vocabulary, texts)
    number_of: dict[int, int] = {}
    for symbol in sorted(set(chain.from_iterable(symbols))):
        # The first byte of the symbol, if no other symbol has its number.
        numbers = chain(vocabulary.token_bytes(symbol)[:1], range(256))
        taken = number_of.values()
        number_of[symbol] = next(number for number in numbers if number not in taken)
    for number, (_, _, token) in enumerate([*given, merge], 256):
        number_of[token] = number
    id_of = {number: id for id, number in number_of.items()}
    pieces = [bytes(map(number_of.__getitem__, text)) for text in symbols]
    pairs = [(number_of[left], number_of[right]) for left, right, _ in given]
    lines = _run(reference.train, id_of, pieces, len(pairs) + 1, ties, given=pairs)
    # The line of the loop runs once more after the merge, and ends it.
    loop_lines = [n for n, line in enumerate(lines) if "new" in line.values]
    first, end = loop_lines[-2:]
    lines_before = [line for line in lines[:first] if "words" in line.values]
    words = {"words": lines_before[-1].values["words"]}
    lines[first] = CodeLine(lines[first].number, words | lines[first].values)
    return lines[first:end]


def _short_lines_of_merge(
    merge: Triple, texts: Sequence[Sequence[int]]
) -> list[CodeLine]:
    """Run the short code for one merge of texts, whose tokens get the numbers from 0 on."""
    ids = sorted(set(chain.from_iterable(texts)))
    number_of = {id: number for number, id in enumerate(ids)}
    id_of = {number: id for id, number in number_of.items()}
    id_of[256] = merge[2]
    words = [[number_of[id] for id in text] for text in texts]
    code = compile("\n".join(SHORT_SOURCE), "twelve_lines.txt", "exec")
    variables = {"words": words, "n_merges": 1}
    lines = _trace(partial(exec, code, variables), code, SHORT_SOURCE, id_of)
    first, end = [n for n, line in enumerate(lines) if "new" in line.values]
    given = {"words": [list(text) for text in texts]}
    lines[first] = CodeLine(lines[first].number, given | lines[first].values)
    return lines[first:end]


def encode_in_code(vocabulary: Vocabulary, piece: str) -> list[CodeLine]:
    """Return the lines that `reference.encode` runs on a piece, with the merges that the piece needs.

    Raises:
        TextError: The piece is empty or too long, or its merges are not in an order of training.
        UnknownTokenError: A byte has no token.
    """
    data = utf8(piece)
    if not 0 < len(data) <= _MOST:
        raise TextError(
            f"This piece has {counted(len(data), 'byte')}, and the code can show 1 to {_MOST} "
            "bytes; choose another piece."
        )
    encoded = vocabulary.encode(data)
    (symbols,), merges = _unmerge(vocabulary, [encoded])
    lines = _run(reference.encode, {}, symbols, merges)
    ids = [line.values["ids"] for line in lines if "ids" in line.values]
    if ids[-1] != list(encoded):
        raise TextError(
            "The merges of this piece are not in an order of training, which the reference "
            "implementation needs; choose another piece."
        )
    lines[-2].values.clear()  # the line of the loop sets nothing when it ends
    return lines
