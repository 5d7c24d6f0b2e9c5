"""The examples in the docstrings, run as they are written."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def with_examples():
    """The names of the modules with an example in them."""
    for package in ("bpe_core", "tui"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if ">>>" in path.read_text(encoding="utf-8"):
                yield ".".join(
                    path.relative_to(ROOT).with_suffix("").parts
                ).removesuffix(".__init__")


@pytest.mark.parametrize("name", with_examples())
def test_the_examples_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
