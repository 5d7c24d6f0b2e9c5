"""tekken.json and SentencePiece models: small ones made here, and Mistral's own where mistral-common is installed."""

import json
import struct
from base64 import b64encode
from importlib.util import find_spec
from pathlib import Path

import pytest
from nasty import nasty_texts

from bpe_core import FormatError, UnknownTokenError, audit, load, save

TEXTS = nasty_texts(300)


def data_of_mistral(name):
    spec = find_spec("mistral_common")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("mistral-common is not installed; it carries Mistral's tokenizer files")
    path = Path(spec.submodule_search_locations[0]) / "data" / name
    if not path.is_file():
        pytest.skip(f"this mistral-common has no {name}")
    return path


# tekken.json


def tekken(tokens=(b"ab", b"abc", b"unused"), *, used=258, specials=3, **changes):
    vocab = [
        {"rank": rank, "token_bytes": b64encode(data).decode(), "token_str": None}
        for rank, data in enumerate([*(bytes([byte]) for byte in range(256)), *tokens])
    ]
    config = {"pattern": r"\S+|\s+", "num_vocab_tokens": len(vocab), "version": "v3"}
    config |= {"default_vocab_size": used + specials, "default_num_special_tokens": specials}
    return {"config": config, "vocab": vocab} | changes


def written(tmp_path, data, name="some.json"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    return path


def test_ids_begin_behind_the_special_tokens_and_not_all_listed_tokens_count(tmp_path):
    tokenizer = load(written(tmp_path, tekken()))
    assert tokenizer.n_vocab == 258 + 3
    assert tokenizer.encode("abc ab") == [257 + 3, 32 + 3, 256 + 3]
    assert 258 + 3 not in tokenizer.vocabulary
    assert tokenizer.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}
    assert tokenizer.merges == [(100, 101, 259), (259, 102, 260)]


def test_named_special_tokens_and_fillers(tmp_path):
    data = tekken(special_tokens=[{"rank": 1, "token_str": "[INST]", "is_control": True}])
    assert load(written(tmp_path, data)).special_tokens == {"<SPECIAL_0>": 0, "[INST]": 1, "<SPECIAL_2>": 2}


def test_a_real_tekken(tmp_path):
    common = pytest.importorskip("mistral_common.tokens.tokenizers.tekken", reason="mistral-common is not installed")
    path = data_of_mistral("tekken_240911.json")
    ours, theirs = load(path), common.Tekkenizer.from_file(path)
    assert ours.n_vocab == 131_072
    assert all(ours.encode_ordinary(text) == theirs.encode(text, bos=False, eos=False) for text in TEXTS)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda data: data["config"].update(default_vocab_size=9999), "in config.default_vocab_size, it asks for 9996"),
        (lambda data: data["config"].update(default_vocab_size=5), "in config.default_vocab_size"),
        (lambda data: data["vocab"][5].update(rank=7), r"in vocab\[5\].rank, 5 was expected"),
        (lambda data: data["vocab"][256].update(token_bytes="Y*I="), r"in vocab\[256\].token_bytes, it is not base64"),
        (lambda data: data["vocab"][256].update(token_bytes="ÿ"), r"in vocab\[256\].token_bytes, it is not base64"),
        (lambda data: data["vocab"][256].update(token_bytes="YQ=="), "the ranks 97 and 256 stand for the same bytes"),
        (lambda data: data["vocab"][97].update(token_bytes="eHh4"), "no token for the byte 0x61"),
        (lambda data: data["config"].update(pattern="("), "not a valid regular expression"),
        (lambda data: data.pop("config"), "in config, there is no value"),
    ],
)
def test_a_broken_tekken_is_said_with_its_key(change, problem, tmp_path):
    data = tekken()
    change(data)
    with pytest.raises(FormatError, match=problem):
        load(written(tmp_path, data))


# SentencePiece

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6


def field(number, value):
    """A field of a protobuf message: a number, a float, or bytes."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    if isinstance(value, float):
        return bytes([number << 3 | 5]) + struct.pack("<f", value)
    size = len(value)
    return bytes([number << 3 | 2, *([size] if size < 128 else [size & 127 | 128, size >> 7])]) + value


PLAIN = field(1, b"identity") + field(3, 1) + field(4, 0)


def sentencepiece(pieces, *, kind=2, trainer=b"", normalizer=PLAIN):
    """A model; `pieces` are (name, score, kind)."""
    message = b"".join(
        field(1, field(1, name.encode()) + field(2, float(score)) + field(3, sort)) for name, score, sort in pieces
    )
    return message + field(2, field(3, kind) + trainer) + field(3, normalizer)


BYTES = [(f"<0x{byte:02X}>", 0, BYTE) for byte in range(256)]
START = [("<unk>", 0, UNKNOWN), ("<s>", 0, CONTROL), *BYTES]
WORDS = ["▁a", "ab", "▁ab", "▁", "a", "b", "c"]
SMALL = [*START, *((name, -rank, NORMAL) for rank, name in enumerate(WORDS))]


def test_the_highest_score_is_joined_first_and_the_unknown_becomes_bytes(tmp_path):
    tokenizer = load(written(tmp_path, sentencepiece(SMALL), "tokenizer.model"))
    names = [name for name, _, _ in SMALL]
    assert [names[token] for token in tokenizer.encode("ab cé")] == ["▁ab", "▁", "c", "<0xC3>", "<0xA9>"]
    assert tokenizer.decode(tokenizer.encode("ab cé")) == "ab cé"
    assert tokenizer.special_tokens == {"<unk>": 0, "<s>": 1}
    assert tokenizer.vocabulary.parents(names.index("▁ab")) is not None


def test_pieces_of_equal_score_are_joined_from_the_left(tmp_path):
    pieces = [("<unk>", 0, UNKNOWN), *((name, -1, NORMAL) for name in ("bc", "ab", "a", "b", "c"))]
    normalizer = field(3, 0) + field(4, 0)
    tokenizer = load(written(tmp_path, sentencepiece(pieces, normalizer=normalizer)))
    assert tokenizer.encode("abc") == [2, 5]


def test_recovered_merges_are_not_followed_where_two_ranks_are_equal(tmp_path):
    """Merges have an order, equal scores have none: the leftmost of these goes first, however long the piece is."""
    pieces = [("<unk>", 0, UNKNOWN), *((name, -1, NORMAL) for name in ("bc", "ab", "a", "b", "c"))]
    tokenizer = load(written(tmp_path, sentencepiece(pieces, normalizer=field(3, 0) + field(4, 0))))
    text = "abc" * 40
    before = load(written(tmp_path, sentencepiece(pieces, normalizer=field(3, 0) + field(4, 0)))).encode(text)
    assert tokenizer.vocabulary.recover()
    assert tokenizer.encode(text) == before == [2, 5] * 40
    assert tokenizer.at(tokenizer.step).encode(text) == before


def test_without_bytes_the_unknown_is_one_token_for_several_characters(tmp_path):
    pieces = [piece for piece in SMALL if piece[2] != BYTE]
    tokenizer = load(written(tmp_path, sentencepiece(pieces)))
    assert tokenizer.encode("aéßa") == [2, 0, 6]
    assert not tokenizer.by_piece


def test_where_nothing_stands_for_the_unknown_it_is_named(tmp_path):
    pieces = [piece for piece in SMALL if piece[2] == NORMAL]
    with pytest.raises(UnknownTokenError, match=r"U\+00E9"):
        load(written(tmp_path, sentencepiece(pieces))).encode("é")


def test_a_character_without_a_token_can_be_joined_all_the_same(tmp_path):
    """A merge has two tokens; so no step makes such a piece, but the ranks do, before and after the recovery."""
    pieces = [piece for piece in [*SMALL, ("éa", -9, NORMAL), ("éac", -10, NORMAL)] if piece[2] == NORMAL]
    tokenizer = load(written(tmp_path, sentencepiece(pieces)))
    before = tokenizer.encode("éa éac")
    assert tokenizer.vocabulary.recover()
    assert before == tokenizer.encode("éa éac") == [3, 7, 3, 8]
    made = [tokenizer.token_bytes(token) for _, _, token in tokenizer.merges]
    assert made == [b" a", b"ab", b" ab", "éac".encode()]
    assert all(found.id < len(pieces) for found in audit(tokenizer))


def test_spaces_that_are_removed_and_pieces_of_the_user(tmp_path):
    pieces = [*SMALL, ("ca", 0, USER_DEFINED)]
    normalizer = field(3, 1) + field(4, 1)
    tokenizer = load(written(tmp_path, sentencepiece(pieces, normalizer=normalizer)))
    names = [name for name, _, _ in pieces]
    assert [names[token] for token in tokenizer.encode("  ab   cab ")] == ["▁ab", "▁", "ca", "b"]


@pytest.mark.parametrize("name", ["tokenizer.model.v1", "mistral_instruct_tokenizer_241114.model.v7"])
def test_a_real_model(name):
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    path = data_of_mistral(name)
    ours, theirs = load(path), sentencepiece.SentencePieceProcessor(model_file=str(path))
    for text in TEXTS:
        ids = theirs.encode(text)
        assert ours.encode_ordinary(text) == ids
        assert ours.decode(ids) == theirs.decode(ids)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (sentencepiece(SMALL, kind=1), "of the kind Unigram, and only BPE"),
        (sentencepiece(SMALL, kind=4), "of the kind Char"),
        (sentencepiece([*SMALL, ("zz", 0, UNUSED)]), "unused pieces"),
        (sentencepiece(SMALL, trainer=bytes([0xC0, 1, 1])), "spaces as suffixes"),
        (sentencepiece(SMALL, normalizer=field(1, b"nmt_nfkc") + field(2, b"x")), "the table 'nmt_nfkc'"),
        (sentencepiece(SMALL)[:3000], "cut off"),
        (sentencepiece([("\0", float("nan"), NORMAL)]), "cut off"),
    ],
)
def test_other_models_are_refused_by_name(data, problem, tmp_path):
    with pytest.raises(FormatError, match=problem):
        load(written(tmp_path, data))


def test_any_mutation_is_refused_or_read(tmp_path):
    import random

    rng = random.Random(4)
    good = sentencepiece(SMALL)
    for _ in range(150):
        data = bytearray(good)
        for _ in range(rng.choice((1, 1, 3))):
            data[rng.randrange(4, len(data))] = rng.randrange(256)
        try:
            load(written(tmp_path, bytes(data[: rng.choice((len(data), rng.randrange(4, len(data))))])))
        except FormatError as error:
            assert "\n" not in str(error)


def test_one_made_of_characters_is_not_written_as_one_made_of_bytes(tmp_path):
    tokenizer = load(written(tmp_path, sentencepiece(SMALL)))
    for name in ("native", "tiktoken", "huggingface", "gpt2", "minbpe"):
        with pytest.raises(FormatError, match="cannot be written"):
            save(tokenizer, tmp_path / "x", format=name)
