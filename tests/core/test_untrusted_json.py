"""JSON that nobody vouches for: a value or a sentence, whatever stands there."""

import pytest

from bpe_core import BpeError, untrusted_json
from bpe_core.errors import LONGEST
from bpe_core.token_ids import ids_in


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "line 1, column 1 is not JSON"),
        (b'{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        (b'{"\x1b[2J\\u001b[2J": 1}', "is not JSON"),
        (b'{"\\u001b[2J": 1, "\\u001b[2J": 2}', "the key '␛\\[2J' occurs twice"),
        (b"9" * 10_000, "a number in it has thousands of digits"),
        (b'"\xff"', "it is not UTF-8 at byte 1"),
        (b"[1, 2, 3, 4]", "it has more than 3 values"),
        *(
            (opening * 100_000, "nested too deeply")
            for opening in (b"[", b'{"a":', b'[{"a":')
        ),
    ],
)
def test_what_cannot_be_used_is_said(data, problem):
    with pytest.raises(ValueError, match=problem):
        untrusted_json.parse(data, most=3 if problem.endswith("values") else None)


def test_deep_nesting_is_no_matter_in_ids():
    assert ids_in("[" * 100_000 + "7")[0] == [7]


def test_a_sentence_is_short_and_commands_no_terminal_whatever_it_quotes():
    error = BpeError("what\x1b[2J " * 100_000 + "do that.")
    assert len(str(error)) <= LONGEST
    assert "\x1b" not in str(error)
    assert str(error).startswith("what␛[2J ") and str(error).endswith("do that.")
