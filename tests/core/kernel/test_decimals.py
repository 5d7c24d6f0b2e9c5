"""The kernel's printing of ids: what Python's str and join make of them."""

from array import array

import pytest

from bpe_core import kernel

if not kernel.available:
    pytest.skip(f"the kernel is {kernel.why_not}", allow_module_level=True)

NUMBERS = [0, *(10**n + more for n in range(10) for more in (-1, 0, 1)), 2**31 - 1, 2**31, 2**32 - 1]


@pytest.mark.parametrize("between", [" ", ", ", "", " and then "])
def test_the_digits_are_those_of_python(between: str) -> None:
    for numbers in ([], *([number] for number in NUMBERS), NUMBERS, NUMBERS[::-1], NUMBERS * 500):
        assert kernel.decimals(array("I", numbers).tobytes(), between) == between.join(map(str, numbers))
