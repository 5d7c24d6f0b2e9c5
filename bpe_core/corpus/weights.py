"""Weights of the paths of a corpus: how many times the pieces of the texts below each are counted.

Counts stay whole numbers, so that no comparison is rounded: all weights are multiplied by their common denominator, and
2.5 beside 1 counts as 5 beside 2.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from math import lcm
from pathlib import Path
from typing import Final

from bpe_core.corpus.reading import TextFile
from bpe_core.errors import OptionError
from bpe_core.exact_fraction import exact_fraction

LARGEST: Final = 1_000_000
"""The largest weight as a whole number."""


def parsed(arguments: Iterable[str], paths: Sequence[str]) -> dict[str, Fraction]:
    """The weights in arguments such as "notes/=2.5" or "book.txt=1/3", by path. `OptionError` for what is none.

    >>> parsed(["a=2.5"], ["a", "b"])
    {'a': Fraction(5, 2)}
    """
    weights: dict[str, Fraction] = {}
    for argument in arguments:
        path, equals, number = argument.rpartition("=")
        try:
            weight = exact_fraction(number)
        except ValueError:
            weight = Fraction(0)
        if not equals or weight <= 0:
            raise OptionError(f"The weight {argument!r} is not of the form PATH=NUMBER with a number above 0.")
        if path not in paths:
            raise OptionError(f"There is a weight for {path!r}, which is none of the paths; write it as there.")
        weights[path] = weight
    return weights


def portions_by_weight(
    files: Iterable[TextFile], weights: Mapping[str, Fraction]
) -> list[tuple[tuple[TextFile, ...], int]]:
    """Neighboring files of one weight together, in order, and their weight as a whole number.

    A file has the weight of the longest path that it is or lies below; 1 if there is none. `OptionError` for weights
    that differ too much.
    """
    roots = {os.path.abspath(path): weight for path, weight in weights.items()}

    def weight_of(file: TextFile) -> Fraction:
        path = Path(os.path.abspath(file.path))
        return next((roots[str(place)] for place in (path, *path.parents) if str(place) in roots), Fraction(1))

    weighted = [(file, weight_of(file)) for file in files]
    scale = lcm(*(weight.denominator for _, weight in weighted))
    if max((weight * scale for _, weight in weighted), default=0) > LARGEST:
        raise OptionError(f"The weights differ too much: as whole numbers, the largest would be above {LARGEST:,}.")
    return [
        (tuple(file for file, _ in group), int(weight * scale))
        for weight, group in groupby(weighted, key=lambda pair: pair[1])
    ]
