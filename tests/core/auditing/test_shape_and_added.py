"""Tokens of an odd shape, and added tokens that ordinary text runs into."""

from bpe_core import Tokenizer, Vocabulary, audit
from bpe_core.auditing.findings import Severity
from bpe_core.auditing.static import ENOUGH
from bpe_core.tokenizer.added_tokens import AddedToken
from bpe_core.tokenizer.preparation import Preparation

BYTES = {byte: bytes([byte]) for byte in range(256)}


def test_what_is_much_longer_than_its_script_is_told():
    texts = [f"{a}{b}" for a in "abcdefghijklmnopqrst" for b in "klmnopqrstuv"][: ENOUGH + 20]
    words = [*texts, "aaaaaaaaaa", "welcomeback", "хaхa"]
    base = BYTES | {300 + n: word.encode() for n, word in enumerate(words)}
    found = {finding.token.decode(): finding for finding in audit(Tokenizer(Vocabulary(base), "none")).of("shape")}
    assert found.keys() == {"welcomeback", "хaхa"}  # a run of one letter is not long
    assert (found["welcomeback"].evidence["letters"], found["welcomeback"].evidence["usual"]) == (11, 2)
    assert found["хaхa"].reason == "It has letters of 2 scripts: cyrillic, latin."
    assert {finding.severity for finding in found.values()} == {Severity.NOTE}


def test_an_added_word_is_found_inside_of_words():
    added = (AddedToken("der", 400), AddedToken("<think>", 401), AddedToken("<|end|>", 402, special=True))
    preparation = Preparation(added, None, (), has_metaspace=False, drops_space=False, description={})
    vocabulary = Vocabulary(BYTES | {400: b"der", 401: b"<think>"}, (), {"<|end|>": 402}, whole_pieces={})
    tokenizer = Tokenizer(vocabulary, "none", preparation=preparation)
    assert tokenizer.encode_ordinary("order") == [111, 114, 400]
    der, think = audit(tokenizer).of("added-token")
    assert (der.id, der.severity, der.evidence["would_be"]) == (400, Severity.WARNING, [100, 101, 114])
    assert "also inside of words" in der.reason
    assert (think.id, think.severity) == (401, Severity.NOTE)


def test_a_special_token_that_is_a_word_collides_where_it_is_allowed():
    (word,) = audit(Tokenizer(Vocabulary(BYTES, (), {"STOP": 300, "<|stop|>": 301}), "none")).of("added-token")
    assert (word.id, word.severity, word.evidence["special"]) == (300, Severity.WARNING, True)
    assert "where it is allowed as a special token" in word.reason
