"""Spans: which characters a token covers, even in part, and each token of a span."""

import random

from bpe_core import Vocabulary, train
from bpe_core.live.spans import Span, layout, torn

BYTES = Vocabulary.of_bytes()
SCRIPTS = ["a", "é", "e\u0301", "日本", "😊", "👩‍👩‍👧", "ภา", "हि", "\r\n", "\n", " ", "\x00", "𝒜", "🇩🇪"]


def as_bytes(text):
    return layout(text, list(text.encode()), BYTES.token_bytes)


def test_one_token_may_hold_several_characters_and_one_character_several_tokens():
    tokenizer = train("low low", vocab_size=258, pattern="none")
    spans = layout("low😊", tokenizer.encode_piece("low😊"), tokenizer.token_bytes)
    assert spans == (Span(0, 3, (257,)), Span(3, 4, (240, 159, 152, 138)))


def test_a_token_may_end_inside_one_character_and_another_begin_there():
    vocabulary = BYTES.extended([(ord("x"), 0xF0, 256), (0x8A, ord("y"), 257)])
    ids = vocabulary.encode("x😊y".encode())
    (span,) = layout("x😊y", ids, vocabulary.token_bytes)
    assert span == Span(0, 3, (256, 0x9F, 0x98, 257))
    assert torn(span._replace(start=10, end=13), "x😊y", vocabulary.token_bytes) == [11, 11, 11]


def test_spans_cover_the_text_and_tell_its_bytes():
    rng = random.Random(1)
    tokenizer = train("".join(SCRIPTS) * 3, vocab_size=300, pattern="none")
    for _ in range(300):
        text = "".join(rng.choices(SCRIPTS, k=rng.randint(1, 9)))
        spans = layout(text, tokenizer.encode_piece(text), tokenizer.token_bytes)
        assert [s.start for s in spans] == [0, *[s.end for s in spans[:-1]]] and spans[-1].end == len(text)
        for span in spans:
            assert tokenizer.decode_bytes(span.ids) == text[span.start : span.end].encode()
            assert bool(torn(span, text[span.start : span.end], tokenizer.token_bytes)) == (len(span.ids) > 1)
