"""LiveText: after every edit the tokens are those of a fresh encode, and the change says exactly what happened."""

import random
from importlib import import_module

import pytest

from bpe_core import PATTERNS, LiveText, OptionError, Tokenizer, Vocabulary, train
from bpe_core.editing.aligned_text import followed
from bpe_core.tokenizer.normalizers import lowercase
from bpe_core.tokenizer.preparation import Preparation
from bpe_core.utf8 import without_surrogates
from bpe_core.vocabulary.ranked import RankedVocabulary
from tests.nasty import CONTRACTIONS, SPACES, WORDS

OWN_PATTERNS = [r"\p{N}{1,2}|\w+|\W", r"\w+", r"(?<=x)a+|.|\n", r"a[^b]*b|a|(?s:.)", r"\b\w"]
BITS = [*WORDS, *SPACES, *CONTRACTIONS, *"aaaxb1 /'\n", "=" * 9, "\ud800", "\x1b"]


@pytest.fixture(scope="module")
def vocabulary():
    rng = random.Random(0)
    text = "".join(rng.choices([bit for bit in BITS if bit != "\ud800"], k=1500)) + "ab" * 80 + "a" * 90 + " " * 70
    return train(text, vocab_size=700, pattern="none").vocabulary


def random_edit(rng, text, bits):
    start = rng.randint(0, len(text))
    end = min(len(text), start + rng.choice((0, 0, 0, 1, 1, 2, 9, 80)))
    if rng.random() < 0.02:
        start, end = rng.choice(((0, len(text)), (start, len(text)), (0, end)))
    n = rng.choice((0, 1, 1, 1, 2, 3, 3, 120 if rng.random() < 0.1 else 1))
    return start, end, "".join(rng.choices(bits, k=n))


def borders(ids, token_bytes):
    found = [0]
    for token in ids:
        found.append(found[-1] + len(token_bytes(token)))
    return found


def check_change(change, old, new, text, token_bytes):
    """That `change` turns the tokens `old` into `new`, begins where it says, and is as short as can be."""
    begin = len(text[: change.start].encode()) + change.head
    index = borders(new, token_bytes).index(begin)
    removed, inserted = list(change.removed), list(change.inserted)
    assert [*old[:index], *inserted, *old[index + len(removed) :]] == new
    assert old[index : index + len(removed)] == removed
    assert change.n_tokens == len(new) - len(old)
    if removed and inserted:
        assert removed[0] != inserted[0] and removed[-1] != inserted[-1]


def ripple(old, new, token_bytes, n_before, n_after):
    """The farthest border that only one of them has, by sets: `n_before` and `n_after` bytes around are the same."""
    old_borders, new_borders = borders(old, token_bytes), borders(new, token_bytes)
    before = {b for b in old_borders if b <= n_before} ^ {b for b in new_borders if b <= n_before}
    after = {old_borders[-1] - b for b in old_borders} ^ {new_borders[-1] - b for b in new_borders}
    return max([0, *(n_before - b for b in before), *(n_after - b for b in after if b <= n_after)])


@pytest.mark.parametrize("pattern", [*PATTERNS, *OWN_PATTERNS])
@pytest.mark.parametrize("seed", range(1))
def test_every_edit_equals_a_fresh_encode(vocabulary, pattern, seed):
    rng = random.Random(f"{pattern} {seed}")
    bits = rng.sample(BITS, k=(3, 8, 30, 100)[seed])
    tokenizer = Tokenizer(vocabulary, pattern)
    text = without_surrogates("".join(rng.choices(bits, k=(40, 120, 120, 60)[seed])))
    live = LiveText(tokenizer, text)
    live.settle(float("inf"))
    for _ in range(50):
        start, end, replacement = random_edit(rng, text, bits)
        old, text_before = tokenizer.encode_ordinary(text), text
        change = live.splice(start, end, replacement)
        text = text[:start] + without_surrogates(replacement) + text[end:]
        new = tokenizer.encode_ordinary(text)
        assert live.text == text and live.ids == new
        assert (live.n_characters, live.n_bytes, live.n_tokens) == (len(text), len(text.encode()), len(new))
        assert live.settled, "a settled text stays settled"
        if tokenizer.splitter.lossy or old == new:
            continue
        check_change(change, old, new, text, tokenizer.token_bytes)
        n_after = len(text_before[end:].encode())
        assert change.ripple == ripple(old, new, tokenizer.token_bytes, len(text[:start].encode()), n_after)


@pytest.mark.parametrize("pattern", ["gpt4", "gpt4o", "words", r"\p{N}{1,2}|\w+|\W"])
def test_a_text_of_many_blocks_that_come_together_and_part(vocabulary, pattern):
    rng = random.Random(pattern)
    tokenizer = Tokenizer(vocabulary, pattern)
    text = without_surrogates("".join(rng.choices(BITS, k=700)))
    live = LiveText(tokenizer, text)
    live.settle(float("inf"))
    for n_new in (0, 0, 0, 1, 2, 300, 1, 0) * 5:
        start = rng.randint(0, len(text))
        end = min(len(text), start + rng.choice((0, 1, 5, 200)))
        typed = "".join(rng.choices(BITS, k=n_new))
        old = tokenizer.encode_ordinary(text)
        change = live.splice(start, end, typed)
        text = text[:start] + without_surrogates(typed) + text[end:]
        new = tokenizer.encode_ordinary(text)
        assert (live.text, live.ids, live.n_tokens) == (text, new, len(new))
        assert live.n_bytes == len(text.encode()) and live.settled
        if not tokenizer.splitter.lossy and old != new:
            check_change(change, old, new, text, tokenizer.token_bytes)


@pytest.mark.parametrize("lengths", [(2, 4, 8, 16, 3, 13, 81), (2, 3, 5, 7, 10, 17), (2, 4, 8, 16, 32, 64, 96, 97)])
def test_a_run_that_is_edited_before_all_of_it_was_looked_at(lengths):
    """What is not compatible between two parts of a run moves on border by border, in whatever order one looks."""
    rng = random.Random(str(lengths))
    tokens = {**{byte: bytes([byte]) for byte in range(256)}, **{256 + n: b" " * n for n in lengths}}
    tokenizer = Tokenizer(RankedVocabulary(tokens), "none")
    text = " " * 6000
    live = LiveText(tokenizer, text)
    for round in range(40):
        at = rng.randrange(len(text))
        live.spans(max(0, at - 300), at)
        live.splice(at, min(len(text), at + round % 2), typed := rng.choice((" ", "  ", "x", "")))
        text = text[:at] + typed + text[at + round % 2 :]
        live.settle(0)
        if rng.random() < 0.2:
            assert live.ids == tokenizer.encode_ordinary(text)
    assert live.ids == tokenizer.encode_ordinary(text)


@pytest.mark.parametrize("pattern", ["none", "gpt4", "words"])
def test_a_very_long_piece_is_exact_too(vocabulary, pattern):
    rng = random.Random(pattern)
    tokenizer = Tokenizer(vocabulary, pattern)
    for bits in (["a"], ["a", "b"], ["ab"], ["日", "a"], ["😊"], list("ACGT"), ["="], ["aab"]):
        text = "".join(rng.choices(bits, k=900))
        live = LiveText(tokenizer, text)
        if rng.random() < 0.5:
            live.settle(float("inf"))
        for _ in range(10):
            start, end, replacement = random_edit(rng, text, [*bits, *bits, *bits, "x", " "])
            text = text[:start] + replacement + text[end:]
            live.splice(start, end, replacement)
            assert live.text == text
            if rng.random() < 0.7:
                assert live.ids == tokenizer.encode_ordinary(text)


def test_digits_three_at_a_time_move_on_beside_the_screen(vocabulary):
    """One digit more, and every later piece ends elsewhere: those near by at once, the others when there is time."""
    tokenizer = Tokenizer(vocabulary, "gpt4")
    text = "1234567" * 3000
    live = LiveText(tokenizer, text)
    live.settle(float("inf"))
    live.splice(9000, 9000, "0")
    text = text[:9000] + "0" + text[9000:]
    assert not live.settled and live.n_tokens_known is None
    assert [live.piece_at(at) for at in (8999, 9000, 9003)] == [(8997, 9000), (9000, 9003), (9003, 9006)]
    near = live.spans(8000, 10000)
    while not live.settle(0):
        assert live.text == text
    assert live.ids == tokenizer.encode_ordinary(text) and live.spans(8000, 10000) == near
    live.splice(9000, 9001, "")
    assert live.ids == tokenizer.encode_ordinary("1234567" * 3000), "undone before it has settled, or after"


@pytest.mark.parametrize(
    "pattern", ["gpt4", "gpt4o", r".{1,7}|\n", r"\d{3}(?=\d)|\d|\D{1,4}", r"aa|b+c|\d{2,5}(?!b)|\w"]
)
@pytest.mark.parametrize("bits", ["1a", "😊1"])
def test_edits_in_a_text_that_is_still_being_split_again(vocabulary, monkeypatch, pattern, bits):
    monkeypatch.setattr(import_module("bpe_core.editing.live_text.resplit"), "STEP", 40)
    rng = random.Random(pattern + bits)
    tokenizer = Tokenizer(vocabulary, pattern)
    text = "".join(rng.choices(bits, k=900))
    live = LiveText(tokenizer, text)
    live.settle(float("inf"))
    undo = []
    for _ in range(30):
        start, end, typed = random_edit(rng, text, [*bits, "x"])
        if undo and rng.random() < 0.3:
            start, end, typed = undo.pop()
        undo.append((start, start + len(typed), text[start:end]))
        live.splice(start, end, typed)
        text = text[:start] + typed + text[end:]
        live.spans(max(0, start - 50), start)
        live.settle(0)
        assert live.text == text and live.n_bytes == len(text.encode())
        if live.settled or rng.random() < 0.3:
            assert (live.n_tokens, live.ids) == (len(live.ids), tokenizer.encode_ordinary(text))
    assert live.ids == tokenizer.encode_ordinary(text)


def test_spans_are_the_same_however_they_are_asked_for(vocabulary):
    rng = random.Random(3)
    for pattern in PATTERNS:
        tokenizer = Tokenizer(vocabulary, pattern)
        text = without_surrogates("".join(rng.choices(BITS, k=400))) + "ab" * 600
        live = LiveText(tokenizer, text)
        live.splice(50, 60, "edited\n")
        live.settle(float("inf"))
        text = live.text
        spans = live.spans(0, len(text))
        assert [token for span in spans for token in span.ids] == tokenizer.encode_ordinary(text)
        for span in spans:
            assert tokenizer.decode_bytes(span.ids) == text[span.start : span.end].encode()
        for _ in range(50):
            start = rng.randint(0, len(text))
            end = min(len(text), start + rng.randint(0, 99))
            assert live.spans(start, end) == [s for s in spans if s.start < end and start < s.end]
            at = live.span_at(start)
            assert at == next((s for s in spans if s.start <= start < s.end), None)


REMOVED = r"(?#only)(?:{0})(*SKIP)(*FAIL)|(?:(?!{0})(?s:.))+"
"""What a Split with the behavior "Removed" becomes."""


@pytest.mark.parametrize(
    "pattern",
    [
        *(REMOVED.format(removed) for removed in ("ab", "b+", r"\s+", r"a\b", "(?<=a)b", "aab?")),
        REMOVED.format("ab") + "(?#then)gpt2",
        r"(?#only)(?<=a)b+|\d",
        r"(?#only)a(?=b)|b",
        r"(?#only)a+(?=b)|ba|\d{1,3}",
        r"(?#only)\w{2}",
        r"(?#only)(?<!\d)\d{2}(?!\d)(?#then)gpt4",
        "words",
    ],
)
@pytest.mark.parametrize("bits", ["ab", "ab 1", [*WORDS, *SPACES, "ab", "aab"]])
def test_what_a_pattern_drops_depends_on_what_is_around_it(vocabulary, pattern, bits):
    """In `abb` the first b goes, the second stays, and by themselves they would look the same."""
    rng = random.Random(pattern + bits[0])
    tokenizer = Tokenizer(vocabulary, pattern)
    live, text = LiveText(tokenizer), ""
    for round in range(40):
        start, end, typed = random_edit(rng, text, bits)
        change = live.splice(start, end, typed)
        n_before = len(tokenizer.encode_ordinary(text))
        text = text[:start] + typed + text[end:]
        ids, places = tokenizer.encode_ordinary(text), tokenizer.splitter.places(text)
        assert change.n_tokens == len(ids) - n_before
        if round % 3 == 0:
            live = rng.choice((live, LiveText(tokenizer, text)))
        assert (live.text, live.ids, live.n_tokens) == (text, ids, len(ids))
        spans = live.spans(0, len(text))
        assert [token for span in spans for token in span.ids] == ids
        assert {at for span in spans for at in range(span.start, span.end)} == {
            at for a, b in places for at in range(a, b)
        }


def test_a_range_is_counted_without_a_look_at_all_of_it(vocabulary):
    rng = random.Random(9)
    for pattern in ("gpt4", "none", "words"):
        text = without_surrogates("".join(rng.choices(BITS, k=900)))
        live = LiveText(Tokenizer(vocabulary, pattern), text)
        for _ in range(60):
            start, end = sorted(rng.choices(range(len(text) + 1), k=2))
            known = live.n_tokens_between(start, end)
            assert known in (None, sum(len(span.ids) for span in live.spans(start, end)))
            live.settle(0)
        live.settle(float("inf"))
        assert live.n_tokens_between(0, len(text)) == live.n_tokens
        assert live.n_tokens_between(5, 5) == 0


def test_a_merge_forms_while_it_is_typed():
    live = LiveText(train(["low low lower newest newest"], vocab_size=262, pattern="gpt4"), "lw")
    change = live.splice(1, 1, "o")
    assert (change.removed_bytes, change.inserted_bytes) == ((b"l", b"w"), (b"low",))
    assert (change.start, change.n_tokens, change.n_bytes, change.ripple) == (0, -1, 1, 0)


def test_ripple_counts_bytes_to_the_farthest_border_that_moved():
    tokenizer = Tokenizer(Vocabulary.of_bytes().extended([(120, 97, 256), (97, 98, 257)]), "none")
    change = LiveText(tokenizer, "abcd").splice(0, 0, "x")
    assert change.inserted_bytes == (b"xa", b"b") and change.removed_bytes == (b"ab",)
    assert change.ripple == 1


def test_a_change_may_begin_inside_a_character():
    tokenizer = Tokenizer(Vocabulary.of_bytes(), "none")
    change = LiveText(tokenizer, "aé").splice(1, 2, "è")
    assert (change.start, change.head, change.removed, change.inserted) == (1, 1, (0xA9,), (0xA8,))


def test_an_edit_that_changes_nothing():
    live = LiveText(train("abab", vocab_size=257), "abab")
    assert live.splice(1, 3, "ba").removed == () == live.splice(2, 2, "").inserted


def test_another_step_of_the_same_tokenizer(vocabulary):
    rng = random.Random(4)
    tokenizer = Tokenizer(vocabulary, "gpt4")
    text = "".join(rng.choices([bit for bit in BITS if bit != "\ud800"], k=300)) + "a" * 1200
    live = LiveText(tokenizer, text)
    for step in (0, 1, 50, vocabulary.n_merges, 20):
        live.use(tokenizer.at(step))
        assert not live.settled and live.n_tokens_known is None
        live.spans(0, 50)
        assert live.ids == tokenizer.at(step).encode_ordinary(text)
        assert live.n_tokens == len(live.ids) == live.n_tokens_known


def test_another_pattern(vocabulary):
    live = LiveText(Tokenizer(vocabulary, "none"), "it's 12345\n\n  two " * 60)
    for pattern in PATTERNS:
        live.use(Tokenizer(vocabulary, pattern))
        assert live.ids == live.tokenizer.encode_ordinary(live.text)


def test_settling_in_slices_comes_to_an_end(vocabulary):
    text = "the quick brown fox \n" * 2000 + "ab" * 5000
    live = LiveText(Tokenizer(vocabulary, "gpt4"), text)
    slices = 1
    while not live.settle(0):
        slices += 1
        assert live.n_tokens_known is None
    assert slices > 10 and live.n_tokens_known == len(live.tokenizer.encode_ordinary(text))


def test_which_patterns_are_local(vocabulary):
    assert all(LiveText(Tokenizer(vocabulary, pattern)).local for pattern in PATTERNS)
    assert LiveText(Tokenizer(vocabulary, r"\p{N}{1,2}|\w+|\W")).local
    assert LiveText(Tokenizer(vocabulary, r"(?#only)\p{N}{1,2}|\w+")).local
    assert not LiveText(Tokenizer(vocabulary, r"(?<=x)a+|.|\n")).local


def test_an_edit_is_local_too_where_a_pattern_of_ones_own_drops_text(vocabulary, monkeypatch):
    tokenizer = Tokenizer(vocabulary, r"(?#only)\w+")
    live = LiveText(tokenizer, "some words, and more of them; " * 2000)
    live.settle(10)
    looked_at = []
    places = type(tokenizer.splitter).places
    monkeypatch.setattr(
        type(tokenizer.splitter), "places", lambda self, text: looked_at.append(len(text)) or places(self, text)
    )
    live.splice(30_000, 30_003, "x y")
    assert 0 < sum(looked_at) < 5000
    monkeypatch.undo()
    assert live.ids == tokenizer.encode_ordinary(live.text)


def test_a_lone_surrogate_counts_as_the_replacement_character_and_shifts_nothing(vocabulary):
    live = LiveText(Tokenizer(vocabulary, "gpt4"), "a\ud800b")
    live.splice(2, 2, "\udfff")
    assert live.text == "a\ufffd\ufffdb" and live.ids == live.tokenizer.encode_ordinary(live.text)


@pytest.mark.parametrize("preparation", [None, Preparation((), lowercase, (), False, False, {})])
def test_a_pair_of_surrogates_is_the_character_that_encoding_takes_it_for(vocabulary, preparation):
    tokenizer, pair = Tokenizer(vocabulary, "gpt4", preparation=preparation), "a \ud83d\ude0a"
    live = followed(tokenizer, pair)
    assert live.text == "a 😊" and live.ids == tokenizer.encode_ordinary(pair)
    change = live.splice(3, 3, pair)
    assert live.text == "a 😊a 😊" and live.ids == tokenizer.encode_ordinary(pair + pair)
    assert len(live.text) == live.n_characters and change.start <= 3


def test_special_tokens_are_text():
    live = LiveText(train("ab", vocab_size=258, special_tokens=["<|x|>"]), "")
    live.splice(0, 0, "<|x|>")
    assert live.ids == list(b"<|x|>")


def test_a_token_for_a_whole_piece_does_not_stay_when_the_piece_grows_very_long():
    tokenizer = Tokenizer(Vocabulary({**{b: bytes([b]) for b in range(256)}, 300: b"ab"}), r"\w+|\W")
    live = LiveText(tokenizer, "ab " + "c" * 600)
    assert live.ids[:2] == [300, 32]
    live.splice(2, 3, "")
    assert live.ids == list(live.text.encode())
    live.splice(2, 2, " ")
    assert live.ids[:2] == [300, 32]


def test_the_empty_text(vocabulary):
    for pattern in (*PATTERNS, *OWN_PATTERNS):
        live = LiveText(Tokenizer(vocabulary, pattern))
        assert (live.text, live.ids, live.spans(0, 0), live.n_tokens, live.span_at(0)) == ("", [], [], 0, None)
        live.splice(0, 0, "word " * 300)
        live.splice(0, 1500, "")
        assert (live.text, live.ids, live.n_bytes) == ("", [], 0)


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (2, 1), (0, 4), (4, 4)])
def test_a_range_that_is_none(vocabulary, start, end):
    with pytest.raises(OptionError, match="There is no range"):
        LiveText(Tokenizer(vocabulary, "gpt4"), "abc").splice(start, end, "")


def test_another_pattern_of_the_same_words_is_another_pattern():
    """ "words" drops the space between them, and the expression it is made of, as one's own, keeps it."""
    dropping, keeping = (train("low low lower", vocab_size=260, pattern=pattern) for pattern in ("words", r"\S+"))
    live = LiveText(dropping, "low low")
    live.use(keeping)
    assert live.ids == keeping.encode_ordinary("low low")
    live.use(dropping)
    assert live.ids == dropping.encode_ordinary("low low")
