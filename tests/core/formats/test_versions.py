"""A version of a tokenizer, `at` a step, is written as one that was trained with just these merges: nothing of the
tokens of later steps is in its file or prevents it from being written."""

import json

import pytest

from bpe_core import Tokenizer, Vocabulary, load, save, train
from bpe_core.formats.file import LONGEST_TOKEN
from tests.nasty import nasty_texts

TEXTS = nasty_texts(60, seed=8)
BYTES = {byte: bytes([byte]) for byte in range(256)}
STEPS = (0, 1, 7, 30)


def looked_up(tmp_path):
    """A tokenizer.json with `ignore_merges`, as Llama 3 has it: each token is also a whole piece."""
    path = tmp_path / "tokenizer.json"
    save(
        train(TEXTS, vocab_size=300, pattern="llama3", special_tokens=["<|a|>"]),
        path,
        format="huggingface",
    )
    described = json.loads(path.read_text("utf-8"))
    described["model"]["ignore_merges"] = True
    path.write_text(json.dumps(described), "utf-8")
    return load(path)


def with_a_long_token(_):
    """The last token has 196,608 bytes, more than other formats may hold."""
    merges = [(97, 97, 256)]
    for token in range(257, 273):
        merges.append((token - 1, token - 1, token))
    merges.append((272, 271, 273))
    tokenizer = Tokenizer(Vocabulary(BYTES, merges, {"<|a|>": 300}), "llama3")
    assert len(tokenizer.token_bytes(273)) == 196_608 > LONGEST_TOKEN
    return tokenizer


def with_a_special_token_made_later(_):
    return Tokenizer(
        Vocabulary(
            BYTES, [(97, 98, 256), (256, 99, 257), (257, 97, 258)], {"abc": 257}
        ),
        "llama3",
    )


MAKERS = [looked_up, with_a_long_token, with_a_special_token_made_later]


@pytest.mark.parametrize("make", MAKERS)
def test_a_version_comes_back_from_a_file_of_our_own(make, tmp_path):
    tokenizer = make(tmp_path)
    for step in {*STEPS, tokenizer.step - 1, tokenizer.step}:
        if step <= tokenizer.step:
            save(tokenizer.at(step), tmp_path / "version.json")
            loaded = load(tmp_path / "version.json")
            assert loaded == tokenizer.at(step), step
            assert loaded.encode_ordinary_batch(TEXTS) == tokenizer.at(
                step
            ).encode_ordinary_batch(TEXTS)


@pytest.mark.parametrize("make", MAKERS[:2])
@pytest.mark.parametrize("format", ["huggingface", "tiktoken"])
def test_a_version_is_written_in_other_formats(make, format, tmp_path):
    tokenizer = make(tmp_path)
    for step in (0, 3, 10):
        save(tokenizer.at(step), tmp_path / "version", format=format)
        loaded = load(tmp_path / "version", pattern="llama3")
        assert loaded.step == step and loaded.n_tokens == 256 + step + (
            format == "huggingface"
        )
        assert loaded.encode_ordinary_batch(TEXTS) == tokenizer.at(
            step
        ).encode_ordinary_batch(TEXTS)


@pytest.mark.parametrize("make", MAKERS)
def test_a_version_holds_what_a_vocabulary_of_its_merges_holds(make, tmp_path):
    whole = make(tmp_path).vocabulary
    for step in (0, 1, 2, whole.n_merges):
        version, merges = whole.at(step), whole.merges[:step]
        known = {*whole.base, *(token for _, _, token in merges)}
        pieces = {
            piece: token
            for piece, token in whole.whole_pieces.items()
            if token in known
        }
        alone = Vocabulary(
            whole.base, merges, whole.special_tokens, whole_pieces=pieces
        )
        for name in (
            "bytes_of",
            "whole_pieces",
            "ranks",
            "base",
            "merges",
            "id_by_bytes",
            "n_tokens",
            "n_vocab",
        ):
            assert getattr(version, name) == getattr(alone, name), name
        assert version == alone and version.ids() == alone.ids()
        assert version.bytes_of.keys() == known and len(version.ranks) == step


def test_what_a_version_holds_stays_when_another_is_extended():
    first = Vocabulary(BYTES, [(97, 98, 256)])
    held = dict(first.bytes_of), dict(first.ranks), dict(first.whole_pieces)
    later = first.extended([(256, 99, 257)])
    assert (first.bytes_of, first.ranks, first.whole_pieces) == held
    assert later.bytes_of[257] == b"abc" and later.ranks[256, 99] == 1


def test_a_fork_looks_up_no_piece_of_the_tokens_it_lacks():
    """Each piece that was a token of the later steps is merged in the fork, where their ids mean something else."""
    learned = Vocabulary(
        BYTES, [(97, 98, 256), (98, 99, 257)], whole_pieces={b"ab": 256, b"bc": 257}
    )
    fork = learned.at(1).extended([(99, 100, 257)])
    assert fork.whole_pieces == {b"ab": 256}
    for encode in (fork.encode, fork.encoding.merge_in_python):
        assert encode(b"bc") == (98, 99)
    assert fork == Vocabulary(
        BYTES, [(97, 98, 256), (99, 100, 257)], whole_pieces={b"ab": 256}
    )
