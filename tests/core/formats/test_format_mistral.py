"""tekken.json and SentencePiece models: small ones made here, and Mistral's own from mistral-common."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from small_files import (
    BYTE,
    NORMAL,
    PIECES,
    UNKNOWN,
    USER_DEFINED,
    field,
    put,
    sentencepiece,
    tekken,
)

from bpe_core import FormatError, UnknownTokenError, audit, load, save
from tests.nasty import nasty_texts

TEXTS = nasty_texts(300)


def data_of_mistral(name):
    spec = find_spec("mistral_common")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(
            "mistral-common is not installed; it carries Mistral's tokenizer files"
        )
    path = Path(spec.submodule_search_locations[0]) / "data" / name
    if not path.is_file():
        pytest.skip(f"this mistral-common has no {name}")
    return path


# tekken.json


def test_ids_begin_behind_the_special_tokens_and_not_all_listed_tokens_count(tmp_path):
    tokenizer = load(put(tmp_path, {"tekken.json": tekken()}))
    assert tokenizer.n_vocab == 258 + 3
    assert tokenizer.encode("abc ab") == [257 + 3, 32 + 3, 256 + 3]
    assert 258 + 3 not in tokenizer.vocabulary
    assert tokenizer.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}
    assert tokenizer.merges == [(100, 101, 259), (259, 102, 260)]


def test_named_special_tokens_and_fillers(tmp_path):
    named = [
        {"rank": rank, "token_str": text, "is_control": True}
        for rank, text in ((1, "[INST]"), (2, "[/INST]"))
    ]
    tokenizer = load(put(tmp_path, {"tekken.json": tekken(special_tokens=named)}))
    assert tokenizer.special_tokens == {"<SPECIAL_0>": 0, "[INST]": 1, "[/INST]": 2}


def test_a_tekken_without_special_tokens_begins_with_its_ranks(tmp_path):
    tokenizer = load(put(tmp_path, {"tekken.json": tekken(specials=0)}))
    assert tokenizer.special_tokens == {}
    assert tokenizer.encode("abc ab") == [257, 32, 256]


def test_a_real_tekken(tmp_path):
    common = pytest.importorskip(
        "mistral_common.tokens.tokenizers.tekken",
        reason="mistral-common is not installed",
    )
    path = data_of_mistral("tekken_240911.json")
    ours, theirs = load(path), common.Tekkenizer.from_file(path)
    assert ours.n_vocab == 131_072
    assert all(
        ours.encode_ordinary(text) == theirs.encode(text, bos=False, eos=False)
        for text in TEXTS
    )


# SentencePiece


def test_the_highest_score_is_joined_first_and_the_unknown_becomes_bytes(tmp_path):
    tokenizer = load(put(tmp_path, {"tokenizer.model": sentencepiece()}))
    names = [name for name, _, _ in PIECES]
    assert [names[token] for token in tokenizer.encode("ab cé")] == [
        "▁ab",
        "▁",
        "c",
        "<0xC3>",
        "<0xA9>",
    ]
    assert tokenizer.decode(tokenizer.encode("ab cé")) == "ab cé"
    assert tokenizer.special_tokens == {"<unk>": 0, "<s>": 1}
    assert tokenizer.vocabulary.parents(names.index("▁ab")) is not None


def test_pieces_of_equal_score_are_joined_from_the_left_also_by_recovered_merges(
    tmp_path,
):
    """Merges have an order, equal scores have none, however long the piece is."""
    pieces = [
        ("<unk>", 0, UNKNOWN),
        *((name, -1, NORMAL) for name in ("bc", "ab", "a", "b", "c")),
    ]
    path = put(
        tmp_path,
        {
            "tokenizer.model": sentencepiece(
                pieces, normalizer=field(3, 0) + field(4, 0)
            )
        },
    )
    tokenizer, text = load(path), "abc" * 40
    assert load(path).encode("abc") == [2, 5] and load(path).encode(text) == [2, 5] * 40
    assert tokenizer.vocabulary.recover()
    assert (
        tokenizer.encode(text)
        == tokenizer.at(tokenizer.step).encode(text)
        == [2, 5] * 40
    )


def test_without_bytes_the_unknown_is_one_token_for_several_characters(tmp_path):
    pieces = [piece for piece in PIECES if piece[2] != BYTE]
    tokenizer = load(put(tmp_path, {"tokenizer.model": sentencepiece(pieces)}))
    assert tokenizer.encode("aéßa") == [2, 0, 6]
    assert not tokenizer.by_piece


def test_where_nothing_stands_for_the_unknown_it_is_named(tmp_path):
    pieces = [piece for piece in PIECES if piece[2] == NORMAL]
    with pytest.raises(UnknownTokenError, match=r"U\+00E9"):
        load(put(tmp_path, {"tokenizer.model": sentencepiece(pieces)})).encode("é")


def test_a_character_without_a_token_can_be_joined_all_the_same(tmp_path):
    """A merge has two tokens; so no step makes such a piece, but the ranks do, before and after the recovery."""
    pieces = [
        piece
        for piece in [*PIECES, ("éa", -9, NORMAL), ("éac", -10, NORMAL)]
        if piece[2] == NORMAL
    ]
    tokenizer = load(put(tmp_path, {"tokenizer.model": sentencepiece(pieces)}))
    before = tokenizer.encode("éa éac")
    assert tokenizer.vocabulary.recover()
    assert before == tokenizer.encode("éa éac") == [3, 7, 3, 8]
    made = [tokenizer.token_bytes(token) for _, _, token in tokenizer.merges]
    assert made == [b" a", b"ab", b" ab", "éac".encode()]
    assert all(found.id < len(pieces) for found in audit(tokenizer))


def test_spaces_that_are_removed_and_pieces_of_the_user(tmp_path):
    pieces = [*PIECES, ("ca", 0, USER_DEFINED)]
    normalizer = field(3, 1) + field(4, 1)
    tokenizer = load(
        put(tmp_path, {"tokenizer.model": sentencepiece(pieces, normalizer=normalizer)})
    )
    names = [name for name, _, _ in pieces]
    assert [names[token] for token in tokenizer.encode("  ab   cab ")] == [
        "▁ab",
        "▁",
        "ca",
        "b",
    ]


@pytest.mark.parametrize(
    "name", ["tokenizer.model.v1", "mistral_instruct_tokenizer_241114.model.v7"]
)
def test_a_real_model(name):
    sentencepiece = pytest.importorskip(
        "sentencepiece", reason="sentencepiece is not installed"
    )
    path = data_of_mistral(name)
    ours, theirs = (
        load(path),
        sentencepiece.SentencePieceProcessor(model_file=str(path)),
    )
    for text in TEXTS:
        ids = theirs.encode(text)
        assert ours.encode_ordinary(text) == ids
        assert ours.decode(ids) == theirs.decode(ids)


def test_one_made_of_characters_is_not_written_as_one_made_of_bytes(tmp_path):
    tokenizer = load(put(tmp_path, {"tokenizer.model": sentencepiece()}))
    for name in ("native", "tiktoken", "huggingface", "gpt2", "minbpe"):
        with pytest.raises(FormatError, match="cannot be written"):
            save(tokenizer, tmp_path / "x", format=name)
