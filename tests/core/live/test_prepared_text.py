"""Live texts whose tokenizer changes them before it encodes them: where the tokens stand."""

import unicodedata

import pytest
from prepared_tokenizers import MAKERS, TEXTS, of_characters, prepared

from bpe_core import LiveText, OptionError, Tokenizer, UnknownTokenError, Vocabulary
from bpe_core.live.alignment import Alignment
from bpe_core.live.change import Span
from bpe_core.live.prepared import LONGEST
from bpe_core.tokenizer import normalizers as n


def covers(live):
    """The characters that no span holds."""
    held = {
        place
        for span in live.spans(0, live.n_characters)
        for place in range(span.start, span.end)
    }
    return [character for place, character in enumerate(live.text) if place not in held]


def test_what_starts_afresh_is_never_composed_with_what_is_before_it():
    second = set()
    for code in range(0x110000):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and "<" not in parts[0]:
            second.add(chr(int(parts[1], 16)))
    second |= {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    afresh = n.NormalForm("NFC").is_apart
    assert not any(map(afresh, second))
    assert all(map(afresh, "aZ1 .日カあ가éй"))


@pytest.mark.parametrize("name", ["NFC", "NFD", "llama 2", "metaspace", "end of piece"])
def test_where_nothing_is_dropped_spans_leave_no_gap(name):
    for text in TEXTS[:15]:
        assert not covers(LiveText(MAKERS[name](), text))


@pytest.mark.parametrize("name", MAKERS)
def test_each_empty_span_meets_one_character(name):
    for text in TEXTS[:6]:
        live = LiveText(MAKERS[name](), text)
        empty = [span for span in live.spans(0, len(text)) if span.start == span.end]
        one_by_one = [
            s
            for at in range(len(text))
            for s in live.spans(at, at + 1)
            if s.start == s.end
        ]
        assert sorted(one_by_one) == sorted(empty) or not text.strip()


@pytest.mark.parametrize("name", MAKERS)
def test_a_piece_across_parts_is_followed_in_both_directions(name):
    tokenizer = MAKERS[name]()
    text = "low" * 400 + " low"
    live = LiveText(tokenizer, text)
    whole = Alignment(tokenizer, text)
    for offset in 0, 700, 1100, 1201:
        assert live.piece_at(offset)[:2] == whole.piece_at(offset)[:2]


def test_ripple_counts_bytes_to_the_right_of_an_edit():
    vocabulary = Vocabulary.of_bytes().extended([(120, 97, 256), (97, 98, 257)])
    tokenizer = prepared([n.NormalForm("NFC")], [], vocabulary)
    change = LiveText(tokenizer, "abcd").splice(0, 0, "x")
    assert (change.inserted, change.removed) == ((256, 98), (257,))
    assert change.ripple == 1


def test_the_space_put_before_a_text_stands_for_nothing_in_it():
    live = LiveText(MAKERS["llama 2"](), "low lowl")
    assert live.spans(0, 8) == [
        Span(0, 3, (312,)),
        Span(3, 7, (312,)),
        Span(7, 8, (301,)),
    ]
    live.splice(0, 0, "é")
    assert live.spans(0, 4) == [
        Span(0, 0, (300,)),
        Span(0, 1, (304,)),
        Span(1, 4, (311,)),
    ]
    assert live.piece_at(0)[2] == " élow"
    change = live.splice(0, 1, "")
    assert (change.start, change.removed, change.inserted) == (
        0,
        (300, 304, 311),
        (312,),
    )
    assert change.n_bytes == -2


def test_bytes_of_one_character_share_it_and_so_do_characters_that_became_one():
    live = LiveText(MAKERS["llama 2"](), "oß")
    assert live.spans(0, 2) == [
        Span(0, 0, (300,)),
        Span(0, 1, (302,)),
        Span(1, 2, (3 + 0xC3, 3 + 0x9F)),
    ]
    live = LiveText(prepared([n.NormalForm("NFC")], (), of_characters()), "we\u0301w")
    assert live.spans(0, 4) == [
        Span(0, 1, (303,)),
        Span(1, 3, (304,)),
        Span(3, 4, (303,)),
    ]


def test_an_end_of_word_has_no_width_and_comes_with_the_word():
    tokenizer = Tokenizer(Vocabulary.of_bytes(end_of_word="</w>"), "words")
    live = LiveText(tokenizer, "lo w")
    assert live.spans(0, 2) == [
        Span(0, 1, (108,)),
        Span(1, 2, (111,)),
        Span(2, 2, (256,)),
    ]
    assert live.spans(3, 4) == [Span(3, 4, (119,)), Span(4, 4, (256,))]
    assert covers(live) == [" "]


def test_unknown_characters_are_one_token_each_or_one_in_a_row():
    each = LiveText(MAKERS["unknown"](), "lößüo")
    assert [(s.start, s.end) for s in each.spans(0, 5)] == [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 5),
    ]
    fused = LiveText(MAKERS["unknown in a row"](), "lößüo")
    assert [(s.start, s.end) for s in fused.spans(0, 5)] == [
        (0, 0),
        (0, 1),
        (1, 4),
        (4, 5),
    ]


def test_an_added_token_is_no_piece():
    live = LiveText(MAKERS["added"](), "x E ab")
    assert [span.ids for span in live.spans(1, 6)] == [(303,), (302,)]
    assert live.spans(1, 2)[0][:2] == (1, 4)  # with the white space beside it
    assert (live.piece_at(0)[2], live.piece_at(2)[2]) == ("x", "")


def test_every_segment_of_a_normal_form_stands_alone():
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        for text in (
            *TEXTS,
            "\u1100\u1161\u11a8\u1161",
            "x\u0316\u0f73\u0327",
            "カﾞﾞ",
            "\u09c7\u09be",
        ):
            rule, done, parts = n.NormalForm(form), 0, []
            for start, end, new in rule.rewrites(text):
                parts += text[done:start], new
                done = end
            assert "".join((*parts, text[done:])) == unicodedata.normalize(form, text)


def test_what_cannot_be_shown_is_refused_and_nothing_has_changed():
    live = LiveText(prepared([n.LOWERCASE], (), of_characters(fallback=False)), "low")
    with pytest.raises(UnknownTokenError, match="U\\+0071"):
        live.splice(0, 0, "q")
    with pytest.raises(
        OptionError, match="200,001 characters in a row have no safe place to cut"
    ):
        LiveText(MAKERS["end of word"](), "low " * 128 + "w" * (LONGEST + 1))
    with pytest.raises(OptionError, match="range from 2 to 4 is not in"):
        live.spans(2, 4)
    assert (live.text, live.ids) == ("low", [311])
