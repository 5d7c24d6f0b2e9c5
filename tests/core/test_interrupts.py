"""Ctrl+C anywhere in the library leaves its objects and files as they were before or after; more in tests.attack."""

import pytest

from tests.core.interrupted import cases, wrong

NAMES = (
    "encoding",
    "encoding by ranks",
    "counting",
    "saving",
    "editing",
    "auditing by ranks",
    "training",
)
NAMES += ("extending",)


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # between open and with, Python closes
@pytest.mark.parametrize("name", NAMES)
def test_what_was_interrupted_is_as_it_was_before_or_after(name, tmp_path):
    make = cases(tmp_path)[name]
    assert [
        sentence
        for seed in range(40 if name == "saving" else 6)
        if (sentence := wrong(name, make, seed))
    ] == []
