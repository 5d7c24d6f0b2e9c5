"""Spans: which characters a token covers, even in part; that they cover any text is in test_live_machine.py."""

from bpe_core import Vocabulary, train
from bpe_core.live.change import Span, layout, torn

BYTES = Vocabulary.of_bytes()


def test_one_token_may_hold_several_characters_and_one_character_several_tokens():
    tokenizer = train("low low", vocab_size=258, pattern="none")
    spans = layout("low😊", tokenizer.encode_piece("low😊"), tokenizer.token_bytes)
    assert spans == (Span(0, 3, (257,)), Span(3, 4, (240, 159, 152, 138)))


def test_a_token_may_end_inside_one_character_and_another_begin_there():
    vocabulary = BYTES.extended([(ord("x"), 0xF0, 256), (0x8A, ord("y"), 257)])
    ids = vocabulary.encode("x😊y".encode())
    (span,) = layout("x😊y", ids, vocabulary.token_bytes)
    assert span == Span(0, 3, (256, 0x9F, 0x98, 257))
    assert torn(span._replace(start=10, end=13), "x😊y", vocabulary.token_bytes) == [
        11,
        11,
        11,
    ]
