"""The kernel's learner held against the one in Python and against the reference, on corpora of few pieces."""

import random
from collections.abc import Iterator
from struct import pack
from typing import Any, Final

from bpe_core import kernel, reference
from bpe_core.kernel import fallback
from bpe_core.kernel.fallback import Learner, Step
from bpe_core.tokenizer.tie_rules import tie_rule
from bpe_core.tokenizer.training_record import Options
from bpe_core.utf8 import utf8

_MOST_MERGES: Final = 30
"""That are learned of a corpus."""

_MARK: Final = {"first": 0xFF, "lowest": 0xFF, "lowest-hf": 0xAD, "largest": ord("<")}
"""Tie rule -> a byte that the rule orders, among those of most pieces, as it does the end of a word, "</w>"."""


def trainings(ties: str, rng: random.Random) -> Iterator[str]:
    """What differs between the merges of the kernel, of Python and of the reference in one corpus after the other."""
    while True:
        end = "</w>" if rng.random() < 0.4 else ""
        limits = {
            "min_count": rng.choice((1, 1, 2, 3)),
            "max_token_length": rng.choice((None, None, 2, 3, 5)),
        }
        pieces, rules = _pieces(rng), Options(ties=ties, end_of_word=end, **limits)
        yield _difference(pieces, rules, rng)


def _pieces(rng: random.Random) -> dict[str, int]:
    letters = rng.choice(("a", "ab", "abc", "aé", "abcdefgh", "\xa0\xadab"))
    pieces: dict[str, int] = {}
    for _ in range(rng.randrange(1, 10)):
        piece = "".join(rng.choices(letters, k=rng.choice((1, 2, 3, 5, 8, 20, 60))))
        pieces[piece] = pieces.get(piece, 0) + rng.choice((1, 1, 2, 5))
    if rng.random() < 0.05:
        unit = "".join(rng.choices(letters, k=rng.choice((1, 2, 7, 300))))
        pieces[unit * (300 // len(unit))] = 1
    return pieces


def _difference(pieces: dict[str, int], rules: Options, rng: random.Random) -> str:
    n = rng.choice((4, 12, _MOST_MERGES))
    longest = rules.max_token_length or 1 << 62
    how = (
        tie_rule(rules.ties).comparison,
        rules.min_count,
        longest,
        tie_rule(rules.ties).alphabet,
        utf8(rules.end_of_word),
    )
    found, beside = (
        kernel.Learner(_table(pieces), *how),
        Learner(_table(pieces, fallback.PieceTable), *how),
    )
    given = _given(rng, pieces, rules) if rng.random() < 0.1 else []
    for learner in found, beside:
        for pair in given:
            learner.merge(*pair)
    while (before := found.n_merges) < n:
        found.learn(rng.randint(before + 1, n))
        if found.n_merges == before:
            break
    beside.learn(n)
    steps, in_python = found.merges(0), beside.merges(0)
    what = f"{rules} given {given} of {pieces}"
    if steps != in_python:
        return f"{what}: {steps} and in Python {in_python}"
    if (
        sorted(found.pairs()) != sorted(beside.pairs())
        or found.symbol_counts() != beside.symbol_counts()
    ):
        return f"{what}: other counts than in Python"
    wanted = _reference_steps(pieces, rules, given, n)
    return (
        "" if wanted in (None, steps) else f"{what}: {steps} and by definition {wanted}"
    )


def _given(
    rng: random.Random, pieces: dict[str, int], rules: Options
) -> list[tuple[int, int]]:
    """Some pairs of symbols, of which each may be one that those before it make."""
    symbols = [
        tie_rule(rules.ties).alphabet.index(byte) for byte in "".join(pieces).encode()
    ]
    pairs = []
    for new in range(256 + bool(rules.end_of_word), 259):
        pairs.append((rng.choice(symbols), rng.choice(symbols)))
        symbols += [new] * len(symbols)
    return pairs


def _table(pieces: dict[str, int], kind: Any = kernel.PieceTable) -> Any:
    table = kind(None)
    for piece, weight in pieces.items():
        table.extend(
            piece.encode(), pack("=6Q", 0, len(piece.encode()), weight, 1, 0, 0), 0
        )
    return table


def _reference_steps(
    pieces: dict[str, int], rules: Options, given: list[tuple[int, int]], n: int
) -> list[Step] | None:
    """The merges by definition; None where a mark at the end of pieces stands in them, too.

    The reference knows of no ends of words: there, a byte that occurs nowhere else is put behind each piece.
    """
    mark = _MARK[rules.ties] if rules.end_of_word else None
    if mark is not None and any(mark in piece.encode() for piece in pieces):
        return None
    end = b"" if mark is None else bytes([mark])
    words = [
        piece.encode() + end for piece, count in pieces.items() for _ in range(count)
    ]
    ids = [
        *tie_rule(rules.ties).alphabet,
        *end,
        *range(256, 256 + n),
    ]  # symbol -> what it is in the reference
    symbol_of = {
        token: symbol for symbol, token in enumerate(ids)
    }  # of the byte that is the mark, the mark
    given = [(ids[left], ids[right]) for left, right in given]
    rows = reference.train(
        words, n, rules.ties, rules.min_count, rules.max_token_length, given
    )
    return [
        (symbol_of[left], symbol_of[right], count, tied, left_over)
        for left, right, _, count, tied, left_over in rows
    ]
