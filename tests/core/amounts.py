"""How much is tried: a part of it by every run, the rest by `pytest -m exhaustive` too. No case is in two tests."""

from collections.abc import Iterable
from typing import Any

import pytest

exhaustive = pytest.mark.exhaustive
"""Marks a test, or a parameter, that only `pytest -m exhaustive` runs."""


def first(n: int, cases: Iterable[Any]) -> list[Any]:
    """Values of one argument for `pytest.mark.parametrize`: the first `n` for every run, the others exhaustive."""
    return [case if i < n else pytest.param(case, marks=exhaustive) for i, case in enumerate(cases)]


def amount(some: int, all_of_them: int) -> pytest.MarkDecorator:
    """Give a test its argument `amount`, of whatever it tries: `some` in every run, `all_of_them` in the exhaustive."""
    return pytest.mark.parametrize("amount", [some, pytest.param(all_of_them, marks=exhaustive)])
