"""The kernel's scanners against `regex`: the published patterns cut every text at the same places."""

import random
from struct import pack

import pytest
import regex

from bpe_core import PATTERNS, kernel

if not kernel.available:
    pytest.skip(f"the kernel is {kernel.why_not}", allow_module_level=True)

from bpe_core.kernel.grammars import BOTH, SPACE, scanner
from tests.attack.fuzz_kernel.splitting import SCANNED, split, try_split
from tests.nasty import KINDS, in_windows

OTHER_FORMS = [
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",  # GPT-2 as OpenAI published it
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",  # Tekken
]


@pytest.mark.parametrize("source", [*map(PATTERNS.__getitem__, SCANNED), *OTHER_FORMS])
def test_what_is_seen_in_windows_and_in_other_forms_is_split_as_by_regex(
    source: str,
) -> None:
    """Contractions, white space and tails of signs in the midst of which a window ends, or ASCII does."""
    found, rng = scanner(source), random.Random(source)
    assert found
    for _ in range(1500):
        for text in (
            in_windows(rng, KINDS),
            "".join(rng.choices("".join(KINDS), k=12)),
        ):
            assert split(found, text.encode()) == [
                piece.encode() for piece in regex.findall(source, text)
            ]


@pytest.mark.parametrize(
    "source",
    [
        "",
        r"\S+",
        r"\p{L}+|\P{L}+",
        PATTERNS["gpt4"] + "|x",
        PATTERNS["gpt4"][:-1],
        "(?i:",
    ],
)
def test_no_other_pattern_has_one(source: str) -> None:
    assert scanner(source) is None


def test_every_character_is_of_the_kind_that_regex_says() -> None:
    """Those of planes without any are left out."""
    codes = *range(0xD800), *range(0xE000, 0x33480), *range(0xE0000, 0xE0200)
    characters = list(map(chr, codes))
    random.Random(0).shuffle(characters)
    assert try_split("gpt2", "".join(characters)) == ""


@pytest.mark.parametrize("name", SCANNED)
def test_bytes_that_are_no_text_are_split_into_pieces_all_the_same(name: str) -> None:
    found = scanner(PATTERNS[name])
    assert found
    rng = random.Random(name)
    leads = bytes(
        [
            0x41,
            0x27,
            0x20,
            0x80,
            0xBF,
            0xC0,
            0xC5,
            0xE0,
            0xED,
            0xA0,
            0xEF,
            0xF0,
            0x90,
            0xF4,
            0xF5,
            0xFF,
        ]
    )
    for _ in range(3000):
        data = bytes(rng.choices(leads, k=rng.randrange(12)))
        pieces = split(found, data)
        assert b"".join(pieces) == data and all(pieces)


def test_sets_are_not_trusted() -> None:
    new = kernel.Scanner
    for ranges in [
        b"abc",
        b"\0" * 12,
        b"\xff" * 12,
        bytes([0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0]),
    ]:
        with pytest.raises(ValueError):
            new(lambda plane, ranges=ranges: ranges, 0, 0, True, True, False).ends(
                b"abc"
            )
    with pytest.raises(TypeError):
        new(lambda plane: "text", 0, 0, True, True, False).ends(b"abc")
    with pytest.raises(ZeroDivisionError):
        new(lambda plane: plane // 0, 0, 0, True, True, False).ends(b"abc")
    assert new(lambda plane: b"", 0, 0, True, True, True).ends(b"") == b""


@pytest.mark.parametrize(("character", "other"), ["a😀", "😀a"])
def test_sets_that_another_thread_has_learned_meanwhile_are_left_as_they_are(
    character: str, other: str
) -> None:
    text = (character * 2 + other).encode()
    told: list[int] = []

    def ranges_of(plane: int) -> bytes:
        """White space, by the first call; letters, by the second, which comes while the first one still runs."""
        told.append(plane)
        if told.count(plane) == 2 or plane != ord(character) >> 16:
            return pack("=3I", plane << 16, (plane + 1) << 16, BOTH)
        scanned.ends(text)
        return pack("=3I", plane << 16, (plane + 1) << 16, SPACE)

    scanned = kernel.Scanner(ranges_of, 0, 1, False, False, False)
    assert scanned.ends(text) == pack("=Q", len(text)), (
        "letters, of which the last does not go to the next piece"
    )
