"""Spans: which characters a token covers, even in part, and how a screen may color them."""

import random
from itertools import pairwise

import pytest
import regex

from bpe_core import Vocabulary, train
from bpe_core.live.spans import Part, Run, Span, layout, parts, runs

BYTES = Vocabulary.of_bytes()
SCRIPTS = ["a", "é", "e\u0301", "日本", "😊", "👩‍👩‍👧", "ภา", "हि", "\r\n", "\n", " ", "\x00", "𝒜", "🇩🇪"]


def as_bytes(text):
    return layout(text, list(text.encode()), BYTES.token_bytes)


def test_one_token_may_hold_several_characters_and_one_character_several_tokens():
    tokenizer = train("low low", vocab_size=258, pattern="none")
    spans = layout("low😊", tokenizer.encode_piece("low😊"), tokenizer.token_bytes)
    assert spans == (Span(0, 3, (257,)), Span(3, 4, (240, 159, 152, 138)))


def test_each_token_in_a_character_names_its_bytes():
    (span,) = as_bytes("é")
    assert parts(span, "é", BYTES.token_bytes) == [
        Part(0xC3, b"\xc3", 0, 1, head=0, tail=1),
        Part(0xA9, b"\xa9", 0, 1, head=1, tail=0),
    ]


def test_a_token_may_end_inside_one_character_and_another_begin_there():
    vocabulary = BYTES.extended([(ord("x"), 0xF0, 256), (0x8A, ord("y"), 257)])
    ids = vocabulary.encode("x😊y".encode())
    (span,) = layout("x😊y", ids, vocabulary.token_bytes)
    assert span == Span(0, 3, (256, 0x9F, 0x98, 257))
    first, *_, last = parts(span._replace(start=10, end=13), "x😊y", vocabulary.token_bytes)
    assert (first.start, first.end, first.head, first.tail) == (10, 12, 0, 3)
    assert (last.start, last.end, last.head, last.tail) == (11, 13, 3, 0)


def test_spans_cover_the_text_and_tell_its_bytes():
    rng = random.Random(1)
    tokenizer = train("".join(SCRIPTS) * 3, vocab_size=300, pattern="none")
    for _ in range(300):
        text = "".join(rng.choices(SCRIPTS, k=rng.randint(1, 9)))
        spans = layout(text, tokenizer.encode_piece(text), tokenizer.token_bytes)
        assert [s.start for s in spans] == [0, *[s.end for s in spans[:-1]]] and spans[-1].end == len(text)
        for span in spans:
            assert tokenizer.decode_bytes(span.ids) == text[span.start : span.end].encode()
            assert b"".join(part.bytes for part in parts(span, text[span.start : span.end], tokenizer.token_bytes)) == (
                text[span.start : span.end].encode()
            )


def test_plain_spans_are_runs_as_they_are():
    assert runs("abc", as_bytes("abc")) == [Run(0, 1, 0, 0), Run(1, 2, 1, 1), Run(2, 3, 2, 2)]


def test_a_cluster_that_two_tokens_share_is_a_run_of_its_own():
    cafe = "cafe\u0301!"
    spans = [Span(0, 4, (1,)), Span(4, 6, (2,))]
    assert runs(cafe, spans) == [Run(0, 3, 0, 0), Run(3, 5, 0, 1), Run(5, 6, 1, 1)]


def test_a_cluster_of_many_tokens_is_one_run():
    family = "👩‍👩‍👧"
    assert runs(family, as_bytes(family)) == [Run(0, 5, 0, 4)]


def test_runs_of_a_row_are_cut_to_the_row():
    spans = [Span(0, 4, (1,)), Span(4, 8, (2,)), Span(8, 12, (3,))]
    assert runs("bcde", spans, start=3) == [Run(3, 4, 0, 0), Run(4, 7, 1, 1)]


def test_what_a_pattern_drops_has_no_run():
    assert runs("a  b", [Span(0, 1, (1,)), Span(3, 4, (2,))]) == [Run(0, 1, 0, 0), Run(3, 4, 1, 1)]


@pytest.mark.parametrize("seed", range(40))
def test_runs_never_tear_a_cluster(seed):
    rng = random.Random(seed)
    text = "".join(rng.choices(SCRIPTS, k=12))
    borders = sorted({0, len(text), *rng.choices(range(len(text) + 1), k=8)})
    spans = [Span(a, b, (i,)) for i, (a, b) in enumerate(pairwise(borders))]
    found = runs(text, spans, 0)
    clusters = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    assert [run.start for run in found] == [0, *[run.end for run in found[:-1]]] and found[-1].end == len(text)
    for run in found:
        assert {run.start, run.end} <= clusters
        touching = [i for i, span in enumerate(spans) if span.start < run.end and run.start < span.end]
        assert (run.first, run.last) == (touching[0], touching[-1])
        assert run.first == run.last or len(regex.findall(r"\X", text[run.start : run.end])) == 1
