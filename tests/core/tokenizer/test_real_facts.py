"""Real vocabularies where there are none: recorded ids and digests, and a part of each that is enough for some texts.

`facts/make.py` says what the part holds, and writes all of it anew.
"""

import hashlib
import json

import pytest
from real import FACTS, facts, real_file, real_part
from shell import ROOT

from bpe_core import load
from bpe_core.patterns import splitter

NAMES = sorted(path.stem for path in FACTS.glob("*.json"))


def digest(value):
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def sample(name, fact):
    """A sample text, if it still is the one that the digests are of."""
    text = (ROOT / "sample_texts" / name).read_bytes().decode()
    assert digest(text) == fact["text"], (
        f"{name} has changed: run tests/core/facts/make.py"
    )
    return text


def test_there_are_three():
    assert NAMES == ["cl100k_base", "o200k_base", "r50k_base"]


@pytest.mark.parametrize("name", NAMES)
def test_a_part_of_a_vocabulary_gives_its_texts_the_ids_of_the_whole(name):
    tokenizer, texts = real_part(name), facts(name)["texts"]
    assert len(texts) > 30 and max(map(max, texts.values())) > 40_000
    assert {text: tokenizer.encode_ordinary(text) for text in texts} == texts
    assert [tokenizer.decode(ids) for ids in texts.values()] == list(texts)


@pytest.mark.parametrize("name", NAMES)
def test_the_merges_that_its_ranks_stand_for_give_the_same_ids(name):
    tokenizer, texts = real_part(name), facts(name)["texts"]
    tokenizer.vocabulary.recover()
    last = tokenizer.at(tokenizer.step)
    assert tokenizer.step > 390
    assert {text: last.encode_ordinary(text) for text in texts} == texts


@pytest.mark.parametrize("name", NAMES)
def test_samples_are_split_as_the_published_expression_splits_them(name):
    known = facts(name)
    for file, fact in known["samples"].items():
        pieces = splitter(known["pattern"]).split(sample(file, fact))
        assert (len(pieces), digest(pieces)) == (fact["n_pieces"], fact["pieces"]), file


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_the_whole_vocabulary_gives_the_ids_that_are_recorded(name, tmp_path):
    tokenizer, known = load(real_file(f"{name}.tiktoken", tmp_path)), facts(name)
    assert tokenizer.n_tokens - len(tokenizer.special_tokens) == known["n_ranks"]
    assert {text: tokenizer.encode_ordinary(text) for text in known["texts"]} == known[
        "texts"
    ]
    for file, fact in known["samples"].items():
        ids = tokenizer.encode_ordinary(sample(file, fact))
        assert (len(ids), digest(ids)) == (fact["n_ids"], fact["ids"]), file
