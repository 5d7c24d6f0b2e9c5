"""A tokenizer handed on: pickled, copied, compared, to other processes, and to several threads at once."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from multiprocessing import get_context
from threading import Barrier

import pytest
from live.prepared_tokenizers import MAKERS
from real import real_file

from bpe_core import Tokenizer, load, train
from bpe_core.tokenizer import SpecialsAllowed
from bpe_core.vocabulary.ranked import RankedVocabulary
from tests.nasty import nasty_texts

TEXTS = nasty_texts(60, seed=28)
SPECIALS = ["<|endoftext|>", "<|a|>"]


def learned(**options):
    return train(TEXTS, **{"vocab_size": 400, "special_tokens": SPECIALS, **options})


def ranked(pattern="gpt2", whole=True):
    tokens = learned(pattern=pattern).vocabulary.bytes_of
    return Tokenizer(RankedVocabulary(dict(tokens), {"<|a|>": 500}, whole_pieces=whole), pattern, name="ranked")


KINDS = MAKERS | {
    "learned": learned,
    "an earlier step": lambda: learned().at(20),
    "specials first": lambda: learned(id_layout="specials-first"),
    "no split": lambda: learned(pattern="none"),
    "combined": lambda: learned(pattern=r"a|b(?#else)gpt4o"),
    "specials allowed": lambda: SpecialsAllowed.of(learned()),
    "ranks": ranked,
    "ranks that are merged": lambda: ranked(whole=False),
    "merges recovered": lambda: ranked().at(30),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickle_holds_the_tokenizer_and_no_caches(kind):
    tokenizer = KINDS[kind]()
    data = pickle.dumps(tokenizer)
    again = pickle.loads(data)
    assert again == tokenizer == KINDS[kind]() and hash(again) == hash(tokenizer)
    for text in TEXTS:
        assert again.encode_ordinary(text) == tokenizer.encode_ordinary(text)
    assert (again.record, again.name, again.merges) == (tokenizer.record, tokenizer.name, tokenizer.merges)
    assert pickle.dumps(tokenizer) == data
    assert copy(tokenizer) is deepcopy(tokenizer) is tokenizer
    assert again.vocabulary == deepcopy(tokenizer.vocabulary) == tokenizer.vocabulary
    others = [other for other in KINDS if other != kind and KINDS[other]() == tokenizer]
    assert not others


def test_what_differs_in_one_thing_is_not_equal():
    tokenizer = learned()
    assert tokenizer != tokenizer.at(5) and tokenizer.at(5) == tokenizer.at(9).at(5)
    assert tokenizer != Tokenizer(tokenizer.vocabulary, "gpt2") and tokenizer != tokenizer.vocabulary
    assert {tokenizer, learned(), tokenizer.at(5)} == {tokenizer, tokenizer.at(5)}


def test_a_published_vocabulary_is_small_as_a_pickle(tmp_path):
    tokenizer = load(real_file("o200k_base.tiktoken", tmp_path))
    tokenizer.encode_ordinary("a"), tokenizer.merges
    data = pickle.dumps(tokenizer)
    assert len(data) < 10_000_000
    again = pickle.loads(data)
    assert [*map(again.encode_ordinary, TEXTS)] == [*map(tokenizer.encode_ordinary, TEXTS)]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_encode_as_this_one_does(method):
    tokenizer = learned()
    expected = [tokenizer.encode_ordinary(text) for text in TEXTS]
    with get_context(method).Pool(2) as pool:
        assert pool.map(tokenizer.encode_ordinary, TEXTS) == expected


@pytest.mark.parametrize("kind", ["learned", "ranks", "merges recovered", "added", "specials allowed"])
def test_eight_threads_share_one(kind):
    """Its tables are made when first asked for: here by all threads at once, of three steps of it."""
    expected = {step: [*map(KINDS[kind]().at(step).encode_ordinary, TEXTS)] for step in (0, 10, 20)}
    tokenizer, begin = KINDS[kind](), Barrier(8)

    def work(n):
        begin.wait()
        mine = tokenizer.at((n % 3) * 10)
        assert [*map(mine.encode_ordinary, TEXTS)] == expected[mine.step]
        base = tokenizer.step
        longer = tokenizer.at(20).with_merges([(97, 98 + n, 600 + n)])
        assert longer.merges[20:] == [(97, 98 + n, 600 + n)] and tokenizer.step == base
        return tokenizer.vocabulary.children(101), longer.at(20) == tokenizer.at(20)

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(work, range(8)))) == 1
