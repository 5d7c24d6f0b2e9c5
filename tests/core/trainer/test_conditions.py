"""Conditions on which a training waits: how they are written, and after which merges they hold."""

from fractions import Fraction

import pytest

from bpe_core.errors import OptionError
from bpe_core.trainer import Merge
from bpe_core.trainer.conditions import EXAMPLES, Condition, condition


@pytest.mark.parametrize(
    ("text", "meant", "written"),
    [
        ("512", Condition("step", ">=", Fraction(512)), "step >= 512"),
        (" 1,024 ", Condition("step", ">=", Fraction(1024)), "step >= 1,024"),
        ("Step<3", Condition("step", "<", Fraction(3)), "step < 3"),
        (
            "tokens <= 100_000",
            Condition("tokens", "<=", Fraction(100_000)),
            "tokens <= 100,000",
        ),
        ("ratio > 3.30", Condition("ratio", ">", Fraction(33, 10)), "ratio > 3.3"),
    ],
)
def test_a_condition_is_read_and_written(
    text: str, meant: Condition, written: str
) -> None:
    assert condition(text) == meant == condition(written)
    assert str(meant) == written


def test_there_is_an_example_for_each_field() -> None:
    assert [condition(example).field for example in EXAMPLES] == [
        "step",
        "tokens",
        "ratio",
        "length",
        "count",
    ]
    assert [str(condition(example)) for example in EXAMPLES] == list(EXAMPLES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "step",
        "step >=",
        "step == 3",
        "3 <= step",
        "power >= 2",
        "9" * 5000,
        "ratio >= x",
        "step > -1",
        "٣",
    ],
)
def test_what_is_none_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(OptionError) as told:
        condition(text)
    assert len(str(told.value)) < 300 and "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("step", 7),
        ("tokens", 100),
        ("ratio", Fraction(11, 10)),
        ("length", 3),
        ("count", 9),
    ],
)
def test_the_boundary_of_each_comparison(field: str, value: Fraction) -> None:
    """1.1 bytes per token: 110 of a hundred, which a float would miss."""
    merge = Merge(7, 1, 2, 256, b"abc", 9, 1, 100)
    for op, below, same, above in (
        ("<", 1, 0, 0),
        ("<=", 1, 1, 0),
        (">", 0, 0, 1),
        (">=", 0, 1, 1),
    ):
        for number, held in (
            (value + Fraction(1, 100), below),
            (value, same),
            (value - Fraction(1, 100), above),
        ):
            assert Condition(field, op, Fraction(number)).holds(merge, 110) == held, (
                op,
                number,
            )


@pytest.mark.parametrize("field", ["tokens", "ratio", "count"])
@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
def test_what_is_not_known_never_holds(field: str, op: str) -> None:
    merge = Merge(1, 97, 97, 256, b"aa", 0, 1, 0)
    assert not any(
        Condition(field, op, Fraction(n)).holds(merge, n_bytes)
        for n in (0, 5)
        for n_bytes in (0, 9)
    )
