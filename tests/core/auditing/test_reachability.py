"""Tokens that their own text does not become, as the tokenizer is or under another pattern; and their witnesses."""

import random
import unicodedata

import pytest
from real import real_file

from bpe_core import Tokenizer, Vocabulary, load, save, train
from bpe_core.auditing import audit
from bpe_core.auditing.findings import Severity
from bpe_core.auditing.reachability import what_if
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.usage import Usage
from bpe_core.auditing.verdicts import verdict
from bpe_core.auditing.witness import LONGEST_EXAMPLE, witness
from bpe_core.cli.main import main
from bpe_core.content.presets import PRESETS
from bpe_core.corpus import Counts
from bpe_core.errors import OptionError, PatternError
from bpe_core.patterns import PATTERNS, splitter
from bpe_core.tokenizer.normalizers import NormalForm, Normalizer, Stripped
from bpe_core.tokenizer.preparation import (
    AddedToken,
    PrefixStep,
    Preparation,
    SplitStep,
)

NUMBERS = train("100 100 100 20 20", vocab_size=259)
BYTES = {byte: bytes([byte]) for byte in range(256)}
ODD = {byte: bytes([byte]) for byte in range(256) if byte != 0xAC} | {
    300: "€".encode(),
    301: b"\xac\xac",
}


def built(*merges, pattern="none"):
    return Tokenizer(Vocabulary(BYTES, merges), pattern)


def prepared(merges, *added, normalize=None, steps=()):
    """A tokenizer that does something to a text before it encodes it."""
    preparation = Preparation(
        added, normalize, steps, has_metaspace=False, drops_space=False, description={}
    )
    specials = {token.text: token.token for token in added}
    return Tokenizer(
        Vocabulary(BYTES, merges, specials), "none", preparation=preparation
    )


# Learned from numbers of up to three digits, used with a pattern that cuts every digit off: a published mistake.
CUT = Tokenizer(NUMBERS.vocabulary, r"\d|\D+")
# bc is merged before ab ever can be, so a+bc shuts out ab+c; so do the bytes of an emoji.
SHUT, TORN = (
    ((98, 99, 256), (97, 98, 257), (257, 99, 258)),
    ((0x9F, 0x98, 256), (0xF0, 0x9F, 257), (257, 0x98, 258)),
)
LACKING = Tokenizer(Vocabulary(ODD, [(97, 98, 256)], whole_pieces={}), "gpt4")
# The o200k pattern lets punctuation take a line end and slashes along; alone, the line end is a piece.
SLASHES = built((47, 47, 256), (10, 256, 257), pattern="gpt4o")
# Its contractions are those of any case, so also of a long s, which is no s to the merges.
FOLDED = built((32, 73, 256), (256, 39, 257), pattern="gpt4o")
# A decomposed e with acute accent; NFC makes one character of it, whatever stands around it.
ACCENT = prepared(
    [(0xCC, 0x81, 256), (101, 256, 257)], normalize=Normalizer([NormalForm("NFC")])
)
SPACED = prepared(
    [(97, 98, 256), (32, 256, 257)], steps=[PrefixStep(" ", only_first=True)]
)
REMOVED = prepared(
    [(32, 32, 256), (97, 98, 257), (257, 99, 258)],
    AddedToken("b", 300),
    normalize=Normalizer([Stripped("start"), Stripped("end")]),
)
ENDED = PRESETS["S2-prose"].train()
NEVER, OCCURS = (
    ". It does not occur in any of the 617 contexts tried, but this is not proof.",
    "; inside a longer text it does occur.",
)
PROVED = ", and no piece of any text contains it."
# Digits one by one, of which the published expression finds every piece.
DIGITS = built((49, 48, 256), (256, 48, 257), pattern="qwen2")
LETTERS, WITH_END = "“a” + “b” + “c”", "with the end of a word behind it"
BUILD = ": the merges never build this token, in any context."


@pytest.mark.parametrize(
    ("tokenizer", "id", "cause", "reason", "found"),
    [
        (
            CUT,
            257,
            "pattern",
            "The split pattern cuts its text into “1” + “0” + “0”" + NEVER,
            "",
        ),
        (
            DIGITS,
            257,
            "pattern",
            "The split pattern cuts its text into “1” + “0” + “0”" + PROVED,
            "",
        ),
        (built(*SHUT), 258, "merges", "Its bytes become “a” + “bc”" + BUILD, ""),
        (
            built(*TORN),
            258,
            "merges",
            r"Its bytes become “\xf0” + “\x9f\x98”" + BUILD,
            "",
        ),
        (
            built((0xC3, 97, 256)),
            256,
            "utf-8",
            "No text in UTF-8 contains these bytes in this order.",
            "",
        ),
        (
            LACKING,
            300,
            "bytes",
            "Its bytes cannot be encoded: this vocabulary has no token for the byte 0xac.",
            "",
        ),
        (
            SLASHES,
            257,
            "pattern",
            "On its own, the split pattern cuts its text into “↵” + “//”" + OCCURS,
            "=\n//",
        ),
        (
            FOLDED,
            257,
            "pattern",
            "On its own, the split pattern cuts its text into “␣I” + “'”" + OCCURS,
            " I'ſ",
        ),
        (
            ACCENT,
            257,
            "normalizer",
            r"Its text is first changed into “é”, which becomes “\xc3” + “\xa9”"
            + NEVER,
            "",
        ),
        (
            SPACED,
            256,
            "prefix-space",
            "On its own, “␣” is inserted before its text, which becomes “␣ab”" + OCCURS,
            "aab",
        ),
        (
            REMOVED,
            258,
            "added-token",
            f"An added token is found in its text first, which becomes “a” + “b” + “c”{NEVER}",
            "",
        ),
        (
            REMOVED,
            32,
            "normalizer",
            "On its own, its text is removed before the split" + OCCURS,
            "a a",
        ),
        (
            ENDED,
            b"low",
            "end-of-word",
            f"On its own, with the end-of-word marker its text becomes “low</w>”{OCCURS}",
            "lowa",
        ),
    ],
)
def test_each_cause_is_told_with_what_the_text_becomes(
    tokenizer, id, cause, reason, found
):
    (finding,) = (
        f
        for f in audit(tokenizer).of("unreachable", "reachable-in-context")
        if id in (f.id, f.token)
    )
    assert (finding.evidence["cause"], finding.reason, finding.witness or "") == (
        cause,
        reason,
        found,
    )
    assert finding.kind == ("reachable-in-context" if found else "unreachable")
    severity = Severity.WARNING if "not proof" in reason else Severity.PROBLEM
    assert finding.severity is (Severity.NOTE if found else severity)
    if not found:  # what is only not found weighs less than what is proved
        row = verdict(AuditSubject(tokenizer), finding.id, [finding])
        assert row.score == (0.475 if severity is Severity.WARNING else 0.95)
    if found:
        assert finding.id in tokenizer.encode_ordinary(found)


def test_which_tokens_are_unreachable():
    trained = train("the cat sat on the mat, the rat ran", vocab_size=300)
    assert audit(trained).of("unreachable", "reachable-in-context") == []
    assert [finding.token for finding in audit(CUT).of("unreachable")] == [
        b"10",
        b"100",
        b"20",
    ]
    dropped = audit(train("aa bb", vocab_size=257, pattern="words")).of("unreachable")
    assert [finding.token for finding in dropped] == [
        b"\t",
        b"\n",
        b"\x0b",
        b"\x0c",
        b"\r",
        b" ",
    ]
    assert {f.reason for f in dropped} == {
        "The split pattern drops this text, and no piece of any text contains it."
    }
    assert {f.severity for f in dropped} == {
        Severity.NOTE
    }  # they are among the 256 bytes by design
    marked = audit(ENDED)  # tokens without </w> occur inside of words
    assert [
        finding
        for finding in marked.of("unreachable", "special-lookalike")
        if finding.id > 255
    ] == []
    found = audit(
        CUT, counts=Counts.of("100 100 100 20 20", r"\d|\D+")
    )  # none is called never used as well
    assert not {finding.id for finding in found.of("never-used")} & {
        finding.id for finding in found.of("unreachable")
    }


def test_the_witness_of_a_token_in_the_corpus_is_the_shortest_piece_that_holds_it():
    text = "unhappy happier happy"
    tokenizer, counts = train(text, vocab_size=259), Counts.of(text, "gpt4")
    happ = next(
        token for token in range(256, 259) if tokenizer.token_bytes(token) == b"happ"
    )
    assert Usage.of(tokenizer, counts).examples[happ] == " happy"
    subject = AuditSubject(tokenizer, counts=counts)
    assert subject.finding(ord("n"), "rare", Severity.NOTE, "").witness == "unhappy"


def test_a_piece_that_is_too_long_or_splits_otherwise_when_alone_is_no_witness():
    assert (
        witness(
            train("ab", vocab_size=257, pattern="none"), 256, "ab" * LONGEST_EXAMPLE
        )[0]
        == "ab"
    )
    tokenizer = train("abb" * 3, vocab_size=257, pattern="(?<=a)bb|.")
    assert tokenizer.encode_ordinary("bb") == [98, 98]
    assert witness(tokenizer, 256, "bb")[0] == "abb"


@pytest.mark.parametrize("pattern", ["none", "gpt4o", "words"])
def test_every_witness_holds_its_token(pattern):
    rng = random.Random(11)
    for alphabet in "ab", "aé😊の ", "a1 '\n.=/", "\x00\x1b\u202eab":
        text = "".join(rng.choices(alphabet, k=200))
        tokenizer = train(text, vocab_size=290, pattern=pattern)
        for found in (
            audit(tokenizer),
            audit(tokenizer, counts=Counts.of(text, pattern)),
        ):
            learned = [finding for finding in found if finding.evidence["step"]]
            assert all(
                finding.witness is not None
                for finding in learned
                if finding.evidence.get("count")
            )
            for finding in found:
                if finding.witness is not None:
                    assert finding.id in tokenizer.encode_ordinary(finding.witness)


@pytest.mark.parametrize(
    "pattern",
    [
        "gpt2",
        "gpt4",
        "gpt4o",
        "llama3",
        "qwen2",
        "words",
        "qwen2(?#then)gpt4o",
        "ab|/(?#else)gpt4",
    ],
)
def test_no_text_disproves_what_is_proved(pattern):
    """Tokens of any characters, the folded ones too: what a text becomes is never among those no piece can hold."""
    rng, split = random.Random(7), splitter(pattern)
    texts = [
        "".join(rng.choices("aAbsS1 ='/.\n\réの中ſ\u212aİǅ\u0301", k=12))
        for _ in range(400)
    ]
    held = {
        piece[i:j]
        for text in texts
        for piece in split.split(text)
        for i in range(12)
        for j in range(i + 1, 13)
    }
    assert all(map(split.may_hold, held))
    assert not all(map(split.may_hold, texts))


# What if: the same vocabulary under another pattern or normalizer.


def test_single_digits_kill_numbers_but_those_that_are_unreachable_anyway_are_not_named():
    lost = list(what_if(NUMBERS, pattern=r"\d|\D+"))
    assert [finding.token for finding in lost] == [b"10", b"100", b"20"]
    assert {(finding.kind, finding.evidence["cause"]) for finding in lost} == {
        ("unreachable", "pattern")
    }
    assert (
        list(what_if(NUMBERS, pattern="none"))
        == []
        == list(what_if(NUMBERS, pattern="gpt4"))
    )
    assert list(what_if(CUT, pattern=r"\d|\D")) == []


def test_a_normalizer_kills_what_it_rewrites():
    tokenizer = train("Ab Ab ab ﬁ ﬁ ﬁ", vocab_size=262)
    ids = tokenizer.vocabulary.ids()
    capitals = {
        token
        for token in ids
        if any(65 <= byte <= 90 for byte in tokenizer.token_bytes(token))
    }
    assert {
        finding.id for finding in what_if(tokenizer, normalizer="lowercase")
    } == capitals
    ligature = next(
        f
        for f in what_if(tokenizer, normalizer="NFKC")
        if f.token.decode().strip() == "ﬁ"
    )
    assert (
        ligature.evidence["cause"] == "normalizer"
        and "first changed into" in ligature.reason
    )
    assert not any(finding.id > 255 for finding in what_if(tokenizer, normalizer="NFC"))
    with pytest.raises(OptionError, match="NFKC"):
        what_if(NUMBERS, normalizer="nfx")
    with pytest.raises(PatternError):
        what_if(NUMBERS, pattern="[")


def test_the_rest_of_a_pipeline_stays():
    added, prefix = (
        AddedToken("20", 400, single_word=True),
        PrefixStep(" ", only_first=True),
    )
    tokenizer = prepared(
        NUMBERS.merges, added, steps=[prefix, SplitStep(NUMBERS.splitter)]
    )
    lost = [
        (finding.token, finding.evidence["cause"])
        for finding in what_if(tokenizer, pattern=r"\d| ?\D+")
    ]
    assert lost == [
        (b"10", "prefix-space"),
        (b"100", "prefix-space"),
        (b"20", "added-token"),
    ]
    assert list(what_if(tokenizer, pattern="gpt2")) == []


def test_the_command_prints_what_would_become_unreachable(tmp_path, capsys):
    save(NUMBERS, tmp_path / "t.json")
    assert main(["audit", "-t", str(tmp_path / "t.json"), "--what-if", r"\d|\D+"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "3 tokens would become unreachable:" and len(lines) == 4
    assert (
        main(["audit", "-t", str(tmp_path / "t.json"), "--what-if", "none", "--jsonl"])
        == 0
    )
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_cl100k_with_fewer_digits(tmp_path):
    """1,102 and 1,000: what a published model did to this vocabulary, and what pairs of digits would have done."""
    tokenizer = load(real_file("cl100k_base.tiktoken", tmp_path))
    letters, others = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|",
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*",
    )
    for digits, n in ((r"\p{N}", 1102), (r"\p{N}{1,2}", 1000)):
        pattern = rf"{letters}{digits}{others}|\s*[\r\n]+|\s+(?!\S)|\s+"
        assert sum(1 for _ in what_if(tokenizer, pattern=pattern)) == n
    assert list(what_if(tokenizer, pattern="none")) == []


def test_a_text_that_a_normal_form_changes_is_proved_to_be_unreachable():
    merges = [(0xCC, 0x81, 256), (ord("e"), 256, 257)]
    nfc = Preparation(
        (), Normalizer([NormalForm("NFC")]), (SplitStep(splitter("none")),)
    )
    tokenizer = Tokenizer(Vocabulary(BYTES, merges), "none", preparation=nfc)
    found = [f for f in audit(tokenizer).of("unreachable") if f.id == 257]
    assert [(f.evidence["cause"], f.severity.word) for f in found] == [
        ("normalizer", "problem")
    ]
    assert "tried" not in found[0].evidence


def test_no_witness_has_a_character_that_is_new_in_unicode_if_an_old_one_does():
    tokenizer = Tokenizer(Vocabulary(BYTES, [(32, 0xD5, 256)]), "gpt4o")
    text = witness(tokenizer, 256).text
    assert text is not None and text.startswith(" ")
    assert all(unicodedata.ucd_3_2_0.category(c) != "Cn" for c in text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pattern"),
    [("r50k_base", "gpt2"), ("cl100k_base", "gpt4"), ("o200k_base", "gpt4o")],
)
def test_tiktoken_finds_each_token_in_its_witness(name, pattern, tmp_path):
    tiktoken = pytest.importorskip("tiktoken")
    tokenizer = load(real_file(f"{name}.tiktoken", tmp_path), pattern=pattern)
    ranks = {data: token for token, data in tokenizer.vocabulary.bytes_of.items()}
    theirs = tiktoken.Encoding(
        name, pat_str=PATTERNS[pattern], mergeable_ranks=ranks, special_tokens={}
    )
    witnesses = {
        f.id: f.witness for f in audit(tokenizer) if f.witness and f.token in ranks
    }
    assert witnesses
    for token, text in witnesses.items():
        assert token in theirs.encode_ordinary(text), (token, text)


def test_a_pattern_after_a_normal_form_proves_that_no_piece_holds_a_token():
    nfc = Preparation(
        (), Normalizer([NormalForm("NFC")]), (SplitStep(splitter("qwen2")),)
    )
    vocabulary = Vocabulary(BYTES, [(ord("1"), ord("0"), 256)])
    found = audit(Tokenizer(vocabulary, "qwen2", preparation=nfc)).of("unreachable")
    assert [(f.id, f.evidence["cause"], f.evidence["strength"]) for f in found] == [
        (256, "pattern", 1.0)
    ]
