"""Locks: digests that don't depend on the format of a file, probes, and what a check finds in tokenizers that changed."""

import json
import random
import re
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import small_files
from real import real_file

from bpe_core import load, save, train
from bpe_core.difference.check import check
from bpe_core.difference.digests import digests
from bpe_core.difference.lock import lock, read_lock
from bpe_core.difference.records import PARTS, DecodedWitness, Witness
from bpe_core.errors import FormatError
from bpe_core.formats import WRITABLE
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.ranked import RankedVocabulary

MERGES = ("a b", "b c", "ab c", "x y", "1 2", "i n", "n Ġ")
SPECIAL = {"id": 300, "content": "<s>", "special": True}
ADDED = {"id": 301, "content": "<go>", "special": False}
DIGESTS = (
    "4d122414 98978b98 a9fa362d f14c0aa2 75d4030e 9cc34e6d ca15cbfd 6ea83410 e09a75fe",
    "141f1d27 1cd2fdeb e09a75fe e3a50af9 8188d8c1 705fd391 ffd45452 77c189b6 cd4f4b3f",
)


@pytest.fixture(scope="module")
def trained():
    """A tokenizer that every format can hold."""
    text = "the theme of the other thesis 12345 times, don't they think\n" * 9
    return train(text, vocab_size=320, pattern="gpt2", special_tokens=["<|endoftext|>"])


@pytest.mark.parametrize("format", WRITABLE)
def test_a_lock_is_the_same_from_each_format(trained, format, tmp_path):
    path = tmp_path / "vocab.json"
    save(trained, path, format=format)
    read = load(path, pattern="gpt2").with_special_tokens(trained.special_tokens)
    assert digests(read) == digests(trained)
    assert "".join(lock(read).lines()) == "".join(lock(trained).lines())
    assert check(lock(trained), read).verdict == "same"


def test_published_ranks_and_merges_have_equal_digests(tmp_path):
    ranks = load(real_file("r50k_base.tiktoken", tmp_path))
    real_file("vocab.bpe", tmp_path)
    merges = load(real_file("encoder.json", tmp_path))
    assert digests(merges) == digests(ranks)


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_published_ranks_and_a_converted_file_have_equal_digests(name, tmp_path):
    ranks = load(real_file(f"{name}.tiktoken", tmp_path))
    save(ranks, tmp_path / "tokenizer.json", format="huggingface")
    assert digests(load(tmp_path / "tokenizer.json")) == digests(ranks)


def test_a_lock_does_not_depend_on_the_order_of_sets(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(small_files.huggingface(MERGES, [SPECIAL, ADDED])))
    program = (
        "import sys; from bpe_core import load; from bpe_core.difference.lock import lock; "
        "sys.stdout.writelines(lock(load(sys.argv[1])).lines())"
    )
    locks = {
        subprocess.run(
            [sys.executable, "-c", program, path],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            cwd=Path(__file__).parents[3],
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(locks) == 1


def swap_merges(first, second):
    def change(file):
        merges = file["model"]["merges"]
        merges[first], merges[second] = merges[second], merges[first]

    return change


def swap_ids(file):
    vocab = file["model"]["vocab"]
    vocab["xy"], vocab["12"] = vocab["12"], vocab["xy"]


def set_value(*keys, value):
    def change(file):
        for key in keys[:-1]:
            file = file[key]
        file[keys[-1]] = value

    return change


def split_digits(file):
    byte_level = file["pre_tokenizer"]
    digits = {"type": "Digits", "individual_digits": True}
    file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [digits, byte_level]}


def unused_token(file):
    file["model"]["vocab"]["unused"] = 302


MUTANTS = {
    "a merge swapped": (swap_merges(0, 1), ["merges"], "abc"),
    "a merge removed": (lambda file: file["model"]["merges"].pop(3), ["merges"], "xy"),
    "an id moved": (swap_ids, ["ids"], "12"),
    "a token added": (unused_token, ["vocabulary", "ids"], None),
    "the pattern": (split_digits, ["split pattern"], "12"),
    "a prefix": (
        set_value("pre_tokenizer", "add_prefix_space", value=True),
        ["normalizer"],
        "1",
    ),
    "a normalizer": (
        set_value("normalizer", value={"type": "NFC"}),
        ["normalizer"],
        "\u212b",
    ),
    "a normalizer of one character": (
        set_value("normalizer", value={"type": "Lowercase"}),
        ["normalizer"],
        "\u2163",
    ),
    "a flag": (
        set_value("added_tokens", 0, "lstrip", value=True),
        ["special tokens"],
        " <s> ",
    ),
    "a flag of an added token": (
        set_value("added_tokens", 1, "single_word", value=True),
        ["added tokens"],
        "a<go>b",
    ),
    "a special token is ordinary": (
        set_value("added_tokens", 0, "special", value=False),
        ["special tokens", "added tokens", "vocabulary"],
        "<s>",
    ),
    "a special token's id": (
        set_value("added_tokens", 0, "id", value=303),
        ["special tokens", "ids"],
        "<s>",
    ),
}


def changed_parts(found):
    return [cause.part for cause in found.causes]


@pytest.mark.parametrize("name", MUTANTS)
def test_what_changed_is_found(name, tmp_path):
    change, parts, expected = MUTANTS[name]
    file = small_files.huggingface(MERGES, [dict(SPECIAL), dict(ADDED)])
    locked = lock(load(small_files.put(tmp_path, {"tokenizer.json": file})))
    change(file)
    changed = load(small_files.put(tmp_path, {"tokenizer.json": file}))
    found = check(locked, changed)
    assert changed_parts(found) == parts
    assert found.verdict == "different"
    if expected is None:  # no probe has the new token, but its bytes are in the digest
        assert found.witness is None
        return
    assert found.witness[0] == expected
    assert found.witness.a != found.witness.b


def test_what_decoding_does_is_found(tmp_path):
    file = small_files.huggingface(MERGES) | {"normalizer": {"type": "NFC"}}
    locked = lock(load(small_files.put(tmp_path, {"tokenizer.json": file})))
    file["decoder"] = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    found = check(locked, load(small_files.put(tmp_path, {"tokenizer.json": file})))
    assert changed_parts(found) == ["decoding"]
    assert found.witness == DecodedWitness((32,), b" ", b"")


def with_merges(merges, tmp_path):
    file = small_files.huggingface(MERGES)
    file["model"]["merges"] = list(merges)
    return load(small_files.put(tmp_path, {"tokenizer.json": file}))


def test_another_order_of_merges_is_undecided_unless_a_probe_shows_it(tmp_path):
    locked = lock(with_merges(MERGES, tmp_path))
    exchanged = ("1 2", "i n", "a b", "x y", "b c", "n Ġ", "ab c")
    assert check(locked, with_merges(exchanged, tmp_path)).verdict == "unknown"
    overlapping = ("b c", "a b", *MERGES[2:])
    assert check(locked, with_merges(overlapping, tmp_path)).verdict == "different"


def test_changed_data_that_no_probe_shows_are_undecided(tmp_path):
    """The pattern never lets the two merges compete, which the check doesn't know."""
    locked = lock(with_merges(MERGES, tmp_path))
    found = check(locked, with_merges((*MERGES[:5], "n Ġ", "i n"), tmp_path))
    assert found.verdict == "unknown"
    assert found.witness is None
    assert changed_parts(found) == ["merges"]


def test_other_ids_are_found_though_the_data_are_equal(trained):
    """As with another version of Unicode."""
    locked = lock(trained)
    probes = [probe._replace(ids=(1,)) for probe in locked.probes[:2]]
    found = check(replace(locked, probes=probes), trained)
    assert (found.verdict, found.causes) == ("different", [])
    assert found.witness == Witness("1", (1,), (49,))
    probes = [probe._replace(decoded="") for probe in locked.probes]
    found = check(replace(locked, probes=probes), trained)
    assert found.witness.a == b""


def test_equal_digests_prove_that_all_texts_get_the_same_ids():
    """Random vocabularies, of which many are equal in effect, tried on all short texts."""
    generator = random.Random(7)
    texts = [bytes(text) for n in range(1, 7) for text in product(b"ab", repeat=n)]
    texts += [bytes(text) for text in product(b"abc", repeat=5)]
    groups: dict[str, list[dict[bytes, tuple[bytes, ...]]]] = {}
    n_exchanged = 0
    for _ in range(400):
        vocabulary = random_vocabulary(generator)
        sha256 = digests(Tokenizer(vocabulary, "none"))["merges"]
        tokens = {
            text: tuple(map(vocabulary.token_bytes, vocabulary.encode(text)))
            for text in texts
        }
        group = groups.setdefault(sha256, [])
        assert all(tokens == other for other in group)
        n_exchanged += bool(group)
        group.append(tokens)
    assert n_exchanged > 20
    assert len(groups) > 100


def random_vocabulary(generator):
    """A vocabulary with a few merges, in the order of some permutation that keeps parts before wholes."""
    base = {byte: bytes([byte]) for byte in range(256)}
    bytes_of = dict(list(base.items())[97:100])
    merges = []
    for token in range(256, 256 + generator.randint(2, 4)):
        for _ in range(20):
            left, right = generator.choices(list(bytes_of), k=2)
            data = bytes_of[left] + bytes_of[right]
            if data not in bytes_of.values() and len(data) < 5:
                bytes_of[token] = data
                merges.append((left, right, token))
                break
    if generator.random() < 0.2:  # ranks instead of merges
        for _, _, token in merges:
            base[token] = bytes_of[token]
        return RankedVocabulary(base, whole_pieces=generator.random() < 0.5)
    return Vocabulary(base, merges)


def test_the_digests_of_a_version_stay_the_same(tmp_path):
    """If this fails, locks that people have committed fail, too: then give a new version to the lock."""
    bytewise = small_files.huggingface(MERGES, [dict(SPECIAL), dict(ADDED)])
    characters = small_files.sentencepiece()
    tokenizers = (
        load(small_files.put(tmp_path, {"tokenizer.json": bytewise})),
        load(small_files.put(tmp_path, {"tokenizer.model": characters})),
    )
    for tokenizer, expected in zip(tokenizers, DIGESTS, strict=True):
        shown = [digest[:8] for digest in digests(tokenizer).values()]
        assert " ".join(shown) == expected


def test_a_lock_is_read_as_it_was_written(trained, tmp_path):
    locked = lock(trained)
    locked.save(tmp_path / "a.lock")
    assert read_lock(tmp_path / "a.lock") == locked
    content = (tmp_path / "a.lock").read_bytes()
    assert content.isascii() and content.count(b"\n") < 600
    assert tuple(locked.parts) == PARTS


BROKEN = {
    "later": (("format", "bpescope lock 2"), "is not a lock that this version of"),
    "no format": (("format", "other"), "reads; bpescope lock TOKENIZER -o LOCK writes"),
    "no part": (("parts", {}), "in parts.normalizer, the value is missing"),
    "no digest": (("parts", {"normalizer": 1}), "parts.normalizer, expected a text"),
    "text": (("probes", [{"text": 1}]), "in probes[0].ids, the value is missing"),
    "half": (("probes", [{"text": "\ud800", "ids": []}]), "half of a character"),
    "ids": (("probes", [{"text": "a", "ids": [-1]}]), "ids, expected a list of ids"),
    "a row": (("probes", [["a", [1]]]), "in probes[0], expected an object"),
    "decoded": (
        ("special_probes", [{"text": "a", "ids": [], "decoded": 1}]),
        "in special_probes[0].decoded, expected a text",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_damaged_lock_is_refused_in_a_sentence(name, trained, tmp_path):
    (key, value), sentence = BROKEN[name]
    content = json.loads("".join(lock(trained).lines()))
    content[key] = value
    path = tmp_path / "tokenizer.lock"
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=re.escape(sentence)) as error:
        read_lock(path)
    assert str(error.value).startswith(str(path))


def test_a_lock_with_a_conflict_of_git_is_refused(trained, tmp_path):
    lines = list(lock(trained).lines())
    lines.insert(30, "<<<<<<< HEAD\n")
    path = tmp_path / "tokenizer.lock"
    path.write_text("".join(lines))
    with pytest.raises(FormatError, match=r"is broken: line .* is not JSON"):
        read_lock(path)
