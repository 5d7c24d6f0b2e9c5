"""What a vocabulary gives away by itself: impossible bytes, parts of characters, look-alikes, duplicates."""

import pytest

from bpe_core.auditing import audit
from bpe_core.auditing.findings import Severity
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import train
from bpe_core.utf8 import UNUSED_BYTES, IncompleteEnds, completed, incomplete_ends
from bpe_core.vocabulary import Vocabulary

BYTES = {byte: bytes([byte]) for byte in range(256)}


def spelled(*tokens, pattern="none", specials=()):
    """A tokenizer that builds each of `tokens` from left to right, one byte at a time."""
    ids, merges = {token: byte for byte, token in BYTES.items()}, []
    for token in tokens:
        for end in range(2, len(token) + 1):
            if token[:end] not in ids:
                ids[token[:end]] = 256 + len(merges)
                merges.append((ids[token[: end - 1]], token[end - 1], 256 + len(merges)))
    after = 256 + len(merges)
    return Tokenizer(Vocabulary(BYTES, merges, {text: after + n for n, text in enumerate(specials)}), pattern)


def test_the_thirteen_bytes_are_those_that_no_character_contains():
    every = {byte for code in range(0x110000) if not 0xD800 <= code < 0xE000 and code % 61 == 0 for byte in _utf8(code)}
    assert len(UNUSED_BYTES) == 13
    assert every.isdisjoint(UNUSED_BYTES)
    found = audit(spelled()).of("unused-byte")
    assert [finding.id for finding in found] == list(UNUSED_BYTES)
    assert {finding.severity for finding in found} == {Severity.NOTE}
    assert found[0].reason == "No text in UTF-8 contains the byte c0; it only completes the set of 256 bytes."
    assert found[0].witness is None


def _utf8(code):
    return chr(code).encode()


@pytest.mark.parametrize(
    ("token", "lacking"),
    [
        (b"a\xc3", IncompleteEnds(b"", b"\xc3")),
        (b"\xf0\x9f\x98", IncompleteEnds(b"", b"\xf0\x9f\x98")),
        (b"\x80\x99s", IncompleteEnds(b"\x80\x99", b"")),
        (b"\x8a\xf0\x9f", IncompleteEnds(b"\x8a", b"\xf0\x9f")),
        ("été".encode(), None),
        (b"", None),
        (b"\x80\x80\x80\x80", None),  # no character ends in four such bytes
        (b"\xed\xa0", None),  # would be half of a surrogate pair
        (b"\xe0\x80", None),  # would be overlong
        (b"\xc3a", None),  # broken in the middle
    ],
)
def test_where_a_token_is_cut(token, lacking):
    assert incomplete_ends(token) == lacking


@pytest.mark.parametrize(
    "token", [b"\xc3", b" \xe5", b"\xf0\x9f", b"\xf0", b"\xa9x", b"\x9f\x98\x80", b"\xa9 \xe3\x81"]
)
def test_a_completion_is_text_around_the_token(token):
    texts = list(completed(token))
    assert 0 < len(texts) <= 64 * 16
    assert all(token in text.encode() for text in texts)


def test_parts_of_characters_each_with_a_text_they_occur_in():
    tokenizer = spelled(b"\xf0\x9f\x98", b"\x80\x99s", b"\xa9\xe3", "é".encode())
    found = {finding.token: finding for finding in audit(tokenizer).of("partial-utf8")}
    assert {token: finding.evidence["where"] for token, finding in found.items()} == {
        b"\xf0\x9f": "end",
        b"\xf0\x9f\x98": "end",
        b"\x80\x99": "start",
        b"\x80\x99s": "start",
        b"\xa9\xe3": "both",
    }  # "é" is a whole character, and single bytes are no finding
    assert found[b"\x80\x99s"].evidence["stray"] == "8099"
    assert found[b"\xa9\xe3"].evidence["pending"] == "e3"
    assert found[b"\xf0\x9f\x98"].reason == (
        "It ends inside a character, so it is no text until another token completes it."
    )
    for finding in found.values():
        assert finding.id in tokenizer.encode_ordinary(finding.witness)


@pytest.mark.parametrize(
    ("text", "severity"),
    [("<s>", Severity.NOTE), ("[INST]", Severity.NOTE), (" <|user|>", Severity.WARNING), ("</s>", Severity.NOTE)],
)
def test_ordinary_tokens_that_look_special(text, severity):
    found = audit(spelled(text.encode())).of("special-lookalike")
    assert [(finding.token.decode(), finding.severity) for finding in found] == [(text, severity)]


@pytest.mark.parametrize("text", ["<>", "[0]", "a[b]", "<a b>", "=>", "[]", "<5>", "\x1b[A]"])
def test_what_does_not_look_special(text):
    assert not audit(spelled(text.encode())).of("special-lookalike")


def test_two_tokens_with_the_same_bytes():
    # abc is built as ab+c and as a+bc; ab comes first, so nothing is ever encoded as the second.
    merges = [(97, 98, 256), (98, 99, 257), (256, 99, 258), (97, 257, 259)]
    found = audit(Tokenizer(Vocabulary(BYTES, merges), "none"))
    (duplicate,) = found.of("duplicate")
    assert (duplicate.id, duplicate.evidence["ids"], duplicate.severity) == (259, [258, 259], Severity.PROBLEM)
    (unreachable,) = found.of("unreachable")
    assert (unreachable.id, unreachable.evidence["encodes_to"]) == (259, [258])


def test_an_ordinary_token_with_the_bytes_of_a_special_one():
    (duplicate,) = audit(spelled(b"<s>", specials=["<s>"])).of("duplicate")
    assert duplicate.evidence["ids"] == [257, 258]
    assert duplicate.reason == "It has the bytes of the special token 258, so the same text can mean two things."


def test_special_tokens_are_no_findings():
    tokenizer = train("low lower", vocab_size=260, special_tokens=["<|endoftext|>", "<|pad|>"])
    specials = set(tokenizer.special_tokens.values())
    assert not [finding for finding in audit(tokenizer) if finding.id in specials]


def test_ids_may_have_holes():
    tokenizer = Tokenizer(Vocabulary({byte + 10: token for byte, token in BYTES.items()}, [(107, 108, 5000)]), "none")
    assert audit(tokenizer).kinds() == {"unused-byte": 13}
