"""AlignedText: where the tokens stand in a text that is changed before it is encoded."""

import random
import unicodedata

import pytest

from bpe_core import LiveText, OptionError, Tokenizer, UnknownTokenError, Vocabulary, train
from bpe_core.editing import aligned_parts, aligned_text
from bpe_core.editing.aligned_parts import LONGEST_ENCODED
from bpe_core.editing.aligned_text import AlignedText, followed
from bpe_core.editing.alignment import Alignment
from bpe_core.editing.spans import Span
from bpe_core.patterns import splitter
from bpe_core.patterns.expression import Expression
from bpe_core.tokenizer import normalizers as n
from bpe_core.tokenizer.added_tokens import AddedToken
from bpe_core.tokenizer.normalizers import SourceMap
from bpe_core.tokenizer.preparation import Preparation
from bpe_core.tokenizer.steps import PrefixStep, ReplaceStep, SplitStep
from bpe_core.vocabulary.symbols import CharacterSymbols
from tests.nasty import nasty_texts

TEXTS = nasty_texts(200, seed=11)
TYPED = [
    *" ▁eEß\n_@カ",
    "\u0301",
    "\u0327",
    "\u1100",
    "\u1161",
    "\u11a8",
    "\u0130",
    "ﬁ",
    "\u3099",
    "ﾞ",
    "\u0f73",
    "  ",
    "ab",
]
BYTES = train(TEXTS, vocab_size=500, pattern="gpt2").vocabulary


def prepared(normalize=None, steps=(), vocabulary=BYTES, added=(), has_metaspace=False):
    return Tokenizer(
        vocabulary,
        "none",
        preparation=Preparation(
            tuple(added),
            normalize,
            tuple(steps),
            has_metaspace=has_metaspace,
            drops_space=has_metaspace,
            description={},
        ),
    )


def of_characters(unknown=None, fuse=False, fallback=True):
    """A vocabulary of some characters and two merges; the rest are bytes, or unknown."""
    base = {3 + byte: bytes([byte]) for byte in range(256)} if fallback else {}
    names = {300: " ", 301: "l", 302: "o", 303: "w", 304: "é", 305: "カ"}
    base |= {token: name.encode() for token, name in names.items()} | {0: b"<unk>"}
    merges = [(301, 302, 310), (310, 303, 311), (300, 311, 312)]
    bytes_of = {byte: 3 + byte for byte in range(256)} if fallback else {}
    symbols = CharacterSymbols({name: token for token, name in names.items()}, bytes_of, unknown, fuse=fuse)
    return Vocabulary(base, merges, {}, symbols=symbols, whole_pieces={})


LLAMA = n.one_after_another([n.prepended("▁"), n.replaced(" ", "▁")])
ADDED = [AddedToken("lo", 301), AddedToken("ab", 302, normalized=True), AddedToken("E", 303, lstrip=True, rstrip=True)]
METASPACE = [ReplaceStep(" ", "▁"), PrefixStep("▁", only_first=True)]
GPT2, WORDS = SplitStep(splitter("gpt2")), SplitStep(splitter("words"))
MAKERS = {
    "NFC": lambda: prepared(n.normal_form("NFC"), [GPT2]),
    "NFD": lambda: prepared(n.normal_form("NFD"), [GPT2]),
    "NFKC and small": lambda: prepared(
        n.one_after_another([n.normal_form("NFKC"), n.lowercase]), [PrefixStep(" "), GPT2]
    ),
    "NFKD without accents": lambda: prepared(n.one_after_another([n.normal_form("NFKD"), n.without_accents]), [WORDS]),
    "replaced": lambda: prepared(n.one_after_another([
        n.stripped(True, True), n.replaced("e", "EE"), n.replaced("", "."), n.replaced("..", "ab"),
        n.replaced_matches(Expression(r"\s+|(?<=a)"), "_"), n.prepended("@")]), [GPT2]),
    "added": lambda: prepared(n.lowercase, [GPT2], added=ADDED),
    "llama 2": lambda: prepared(LLAMA, [SplitStep(splitter("▁+[^▁]*|[^▁]+"))], of_characters(), (), True),
    "metaspace": lambda: prepared(None, METASPACE, of_characters(), (), True),
    "unknown": lambda: prepared(n.lowercase, [WORDS], of_characters(0, fallback=False)),
    "unknown in a row": lambda: prepared(LLAMA, [], of_characters(0, fuse=True, fallback=False), (), True),
    "end of word": lambda: train(TEXTS, vocab_size=400, pattern="words", end_of_word="</w>"),
    "end of piece": lambda: train(TEXTS, vocab_size=400, pattern="gpt2", end_of_word="</w>"),
    "spaces removed": lambda: prepared(n.one_after_another([
        n.replaced_matches(Expression("  +"), " "), n.stripped(True, False, " "), LLAMA,
        n.stripped(False, True, "▁")]), [SplitStep(splitter("▁+[^▁]*|[^▁]+"))], of_characters(), (), True),
    "metaspace split": lambda: prepared(None, [*METASPACE, SplitStep(splitter("▁[^▁]*"))], of_characters(), (), True),
    "many added": lambda: prepared(None, [PrefixStep(" "), GPT2], added=[
        *ADDED, AddedToken("ee", 304, special=True), AddedToken("e  ", 305), AddedToken("Eß", 306, single_word=True)]),
    "removed": lambda: prepared(n.lowercase, [SplitStep(splitter(r"(?#only)[^e\s]+")), PrefixStep(" "), GPT2]),
    "bytes in one piece": lambda: prepared(n.normal_form("NFC"), []),
    "words of characters": lambda: prepared(n.normal_form("NFD"), [WORDS], of_characters(0, fuse=True, fallback=False)),
}  # fmt: skip


def holds(live):
    """The ids are those of a fresh encode, and the spans hold all of them, in order, each where it says."""
    ids, spans = live.tokenizer.encode_ordinary(live.text), live.spans(0, live.n_characters)
    assert live.ids == [token for span in spans for token in span.ids] == ids, ascii(live.text)
    assert len(ids) == live.n_tokens == len(live.places(0, live.n_tokens))
    bounds = [0, *(bound for span in spans for bound in (span.start, span.end)), live.n_characters]
    assert bounds == sorted(bounds)
    return spans


def covers(live):
    """The characters that no span holds."""
    held = {place for span in live.spans(0, live.n_characters) for place in range(span.start, span.end)}
    return [character for place, character in enumerate(live.text) if place not in held]


@pytest.fixture
def short_parts(monkeypatch):
    """Parts of some ten characters, so that every text has many."""
    monkeypatch.setattr(aligned_parts, "PART_SIZE", 6)
    monkeypatch.setattr(aligned_parts, "LONGEST_PART", 12)
    monkeypatch.setattr(aligned_text, "SHORTEST_PART", 3)


@pytest.mark.usefixtures("short_parts")
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("seed", range(1))
def test_after_every_edit_all_parts_together_are_the_whole(name, seed):
    rng = random.Random(f"{name} {seed}")
    tokenizer = MAKERS[name]()
    bits = (TEXTS, [*TYPED, *"low lé"], ["日本語の文章", "カ", "low ", " ", "e", "x\u0301"])[seed]
    live = AlignedText(tokenizer, "".join(rng.choices(bits, k=8)))
    n_parts = 0
    for _ in range(8):
        text = live.text
        start = rng.randint(0, len(text))
        end = min(len(text), start + rng.choice((0, 0, 1, 3, 30)))
        came = "".join(rng.choices(bits, k=rng.choice((0, 1, 1, 2, 9))))[:60]
        old = live.ids
        change = live.splice(start, end, came)
        text = text[:start] + came + text[end:]
        assert live.text == text and live.n_bytes == len(text.encode())
        whole = Alignment(tokenizer, text)
        assert live.ids == whole.ids == tokenizer.encode_ordinary(text), ascii(text)
        assert change.n_tokens == len(live.ids) - len(old)
        seen = [span for span in live.spans(0, len(text)) if span.start < span.end]
        assert seen == [span for span in whole.spans(0, len(text)) if span.start < span.end], ascii(text)
        assert live.places(0, live.n_tokens) == whole.places(0, live.n_tokens)
        at = rng.randint(0, len(text))
        index = whole.piece_index(at)
        if index is not None and len(whole.piece(index)[1]) < 30:
            assert (live.piece_at(at), live.prepared_piece(at)) == whole.piece(index)
        first, last = sorted((at, rng.randint(0, len(text))))
        assert live.n_tokens_between(first, last) == sum(len(span.ids) for span in live.spans(first, last))
        n_parts += len(live._parts)
    is_whole = name in ("replaced", "removed")  # rules that may look anywhere; a pattern of which no cuts are known
    assert n_parts > 24 or seed or is_whole, "there are cuts"


def test_what_starts_afresh_is_never_composed_with_what_is_before_it():
    second = set()
    for code in range(0x110000):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and "<" not in parts[0]:
            second.add(chr(int(parts[1], 16)))
    second |= {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    afresh = n.normal_form("NFC").rules[0].is_apart
    assert not any(map(afresh, second))
    assert all(map(afresh, "aZ1 .日カあ가éй"))


@pytest.mark.parametrize("name", MAKERS)
def test_after_every_edit_ids_and_spans_are_those_of_the_text(name):
    rng = random.Random(name)
    live = AlignedText(MAKERS[name](), "".join(rng.choices(TEXTS, k=3)))
    for _ in range(15):
        old, text = live.ids, live.text
        start = rng.randint(0, len(text))
        end = min(len(text), start + rng.choice((0, 0, 1, 3, len(text) // 2 if len(text) > 90 else 2)))
        came = rng.choice((rng.choice(TEXTS)[:9], "".join(rng.choices(TYPED, k=2)), ""))
        change = live.splice(start, end, came)
        assert live.text == text[:start] + came + text[end:]
        holds(live)
        new, places = live.ids, range(len(old) - len(change.removed) + 1)
        n_removed, n_inserted = len(change.removed), len(change.inserted)
        assert any(
            old[:at] == new[:at]
            and old[at + n_removed :] == new[at + n_inserted :]
            and tuple(old[at : at + n_removed]) == change.removed
            and tuple(new[at : at + n_inserted]) == change.inserted
            for at in places
        )
        if n_removed and n_inserted:  # nothing that both ends have in common
            assert change.removed[0] != change.inserted[0]
            assert change.removed[-1] != change.inserted[-1]


@pytest.mark.parametrize("name", MAKERS)
def test_the_spans_of_a_part_are_those_of_the_whole_that_meet_it(name):
    rng = random.Random(name)
    for text in TEXTS[:6]:
        live = AlignedText(MAKERS[name](), text)
        whole = holds(live)
        start, end = sorted(rng.choices(range(len(text) + 1), k=2))
        seen = [span for span in live.spans(start, end) if span.start < span.end]
        assert seen == [s for s in whole if s.start < end and start < s.end and s.start < s.end]
        empty = [span for span in whole if span.start == span.end]
        one_by_one = [s for at in range(len(text)) for s in live.spans(at, at + 1) if s.start == s.end]
        assert sorted(one_by_one) == sorted(empty) or not text.strip()


@pytest.mark.parametrize("name", ["NFC", "NFD", "llama 2", "metaspace", "end of piece"])
def test_where_nothing_is_dropped_spans_leave_no_gap(name):
    for text in TEXTS[:15]:
        assert not covers(AlignedText(MAKERS[name](), text))


@pytest.mark.parametrize("pattern", ["gpt4", "words", "none", r"(?#only)\w+|x"])
def test_of_bytes_alone_it_says_what_a_live_text_says(pattern):
    rng = random.Random(pattern)
    tokenizer = Tokenizer(BYTES, pattern)
    aligned, live = AlignedText(tokenizer, TEXTS[0]), LiveText(tokenizer, TEXTS[0])
    for text in TEXTS[:30]:
        start, end = sorted(rng.choices(range(live.n_characters + 1), k=2))
        one, other = aligned.splice(start, end, text), live.splice(start, end, text)
        assert aligned.ids == live.ids
        assert one.n_tokens == other.n_tokens
        assert holds(aligned) == live.spans(0, live.n_characters)
        place = rng.randint(0, live.n_characters)
        assert aligned.span_at(place) == live.span_at(place)
        if not tokenizer.splitter.lossy:
            assert aligned.piece_at(place) == live.piece_at(place)


def test_the_space_put_before_a_text_stands_for_nothing_in_it():
    live = AlignedText(MAKERS["llama 2"](), "low lowl")
    assert live.spans(0, 8) == [Span(0, 3, (312,)), Span(3, 7, (312,)), Span(7, 8, (301,))]
    live.splice(0, 0, "é")
    assert live.spans(0, 4) == [Span(0, 0, (300,)), Span(0, 1, (304,)), Span(1, 4, (311,))]
    assert live.prepared_piece(0) == " élow"
    change = live.splice(0, 1, "")
    assert (change.start, change.removed, change.inserted) == (0, (300, 304, 311), (312,))
    assert change.n_bytes == -2


def test_bytes_of_one_character_share_it_and_so_do_characters_that_became_one():
    live = AlignedText(MAKERS["llama 2"](), "oß")
    assert live.spans(0, 2) == [Span(0, 0, (300,)), Span(0, 1, (302,)), Span(1, 2, (3 + 0xC3, 3 + 0x9F))]
    live = AlignedText(prepared(n.normal_form("NFC"), (), of_characters()), "we\u0301w")
    assert live.spans(0, 4) == [Span(0, 1, (303,)), Span(1, 3, (304,)), Span(3, 4, (303,))]


def test_an_end_of_word_has_no_width_and_comes_with_the_word():
    tokenizer = Tokenizer(Vocabulary.of_bytes(end_of_word="</w>"), "words")
    live = AlignedText(tokenizer, "lo w")
    assert live.spans(0, 2) == [Span(0, 1, (108,)), Span(1, 2, (111,)), Span(2, 2, (256,))]
    assert live.spans(3, 4) == [Span(3, 4, (119,)), Span(4, 4, (256,))]
    assert covers(live) == [" "]


def test_unknown_characters_are_one_token_each_or_one_in_a_row():
    each = AlignedText(MAKERS["unknown"](), "lößüo")
    assert [(s.start, s.end) for s in each.spans(0, 5)] == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    fused = AlignedText(MAKERS["unknown in a row"](), "lößüo")
    assert [(s.start, s.end) for s in fused.spans(0, 5)] == [(0, 0), (0, 1), (1, 4), (4, 5)]


def test_an_added_token_is_no_piece():
    live = AlignedText(MAKERS["added"](), "x E ab")
    assert [span.ids for span in live.spans(1, 6)] == [(303,), (302,)]
    assert live.spans(1, 2)[0][:2] == (1, 4)  # with the white space beside it
    assert (live.prepared_piece(0), live.prepared_piece(2)) == ("x", "")


def test_every_segment_of_a_normal_form_stands_alone():
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        for text in (*TEXTS, "\u1100\u1161\u11a8\u1161", "x\u0316\u0f73\u0327", "カﾞﾞ", "\u09c7\u09be"):
            rule, done, parts = n.normal_form(form).rules[0], 0, []
            for start, end, new in rule.rewrites(text):
                parts += text[done:start], new
                done = end
            assert "".join((*parts, text[done:])) == unicodedata.normalize(form, text)


def test_a_rule_that_tells_its_rewrites_wrongly_is_not_believed():
    mapped = SourceMap((n.Rule(str.upper, lambda text: [(0, 1, "?")]),))
    assert mapped.add("aß") == "ASS"
    assert mapped.before(1, 2) == (0, 2)


def test_what_cannot_be_shown_is_refused_and_nothing_has_changed():
    live = followed(prepared(n.lowercase, (), of_characters(fallback=False)), "low")
    assert isinstance(live, AlignedText)
    with pytest.raises(UnknownTokenError, match="U\\+0071"):
        live.splice(0, 0, "q")
    with pytest.raises(OptionError, match="200,001 characters have no place to cut them"):
        AlignedText(MAKERS["end of word"](), "w" * (LONGEST_ENCODED + 1))
    with pytest.raises(OptionError, match="no range from 2 to 4"):
        live.spans(2, 4)
    assert (live.text, live.ids) == ("low", [311])
    assert isinstance(followed(Tokenizer(BYTES, "gpt2"), "low"), LiveText)
