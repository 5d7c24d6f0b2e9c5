"""A live text under all that can be done to it: whatever the order, its tokens are those of encoding its text anew.

The machine knows nothing of the inside. It runs with the sizes that are in use and with sizes of a few characters, so
that a short text has every border there is.
"""

import sys
from contextlib import contextmanager
from functools import cache
from itertools import accumulate

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bpe_core import Tokenizer, train
from bpe_core.editing.aligned_text import followed
from bpe_core.patterns import splitter
from bpe_core.tokenizer import normalizers
from bpe_core.tokenizer.added_tokens import AddedToken
from bpe_core.tokenizer.preparation import Preparation
from bpe_core.tokenizer.steps import PrefixStep, ReplaceStep, SplitStep
from bpe_core.utf8 import without_surrogates
from tests.nasty import CONTRACTIONS, SPACES, WORDS

NASTY = [*WORDS, *SPACES, *CONTRACTIONS, *"aab1 /'\n", "\ud800", "\ud83d\ude0a"]
ALPHABETS = [
    NASTY,
    ["a", "b"],
    ["a"],
    list("0123456789"),
    [" ", "\n", "a"],
    ["e", "\u0301", "日", " "],
    ["=", "x", " "],
]
PUBLISHED = ("gpt2", "gpt4", "gpt4o", "llama3", "none", "words")
OWN = (r"\p{N}{1,2}|\w+|\W", r"(?<=x)a+|.|\n", r"a[^b]*b|a|(?s:.)", r"\b\w", r"(?#only)a+(?=b)|ba|\d{1,3}")
SMALL = {"SIZE": 8, "LEAST": 3, "MOST": 24, "LONG": 12, "PART": 6, "SHORT": 3, "STEP": 16, "PART_SIZE": 6,
         "LONGEST_PART": 12, "SHORTEST_PART": 3}  # fmt: skip
"""The names of sizes in use, and a few characters in their place."""


PHASES = (Phase.explicit, Phase.generate)


class Interrupted(BaseException):
    """What is raised in the middle of an edit."""


@cache
def tokenizers():
    corpus = "".join(bit for bit in NASTY if bit != "\ud800") * 3 + "ab" * 80 + "a" * 90 + " " * 70 + "123456789" * 9
    vocabulary = train(without_surrogates(corpus), vocab_size=600, pattern="none").vocabulary

    def prepared(normalize, *steps, added=()):
        preparation = Preparation(added, normalize, steps, has_metaspace=False, drops_space=False, description={})
        return Tokenizer(vocabulary, "none", preparation=preparation)

    gpt2 = SplitStep(splitter("gpt2"))
    return [
        *(Tokenizer(vocabulary, pattern) for pattern in (*PUBLISHED, *OWN)),
        prepared(normalizers.normal_form("NFC"), gpt2),
        prepared(normalizers.lowercase, PrefixStep(" "), gpt2, added=(AddedToken("lo", 300), AddedToken("e ", 301))),
        prepared(None, ReplaceStep(" ", "▁"), PrefixStep("▁", only_first=True)),
        train(without_surrogates(corpus), vocab_size=400, pattern="gpt2", end_of_word="</w>"),
    ]


@contextmanager
def interrupted_after(n_calls):
    """Raise `Interrupted` at a call of the tokenizer, its patterns or its vocabulary: the one after so many."""
    left = n_calls

    def watch(frame, event, _):
        nonlocal left
        place = frame.f_code.co_filename
        if event == "call" and any(f"/bpe_core/{room}/" in place for room in ("tokenizer", "vocabulary", "patterns")):
            left -= 1
            if left < 0:
                raise Interrupted

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)


places = st.integers(0, 1 << 16)
lengths = st.sampled_from((0, 0, 0, 1, 1, 2, 9, 80, 1 << 16))
bits = st.lists(st.tuples(st.integers(0, 1 << 10), st.sampled_from((1, 1, 1, 2, 7, 40))), max_size=12)
keys = st.integers(0, 1 << 10)


class Edits(RuleBasedStateMachine):
    """A text in one alphabet, edited, settled, looked at, and tokenized by one tokenizer after the other."""

    @initialize(number=keys, alphabet=keys, made_of=bits)
    def begin(self, number, alphabet, made_of):
        self.tokenizer = tokenizers()[number % len(tokenizers())]
        self.alphabet = ALPHABETS[alphabet % len(ALPHABETS)]
        self.place = 0
        self.text = without_surrogates(self.written(made_of))
        self.live = followed(self.tokenizer, self.text)

    def written(self, made_of):
        return "".join(self.alphabet[number % len(self.alphabet)] * times for number, times in made_of)

    def spliced(self, start, n_removed, typed):
        """Make an edit, and hold what is said to have changed against what has."""
        start %= len(self.text) + 1
        end = min(len(self.text), start + n_removed)
        was_settled, old = self.live.settled, self.tokenizer.encode_ordinary(self.text)
        change = self.live.splice(start, end, typed)
        self.text = self.text[:start] + without_surrogates(typed) + self.text[end:]
        self.place = start + len(without_surrogates(typed))
        if was_settled and self.live.settled:
            self.check_change(change, old, self.tokenizer.encode_ordinary(self.text))

    def check_change(self, change, old, new):
        removed, inserted = list(change.removed), list(change.inserted)
        assert change.n_tokens == len(new) - len(old) == len(inserted) - len(removed)
        lossy = self.tokenizer.splitter.lossy
        if removed and inserted and not lossy:
            assert removed[0] != inserted[0] and removed[-1] != inserted[-1]
        starts = range(len(old) - len(removed) + 1)
        if self.tokenizer.by_piece:
            assert [self.tokenizer.token_bytes(token) for token in removed] == list(change.removed_bytes)
            assert [self.tokenizer.token_bytes(token) for token in inserted] == list(change.inserted_bytes)
        if self.tokenizer.by_piece and not lossy and old != new:
            borders = [0, *accumulate(len(self.tokenizer.token_bytes(token)) for token in new)]
            starts = [borders.index(len(self.text[: change.start].encode()) + change.head)]
        assert any(
            old[at : at + len(removed)] == removed and [*old[:at], *inserted, *old[at + len(removed) :]] == new
            for at in starts
        )

    @rule(start=places, key=keys)
    def insert(self, start, key):
        self.spliced(start, 0, self.alphabet[key % len(self.alphabet)])

    @rule(key=keys)
    def type_on(self, key):
        self.spliced(self.place, 0, self.alphabet[key % len(self.alphabet)])

    @rule(start=places, n_removed=lengths)
    def delete(self, start, n_removed):
        self.spliced(start, n_removed, "")

    @rule(start=places, n_removed=lengths, made_of=bits)
    def paste(self, start, n_removed, made_of):
        self.spliced(start, n_removed, self.written(made_of)[:400])

    @rule(start=places, n_removed=lengths, number=keys)
    def paste_what_is_nasty(self, start, n_removed, number):
        self.spliced(start, n_removed, NASTY[number % len(NASTY)])

    @rule(start=places, n_removed=lengths, made_of=bits, n_calls=st.sampled_from((0, 0, 1, 2, 3, 5, 9, 30, 100)))
    def be_interrupted(self, start, n_removed, made_of, n_calls):
        start %= len(self.text) + 1
        end, typed = min(len(self.text), start + n_removed), self.written(made_of)[:200]
        try:
            with interrupted_after(n_calls):
                self.live.splice(start, end, typed)
            self.text = self.text[:start] + without_surrogates(typed) + self.text[end:]
        except Interrupted:
            pass

    @precondition(lambda self: not self.live.settled)
    @rule(seconds=st.sampled_from((0, 0, float("inf"))))
    def settle(self, seconds):
        assert self.live.settle(seconds) == self.live.settled
        assert self.live.settled or not seconds

    @rule(step=places)
    def go_to_a_step(self, step):
        vocabulary = tokenizers()[0].vocabulary
        if self.tokenizer.by_piece and self.tokenizer.vocabulary.bytes_of is vocabulary.bytes_of:
            self.change_to(Tokenizer(vocabulary.at(step % (vocabulary.n_merges + 1)), self.tokenizer.pattern))

    @rule(number=keys)
    def take_another_tokenizer(self, number):
        self.change_to(tokenizers()[number % len(tokenizers())])

    def change_to(self, tokenizer):
        self.tokenizer = tokenizer
        if tokenizer.by_piece == self.live.tokenizer.by_piece:
            self.live.use(tokenizer)
        else:
            self.live = followed(tokenizer, self.text)

    @rule(start=places, length=st.sampled_from((1, 5, 50, 500)))
    def look_at_a_part(self, start, length):
        start %= max(1, len(self.text))
        end = min(len(self.text), start + length)
        assert self.live.between(start, end) == self.text[start:end]
        counted, part = self.live.n_tokens_between(start, end), self.live.spans(start, end)
        if self.live.settled:
            whole = [span for span in self.live.spans(0, len(self.text)) if span.start < span.end]
            assert [span for span in part if span.start < span.end] == [
                s for s in whole if s.start < end and start < s.end
            ]
            assert counted in (None, sum(len(span.ids) for span in part))  # None: blocks between are not encoded yet
            for span in part[:1]:
                assert self.live.span_at(max(start, span.start)) in (span, *part)

    @rule()
    def look_at_all(self):
        ids = self.tokenizer.encode_ordinary(self.text)
        assert self.live.ids == ids and self.live.n_tokens == len(ids)

    @invariant()
    def is_its_text(self):
        assert self.live.text == self.text and self.live.tokenizer is self.tokenizer
        assert (self.live.n_characters, self.live.n_bytes) == (len(self.text), len(self.text.encode()))

    @invariant()
    def is_exact_when_settled(self):
        if not self.live.settled:
            assert self.live.n_tokens_known is None
            return
        ids, spans = self.tokenizer.encode_ordinary(self.text), self.live.spans(0, len(self.text))
        assert self.live.ids == [token for span in spans for token in span.ids] == ids
        assert self.live.n_tokens_known == len(ids)
        bounds = [0, *(bound for span in spans for bound in span[:2]), len(self.text)]
        assert bounds == sorted(bounds)
        if self.tokenizer.by_piece:
            for span in spans:
                assert self.tokenizer.decode_bytes(span.ids) == self.text[span.start : span.end].encode()
            if not self.tokenizer.splitter.lossy:
                assert bounds[::2][:-1] == bounds[1::2][:-1] and (not self.text or spans[-1].end == len(self.text))


@pytest.mark.parametrize("sizes", [{}, SMALL], ids=["in use", "small"])
def test_whatever_is_done_to_a_live_text(sizes, monkeypatch):
    for name, module in list(sys.modules.items()):
        for constant, size in sizes.items() if name.startswith("bpe_core.editing") else ():
            if hasattr(module, constant):
                monkeypatch.setattr(module, constant, size)
    checked = settings(max_examples=60, stateful_step_count=30, suppress_health_check=list(HealthCheck), phases=PHASES)
    run_state_machine_as_test(Edits, settings=checked)
