"""The examples in the docstrings, run as they are written."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import bpe_core

ROOT = Path(bpe_core.__file__).parent


def with_examples():
    """The names of the modules of bpe_core with an example in them, but those of the kernel, which is not Python."""
    for module in pkgutil.walk_packages([str(ROOT)], "bpe_core."):
        inner = ROOT.joinpath(*module.name.split(".")[1:])
        source = inner / "__init__.py" if module.ispkg else inner.with_suffix(".py")
        if not module.name.startswith("bpe_core.kernel") and ">>>" in source.read_text(encoding="utf-8"):
            yield module.name


@pytest.mark.parametrize("name", with_examples())
def test_the_examples_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
