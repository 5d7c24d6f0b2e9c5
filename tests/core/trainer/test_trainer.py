"""The trainer: first the textbook's example, then what it must refuse; the oracle is in test_trainer_machine.py."""

import gc

import pytest

from bpe_core import OptionError, Trainer, UntrainedError, train
from bpe_core.corpus import Counts
from bpe_core.kernel.fallback import descending
from bpe_core.tokenizer.training_record import (
    NEEDLESS_OPTIONS,
    OPTION_OF,
    PEERS_NAMES,
    TrainOptions,
)


def rows(trainer):
    return [(m.left, m.right, m.token, m.count, m.ties, m.n_tokens) for m in trainer]


def test_the_textbook():
    trainer = Trainer("aaabdaaabac", vocab_size=259, pattern="none", ties="lowest")
    assert trainer.n_tokens == trainer.record.n_bytes == 11
    first, second, third = trainer
    assert [m.token_bytes for m in (first, second, third)] == [b"aa", b"ab", b"aaab"]
    assert [m.n_tokens for m in (first, second, third)] == [9, 7, 5]
    assert (first.step, first.left, first.right, first.token) == (1, 97, 97, 256)
    assert (first.count, first.ties) == (
        4,
        1,
    )  # "aaa" holds "aa" twice, though it can be merged only once
    assert (second.count, second.ties) == (
        2,
        2,
    )  # "ab" and "aa"+"a" were equally frequent
    assert trainer.stop_reason == "vocabulary size reached"


def test_hugging_face_numbers_the_space_after_the_letters():
    assert (
        next(
            Trainer([" a", "bc"], vocab_size=257, pattern="none", ties="lowest")
        ).token_bytes
        == b" a"
    )
    assert (
        next(
            Trainer([" a", "bc"], vocab_size=257, pattern="none", ties="lowest-hf")
        ).token_bytes
        == b"bc"
    )


def test_the_largest_pair_is_chosen_by_its_bytes_the_longer_one_winning():
    tokens = [b"", b"a", b"ab", b"b", b"\x00", b"\xff", b"\xff\xff", b"a\x00", b"a\xff"]
    pairs = [(left, right) for left in tokens for right in tokens]
    assert sorted(pairs, reverse=True) == sorted(
        pairs, key=lambda p: descending(p[0]) + descending(p[1])
    )


def test_counting_the_pairs_tells_how_far_it_is_and_can_be_ended():
    texts, told = ["".join(map("{:06}é ".format, range(30_000)))] * 2, []
    Trainer(
        texts,
        vocab_size=300,
        pattern="none",
        progress=lambda *where: told.append(where),
    )
    done, totals = zip(*told, strict=True)
    assert len(told) > 3 and list(done) == sorted(done)
    assert len(set(totals)) == 1 and done[-1] < totals[0]
    with pytest.raises(ZeroDivisionError):
        Trainer(texts, vocab_size=300, pattern="none", progress=lambda *_: 1 // 0)


def test_stop_reasons():
    stopped = Trainer("aaabdaaabac", vocab_size=300, pattern="none", min_count=2)
    assert len(list(stopped)) == 3
    assert stopped.stop_reason == "no pair occurs 2 times"
    exhausted = Trainer("ab", vocab_size=300, pattern="none")
    assert exhausted.stop_reason is None
    assert len(list(exhausted)) == 1
    assert exhausted.stop_reason == "no pair left"
    assert next(exhausted, None) is None
    empty = Trainer([], vocab_size=300)
    assert list(empty) == []
    assert (empty.stop_reason, empty.n_tokens, empty.record.n_bytes) == (
        "no pair left",
        0,
        0,
    )


def test_a_trainer_that_has_not_run_has_no_tokenizer():
    with pytest.raises(UntrainedError, match="has no merges yet"):
        Trainer("aaa", vocab_size=300).tokenizer()
    assert train("", vocab_size=300).encode("hé") == [
        0x68,
        0xC3,
        0xA9,
    ]  # it ran, and found nothing to learn


def test_specials_first_moves_every_id_but_changes_no_choice():
    plain = Trainer("aaabdaaabac", vocab_size=260, pattern="none")
    moved = Trainer(
        "aaabdaaabac",
        vocab_size=262,
        pattern="none",
        id_layout="specials-first",
        special_tokens=["<s>", "</s>"],
    )
    assert [(a + 2, b + 2, c + 2, *rest) for a, b, c, *rest in rows(plain)] == rows(
        moved
    )
    tokenizer = moved.tokenizer()
    assert tokenizer.special_tokens == {"<s>": 0, "</s>": 1}
    assert tokenizer.token_bytes(2 + ord("a")) == b"a"


def test_special_tokens_come_last_and_leave_no_hole_when_training_ends_early():
    tokenizer = train(
        "ababab", vocab_size=1000, pattern="none", special_tokens=["<|endoftext|>"]
    )
    assert tokenizer.special_tokens == {"<|endoftext|>": 256 + len(tokenizer.merges)}
    assert tokenizer.n_tokens == 257 + len(tokenizer.merges)


def test_counts_can_be_made_once_and_learned_from_often():
    counts = Counts.of(["low low", "lower"], "words")
    first, second = (
        rows(Trainer(counts, vocab_size=260, pattern="words")) for _ in range(2)
    )
    assert (
        first
        == second
        == rows(Trainer(["low low", "lower"], vocab_size=260, pattern="words"))
    )
    assert Trainer(counts, vocab_size=260).options.pattern == "words"
    for other in (
        "gpt2",
        "gpt4",
        r"\S+",
    ):  # the last one, of one's own, would keep the space between words
        with pytest.raises(OptionError, match="'words', not '"):
            Trainer(counts, vocab_size=260, pattern=other)
    assert Trainer("low", vocab_size=257).options.pattern == "gpt4"


def test_keyword_options_are_those_of_options():
    assert TrainOptions.__annotations__.keys() == OPTION_OF.keys() - {"vocab_size"}


def test_a_surrogate_is_learned_as_the_replacement_character():
    assert [
        m.token_bytes for m in Trainer("\ud800", vocab_size=300, pattern="none")
    ] == [
        b"\xef\xbf",
        "\ufffd".encode(),
    ]


def test_the_garbage_collector_is_left_as_it_was():
    trainer = Trainer("aaabdaaabac", vocab_size=300, pattern="none")
    assert next(trainer) and trainer.tokenizer() and gc.isenabled()
    gc.disable()
    try:
        assert trainer.tokenizer() and not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"vocab_size": 256}, "vocab_size is 256, but must be at least 257"),
        ({"vocab_size": 257, "special_tokens": ["<s>"]}, "at least 258"),
        ({"vocab_size": 2_000_000}, "no more than"),
        ({"vocab_size": "300"}, "a whole number, not '300'"),
        ({"vocab_size": True}, "a whole number, not True"),
        (
            {"vocab_size": 300, "ties": "random"},
            "choose one of first, lowest, lowest-hf, largest",
        ),
        (
            {"vocab_size": 300, "id_layout": "mixed"},
            "choose one of bytes-first, specials-first",
        ),
        ({"vocab_size": 300, "min_count": 0}, "min_count is 0"),
        ({"vocab_size": 300, "max_token_length": 1}, "max_token_length is 1"),
        ({"vocab_size": 300, "special_tokens": ["<s>", "<s>"]}, "named twice"),
        ({"vocab_size": 300, "special_tokens": [""]}, "non-empty string"),
        ({"vocab_size": 300, "special_tokens": [1]}, "non-empty string"),
        ({"vocab_size": 300, "special_tokens": "<s>"}, "a list of texts"),
        (
            {"vocab_size": 300, "min_count": 10**20},
            f"is {10**20}; no more than",
        ),  # a file with it was not read
        ({"vocab_size": 300, "max_token_length": 10**20}, f"is {10**20}; no more than"),
        (
            {"vocab_size": 300, "end_of_word": "x" * 101},
            "has 101 characters; give it 100 at most",
        ),
    ],
)
def test_options_that_make_no_sense(options, sentence):
    with pytest.raises(OptionError, match="-1: expected 0 or more"):
        Trainer("ab", vocab_size=257).learn(-1)
    with pytest.raises(OptionError, match=sentence):
        train("aaabdaaabac", **options)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("min_frequency", "it is called min_count here."),
        ("min_freq", "it is called min_count here."),
        ("n_vocab", "it is called vocab_size here."),
        (
            "num_merges",
            "it is called vocab_size here: 256 bytes, the special tokens and the merges.",
        ),
        ("pat_str", "it is called pattern here."),
        ("end_of_word_suffix", "it is called end_of_word here."),
        ("user_defined_symbols", "it is called special_tokens here."),
        ("initial_alphabet", "leave it out: all 256 bytes are tokens from the start."),
        (
            "show_progress",
            "leave it out: nothing is printed; give a function as progress to follow the training.",
        ),
        ("merge_rule", "choose from vocab_size, pattern, ties, "),
    ],
)
def test_an_option_that_only_other_libraries_have_is_told_by_its_name_here(name, hint):
    for kind in (OptionError, TypeError):
        with pytest.raises(kind) as caught:
            train("low lower", vocab_size=260, **{name: 2})
        assert str(caught.value).startswith(
            f"A training run has no option '{name}'; {hint}"
        )


def test_every_name_of_other_libraries_stands_for_an_option_that_exists():
    assert set(PEERS_NAMES.values()) <= set(OPTION_OF)
    assert not set(OPTION_OF) & (PEERS_NAMES.keys() | NEEDLESS_OPTIONS.keys())
