"""Tokens that their own text does not become, and the witness: a text in which a token really occurs."""

import random

import pytest

from bpe_core.auditing import Usage, audit
from bpe_core.auditing.findings import Severity
from bpe_core.auditing.witness import LONGEST_EXAMPLE, witness
from bpe_core.content.presets import PRESETS
from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.added_tokens import AddedToken
from bpe_core.tokenizer.normalizers import normal_form, stripped
from bpe_core.tokenizer.preparation import Preparation
from bpe_core.tokenizer.steps import PrefixStep
from bpe_core.trainer import train
from bpe_core.vocabulary import Vocabulary

NUMBERS = "100 100 100 20 20"
BYTES = {byte: bytes([byte]) for byte in range(256)}


def test_a_freshly_trained_vocabulary_is_reachable_throughout():
    tokenizer = train("the cat sat on the mat, the rat ran", vocab_size=300)
    assert audit(tokenizer).of("unreachable", "reachable-in-context") == []


def test_the_pattern_is_to_blame():
    # Learned from numbers of up to three digits, used with a pattern that cuts every digit off: a published mistake.
    vocabulary = train(NUMBERS, vocab_size=259).vocabulary
    found = audit(Tokenizer(vocabulary, r"\d|\D+")).of("unreachable")
    assert [finding.token for finding in found] == [b"10", b"100", b"20"]
    assert found[1].reason == (
        "The split pattern cuts its text apart into “1” + “0” + “0”, whatever was tried around it."
    )
    assert (found[1].severity, found[1].evidence["cause"], found[1].witness) == (Severity.PROBLEM, "pattern", None)


def test_the_merges_are_to_blame():
    # bc is merged before ab ever can be, so a+bc shuts out ab+c.
    merges = [(98, 99, 256), (97, 98, 257), (257, 99, 258)]
    (abc,) = audit(Tokenizer(Vocabulary(BYTES, merges), "none")).of("unreachable")
    assert abc.reason == "Its bytes become “a” + “bc”: the merges never build this token, whatever stands around it."
    assert (abc.token, abc.evidence["cause"], abc.evidence["encodes_to"]) == (b"abc", "merges", [97, 256])


def test_bytes_in_an_order_that_no_text_has():
    (broken,) = audit(Tokenizer(Vocabulary(BYTES, [(0xC3, 97, 256)]), "none")).of("unreachable")
    assert (broken.token, broken.severity, broken.evidence["cause"]) == (b"\xc3a", Severity.PROBLEM, "utf-8")
    assert broken.reason == "No text in UTF-8 contains these bytes in this order."


def test_parts_of_characters_that_the_merges_never_build():
    merges = [(0x9F, 0x98, 256), (0xF0, 0x9F, 257), (257, 0x98, 258)]
    (half,) = audit(Tokenizer(Vocabulary(BYTES, merges), "none")).of("unreachable")
    assert half.reason == (
        r"Its bytes become “\xf0” + “\x9f\x98”: the merges never build this token, whatever stands around it."
    )


def test_reachable_in_context_with_the_shortest_witness_found():
    # The o200k pattern lets punctuation take a line end and slashes along; alone, the line end is a piece of its own.
    tokenizer = Tokenizer(Vocabulary(BYTES, [(47, 47, 256), (10, 256, 257)]), "gpt4o")
    assert tokenizer.encode_ordinary("\n//") == [10, 256]
    (finding,) = audit(tokenizer).of("reachable-in-context")
    assert (finding.id, finding.token, finding.severity) == (257, b"\n//", Severity.NOTE)
    assert finding.witness == "=\n//"
    assert tokenizer.encode_ordinary("=\n//") == [61, 257]
    assert finding.reason == (
        "Alone, the split pattern cuts its text apart into “↵” + “//”; inside a longer text it does occur."
    )


def test_a_pattern_that_drops_whitespace_makes_its_bytes_unreachable():
    found = audit(train("aa bb", vocab_size=257, pattern="words")).of("unreachable")
    assert [finding.token for finding in found] == [b"\t", b"\n", b"\x0b", b"\x0c", b"\r", b" "]
    assert {finding.reason for finding in found} == {
        "The split pattern drops this text, so no text becomes this token."
    }
    assert {finding.severity for finding in found} == {Severity.NOTE}  # they are among the 256 bytes by design


def prepared(merges, *added, normalize=None, steps=()):
    """A tokenizer that does something to a text before it encodes it."""
    preparation = Preparation(added, normalize, steps, has_metaspace=False, drops_space=False, description={})
    specials = {token.text: token.token for token in added}
    return Tokenizer(Vocabulary(BYTES, merges, specials), "none", preparation=preparation)


def test_what_is_done_to_a_text_before_the_split_is_not_blamed_on_the_pattern():
    # A decomposed e with acute accent; NFC makes one character of it, whatever stands around it.
    decomposed = [(0xCC, 0x81, 256), (101, 256, 257)]
    (finding,) = (f for f in audit(prepared(decomposed, normalize=normal_form("NFC"))).of("unreachable") if f.id == 257)
    assert finding.token.decode() == "e\u0301" and finding.evidence["cause"] == "normalizer"
    assert finding.reason == (
        r"Its text is first changed into “é”, which becomes “\xc3” + “\xa9”, whatever was tried around it."
    )


def test_a_space_put_before_a_text_is_told():
    tokenizer = prepared([(97, 98, 256), (32, 256, 257)], steps=[PrefixStep(" ", only_first=True)])
    (finding,) = (f for f in audit(tokenizer).of("reachable-in-context") if f.id == 256)
    assert (
        finding.reason == "Alone, “␣” is put before its text, which becomes “␣ab”; inside a longer text it does occur."
    )
    assert 256 in tokenizer.encode_ordinary(finding.witness)


def test_a_text_that_is_removed_and_an_added_token_in_it_are_told():
    merges = [(32, 32, 256), (97, 98, 257), (257, 99, 258)]
    tokenizer = prepared(merges, AddedToken("b", 300), normalize=stripped(True, True))
    reasons = {finding.id: finding.reason for finding in audit(tokenizer).of("unreachable", "reachable-in-context")}
    assert reasons[258].startswith("An added token is found in its text first, which becomes ")
    assert reasons[32].startswith("Alone, its text is removed before the split; ")


def test_a_marker_at_the_end_of_words_is_no_text():
    """Each word has </w> behind it: the tokens without it occur inside of words, and none is called impossible."""
    found = audit(PRESETS["S2-prose"].train())
    assert [finding for finding in found.of("unreachable", "special-lookalike") if finding.id > 255] == []
    low = next(finding for finding in found.of("reachable-in-context") if finding.token == b"low")
    assert low.reason == (
        "Alone, with the end of a word behind it, its text becomes “low</w>”; inside a longer text it does occur."
    )
    assert low.witness == "lowa" and low.evidence["cause"] == "end-of-word"


def test_what_is_unreachable_is_not_called_never_used_as_well():
    tokenizer = Tokenizer(train(NUMBERS, vocab_size=259).vocabulary, r"\d|\D+")
    found = audit(tokenizer, counts=Counts.of(NUMBERS, r"\d|\D+"))
    assert not {finding.id for finding in found.of("never-used")} & {finding.id for finding in found.of("unreachable")}


def test_the_witness_of_a_token_in_the_corpus_is_the_shortest_piece_that_holds_it():
    text = "unhappy happier happy"
    tokenizer = train(text, vocab_size=259)
    counts = Counts.of(text, "gpt4")
    happ = next(token for token in range(256, 259) if tokenizer.token_bytes(token) == b"happ")
    assert Usage.of(tokenizer, counts).examples[happ] == " happy"
    witnesses = {finding.token: finding.witness for finding in audit(tokenizer, counts=counts) if finding.count}
    assert witnesses == {b"u": "unhappy", b"n": "unhappy", b"i": " happier", b"e": " happier", b"r": " happier"}


def test_a_piece_too_long_to_look_at_is_no_witness():
    text = "ab" * LONGEST_EXAMPLE
    tokenizer = train("ab", vocab_size=257, pattern="none")
    assert witness(tokenizer, 256, text) == "ab"


def test_a_piece_that_splits_otherwise_when_alone_is_no_witness():
    tokenizer = train("abb" * 3, vocab_size=257, pattern="(?<=a)bb|.")
    assert tokenizer.encode_ordinary("bb") == [98, 98]
    assert witness(tokenizer, 256, "bb") == "abb"


@pytest.mark.parametrize("pattern", ["none", "gpt2", "gpt4", "gpt4o", "words"])
def test_every_witness_holds_its_token(pattern):
    rng = random.Random(11)
    for alphabet in "ab", "aé😊の ", "a1 '\n.=/", "\x00\x1b\u202eab":
        text = "".join(rng.choices(alphabet, k=200))
        tokenizer = train(text, vocab_size=290, pattern=pattern)
        for found in audit(tokenizer), audit(tokenizer, counts=Counts.of(text, pattern)):
            learned = [finding for finding in found if finding.evidence["step"]]
            assert all(finding.witness is not None for finding in learned if finding.count)
            for finding in found:
                if finding.witness is not None:
                    assert finding.id in tokenizer.encode_ordinary(finding.witness)


def test_a_token_of_which_a_byte_has_no_token_of_its_own():
    """As in some published files: it is said, and the audit goes on."""
    base = {byte: bytes([byte]) for byte in range(256) if byte != 0xAC} | {300: "€".encode(), 301: b"\xac\xac"}
    tokenizer = Tokenizer(Vocabulary(base, [(97, 98, 256)], whole_pieces={}), "gpt4")
    found = {finding.id: finding for finding in audit(tokenizer) if finding.kind == "unreachable"}
    assert found.keys() >= {300, 301}
    assert found[300].reason == "Its bytes cannot be encoded: this vocabulary has no token for the byte 0xac."
    assert found[300].evidence["cause"] == "bytes"


def test_merges_that_stand_before_those_they_are_made_of():
    tokenizer = Tokenizer(Vocabulary({**BYTES, 300: b"ab"}, [(300, 99, 256), (97, 98, 300)]), "none")
    assert not [finding for finding in audit(tokenizer) if finding.kind == "scaffold" and finding.evidence["gap"] <= 0]
