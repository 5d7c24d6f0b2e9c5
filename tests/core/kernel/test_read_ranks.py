"""The kernel's reading of rank files: what the reader in Python makes of a file line by line, or nothing."""

import random
from base64 import b64encode
from pathlib import Path

import pytest

from bpe_core import FormatError, kernel
from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.tiktoken import _line_by_line

if not kernel.available:
    pytest.skip(f"the kernel is {kernel.why_not}", allow_module_level=True)

TOKENS = [
    b"a",
    b"ab",
    b"abc",
    b"\xff\x00\xfe",
    "日本".encode(),
    b" " * 81,
    bytes(range(256)),
]


def lines(tokens: list[bytes], *, first: int = 0) -> bytes:
    """A rank file of some tokens."""
    return b"".join(
        b"%s %d\n" % (b64encode(token), rank)
        for rank, token in enumerate(tokens, first)
    )


def test_both_mappings_are_there() -> None:
    assert kernel.read_ranks(lines(TOKENS, first=7)) == (
        dict(enumerate(TOKENS, 7)),
        {token: rank for rank, token in enumerate(TOKENS, 7)},
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"YQ== 0\n\nYg== 1\n",
        b"YQ== 0\r\nYg== 1\r\n",
        b"YQ== 1\nYg== 0\n",
        b"YQ== 0\nYg== 0\n",
        b"YQ== 0\nYQ== 1\n",
        b"YQ== 0\nYQ== 0\n",
        b"YQ==  0\n",
        b"YQ==\n",
        b"= 0\n",
        b"==== 0\n",
        b"Y=== 0\n",
        b"YQ=A 0\n",
        b"YQ 0\n",
        b"Y!== 0\n",
        b"YQ== -1\n",
        b"YQ== \n",
        b"YQ== 2147483648\n",
        b"YQ== 00000000001\n",
    ],
)
def test_another_form_is_left_to_python(data: bytes) -> None:
    assert kernel.read_ranks(data) is None


def test_a_changed_file_is_read_as_line_by_line_or_not_at_all() -> None:
    rng = random.Random(4)
    n_read = 0
    for _ in range(1_000):
        data = bytearray(lines(rng.sample(TOKENS, 3), first=rng.choice((0, 9, 99))))
        for _ in range(rng.randrange(3)):
            at = rng.randrange(len(data))
            data[at : at + rng.randrange(2)] = rng.choice(
                (b"", b"A", b"=", b" ", b"\n", b"0", b"9", b"\x80")
            )
        found = kernel.read_ranks(bytes(data))
        if found:
            try:
                expected = _line_by_line(
                    TokenizerFile(bytes(data), "ranks", Path("ranks"))
                )
            except FormatError as error:
                pytest.fail(f"{bytes(data)!r} was read, but {error}")
            assert found == (
                expected,
                {token: rank for rank, token in expected.items()},
            ), bytes(data)
            n_read += 1
    assert n_read > 250
