"""vocab.json with merges.txt, GPT-2's own files among them: either opens both, and says where it is broken."""

import json

import pytest
import tokenizers
from real import real_file
from small_files import gpt2, put

from bpe_core import PATTERNS, FormatError, load, save, train
from bpe_core.errors import PatternNeededError
from tests.nasty import nasty_texts

TEXTS = nasty_texts(300)


@pytest.mark.slow
def test_the_first_files_of_gpt_2(tmp_path):
    for name in ("encoder.json", "vocab.bpe"):
        real_file(name, tmp_path)
    ranks = load(real_file("r50k_base.tiktoken", tmp_path))
    gpt2 = load(tmp_path / "vocab.bpe")
    assert gpt2.n_vocab == 50257
    assert gpt2.special_tokens == {"<|endoftext|>": 50256}
    assert all(
        gpt2.encode_ordinary(text) == ranks.encode_ordinary(text) for text in TEXTS
    )
    assert gpt2.merges == ranks.merges


def test_either_file_opens_both(tmp_path):
    for path in (put(tmp_path, gpt2()), tmp_path / "merges.txt"):
        tokenizer = load(path)
        assert tokenizer.encode("abcab<|endoftext|>", allowed_special="all") == [
            257,
            256,
            258,
        ]


def test_the_configuration_and_the_added_tokens_beside_them_count(tmp_path):
    path = put(tmp_path, gpt2())
    (tmp_path / "tokenizer_config.json").write_text('{"add_prefix_space": true}')
    (tmp_path / "added_tokens.json").write_text('{"<new>": 300}')
    tokenizer = load(path)
    assert tokenizer.encode("ab<new>", allowed_special="all") == [32, 256, 300]


def test_added_tokens_that_only_the_configuration_has(tmp_path):
    path = put(tmp_path, gpt2())
    decoder = {
        "258": {"content": "<|endoftext|>", "special": True},
        "300": {"content": "<|im_start|>", "special": True},
        "301": {"content": "<tool>", "special": False},
        "97": {"content": "<taken>", "special": True},
    }
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"added_tokens_decoder": decoder})
    )
    tokenizer = load(path)
    assert tokenizer.special_tokens == {"<|endoftext|>": 258, "<|im_start|>": 300}
    assert tokenizer.encode("ab<tool>") == [256, 301]


def test_the_kind_that_the_configuration_names_is_not_taken_for_gpt_2(tmp_path):
    path = put(tmp_path, gpt2())
    (tmp_path / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "Qwen2TokenizerFast"}'
    )
    tokenizer = load(path)
    assert tokenizer.pattern == "qwen2" and tokenizer.preparation is not None
    assert (
        tokenizer.encode("e\u0301")
        == tokenizer.encode("\u00e9")
        != load(path, pattern="gpt2").encode("e")
    )


def test_a_folder_opens_by_the_file_in_it(tmp_path):
    put(tmp_path, gpt2())
    assert load(tmp_path).encode("ab") == [256]
    save(
        train(TEXTS, vocab_size=300, pattern="gpt2"),
        tmp_path / "tokenizer.json",
        format="huggingface",
    )
    assert load(tmp_path).n_vocab == 300
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match="it is a folder, without a file"):
        load(tmp_path / "empty")


def test_what_is_written_opens_in_the_library(tmp_path):
    tokenizer = train(TEXTS, vocab_size=600, pattern="gpt2", special_tokens=["<|end|>"])
    save(tokenizer, tmp_path / "vocab.json", format="gpt2")
    model = tokenizers.models.BPE.from_file(
        str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")
    )
    theirs = tokenizers.Tokenizer(model)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    again = load(tmp_path / "merges.txt")
    assert again.special_tokens == tokenizer.special_tokens
    for text in nasty_texts(200, seed=1):
        assert (
            theirs.encode(text).ids
            == tokenizer.encode_ordinary(text)
            == again.encode_ordinary(text)
        )


@pytest.mark.parametrize(
    ("options", "beside", "problem"),
    [
        ({"pattern": "gpt4"}, {}, "imply GPT-2's pattern"),
        (
            {"pattern": "gpt2"},
            {"merges.txt": "precious"},
            r"'merges\.txt' exists already",
        ),
        (
            {"pattern": "gpt2", "special_tokens": ["end of text"]},
            {},
            "the special token .end of text. would be read as an ordinary",
        ),
    ],
)
def test_what_two_files_cannot_say_is_not_written(options, beside, problem, tmp_path):
    for name, text in beside.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match=problem):
        save(
            train(TEXTS, vocab_size=300, **options),
            tmp_path / "vocab.json",
            format="gpt2",
        )
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == beside


def test_one_file_alone_says_what_is_missing(tmp_path):
    path = put(tmp_path, gpt2())
    (tmp_path / "merges.txt").unlink()
    with pytest.raises(
        FormatError, match=r"put the other one, merges\.txt or vocab\.bpe, into"
    ):
        load(path)


GPT2_LIKE = {"type": "ByteLevel", "add_prefix_space": False}
QWEN2_LIKE = {
    "type": "Sequence",
    "pretokenizers": [
        {
            "type": "Split",
            "pattern": {"Regex": PATTERNS["qwen2"]},
            "behavior": "Isolated",
            "invert": False,
        },
        GPT2_LIKE | {"use_regex": False},
    ],
}


def like_qwen_2(tmp_path):
    """Tokens that GPT-2's pattern cannot have led to: a sign and the word behind it."""
    merges = ("t h", "( th", "a b")
    return put(tmp_path, gpt2(merges))


def test_tokens_that_cannot_be_gpt_2s_are_not_taken_for_them(tmp_path):
    path = like_qwen_2(tmp_path)
    for file in (path, tmp_path / "merges.txt", tmp_path):
        with pytest.raises(
            PatternNeededError,
            match=r"GPT-2's would cut the token '\(th'; give the tokenizer's own pattern",
        ):
            load(file)
    tokenizer = load(path, pattern="qwen2")
    assert (tokenizer.pattern, tokenizer.encode("(th")) == ("qwen2", [257])
    assert load(path, pattern="gpt2").encode("(th") == [40, 256]


def test_the_tokenizer_json_of_the_same_tokens_says_how_a_text_is_split(tmp_path):
    path = like_qwen_2(tmp_path)
    vocab = json.loads(path.read_text())
    model = {"vocab": vocab, "merges": ["t h", "( th"]}
    whole = {"normalizer": {"type": "NFC"}, "pre_tokenizer": QWEN2_LIKE, "model": model}
    whole["added_tokens"] = [{"id": 400, "content": "<x>", "special": True}]
    (tmp_path / "tokenizer.json").write_text(json.dumps(whole))
    tokenizer = load(path)
    assert tokenizer.encode("(the\u0301<x>", allowed_special="all") == [
        257,
        195,
        169,
        400,
    ]
    (tmp_path / "tokenizer.json").write_text(
        json.dumps(whole | {"model": {"vocab": vocab | {"more": 500}}})
    )
    with pytest.raises(PatternNeededError):  # it is of another tokenizer
        load(path)


def test_the_two_files_do_not_get_into_each_others_way_nor_into_a_neighbours(tmp_path):
    one, other = (train(TEXTS, vocab_size=size, pattern="gpt2") for size in (300, 310))
    for name, beside in (
        ("vocab.json", "merges.txt"),
        ("encoder.json", "vocab.bpe"),
        ("merges.txt", "vocab.json"),
        ("small-vocab.json", "small-merges.txt"),
        ("other.json", "other-merges.txt"),
    ):
        folder = tmp_path / name
        folder.mkdir()
        save(one, folder / name, format="gpt2")
        assert {path.name for path in folder.iterdir()} == {name, beside}
        assert load(folder / name).merges == load(folder / beside).merges == one.merges
        save(other, folder / "third.json", format="gpt2")
        assert load(folder / name).merges == one.merges
        assert load(folder / "third.json").merges == other.merges
        vocab, merges = (beside, name) if name == "merges.txt" else (name, beside)
        with pytest.raises(
            FormatError, match="exists already; name that file to replace both"
        ):
            save(
                other, folder / merges, format="gpt2"
            )  # but not the vocabulary by naming its merges
        assert load(folder / merges).merges == one.merges
        save(other, folder / vocab, format="gpt2")
        assert (
            load(folder / name).merges == load(folder / beside).merges == other.merges
        )
        (folder / merges).write_text("precious")
        with pytest.raises(FormatError, match="exists already; use another folder"):
            save(one, folder / vocab, format="gpt2")
        assert (folder / merges).read_text() == "precious"


def test_a_token_that_merges_make_stays_one_of_them_though_it_is_special(tmp_path):
    path = put(tmp_path, gpt2())
    (tmp_path / "added_tokens.json").write_text('{"ab": 256}')
    tokenizer = load(path)
    assert tokenizer.special_tokens == {"<|endoftext|>": 258, "ab": 256}
    save(tokenizer, tmp_path / "ranks", format="tiktoken")
    assert (
        load(tmp_path / "ranks", pattern="gpt2").encode("abcab")
        == tokenizer.encode_ordinary("abcab")
        == [257, 256]
    )
