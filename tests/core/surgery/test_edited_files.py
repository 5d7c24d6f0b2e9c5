"""A tokenizer.json is changed in its tokens and merges alone, and Hugging Face's library gives it our ids."""

import json
from itertools import product

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from small_vocabularies import merge_lists

from bpe_core import FormatError, graft, load, prune, save, train, unite
from bpe_core.surgery import save_changed
from bpe_core.vocabulary.symbols import name_of_bytes

TEXTS = ["".join(letters) for n in range(6) for letters in product("ab c", repeat=n)]
SPECIALS = ["<s>", "</s>"]


def content_of(merges, *, looks_up=False, as_text=True):
    """A tokenizer.json of bytes, whose added tokens are not in the vocabulary, as in Llama 3's."""
    names = {byte: name_of_bytes(bytes([byte])) for byte in range(256)}
    rows = []
    for left, right, token in merges:
        names[token] = names[left] + names[right]
        pair = [names[left], names[right]]
        rows.append(" ".join(pair) if as_text else pair)
    first = len(names)
    added = [
        {
            "id": first + number,
            "content": text,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for number, text in enumerate(SPECIALS)
    ]
    begins = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    template = {
        "type": "TemplateProcessing",
        "single": [begins, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [begins, {"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [first], "tokens": ["<s>"]}},
    }
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    }
    return {
        "version": "1.0",
        "truncation": {
            "direction": "Right",
            "max_length": 512,
            "strategy": "LongestFirst",
            "stride": 0,
        },
        "padding": {
            "strategy": {"Fixed": 3},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": first + 1,
            "pad_type_id": 0,
            "pad_token": "</s>",
        },
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": {"type": "Sequence", "processors": [byte_level, template]},
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": looks_up,
            "vocab": {name: token for token, name in names.items()},
            "merges": rows,
        },
    }


def check_same_ids(tokenizer, path, texts=TEXTS):
    """The library reads the written file, and gives our ids and special tokens."""
    theirs = tokenizers.Tokenizer.from_file(str(path))
    assert load(path) == tokenizer
    template = [tokenizer.special_tokens["<s>"]]
    for text in texts:
        padded = theirs.encode(text).ids
        expected = template + tokenizer.encode(text)
        expected += [tokenizer.special_tokens["</s>"]] * (3 - len(expected))
        assert padded == expected
    assert theirs.encode("a</s>b", add_special_tokens=False).ids == tokenizer.encode(
        "a</s>b", allowed_special="all"
    )


@given(
    st.data(),
    merge_lists(several=True).filter(bool),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_the_library_reads_the_ids_of_the_theorem(
    tmp_path_factory, data, merges, looks_up, renumber, as_text
):
    path = tmp_path_factory.mktemp("files") / "tokenizer.json"
    content = content_of(merges, looks_up=looks_up, as_text=as_text)
    path.write_text(json.dumps(content))
    tokenizer = load(path)
    check_same_ids(tokenizer, path, TEXTS[:100])
    made = sorted({token for _, _, token in merges})
    removed = data.draw(st.sets(st.sampled_from(made), min_size=1))
    pruned = prune(
        tokenizer,
        removed,
        renumber=renumber,
        unreachable=data.draw(st.sampled_from(["list", "with-descendants"])),
    )
    new = path.with_name("new.json")
    save_changed(pruned, new, format="huggingface", source=path)
    check_same_ids(pruned.tokenizer, new, TEXTS[:300])
    check_untouched(content, json.loads(new.read_text()), renumber)
    grafted = graft(pruned.tokenizer, [" cab", "bacab"])
    last = path.with_name("last.json")
    save_changed(grafted, last, format="huggingface", source=new)
    check_same_ids(grafted.tokenizer, last, TEXTS[:300])


def check_untouched(old, new, renumber):
    for content in (old, new):
        del content["model"]["vocab"], content["model"]["merges"]
        if renumber:
            del content["added_tokens"], content["padding"], content["post_processor"]
    assert new == old


def test_tokens_of_a_second_tokenizer(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content_of([(97, 98, 256)]), indent=2))
    united = unite(load(path), train(["ab cab cab"], vocab_size=262, pattern="gpt2"))
    save_changed(united, path, format="huggingface", source=path)
    check_same_ids(united.tokenizer, path)
    assert path.read_text().startswith('{\n  "version": "1.0"')


def characters():
    """A tokenizer.json of characters with U+2581 and bytes, as in Llama 2's."""
    names = ["<unk>", "<s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    names += [*"▁abcé", "ab", "▁ab", "éa"]
    added = [
        {"id": n, "content": names[n], "special": True, "normalized": False}
        for n in range(2)
    ]
    for token in added:
        token |= dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    decoders = [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": {name: token for token, name in enumerate(names)},
            "merges": ["a b", "▁ ab", "é a"],
        },
    }


def test_a_file_of_characters(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(characters()))
    tokenizer = load(path)
    texts = [text.replace("c", "é") for text in TEXTS] + TEXTS
    ab, accent = tokenizer.encode_single_token("ab"), tokenizer.encode_single_token("é")
    for changed in (
        prune(tokenizer, [ab]),
        prune(tokenizer, [ab, accent], unreachable="with-descendants", renumber=True),
        graft(tokenizer, ["abc", "bab", "c"]),
    ):
        new = tmp_path / "new.json"
        save_changed(changed, new, format="huggingface", source=path)
        theirs = tokenizers.Tokenizer.from_file(str(new))
        ids = [theirs.encode(text).ids for text in texts]
        assert ids == changed.tokenizer.encode_batch(texts)
        assert load(new) == changed.tokenizer
        assert [theirs.decode(line) for line in ids] == texts
    assert [word.word for word in changed.words] == ["abc", "bab", "c"]
    assert changed.tokenizer.decode([changed.words[0].token]) == "abc"
    refused = graft(tokenizer, ["ab", "abの", "a<s>", "aba"]).refused
    assert [reason for _, reason in refused] == [
        f"it is token {tokenizer.encode('ab')[0]} already",
        "one of its characters is not a token, and its bytes can't be joined",
        "it contains the special token '<s>'",
    ]


def test_only_the_file_of_the_tokenizer_is_changed(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content_of([(97, 98, 256), (256, 99, 257)])))
    other = tmp_path / "other.json"
    other.write_text(json.dumps(content_of([(97, 98, 256), (98, 99, 257)])))
    native = tmp_path / "native.json"
    pruned = prune(load(path), [256])
    save(pruned.tokenizer, native)
    for source, problem in (
        (other, "that file would give some text other ids"),
        (native, "is not a tokenizer.json"),
    ):
        with pytest.raises(FormatError, match=problem):
            save_changed(pruned, tmp_path / "new", format="huggingface", source=source)
    grafted = graft(load(path), ["bab"])
    content = json.loads(path.read_text())
    del content["model"]["vocab"]["b"]
    other.write_text(json.dumps(content))
    with pytest.raises(FormatError, match="is not the tokenizer that was changed"):
        save_changed(grafted, tmp_path / "new", format="huggingface", source=other)
    assert not (tmp_path / "new").exists()
    # Without a source, or in another format, a new file is written.
    save_changed(grafted, tmp_path / "new", format="huggingface")
    assert load(tmp_path / "new") == grafted.tokenizer
