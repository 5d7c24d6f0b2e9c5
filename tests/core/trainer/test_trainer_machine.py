"""Whatever is done to a trainer, and whatever interrupts it, its merges are those of the definition."""

from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import bpe_core
from bpe_core import OptionError, Trainer, Vocabulary, reference, train
from bpe_core.corpus import Counts
from bpe_core.tokenizer.tie_rules import TIES
from tests.core.interrupted import Interrupted, interrupted_after

texts = st.lists(
    st.text(st.sampled_from("aab é\n😊"), max_size=14), min_size=1, max_size=5
)


class TrainerMachine(RuleBasedStateMachine):
    """One trainer, and beside it all that it has to learn, by the reference."""

    @initialize(
        texts=texts,
        ties=st.sampled_from(TIES),
        pattern=st.sampled_from(("none", "words")),
        n_merges=st.integers(1, 24),
        min_count=st.integers(1, 3),
        longest=st.sampled_from((None, 2, 3, 5)),
    )
    def begin(self, texts, ties, pattern, n_merges, min_count, longest):
        self.options = {
            "ties": ties,
            "pattern": pattern,
            "min_count": min_count,
            "max_token_length": longest,
        }
        self.learn_from(texts, n_merges)

    def learn_from(self, texts, n_merges, start=None):
        options = self.options
        self.texts, self.start, self.n_merges = texts, start, n_merges
        self.pieces = [
            piece.encode()
            for text in texts
            for piece in (text.split() if options["pattern"] == "words" else [text])
        ]
        given = [merge[:2] for merge in start.merges] if start else ()
        limits = options["min_count"], options["max_token_length"]
        self.expected = reference.train(
            self.pieces, n_merges, options["ties"], *limits, given
        )
        self.trainer, self.n_made = (
            Trainer(texts, vocab_size=256 + n_merges, start=start, **options),
            0,
        )

    def made(self, merges):
        """These were handed out, after those that were made before."""
        rows = [(m.left, m.right, m.token, m.count, m.ties, m.n_tokens) for m in merges]
        assert rows == self.expected[self.n_made : self.n_made + len(rows)]
        assert [m.step for m in merges] == list(
            range(self.n_made + 1, self.n_made + len(rows) + 1)
        )
        self.n_made += len(rows)

    @rule()
    def step(self):
        merge = next(self.trainer, None)
        assert (merge is None) == (self.n_made == len(self.expected))
        self.made([merge] if merge else [])

    @rule(n=st.integers(0, 9))
    def batch(self, n):
        merges = self.trainer.learn(n)
        assert len(merges) == min(n, len(self.expected) - self.n_made)
        self.made(merges)

    @rule(seconds=st.sampled_from((0, 1e-5, 1)), most=st.integers(1, 9))
    def slice_of_time(self, seconds, most):
        merges = self.trainer.learn(most, seconds)
        assert min(1, len(self.expected) - self.n_made) <= len(merges) <= most
        self.made(merges)

    @rule(line=st.integers(1, 900), n=st.integers(1, 9))
    def interrupted(self, line, n):
        with suppress(Interrupted), interrupted_after(line):
            self.trainer.learn(n)
            _ = self.trainer.vocabulary
        assert self.n_made <= self.trainer.n_merges <= self.n_made + n
        self.n_made = self.trainer.n_merges

    @precondition(lambda self: self.n_made)
    @rule(more=st.integers(0, 5))
    def resume(self, more):
        earlier, step = self.trainer.tokenizer(), self.n_made
        self.learn_from(self.texts, self.n_merges + more, self.start)
        limits = {
            "vocab_size": 256 + self.n_merges,
            "start": self.start,
            "resume": earlier,
        }
        self.trainer = Trainer(self.texts, **limits, **self.options)
        assert self.trainer.n_known == max(step, self.trainer.record.n_given)
        with pytest.raises(OptionError, match="the run to resume"):
            Trainer([*self.texts, "more"], **limits, **self.options)

    @precondition(lambda self: self.n_made)
    @rule(
        texts=texts,
        ties=st.sampled_from(TIES),
        more=st.integers(1, 9),
        longest=st.sampled_from((None, 2, 3)),
    )
    def extend(self, texts, ties, more, longest):
        """By other rules: some given pairs are longer than is allowed now, some occur nowhere."""
        self.options |= {"ties": ties, "max_token_length": longest}
        start = self.trainer.vocabulary
        self.learn_from(texts, start.n_merges + more, start)

    @rule(share=st.floats(0, 1))
    def travel(self, share):
        with suppress(bpe_core.UntrainedError):
            tokenizer = self.trainer.tokenizer()
            step = round(share * tokenizer.step)
            merges = [row[:3] for row in self.expected[:step]]
            for piece in self.pieces:
                assert list(
                    tokenizer.at(step).encode_piece(piece.decode())
                ) == reference.encode(piece, merges)

    @invariant()
    def it_is_as_the_reference_has_it(self):
        rows = self.expected[: self.n_made]
        assert self.trainer.n_merges == self.n_made
        assert list(self.trainer.vocabulary.merges) == [row[:3] for row in rows]
        split = [
            reference.encode(piece, [row[:3] for row in rows]) for piece in self.pieces
        ]
        counts = {
            token: count
            for token, count in self.trainer.token_counts().items()
            if count
        }
        assert counts == Counter(token for ids in split for token in ids)
        assert self.trainer.n_tokens == sum(counts.values())
        is_over = self.n_made == len(self.expected)
        if self.trainer.stop_reason:
            assert is_over and (
                self.trainer.stop_reason == "vocabulary size reached"
            ) == (self.n_made == self.n_merges)


def test_whatever_is_done_to_a_trainer() -> None:
    run_state_machine_as_test(
        TrainerMachine,
        settings=settings(max_examples=35, stateful_step_count=12, deadline=None),
    )


@pytest.mark.parametrize("ties", TIES)
def test_at_any_line_an_interrupt_leaves_each_merge_whole_or_not_made(
    ties: str,
) -> None:
    counts = Counts.of(
        "the cat and the hat, then the other cat " * 3 + "aaaa bbbb aaa bb"
    )
    whole = train(counts, vocab_size=284, ties=ties)

    def learn(trainer: Trainer) -> None:
        while trainer.learn(5):
            _ = trainer.tokenizer()

    moment, n_interrupted = 1, 0
    while True:
        trainer = Trainer(counts, vocab_size=284, ties=ties)
        try:
            with interrupted_after(moment):
                learn(trainer)
            break
        except Interrupted:
            n_interrupted += 1
        n = trainer.n_merges
        assert list(trainer.vocabulary.merges) == whole.merges[:n]
        assert trainer.n_tokens == sum(trainer.token_counts().values())
        trainer.learn(trainer.n_merges_wanted)
        again = trainer.tokenizer()
        assert (again.merges, again.n_vocab, again.record.steps) == (
            whole.merges,
            whole.n_vocab,
            whole.record.steps,
        )
        moment += 1 + moment // 12
    assert n_interrupted > 30


def test_a_vocabulary_whose_extension_was_interrupted_is_extended_all_the_same() -> (
    None
):
    merges = [(97, 98, 256), (256, 99, 257), (257, 257, 258)]
    is_interrupted, line = True, 0
    while is_interrupted:
        line += 1
        vocabulary, is_interrupted = Vocabulary.of_bytes(), False
        try:
            with interrupted_after(line):
                vocabulary.extended(merges)
        except Interrupted:
            is_interrupted = True
        assert 256 not in vocabulary and vocabulary.n_tokens == 256
        extended = vocabulary.extended(merges)
        assert (extended.n_tokens, list(extended.merges), extended.step_of(257)) == (
            259,
            merges,
            2,
        )
    assert line > 20
