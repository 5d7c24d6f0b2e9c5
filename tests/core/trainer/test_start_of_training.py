"""Trainings that go on from a vocabulary: its merges are given, then the oracle decides; and what is refused."""

import tracemalloc
from fractions import Fraction

import pytest
from test_trainer import rows

from bpe_core import OptionError, Trainer, Vocabulary, load, save, train
from bpe_core import reference as oracle
from bpe_core.tokenizer.training_record import Options


def test_a_vocabulary_of_ranks_is_extended_by_the_merges_they_hide(tmp_path):
    text = "she sells sea shells by the sea shore; the shells she sells are sea shells, I am sure"
    old = train(text, vocab_size=270)
    save(old, tmp_path / "old.tiktoken", format="tiktoken")
    ranked = load(tmp_path / "old.tiktoken", pattern="gpt4").vocabulary
    assert not ranked.knows_merges and ranked.recovered_share == 0.0
    new = train(text, vocab_size=278, start=ranked)
    assert new.merges == train(text, vocab_size=278).merges and new.record.n_given == 14
    assert ranked.knows_merges and ranked.recovered_share == 1.0


def test_a_given_merge_costs_no_more_where_there_are_many():
    """Of 50,000 given merges, each copied those behind it: twenty seconds for nothing."""
    text = "".join(chr(a) + chr(b) for a in range(97, 118) for b in range(97, 118))
    trainer = Trainer(
        "a",
        vocab_size=5000,
        start=train(text * 2, vocab_size=1100, pattern="none").vocabulary,
    )
    assert trainer.record.n_given > 600
    least = 1 << 30
    tracemalloc.start()
    for _ in range(20):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        next(trainer)
        least = min(least, tracemalloc.get_traced_memory()[1] - before)
    tracemalloc.stop()
    assert least < 4 * 600, (
        "bytes at most that one step took: a pointer for each merge is 8"
    )


def test_all_ids_stay_and_new_tokens_take_the_free_ones():
    old = train("abab", vocab_size=258, pattern="none", special_tokens=["<s>"])
    assert old.special_tokens == {"<s>": 257}
    new = train("abcabc", vocab_size=260, pattern="none", start=old.vocabulary)
    assert [(new.token_bytes(token), token) for _, _, token in new.merges] == [
        (b"ab", 256),
        (b"abc", 258),
        (b"abcabc", 259),
    ]
    assert new.special_tokens == {"<s>": 257}
    fork = train("bcbc", vocab_size=258, pattern="none", start=old.vocabulary.at(0))
    assert fork.merges == [(98, 99, 256)]
    assert fork.n_vocab == 258
    first = train(
        "abab",
        vocab_size=258,
        pattern="none",
        special_tokens=["<s>"],
        id_layout="specials-first",
    )
    more = train("abcabc", vocab_size=259, pattern="none", start=first.vocabulary)
    assert more.record.id_layout == "specials-first"
    assert more.merges == [(98, 99, 257), (257, 100, 258)]


def test_the_marker_of_words_is_that_of_the_vocabulary():
    old = train("low low lower", vocab_size=259, pattern="words", end_of_word="</w>")
    texts = "low lower lowest newest widest"
    new = train(texts, vocab_size=270, pattern="words", start=old.vocabulary)
    assert new.record.end_of_word == "</w>"
    assert new.merges[: old.step] == old.merges
    assert new.at(old.step).encode("low") == old.encode("low")


def test_bytes_may_have_any_ids():
    base = {300 + (byte * 7) % 256: bytes([byte]) for byte in range(256)}
    id_of = {data[0]: token for token, data in base.items()}
    old = Vocabulary(base, [(id_of[97], id_of[98], 5)])
    new = train("abcabc", vocab_size=258, pattern="none", start=old)
    assert new.merges == [(id_of[97], id_of[98], 5), (5, id_of[99], 0)]


def test_what_cannot_be_extended():
    old = train("abab", vocab_size=258, pattern="none")
    with pytest.raises(
        OptionError, match="has 258 tokens; ask for a larger vocab_size"
    ):
        Trainer("abab", vocab_size=257, pattern="none", start=old.vocabulary)
    with pytest.raises(OptionError, match="those of the vocabulary to extend"):
        Trainer(
            "abab",
            vocab_size=300,
            pattern="none",
            start=old.vocabulary,
            special_tokens=["<s>"],
        )
    lacks = Vocabulary({byte: bytes([byte]) for byte in range(255)})
    with pytest.raises(OptionError, match="do not begin with the 256 bytes"):
        Trainer("abab", vocab_size=300, start=lacks)


@pytest.mark.parametrize("share", ["1/3", "0.25", "1/100", "0", "1"])
def test_learning_ends_with_the_first_pair_that_saves_less_than_the_share(share):
    text = "the cat sat on the mat, the cat ate the rat, and that was that"
    n_tokens, expected = len(text), []
    for row in oracle.train([text.encode()], 60, "first"):
        expected.append(row)
        if row[3] < Fraction(share) * n_tokens:
            break
        n_tokens = row[5]
    trainer = Trainer(text, vocab_size=316, pattern="none", min_share=share)
    assert rows(trainer) == expected
    finished = Trainer(text, vocab_size=316, pattern="none", min_share=share)
    finished.learn(1 << 20)
    assert finished.n_merges == len(expected)
    for wrong in ("x", "1/0", "-1/2", "3/2"):
        with pytest.raises(OptionError, match="min_share"):
            Trainer(text, vocab_size=316, min_share=wrong)


def test_special_tokens_are_not_compared_with_one_another() -> None:
    """With many, nothing takes the square of their number."""

    class Text(str):
        def __eq__(self, other: object) -> bool:
            n_compared.append(1)
            return str(self) == str(other)

        __hash__ = str.__hash__

    class Id(int):
        def __eq__(self, other: object) -> bool:
            n_compared.append(1)
            return int(self) == other

        __hash__ = int.__hash__

    n, n_compared = 300, list[int]()
    assert (
        len(
            Options(1000, special_tokens=[Text(f"<{i}>") for i in range(n)])
            .checked()
            .special_tokens
        )
        == n
    )
    specials = {f"<{i}>": Id(256 + i) for i in range(n)}
    behind = Vocabulary(Vocabulary.of_bytes().base, (), specials).extended(
        [(97, 98, 256)]
    )
    assert [*behind.special_tokens.values()] == [*range(257, 257 + n)] and sum(
        n_compared
    ) < 10 * n
