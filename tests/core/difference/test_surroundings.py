"""Differences in normalizers, added tokens, fallbacks and decoding; Hugging Face's library confirms each witness."""

import json
from copy import deepcopy
from pathlib import Path

import pytest
import tokenizers

from bpe_core import difference, load, save, train
from bpe_core.difference import Cause, PartComparison, diff
from bpe_core.difference.records import DecodedWitness, Pair, Witness
from bpe_core.difference.surroundings import (
    compare_added_tokens,
    compare_decoding,
    compare_fallback,
    compare_normalizer,
)

TEXT = Path("sample_texts/english-everyday.txt").read_text("utf-8")
END = "<|end|>"


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    """The object of a tokenizer.json with a special token and an ordinary added token."""
    path = tmp_path_factory.mktemp("base") / "tokenizer.json"
    trained = train(TEXT, vocab_size=400, pattern="gpt2", special_tokens=[END])
    save(trained, path, format="huggingface")
    found = json.loads(path.read_text("utf-8"))
    found["model"]["vocab"]["<tool>"] = 400
    found["added_tokens"].append(token("<tool>", 400, special=False))
    return found


def token(text, number, **flags):
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": text, "special": True} | plain | flags


class Opened:
    """One tokenizer.json, opened here and by Hugging Face's library."""

    def __init__(self, folder, described):
        folder.mkdir()
        path = folder / "tokenizer.json"
        path.write_text(json.dumps(described), "utf-8")
        self.ours = load(path)
        self.peer = tokenizers.Tokenizer.from_file(str(path))


@pytest.fixture
def opened(tmp_path, described):
    """Opens the tokenizer as it is, and with a change."""

    def opened(change=lambda described: None):
        changed = deepcopy(described)
        change(changed)
        before = Opened(tmp_path / "a", described)
        after = Opened(tmp_path / "b", changed)
        return before, after

    return opened


def compared(before, after):
    pair = Pair(before.ours, after.ours)
    parts = [compare_normalizer(pair), *compare_added_tokens(pair)]
    parts += [compare_fallback(pair), compare_decoding(pair)]
    return {part.part: part for part in parts}


def confirm(witness, before, after):
    """Check that the library gives the ids of a witness."""
    assert isinstance(witness, Witness)
    for opened, ids in ((before, witness.a), (after, witness.b)):
        peer = opened.peer
        # Without this the library always reads special tokens.
        peer.encode_special_tokens = not witness.reads_specials
        assert tuple(peer.encode(witness.text, add_special_tokens=False).ids) == ids


def set_normalizer(**fields):
    return lambda described: described.update(normalizer=fields)


def add_prefix_space(described):
    *_, byte_level = described["pre_tokenizer"]["pretokenizers"]
    byte_level["add_prefix_space"] = True


NORMALIZERS = [
    (add_prefix_space, "A leaves 'A' as it is, and B turns 'A' into ' A'.", "A"),
    (set_normalizer(type="NFC"), "turns 'e\\u0301' into 'é'", "e\u0301"),
    (set_normalizer(type="NFKC"), "turns 'e\\u0301' into 'é'", "e\u0301"),
    (set_normalizer(type="Lowercase"), "turns 'A' into 'a'", "A"),
    (set_normalizer(type="Prepend", prepend="x"), "turns 'A' into 'xA'", "A"),
    (
        set_normalizer(type="Replace", pattern={"String": "ꙮ"}, content="eye"),
        "turns 'ꙮ' into 'eye'",
        "ꙮ",
    ),
]


@pytest.mark.parametrize("change, what, text", NORMALIZERS)
def test_each_normalizer_is_found_with_a_short_text(opened, change, what, text):
    before, after = opened(change)
    parts = compared(before, after)
    part = parts.pop("normalizer")
    assert part.is_same is False
    (cause,) = part.causes
    assert what in cause.what
    assert cause.witness.text == text
    confirm(cause.witness, before, after)
    assert all(part.is_same for part in parts.values())


def test_rules_that_no_text_tells_apart_are_undecided(tmp_path, described):
    once = deepcopy(described)
    once["normalizer"] = {"type": "NFC"}
    twice = deepcopy(described)
    rules = [{"type": "NFC"}, {"type": "NFC"}]
    twice["normalizer"] = {"type": "Sequence", "normalizers": rules}
    before = Opened(tmp_path / "a", once)
    after = Opened(tmp_path / "b", twice)
    part = compared(before, after)["normalizer"]
    assert part.is_same is None
    assert "texts shows it" in part.sentence
    (cause,) = part.causes
    assert cause.witness is None


FLAGS = [
    ("special", False, END, "is special (only in A)"),
    ("lstrip", True, f" {END}", "includes the white space before it (only in B)"),
    ("rstrip", True, f"{END} ", "includes the white space after it (only in B)"),
    ("single_word", True, f"a{END}", "found only if no letter or digit is next to it"),
]


@pytest.mark.parametrize("flag, value, text, what", FLAGS)
def test_each_flag_of_a_special_token_is_found(opened, flag, value, text, what):
    def change(described):
        described["added_tokens"][0][flag] = value

    before, after = opened(change)
    part = compared(before, after)["special tokens"]
    assert part.is_same is False
    (cause,) = part.causes
    assert what in cause.what
    assert cause.witness.text == text
    confirm(cause.witness, before, after)


def test_an_added_token_of_one_only_is_found(opened):
    def change(described):
        del described["added_tokens"][1]

    before, after = opened(change)
    part = compared(before, after)["added tokens"]
    assert part.is_same is False
    (cause,) = part.causes
    assert cause.what == "'<tool>' is one of the added tokens of A only."
    assert cause.witness.text == "<tool>"
    confirm(cause.witness, before, after)


def test_ids_that_moved_are_found_in_encoding_and_decoding(opened):
    def change(described):
        end, tool = described["added_tokens"]
        model = described["model"]["vocab"]
        model[END] = end["id"] = 400
        model["<tool>"] = tool["id"] = 399

    before, after = opened(change)
    parts = compared(before, after)
    (cause,) = parts["special tokens"].causes
    assert cause.what == "'<|end|>' has the id 399 in A and 400 in B."
    confirm(cause.witness, before, after)
    (cause,) = parts["added tokens"].causes
    assert cause.what == "'<tool>' has the id 400 in A and 399 in B."
    confirm(cause.witness, before, after)
    (decoding,) = parts["decoding"].causes
    assert decoding.witness == DecodedWitness((399,), END.encode(), b"<tool>")
    assert "2 ids differ" in decoding.what


def test_equal_tokenizers_have_no_difference(opened):
    before, after = opened()
    for part in compared(before, after).values():
        assert part.is_same, part
        assert not part.causes


def test_characters_without_a_token_are_compared(tmp_path):
    """Two vocabularies of characters, one of them with bytes for the characters it lacks."""
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    vocab = {
        name: number for number, name in enumerate([*names, "<unk>", "a", "b", "ab"])
    }
    model = {"type": "BPE", "vocab": vocab, "merges": ["a b"], "unk_token": "<unk>"}
    described = {"model": model | {"byte_fallback": True}}
    other = {"model": model | {"byte_fallback": False}}
    before = Opened(tmp_path / "a", described)
    after = Opened(tmp_path / "b", other)
    part = compared(before, after)["byte fallback"]
    assert part.is_same is False
    (cause,) = part.causes
    assert len(cause.witness.text) == 1
    confirm(cause.witness, before, after)
    assert before.ours.decode(cause.witness.a) == cause.witness.text


def test_texts_are_tried_although_ids_are_decoded_differently(tmp_path, monkeypatch):
    save(train("ab ab ab", vocab_size=262, pattern="none"), tmp_path / "t.json")
    plain = load(tmp_path / "t.json", pattern=r"[\s\S]+")
    behind = r"(?<=qqqq)a|[\s\S]+?(?=(?<=qqqq)a)|[\s\S]+"
    other = load(tmp_path / "t.json", pattern=behind)
    decoded = DecodedWitness((5,), b"a", b"b")
    cause = Cause("decoding", "Id 5 is other.", decoded)
    part = PartComparison("decoding", False, cause.what, [cause])
    monkeypatch.setattr(difference, "compare_decoding", lambda pair: part)
    assert diff(plain, other).witness == decoded
    assert diff(plain, other, texts=["xqqqqab"]).witness.text == "qqqqab"
