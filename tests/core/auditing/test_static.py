"""Evidence from the vocabulary alone: bytes, parts of characters, look-alikes, duplicates, added tokens, shapes."""

import pytest
from real import real_file

from bpe_core import Tokenizer, Vocabulary, load, save, train
from bpe_core.auditing import audit
from bpe_core.auditing.findings import Severity
from bpe_core.auditing.static import ENOUGH, incomplete_bigrams
from bpe_core.cli.main import main
from bpe_core.tokenizer.preparation import AddedToken, Preparation
from bpe_core.utf8 import UNUSED_BYTES, IncompleteEnds, incomplete_ends

BYTES = {byte: bytes([byte]) for byte in range(256)}
LEARNED = train("мир и миру миром 世界 世 " * 20, vocab_size=270, pattern="gpt4")


def spelled(*tokens, pattern="none", specials=()):
    """A tokenizer that builds each of `tokens` from left to right, one byte at a time."""
    ids, merges = {token: byte for byte, token in BYTES.items()}, []
    for token in tokens:
        for end in range(2, len(token) + 1):
            if token[:end] not in ids:
                ids[token[:end]] = 256 + len(merges)
                merges.append(
                    (ids[token[: end - 1]], token[end - 1], 256 + len(merges))
                )
    after = 256 + len(merges)
    return Tokenizer(
        Vocabulary(BYTES, merges, {text: after + n for n, text in enumerate(specials)}),
        pattern,
    )


def test_the_thirteen_bytes_are_those_that_no_character_contains():
    codes = (code for code in range(0, 0x110000, 61) if not 0xD800 <= code < 0xE000)
    assert {byte for code in codes for byte in chr(code).encode()}.isdisjoint(
        UNUSED_BYTES
    )
    found = audit(spelled()).of("unused-byte")
    assert [finding.id for finding in found] == list(UNUSED_BYTES) and len(found) == 13
    assert {(finding.severity, finding.witness) for finding in found} == {
        (Severity.NOTE, None)
    }
    assert (
        found[0].reason
        == "No text in UTF-8 contains the byte c0; it only completes the set of 256 bytes."
    )


@pytest.mark.parametrize(
    ("token", "ends"),
    [
        (b"a\xc3", (b"", b"\xc3")),
        (b"\xf0\x9f\x98", (b"", b"\xf0\x9f\x98")),
        (b"\x80\x99s", (b"\x80\x99", b"")),
        (b"\x8a\xf0\x9f", (b"\x8a", b"\xf0\x9f")),
        ("été".encode(), None),
        (b"", None),
        (b"\x80\x80\x80\x80", None),  # no character ends in four such bytes
        (b"\xed\xa0", None),  # would be half of a surrogate pair
        (b"\xe0\x80", None),  # would be overlong
        (b"\xc3a", None),  # broken in the middle
    ],
)
def test_incomplete_ends_of_a_token(token, ends):
    assert incomplete_ends(token) == (ends and IncompleteEnds(*ends))


def test_parts_of_characters_each_with_a_text_they_occur_in():
    tokenizer = spelled(b"\xf0\x9f\x98", b"\x80\x99s", b"\xa9\xe3", "é".encode())
    found = {finding.token: finding for finding in audit(tokenizer).of("partial-utf8")}
    assert {
        token: tuple(map(f.evidence.get, ("where", "stray", "pending")))
        for token, f in found.items()
    } == {
        b"\xf0\x9f": ("end", "", "f09f"),
        b"\xf0\x9f\x98": ("end", "", "f09f98"),
        b"\x80\x99": ("start", "8099", ""),
        b"\x80\x99s": ("start", "8099", ""),
        b"\xa9\xe3": ("both", "a9", "e3"),
    }  # "é" is a whole character, and single bytes are no finding
    assert all(
        finding.id in tokenizer.encode_ordinary(finding.witness)
        for finding in found.values()
    )


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        *(
            ("<s>", Severity.NOTE),
            ("[INST]", Severity.NOTE),
            (" <|user|>", Severity.WARNING),
            ("</s>", Severity.NOTE),
        ),
        *(
            (text, None)
            for text in ("<>", "[0]", "a[b]", "<a b>", "=>", "[]", "<5>", "\x1b[A]")
        ),
    ],
)
def test_ordinary_tokens_that_look_special(text, severity):
    found = [
        (finding.token.decode(), finding.severity)
        for finding in audit(spelled(text.encode())).of("special-lookalike")
    ]
    assert found == ([(text, severity)] if severity else [])


def test_two_tokens_with_the_same_bytes():
    # abc is built as ab+c and as a+bc; ab comes first, so nothing is ever encoded as the second.
    merges = [(97, 98, 256), (98, 99, 257), (256, 99, 258), (97, 257, 259)]
    found = audit(Tokenizer(Vocabulary(BYTES, merges), "none"))
    (duplicate,) = found.of("duplicate")
    assert (duplicate.id, duplicate.evidence["ids"], duplicate.severity) == (
        259,
        [258, 259],
        Severity.PROBLEM,
    )
    (unreachable,) = found.of("unreachable")
    assert (unreachable.id, unreachable.evidence["encodes_to"]) == (259, [258])
    (special,) = audit(spelled(b"<s>", specials=["<s>"])).of("duplicate")
    assert special.evidence["ids"] == [257, 258]
    assert (
        special.reason
        == "It has the bytes of the special token 258, so the same text can mean two things."
    )


def test_special_tokens_and_holes_are_no_findings():
    tokenizer = train(
        "low lower", vocab_size=260, special_tokens=["<|endoftext|>", "<|pad|>"]
    )
    specials = set(tokenizer.special_tokens.values())
    assert not [finding for finding in audit(tokenizer) if finding.id in specials]
    tokenizer = Tokenizer(
        Vocabulary(
            {byte + 10: token for byte, token in BYTES.items()}, [(107, 108, 5000)]
        ),
        "none",
    )
    assert audit(tokenizer).kinds() == {"unused-byte": 13}


def test_tokens_much_longer_than_others_of_their_script_and_of_two_scripts():
    texts = [f"{a}{b}" for a in "abcdefghijklmnopqrst" for b in "klmnopqrstuv"][
        : ENOUGH + 20
    ]
    words = [*texts, "aaaaaaaaaa", "welcomeback", "хaхa"]
    base = BYTES | {300 + n: word.encode() for n, word in enumerate(words)}
    found = {
        finding.token.decode(): finding
        for finding in audit(Tokenizer(Vocabulary(base), "none")).of("shape")
    }
    assert found.keys() == {"welcomeback", "хaхa"}  # a run of one letter is not long
    assert (
        found["welcomeback"].evidence["letters"],
        found["welcomeback"].evidence["usual"],
    ) == (11, 2)
    assert found["хaхa"].reason == "It has letters of 2 scripts: cyrillic, latin."
    assert {finding.severity for finding in found.values()} == {Severity.NOTE}


def test_an_added_word_is_found_inside_of_words_and_a_special_one_where_it_is_allowed():
    added = (
        AddedToken("der", 400),
        AddedToken("<think>", 401),
        AddedToken("<|end|>", 402, special=True),
    )
    preparation = Preparation(
        added, None, (), has_metaspace=False, drops_space=False, description={}
    )
    vocabulary = Vocabulary(
        BYTES | {400: b"der", 401: b"<think>"}, (), {"<|end|>": 402}, whole_pieces={}
    )
    tokenizer = Tokenizer(vocabulary, "none", preparation=preparation)
    assert tokenizer.encode_ordinary("order") == [111, 114, 400]
    der, think = audit(tokenizer).of("added-token")
    assert (der.id, der.severity, der.evidence["would_be"]) == (
        400,
        Severity.WARNING,
        [100, 101, 114],
    )
    assert "also inside of words" in der.reason
    assert (think.id, think.severity) == (401, Severity.NOTE)
    (word,) = audit(
        Tokenizer(Vocabulary(BYTES, (), {"STOP": 300, "<|stop|>": 301}), "none")
    ).of("added-token")
    assert (word.id, word.severity, word.evidence["special"]) == (
        300,
        Severity.WARNING,
        True,
    )
    assert "if it is allowed as a special token" in word.reason


def test_incomplete_bigrams_are_all_pairs_whose_text_is_just_them(tmp_path, capsys):
    tokens = LEARNED.vocabulary.ids()
    expected = set()
    for left in tokens:
        for right in tokens:
            data = LEARNED.token_bytes(left) + LEARNED.token_bytes(right)
            whole = [
                one.decode(errors="ignore").encode() == one
                for one in map(LEARNED.token_bytes, (left, right))
            ]
            text = data.decode(errors="ignore")
            if (
                text.encode() == data
                and not any(whole)
                and LEARNED.encode(text) == [left, right]
            ):
                expected.add((left, right))
    found = list(incomplete_bigrams(LEARNED))
    assert {bigram[:2] for bigram in found} == expected
    assert all(LEARNED.encode(text) == [left, right] for left, right, text in found)
    save(LEARNED, tmp_path / "t.json")
    assert main(["audit", "-t", str(tmp_path / "t.json"), "--bigrams"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == len(found) and "incomplete bigrams." in err


def test_gpt2_has_as_many_incomplete_bigrams_as_are_known(tmp_path):
    tokenizer = load(real_file("r50k_base.tiktoken", tmp_path))
    theirs = (
        tokenizer.to_tiktoken()
    )  # where the two know different versions of Unicode, the figures are tiktoken's
    found = list(incomplete_bigrams(tokenizer))
    assert (
        sum(
            theirs.encode_ordinary(text) == [left, right] for left, right, text in found
        )
        == 12_960
    )
    assert 12_960 <= len(found) <= 12_961


def test_a_token_without_bytes_is_no_defect_of_the_audit():
    base = {byte: bytes([byte]) for byte in range(256)} | {256: b""}
    findings = audit(Tokenizer(Vocabulary(base), "gpt2"))
    assert all(
        finding.severity == Severity.NOTE for finding in findings.of("duplicate")
    )
    assert {finding.kind for finding in findings if finding.id == 256} <= {
        "unreachable"
    }
