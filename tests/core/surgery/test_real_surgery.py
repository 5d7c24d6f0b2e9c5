"""Real vocabularies with 60 tokens removed and 200 words added: tiktoken and Hugging Face's library give our ids, and these
are those of both theorems, on nasty texts."""

import os
import random
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import pytest
import tokenizers
from formed import formed_tokens
from real import real_file

from bpe_core import Tokenizer, graft, load, prune, reference, save, train, unite
from bpe_core.content.samples import SAMPLES
from bpe_core.surgery import save_changed
from tests.nasty import nasty_texts

N_TEXTS = int(os.environ.get("BPESCOPE_SURGERY_TEXTS", "2000"))
LLAMA_3 = Path(os.environ.get("BPESCOPE_VOCABS", ""), "llama3.json")
SYLLABLES = ("ba", "lo", "mi", "zu", "ké", "что", "東京", "nner")


def words():
    """More than 200 words that no vocabulary has."""
    rng = random.Random(7)
    parts = rng.sample(list(product(SYLLABLES, repeat=4)), 280)
    return [rng.choice(("", " ")) + "".join(four) for four in parts]


def texts(grafted):
    """Nasty texts without special tokens, and texts with the new words."""
    rng = random.Random(11)
    nasty = [text for text in nasty_texts(N_TEXTS, seed=43) if "<" not in text]
    nasty = [
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        for text in nasty
    ]
    names = [word.word for word in grafted.words]
    for _ in range(N_TEXTS // 4):
        mixed = (
            rng.sample(names, 3) + rng.sample(nasty, 2) + rng.choices(SYLLABLES, k=4)
        )
        rng.shuffle(mixed)
        nasty.append("".join(mixed))
    return nasty


def changed(tokenizer):
    rng = random.Random(5)
    vocabulary = tokenizer.vocabulary
    special = set(tokenizer.special_tokens.values())
    long = [
        token
        for token, data in sorted(vocabulary.bytes_of.items())
        if len(data) > 2 and token not in special
    ]
    ids_of_texts = tokenizer.encode_ordinary(" ".join(nasty_texts(300, seed=2)))
    occurring = sorted(set(ids_of_texts).intersection(long))
    removed = {*rng.sample(occurring, 20), *rng.sample(long, 60)}
    removed = sorted(removed)[:60]
    pruned = prune(tokenizer, removed, unreachable="with-descendants")
    return pruned, graft(pruned.tokenizer, words())


def check_theorems(tokenizer, pruned, grafted, all_texts):
    removed = set(pruned.removed)
    merges = grafted.merges
    pairs = {(left, right) for left, right, _ in merges}

    @cache
    def forms_none(piece):
        return removed.isdisjoint(formed_tokens(tokenizer.vocabulary, piece.encode()))

    @cache
    def with_new_pairs(piece):
        ids = list(pruned.tokenizer.encode_piece(piece))
        if not pairs.isdisjoint(pairwise(ids)):
            for left, right, token in merges:
                ids = reference.merged(ids, (left, right), token)
        return ids

    n_same = n_formed = n_grafted = 0
    for text in all_texts:
        pieces = tokenizer.splitter.split(text)
        old = tokenizer.encode_ordinary(text)
        without = pruned.tokenizer.encode_ordinary(text)
        if all(map(forms_none, pieces)):
            assert without == old
            n_same += 1
        else:
            n_formed += 1
        expected = [token for piece in pieces for token in with_new_pairs(piece)]
        assert grafted.tokenizer.encode_ordinary(text) == expected
        n_grafted += expected != without
    assert min(n_same, n_formed, n_grafted) > N_TEXTS // 20


def check_the_library(tokenizer, path, all_texts):
    theirs = tokenizers.Tokenizer.from_file(str(path))
    encoded = theirs.encode_batch(all_texts, add_special_tokens=False)
    assert [line.ids for line in encoded] == tokenizer.encode_ordinary_batch(all_texts)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vocab.bpe", "cl100k_base", "o200k_base"])
def test_published_ranks_and_merges(name, tmp_path):
    if name == "vocab.bpe":
        real_file("encoder.json", tmp_path)
        tokenizer = load(real_file(name, tmp_path))
    else:
        tokenizer = load(real_file(f"{name}.tiktoken", tmp_path))
    pruned, grafted = changed(tokenizer)
    assert len(grafted.words) >= 200
    all_texts = texts(grafted)
    check_theorems(tokenizer, pruned, grafted, all_texts)
    now = grafted.tokenizer
    expected = now.encode_ordinary_batch(all_texts)
    assert now.to_tiktoken().encode_ordinary_batch(all_texts) == expected
    folder = tmp_path / "new"
    folder.mkdir()
    save(now, folder / "ranks.tiktoken", format="tiktoken")
    read = load(folder / "ranks.tiktoken", pattern=now.pattern)
    assert read.encode_ordinary_batch(all_texts) == expected
    save(now, folder / "tokenizer.json", format="huggingface")
    check_the_library(now, folder / "tokenizer.json", all_texts)
    if name == "vocab.bpe":
        (folder / "tokenizer.json").unlink()
        save(now, folder / "vocab.json", format="gpt2")
        assert load(folder / "merges.txt") == now
        theirs = tokenizers.ByteLevelBPETokenizer.from_file(
            str(folder / "vocab.json"), str(folder / "merges.txt")
        )
        ids = [line.ids for line in theirs.encode_batch(all_texts)]
        assert ids == expected


@pytest.mark.slow
def test_llama_3_in_both_formats(tmp_path):
    if not LLAMA_3.is_file():
        pytest.skip("no llama3.json; set BPESCOPE_VOCABS to a folder that holds it")
    tokenizer = load(LLAMA_3)
    pruned, grafted = changed(tokenizer)
    all_texts = texts(grafted)
    check_theorems(tokenizer, pruned, grafted, all_texts)
    save_changed(pruned, tmp_path / "pruned.json", format="huggingface", source=LLAMA_3)
    check_the_library(pruned.tokenizer, tmp_path / "pruned.json", all_texts)
    path = tmp_path / "tokenizer.json"
    source = tmp_path / "pruned.json"
    save_changed(grafted, path, format="huggingface", source=source)
    check_the_library(grafted.tokenizer, path, all_texts)
    expected = grafted.tokenizer.encode_ordinary_batch(all_texts)
    assert grafted.tokenizer.to_tiktoken().encode_ordinary_batch(all_texts) == expected
    save(grafted.tokenizer, tmp_path / "ranks.tiktoken", format="tiktoken")
    read = load(tmp_path / "ranks.tiktoken", pattern="llama3")
    assert read.encode_ordinary_batch(all_texts) == expected
    # The same changes made of the ranks.
    save(tokenizer, tmp_path / "old.tiktoken", format="tiktoken")
    ranks = load(tmp_path / "old.tiktoken", pattern="llama3").vocabulary
    ranks = ranks.with_special_tokens(tokenizer.special_tokens)
    by_ranks = Tokenizer(ranks, "llama3")
    pruned_by_ranks, grafted_by_ranks = changed(by_ranks)
    assert pruned_by_ranks.removed == pruned.removed
    assert grafted_by_ranks.merges == grafted.merges
    assert grafted_by_ranks.tokenizer.encode_ordinary_batch(all_texts) == expected


@pytest.mark.slow
def test_cl100k_united_with_a_vocabulary_of_japanese(tmp_path):
    a = load(real_file("cl100k_base.tiktoken", tmp_path))
    tale = next(one for one in SAMPLES if one.name == "one-tale-many-scripts")
    text = tale.path.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    japanese = "".join(line for line in lines if any("ぁ" <= c <= "ヶ" for c in line))
    japanese *= 3
    b = train(japanese, vocab_size=700, pattern="gpt4o")
    united = unite(a, b)
    outcomes = [token.outcome for token in united.tokens]
    assert outcomes.count("new") > 100
    for token in united.tokens:
        if token.outcome == "new":
            data = b.token_bytes(token.id)
            assert united.tokenizer.vocabulary.encode(data) == (token.token,)
    now = len(united.tokenizer.encode(japanese))
    assert now < len(a.encode(japanese)) / 2
    encoding = united.tokenizer.to_tiktoken()
    for sample in [*nasty_texts(N_TEXTS, seed=3), japanese]:
        sample = sample.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        ids = united.tokenizer.encode_ordinary(sample)
        assert encoding.encode_ordinary(sample) == ids
