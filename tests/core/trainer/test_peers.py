"""Trained here is trained there: the merges of two well-known trainers, reproduced one by one."""

import sysconfig
from pathlib import Path

import pytest
import rustbpe
import tokenizers

from bpe_core import PATTERNS, train


@pytest.fixture
def engine():
    """The kernel, where it is; that both learn alike is seen elsewhere."""


@pytest.fixture(scope="module")
def texts():
    """Some 700 kB of real source text that every machine has."""
    folder = Path(sysconfig.get_path("stdlib"))
    names = ("argparse", "ast", "datetime", "decimal", "inspect", "locale", "subprocess", "tarfile", "turtle", "typing")
    found = [(folder / f"{name}.py").read_text(encoding="utf-8") for name in names if (folder / f"{name}.py").is_file()]
    if len(found) < 5:
        pytest.skip("the standard library's sources are not installed here")
    return [*found, "Größe, naïveté, Ελληνικά, 日本語の文章, 😊🤯😊🤯\n" * 40]


def tokens_of(tokenizer):
    return [tokenizer.token_bytes(token) for _, _, token in tokenizer.merges]


def test_lowest_is_the_rule_of_rustbpe(texts):
    theirs = rustbpe.Tokenizer()
    theirs.train_from_iterator(iter(texts), 2000, pattern=PATTERNS["gpt4"])
    ranks = sorted(((rank, bytes(token)) for token, rank in theirs.get_mergeable_ranks()), key=lambda row: row[0])
    assert tokens_of(train(texts, vocab_size=2000, pattern="gpt4", ties="lowest")) == [
        token for _, token in ranks[256:]
    ]


def test_lowest_hf_is_the_rule_of_hugging_face(texts):
    byte_level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = byte_level
    theirs.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=2000, initial_alphabet=byte_level.alphabet(), show_progress=False, special_tokens=[]
    )
    theirs.train_from_iterator(texts, trainer)
    ours = train(texts, vocab_size=2000, pattern="gpt2", ties="lowest-hf")
    printed = {character: byte for byte, character in printed_characters().items()}
    by_id = sorted((token, text) for text, token in theirs.get_vocab().items())
    assert tokens_of(ours) == [bytes(printed[character] for character in text) for _, text in by_id[256:]]


def printed_characters():
    """Byte -> the character under which Hugging Face writes it: Latin-1's printable ones stay, the rest move up."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    moved = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) if byte in printable else chr(256 + moved.index(byte)) for byte in range(256)}
