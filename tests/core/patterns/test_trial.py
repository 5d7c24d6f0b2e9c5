"""A pattern that is tried before it is chosen: its pieces, or one sentence."""

import pytest

from bpe_core.errors import PatternError
from bpe_core.patterns import PATTERNS, splitter, tried


@pytest.mark.parametrize("pattern", [*PATTERNS, r"\w+|\W", "(a+)+$", r"(?<=e)\s"])
def test_it_splits_as_a_training_does(pattern: str) -> None:
    text = "The 2,500 cafés\n\n  didn't"
    assert tried(pattern, text) == splitter(pattern).split(text)


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        (r"(?:a|aa)+\d", "tries too many ways to match"),
        ("(a", "not a valid regular expression: missing )"),
        ("a" * 10_000, "There is no split pattern named 'aaa"),
        ("a" * 20_001 + "|", "is too large"),
    ],
)
def test_what_explodes_on_no_short_text_or_is_none_is_refused_in_a_sentence(pattern: str, sentence: str) -> None:
    with pytest.raises(PatternError, match="split pattern") as told:
        tried(pattern, "a short text")
    assert sentence in str(told.value) and len(str(told.value)) < 400
