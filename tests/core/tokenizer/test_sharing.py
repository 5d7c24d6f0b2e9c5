"""A tokenizer handed on: pickled, copied, compared, to other processes, to several threads at once; and batches."""

import os
import pickle
import signal
import sys
import warnings
from array import array
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from multiprocessing import get_context
from threading import Barrier, Event, Thread, current_thread

import numpy
import pytest
from live.prepared_tokenizers import MAKERS
from real import real_file

from bpe_core import (
    OptionError,
    SpecialTokenError,
    Tokenizer,
    UnknownTokenError,
    Vocabulary,
    load,
    train,
)
from bpe_core.errors import FetchError
from bpe_core.tokenizer import SpecialsAllowed
from bpe_core.utf8 import without_surrogates
from bpe_core.vocabulary.ranked import RankedVocabulary
from tests.nasty import nasty_texts

TEXTS = [*nasty_texts(60, seed=28), "low lower \ud83d", "low"]


def learned(**options):
    return train(TEXTS, **{"vocab_size": 400, "special_tokens": ["<|a|>"], **options})


def ranked(**options):
    tokens = learned(pattern="gpt2").vocabulary.bytes_of
    return Tokenizer(
        RankedVocabulary(dict(tokens), {"<|a|>": 500}, **options), "gpt2", name="ranked"
    )


def looked_up():
    merges, base = (
        [(108, 111, 256), (256, 119, 257)],
        {byte: bytes([byte]) for byte in range(256)},
    )
    return Tokenizer(
        Vocabulary(base, merges, whole_pieces={b"lo": 256, b"low": 257}), "gpt2"
    )


KINDS = MAKERS | {
    "learned": learned,
    "an earlier step": lambda: learned().at(20),
    "specials first": lambda: learned(id_layout="specials-first"),
    "no split": lambda: learned(pattern="none"),
    "combined": lambda: learned(pattern=r"a|b(?#else)gpt4o"),
    "specials allowed": lambda: SpecialsAllowed.of(learned()),
    "ranks": ranked,
    "ranks that are merged": lambda: ranked(whole_pieces=False),
    "equal ranks": lambda: ranked(
        rank_of={data: n // 9 for n, data in enumerate(ranked().vocabulary.id_by_bytes)}
    ),
    "tokens yet to be learned": lambda: looked_up().at(1),
    "merges recovered": lambda: ranked().at(30),
    "more special tokens": lambda: ranked().with_special_tokens({"<|b|>": 900}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickle_holds_the_tokenizer_and_no_caches(kind):
    tokenizer = KINDS[kind]()
    data = pickle.dumps(tokenizer)
    again = pickle.loads(data)
    assert again == tokenizer == KINDS[kind]() and hash(again) == hash(tokenizer)
    for text in TEXTS:
        assert again.encode_ordinary(text) == tokenizer.encode_ordinary(text)
    assert (again.record, again.name, again.merges) == (
        tokenizer.record,
        tokenizer.name,
        tokenizer.merges,
    )
    assert pickle.dumps(tokenizer) == data
    assert copy(tokenizer) == deepcopy(tokenizer) == tokenizer
    assert again.vocabulary == deepcopy(tokenizer.vocabulary) == tokenizer.vocabulary
    assert not [
        other for other in KINDS if other != kind and KINDS[other]() == tokenizer
    ]


def test_what_is_equal_is_one_in_a_set():
    tokenizer = learned()
    assert (
        tokenizer.at(5)
        == tokenizer.at(9).at(5)
        != tokenizer
        != Tokenizer(tokenizer.vocabulary, "gpt2")
    )
    assert {tokenizer, learned(), tokenizer.at(5)} == {tokenizer, tokenizer.at(5)}


def test_a_published_vocabulary_is_small_as_a_pickle(tmp_path):
    tokenizer = load(real_file("o200k_base.tiktoken", tmp_path))
    tokenizer.encode_ordinary("a"), tokenizer.merges
    data = pickle.dumps(tokenizer)
    assert len(data) < 10_000_000
    assert [*map(pickle.loads(data).encode_ordinary, TEXTS)] == [
        *map(tokenizer.encode_ordinary, TEXTS)
    ]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_encode_as_this_one_does(method):
    tokenizer = learned()
    with get_context(method).Pool(2) as pool:
        assert pool.map(tokenizer.encode_ordinary, TEXTS) == [
            *map(tokenizer.encode_ordinary, TEXTS)
        ]


@pytest.mark.parametrize(
    "kind", ["learned", "ranks", "merges recovered", "added", "specials allowed"]
)
def test_eight_threads_share_one(kind):
    """Its tables are made when first asked for: here by all threads at once, of three steps of it."""
    expected = {
        step: [*map(KINDS[kind]().at(step).encode_ordinary, TEXTS)]
        for step in (0, 10, 20)
    }
    tokenizer, begin = KINDS[kind](), Barrier(8)

    def work(n):
        begin.wait()
        mine = tokenizer.at((n % 3) * 10)
        assert [*map(mine.encode_ordinary, TEXTS)] == expected[mine.step]
        longer = tokenizer.at(20).with_merges([(97, 98 + n, 600 + n)])
        assert longer.merges[20:] == [
            (97, 98 + n, 600 + n)
        ] and 600 + n in longer.vocabulary.children(97)
        return tokenizer.vocabulary.children(101), longer.at(20) == tokenizer.at(20)

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(work, range(8)))) == 1


@pytest.mark.parametrize("num_threads", [None, 1, 2, 7])
@pytest.mark.parametrize(
    "texts", [[], TEXTS, [text * 3000 for text in TEXTS[:9]]], ids=len
)
def test_a_batch_is_its_texts_one_by_one(texts, num_threads):
    tokenizer = learned()
    batch = tokenizer.encode_ordinary_batch(iter(texts), num_threads=num_threads)
    assert batch == [*map(tokenizer.encode_ordinary, texts)]
    assert tokenizer.encode_to_arrays(texts, num_threads=num_threads) == [
        array("I", ids) for ids in batch
    ]
    marked = [f"{text}<|a|>{text}" for text in texts]
    ids = tokenizer.encode_batch(marked, num_threads=num_threads, allowed_special="all")
    assert ids == [tokenizer.encode(text, allowed_special="all") for text in marked]
    if texts:
        with pytest.raises(SpecialTokenError, match=r"<\|a\|>"):
            tokenizer.encode_batch(marked, num_threads=num_threads)
    with pytest.raises(OptionError, match="a list of texts, not one text"):
        tokenizer.encode_batch("low")


def test_ids_come_as_a_numpy_array_under_the_name_that_tiktoken_has(monkeypatch):
    tokenizer = learned()
    theirs = tokenizer.to_tiktoken()
    for text in TEXTS:
        ids = tokenizer.encode_to_numpy(text)
        assert (ids.dtype, ids.tolist()) == (numpy.uint32, tokenizer.encode(text))
        if without_surrogates(text) == text:  # which tiktoken refuses here
            assert (ids == theirs.encode_to_numpy(text)).all()
    marked = tokenizer.encode_to_numpy("low<|a|>", allowed_special="all").tolist()
    assert marked == theirs.encode_to_numpy("low<|a|>", allowed_special="all").tolist()
    with pytest.raises(SpecialTokenError):
        tokenizer.encode_to_numpy("low<|a|>")
    monkeypatch.setitem(
        sys.modules, "numpy", None
    )  # importing it fails, as where it is not installed
    with pytest.raises(
        FetchError,
        match=r'^encode_to_numpy needs numpy\. .* pip install "bpescope\[embeddings\]"\.$',
    ):
        tokenizer.encode_to_numpy("low")


def test_a_table_with_a_row_for_each_id_has_room_for_all():
    """The special token has the id 300, and some ids below it are unused."""
    tokenizer = train("low lower", vocab_size=260).with_special_tokens({"<|end|>": 300})
    n_merges = len(tokenizer.merges)
    assert (tokenizer.n_vocab, tokenizer.max_token_value) == (301, 300)
    assert tokenizer.n_tokens == len(tokenizer.vocabulary.ids()) == 256 + n_merges + 1
    assert tokenizer.at(0).n_vocab == tokenizer.at(0).vocabulary.n_vocab == 301
    assert tokenizer.at(0).n_tokens == 257


@pytest.mark.parametrize("kind", ["learned", "ranks", "NFC", "llama 2"])
def test_special_tokens_are_added(kind):
    tokenizer = KINDS[kind]()
    more = tokenizer.with_special_tokens({"<|x|>": 901, "<|a|>": 902})
    assert more.special_tokens == tokenizer.special_tokens | {
        "<|x|>": 901,
        "<|a|>": 902,
    }
    between, ids = (
        more.encode_ordinary("low, lower"),
        more.encode("<|a|>low<|x|>", allowed_special="all"),
    )
    assert ids[0] == 902 and ids[-1] == 901 and "low" in more.decode(ids)
    assert (
        more.with_special_tokens({"<|x|>": 903}).encode("<|x|>", allowed_special="all")[
            -1
        ]
        == 903
    )
    begins = [len(more.decode(between[:n])) for n in range(len(between))]
    assert more.decode_with_offsets(between) == (more.decode(between), begins)
    assert (
        more.encode_single_token("<|x|>")
        == more.encode_single_token(b"<|x|>")
        == more.max_token_value - 1
        == 901
    )
    with pytest.raises(OptionError, match="which is taken already"):
        tokenizer.with_special_tokens({"<|x|>": tokenizer.encode_ordinary("low")[-1]})
    with pytest.raises(
        UnknownTokenError, match=r"^This tokenizer has no special token <\|endoftext\|>"
    ):
        assert more.eot_token


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_forked_while_a_thread_computes_a_table_computes_it_too(monkeypatch):
    """`functools.cached_property` of Python 3.11 would wait for the thread, which the child does not have."""
    is_computing, may_end = Event(), Event()
    ids_of = Vocabulary.ids

    def slow_ids(vocabulary):
        is_computing.set()
        may_end.wait()
        return ids_of(vocabulary)

    monkeypatch.setattr(Vocabulary, "ids", slow_ids)
    with ThreadPoolExecutor(1) as other:
        highest = other.submit(lambda: learned().vocabulary.highest_id)
        is_computing.wait()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads and forks
            child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(60)  # ends a child that waits for ever
            Vocabulary.ids = ids_of
            os._exit(0 if learned().vocabulary.highest_id == 400 - 1 else 1)
        _, status = os.waitpid(child, 0)
        may_end.set()
        assert highest.result() == 399
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_process_forked_while_a_thread_recovers_merges(monkeypatch):
    expected, tokenizer = ranked().merges, ranked()
    is_recovering, may_end = Event(), Event()
    recover = RankedVocabulary._recover_slice

    def recover_slowly(self):
        if current_thread() is thread:
            is_recovering.set()
            may_end.wait()
        recover(self)

    monkeypatch.setattr(RankedVocabulary, "_recover_slice", recover_slowly)
    thread = Thread(target=tokenizer.vocabulary.recover)
    thread.start()
    try:
        assert is_recovering.wait(60)
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # ends a child that waits for a lock
            os._exit(tokenizer.merges != expected)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        may_end.set()
        thread.join()
