"""A live text under all that can be done to it: whatever the order, its tokens are those of encoding its text anew.

The machine knows nothing of the inside. It runs with the sizes that are in use and with sizes of a few characters, so
that a short text has every border there is.
"""

import sys
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import accumulate

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from prepared_tokenizers import MAKERS

from bpe_core import LiveText, Tokenizer, Vocabulary, train
from bpe_core.live.alignment import Alignment
from bpe_core.tokenizer import SpecialsAllowed
from bpe_core.utf8 import without_surrogates
from bpe_core.vocabulary.ranked import RankedVocabulary
from tests.nasty import CONTRACTIONS, DIGITS, LATIN, SIGNS, SPACES

NASTY = [
    *LATIN,
    *SPACES,
    *CONTRACTIONS,
    *DIGITS,
    *SIGNS,
    "日本語",
    "\U0001f60a",
    "\ud800",
    "\ud83d\ude0a",
    "<|x|>",
]
ALPHABETS = [
    NASTY,
    ["a"],
    ["a", "b"],
    ["aab", "x"],
    list("0123456789"),
    [" ", "\n", "a"],
    ["=", "x", " "],
    ["日", "😊", "a"],
    [
        *" ▁eEß_@カ",
        "low",
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
        "ab",
    ],
]
PUBLISHED = ("gpt2", "gpt4", "gpt4o", "llama3", "none", "words")
OWN = (
    *(
        r"\p{N}{1,2}|\w+|\W",
        r"(?<=x)a+|.|\n",
        r"a[^b]{0,20}b|a|(?s:.)",
        r"\b\w",
        r".{1,7}|\n",
    ),
    *(
        r"\d{3}(?=\d)|\d|\D{1,4}",
        r".{1,7}(?#then)\d\d|.",
        r"(?#only)(?:(?<=a)b)(*SKIP)(*FAIL)|(?:(?!(?<=a)b)(?s:.))+",
    ),
    *(
        r"(?#only)a+(?=b)|ba|\d{1,3}",
        r"(?#only)\w{2}",
        r"(?#only)(?<!\d)\d{2}(?!\d)(?#then)gpt4",
    ),
)
SMALL = {
    "giant": {"LONG": 24, "STEP": 4, "WINDOW": 1, "STRETCH": 40},
    "plain": {"SIZE": 6, "REST": 12, "LONGEST": 20},
    "prepared": {"SIZE": 6, "REST": 12},
    "live_text": {"LEAST": 3, "GROUP": 3},
}
"""A few characters, tokens or parts in the place of the sizes that are in use, by module."""


class Interrupted(BaseException):
    """What is raised in the middle of an edit."""


@cache
def tokenizers():
    """Of every pattern; with special tokens; of ranks, and with pieces that no merges give; all that change a text."""
    corpus = without_surrogates(
        "".join(NASTY) * 3 + "ab" * 80 + "a" * 90 + " " * 70 + "123456789" * 9
    )
    learned = train(
        corpus, vocab_size=600, pattern="none", special_tokens=["<|x|>"]
    ).vocabulary
    runs = {256 + n: b"a" * n for n in (2, 4, 8, 16, 3, 13, 81)} | {
        400: b" " * 2,
        401: b" " * 5,
        402: b"ab",
    }
    base = {byte: bytes([byte]) for byte in range(256)}
    return [
        *(Tokenizer(learned, pattern) for pattern in (*PUBLISHED, *OWN)),
        SpecialsAllowed.of(Tokenizer(learned, "gpt4")),
        *(
            Tokenizer(RankedVocabulary(base | runs), pattern)
            for pattern in ("none", "gpt2")
        ),
        Tokenizer(
            Vocabulary(base | {300: b"ab", 301: b"x" * 9, 302: b" x"}), r"\w+|\W"
        ),
        *(make() for make in MAKERS.values()),
    ]


@contextmanager
def interrupted_after(n_calls):
    """Raise `Interrupted` at a call that the engine makes, whatever it calls: the one after so many."""
    left = n_calls

    def watch(frame, event, _):
        nonlocal left
        place = frame.f_code.co_filename
        if (
            event in ("call", "c_call")
            and "/bpe_core/" in place
            and frame.f_code.co_name != "patience"
        ):
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
bits = st.lists(
    st.tuples(st.integers(0, 1 << 10), st.sampled_from((1, 1, 1, 2, 7, 40))),
    max_size=12,
)
keys = st.integers(0, 1 << 10)


class Edits(RuleBasedStateMachine):
    """A text in one alphabet, edited, settled, looked at, and tokenized by one tokenizer after the other."""

    @initialize(number=keys, alphabet=keys, made_of=bits)
    def begin(self, number, alphabet, made_of):
        self.number = number % len(tokenizers())
        self.tokenizer = tokenizers()[self.number]
        self.alphabet = ALPHABETS[alphabet % len(ALPHABETS)]
        self.place = 0
        self.text = without_surrogates(self.written(made_of))
        self.live = LiveText(self.tokenizer, self.text)

    def written(self, made_of):
        return "".join(
            self.alphabet[number % len(self.alphabet)] * times
            for number, times in made_of
        )

    def spliced(self, start, n_removed, typed):
        """Make an edit, and hold what is said to have changed against what has."""
        start %= len(self.text) + 1
        end = min(len(self.text), start + n_removed)
        was_settled, before, old = (
            self.live.settled,
            self.text,
            self.tokenizer.encode_ordinary(self.text),
        )
        change = self.live.splice(start, end, typed)
        self.text = self.text[:start] + without_surrogates(typed) + self.text[end:]
        self.place = start + len(without_surrogates(typed))
        if was_settled and self.live.settled:
            ends = len(before[:start].encode()), len(before[end:].encode())
            self.check_change(
                change, old, self.tokenizer.encode_ordinary(self.text), *ends
            )
            assert change.n_bytes == len(self.text.encode()) - len(before.encode())

    def check_change(self, change, old, new, n_before, n_behind):
        removed, inserted = list(change.removed), list(change.inserted)
        assert change.n_tokens == len(new) - len(old) == len(inserted) - len(removed)
        lossy = self.tokenizer.splitter.lossy
        if removed and inserted and not lossy:
            assert removed[0] != inserted[0] and removed[-1] != inserted[-1]
        starts = range(len(old) - len(removed) + 1)
        if self.tokenizer.by_piece and not lossy and old != new:
            borders, others = (
                list(
                    accumulate(
                        (len(self.tokenizer.token_bytes(token)) for token in ids),
                        initial=0,
                    )
                )
                for ids in (new, old)
            )
            starts = [
                borders.index(len(self.text[: change.start].encode()) + change.head)
            ]
            stop = borders[starts[0] + len(inserted)]
            assert change.stop == max(
                change.start, len(self.text.encode()[:stop].decode(errors="replace"))
            )
            left = {at for at in borders if at <= n_before} ^ {
                at for at in others if at <= n_before
            }
            right = {borders[-1] - at for at in borders} ^ {
                others[-1] - at for at in others
            }
            reach = (
                *(n_before - at for at in left),
                *(n_behind - at for at in right if at <= n_behind),
            )
            assert change.ripple == max(reach, default=0), (
                "the farthest border that only one of them has"
            )
        assert any(
            old[at : at + len(removed)] == removed
            and [*old[:at], *inserted, *old[at + len(removed) :]] == new
            for at in starts
        )

    def borders(self, ids):
        """The bytes at which tokens begin, and where the last one ends."""
        return list(
            accumulate(
                (len(self.tokenizer.token_bytes(token)) for token in ids), initial=0
            )
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

    @rule(start=places, n_removed=lengths, made_of=bits, n_calls=st.integers(0, 400))
    def be_interrupted(self, start, n_removed, made_of, n_calls):
        """An edit that is interrupted changes nothing; then it is made."""
        start %= len(self.text) + 1
        typed = self.written(made_of)[:200]
        try:
            with interrupted_after(n_calls):
                self.live.splice(start, min(len(self.text), start + n_removed), typed)
        except Interrupted:
            self.is_its_text()
            self.is_exact_when_settled()
            self.spliced(start, n_removed, typed)
        else:
            end = min(len(self.text), start + n_removed)
            self.text = self.text[:start] + without_surrogates(typed) + self.text[end:]

    @rule(seconds=st.sampled_from((0, 0, float("inf"))))
    def settle(self, seconds):
        assert self.live.settle(seconds) == self.live.settled
        assert self.live.settled or not seconds

    @rule(step=places)
    def go_to_a_step(self, step):
        whole = tokenizers()[self.number]
        self.change_to(whole.at(step % (whole.step + 1)))

    @rule(number=keys)
    def take_another_tokenizer(self, number):
        self.number = number % len(tokenizers())
        self.change_to(tokenizers()[self.number])

    def change_to(self, tokenizer):
        self.tokenizer = tokenizer
        self.live.use(tokenizer)

    @rule(start=places, length=st.sampled_from((1, 5, 50, 500)))
    def look_at_a_part(self, start, length):
        start %= max(1, len(self.text))
        end = min(len(self.text), start + length)
        assert self.live.between(start, end) == self.text[start:end]
        counted, part = (
            self.live.n_tokens_between(start, end),
            self.live.spans(start, end),
        )
        if self.live.settled:
            whole = [
                span
                for span in self.live.spans(0, len(self.text))
                if span.start < span.end
            ]
            meets = [span for span in whole if span.start < end and start < span.end]
            assert [span for span in part if span.start < span.end] == meets
            assert counted == sum(len(span.ids) for span in part)
            for span in part[:1]:
                assert self.live.span_at(max(start, span.start)) in (None, *part)
        piece = self.live.piece_at(start)
        if not self.tokenizer.by_piece:
            found = Alignment(self.tokenizer, self.text).piece_at(start)
            assert (piece is None) == (found is None)
            assert piece is None or len(found[2]) > 30 or piece == found
        elif piece is not None:
            assert piece[2] == self.text[slice(*piece[:2])]
            places = self.tokenizer.splitter.places(self.text)
            assert piece[:2] in places or not any(
                at < piece[1] and piece[0] < stop for at, stop in places
            )

    @rule()
    def look_at_all(self):
        ids = self.tokenizer.encode_ordinary(self.text)
        assert (
            self.live.ids == ids
            and self.live.settled
            and self.live.n_tokens == len(ids)
        )

    @invariant()
    def is_its_text(self):
        assert self.live.text == self.text and self.live.tokenizer is self.tokenizer
        assert (self.live.n_characters, self.live.n_bytes) == (
            len(self.text),
            len(self.text.encode()),
        )

    @invariant()
    def is_exact_when_settled(self):
        if not self.live.settled:
            return
        ids, spans = (
            self.tokenizer.encode_ordinary(self.text),
            self.live.spans(0, len(self.text)),
        )
        assert self.live.ids == [token for span in spans for token in span.ids] == ids
        assert self.live.n_tokens == len(ids)
        if not self.tokenizer.by_piece:
            whole = Alignment(self.tokenizer, self.text).spans(0, len(self.text))
            assert [span for span in spans if span.start < span.end] == [
                s for s in whole if s.start < s.end
            ]
        bounds = [0, *(bound for span in spans for bound in span[:2]), len(self.text)]
        assert bounds == sorted(bounds)
        if self.tokenizer.by_piece:
            for span in spans:
                assert (
                    self.tokenizer.decode_bytes(span.ids)
                    == self.text[span.start : span.end].encode()
                )
            if not self.tokenizer.splitter.lossy:
                assert bounds[::2][:-1] == bounds[1::2][:-1] and (
                    not self.text or spans[-1].end == len(self.text)
                )


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # an interrupt as a generator is closed
@pytest.mark.parametrize("n_examples", [15, pytest.param(250, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sizes", [{}, SMALL], ids=["in use", "small"])
def test_whatever_is_done_to_a_live_text(sizes, n_examples, monkeypatch):
    for module, small in sizes.items():
        for name, size in small.items():
            monkeypatch.setattr(import_module(f"bpe_core.live.{module}"), name, size)
    quiet = {
        "suppress_health_check": list(HealthCheck),
        "phases": (Phase.explicit, Phase.generate),
    }
    run_state_machine_as_test(
        Edits,
        settings=settings(max_examples=n_examples, stateful_step_count=30, **quiet),
    )
