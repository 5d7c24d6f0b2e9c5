"""What stands for characters, bytes and numbers in sentences, one example a line."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core import OptionError, TextError, UnknownTokenError, train
from bpe_core.utf8 import (
    byte_offsets,
    completed,
    incomplete_ends,
    utf8,
    without_surrogates,
)
from bpe_core.visible import (
    character_name,
    code,
    counted,
    duration,
    letter_script,
    shortened,
    token_label,
    visible,
)
from bpe_core.weighted import (
    count_text,
    exact_fraction,
    for_programs,
    formatted,
    weighted_count,
)


@pytest.mark.parametrize(
    ("function", "arguments", "value"),
    [
        (visible, ("a\x1b[2Jb",), "a␛[2Jb"),
        (shortened, ("from here to there", 9), "from …ere"),
        (shortened, ("from here", 2), "f…"),
        (character_name, ("é",), "latin small letter e with acute"),
        (character_name, ("\t",), "control character"),
        (character_name, ("\U00100000",), "private use"),
        (character_name, ("\uffff",), "unassigned"),
        *(
            (letter_script, (letter,), script)
            for letter, script in (("é", "latin"), ("я", "cyrillic"), ("の", "kana"))
        ),
        (token_label, (b" the",), "␣the"),
        (token_label, (b"\xf0\x9f",), "\\xf0\\x9f"),
        (token_label, ("é\n".encode(),), "é↵"),
        (code, ("a|b",), "`a\\|b`"),
        (code, ("``",), "``` `` ```"),
        (counted, (1, "token"), "1 token"),
        (counted, (0, "token"), "0 tokens"),
        (counted, (2000, "entry", "entries"), "2,000 entries"),
        (duration, (0.4,), "under 1 s"),
        (duration, (75,), "1 min 15 s"),
        (duration, (7300,), "2 h 1 min"),
        (without_surrogates, ("\ud83d\ude0a \ud83d",), "😊 \ufffd"),
        (utf8, ("a\ud800",), b"a\xef\xbf\xbd"),
        (list, (byte_offsets("aé"),), [0, 1, 3]),
        (incomplete_ends, (b"\x8a\xf0\x9f",), (b"\x8a", b"\xf0\x9f")),
        (next, (completed(b"\xc3"),), "À"),
        (exact_fraction, ("0.0001",), Fraction(1, 10000)),
        (exact_fraction, ("1/3",), Fraction(1, 3)),
        (formatted, (Fraction(1, 3),), "1/3"),
        (formatted, (Fraction(4, 2),), "2"),
        (formatted, (Fraction(3_000_001, 2), True), "+1,500,000.5"),
        (formatted, (-Fraction(1, 2), True), "-0.5"),
        (count_text, (Fraction(4, 2),), "2"),
        (for_programs, (Fraction(4, 2),), 2),
        (for_programs, (Fraction(1, 4),), 0.25),
    ],
)
def test_by_example(
    function: Callable[..., object], arguments: tuple[object, ...], value: object
) -> None:
    assert function(*arguments) == value


@given(st.fractions(-(10**12), 10**12, max_denominator=10**6))
def test_a_count_is_read_back_exactly_from_its_text(count: Fraction):
    assert exact_fraction(count_text(count)) == count
    assert exact_fraction(count_text(weighted_count(count))) == count
    is_whole = count.denominator == 1
    assert isinstance(for_programs(count), int) == is_whole
    assert isinstance(weighted_count(count), int) == is_whole


def test_errors_say_what_is_wrong_and_what_to_do():
    tokenizer = train([], vocab_size=256)
    with pytest.raises(
        OptionError,
        match=r"Unknown ties 'random'; choose one of first, lowest, lowest-hf, largest\.$",
    ):
        train("low", vocab_size=300, ties="random")
    with pytest.raises(
        TextError,
        match=r"invalid start byte at byte 0; decode_bytes gives their bytes\.$",
    ):
        tokenizer.decode([255], "strict")
    with pytest.raises(
        UnknownTokenError,
        match=r"^Unknown token id 300; this vocabulary has 256 tokens\.$",
    ):
        tokenizer.token_bytes(300)
