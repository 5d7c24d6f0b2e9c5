"""What is refused of all formats: one sentence says which file, where in it, what was expected; none is read long."""

import gzip
import json
import lzma
import os
import subprocess
import sys

import pytest
from small_files import (
    BYTES,
    MINBPE,
    NORMAL,
    PIECES,
    UNUSED,
    field,
    gpt2,
    huggingface,
    js_tiktoken,
    put,
    rank_lines,
    sentencepiece,
    tekken,
)

from bpe_core import FormatError, OptionError, Vocabulary, load, save, train
from bpe_core.formats import native

RANKS = rank_lines()
JS = js_tiktoken()["bpe_ranks"]
HALF = "<\ud800>"
TRAINED = train(
    ["aaabdaaabac é", "hello\n"],
    vocab_size=265,
    special_tokens=["<|a|>"],
    id_layout="specials-first",
)


def whole(kind):
    """{name: content} of a sound file; the first is the one to be opened and changed."""
    return {
        "native": lambda: {"mine.json": json.loads("".join(native.write(TRAINED)))},
        "huggingface": lambda: {"tokenizer.json": huggingface()},
        "gpt2": gpt2,
        "merges": lambda: dict(reversed(gpt2().items())),
        "tekken": lambda: {"tekken.json": tekken()},
        "sentencepiece": lambda: {"tokenizer.model": sentencepiece()},
        "tiktoken": lambda: {"some.tiktoken": RANKS},
        "js_tiktoken": lambda: {"ranks.json": js_tiktoken()},
        "minbpe": lambda: {"some.model": MINBPE},
        "two files": lambda: {**gpt2(), "tokenizer_config.json": {}},
    }[kind]()


def row(index, new):
    """Of our own format: a merge in the place of another."""

    def change(data):
        data["merges"][index] = new

    return change


def special(**tokens):
    """Of Hugging Face: special tokens with these ids."""
    return lambda data: data["added_tokens"].extend(
        {"id": token, "content": text, "special": True}
        for text, token in tokens.items()
    )


def model(**changes):
    return lambda data: data["model"].update(changes)


def merge(*merges):
    return lambda data: data["model"]["merges"].extend(merges)


def at(*path, **changes):
    def change(data):
        for key in path:
            data = data[key]
        data.update(changes)

    return change


NATIVE = [
    (
        row(3, [99, 900, 261, 1, 1, 1, "a"]),
        "Merge 4 joins the id 900, which no merge before it makes",
    ),
    (row(3, [98, 98, 261, 1, 1, 1, "aa"]), "two merges join the ids 98 and 98"),
    (
        row(3, [98, 34, 258, 1, 1, 1, "a!"]),
        "Merge 4 makes the id 258, which has other bytes already",
    ),
    (
        row(3, [98, 99, 260, 1, 1, 1, "the"]),
        "in merges[3], the text does not match the ids",
    ),
    (
        row(3, [98, 99, 260, 1, 1, "46", "ab"]),
        "in merges[3], expected a whole number or a fraction in the column n_tokens",
    ),
    (
        row(3, [98, 99, 260, 1, 1, -46, "ab"]),
        "of at least 0 in the column n_tokens, found -46",
    ),
    (
        row(3, [98, 99, True, 1, 1, 46, "ab"]),
        "of at least 0 in the column token, found true",
    ),
    (
        row(3, [98, 99, 1 << 80, 1, 1, 46, "ab"]),
        "in the column token, found 12089258196146291747",
    ),
    (
        row(3, [98, 99, 1 << 52, 1, 1, 46, "ab"]),
        "Ids must be whole numbers from 0 to 4,294,967,295",
    ),
    (row(3, [98, 99, 260, 1, 1, 46, 7]), "expected a text in the column text, found 7"),
    (row(3, [98, 99, 260]), "a row of 7 values"),
    (row(3, {}), "a row of 7 values"),
    (at(version=3), "another version of bpescope may read this"),
    (at(columns=[]), "in columns"),
    (at(merges=None), "in merges, expected a list, found null"),
    (at(n_vocab=7), "in n_vocab, "),
    (at(first_byte=-1), "in first_byte"),
    (at(first_byte=0), "has the id 0, which is taken already"),
    (at(special_tokens=[]), "in special_tokens"),
    (at("special_tokens", x=1.5), "in special_tokens"),
    (at("special_tokens", x=99), "is taken"),
    (at("special_tokens", **{HALF: 900}), "'<�>' contains half of a character"),
    (at(pattern_source="("), "split pattern is not a valid"),
    (at(name=["x"]), "in name, expected a text, found a list"),
    (at(training=1), "in training, expected an object, found 1"),
    (at(training={}), "in training.n_bytes, the value is missing"),
    (b"", "is empty"),
    (b" \n", "is empty"),
    (b"hello", "not a tokenizer file of a known kind; supported: tiktoken"),
    (b'{"format": "bpescope", ', "line 1, column 24 is not JSON"),
    (b'{"format": "bpescope"}\nx', "line 2"),
    (b'{"format": "bpescope", "a": "\xff"}', "not UTF-8 at byte 29"),
    (b'{"format": "bpescope", "format": "bpescope"}', "'format' occurs twice"),
    (b'{"format": "bpescope", "a": ' + b"9" * 10_000 + b"}", "thousands of digits"),
    (b'{"format": "bpescope", "a": ' + b"[" * 100_000, "nested too deeply"),
]
HUGGINGFACE = [
    *(
        (model(type=name), f"cannot be used: the model {name}")
        for name in ("Unigram", "WordPiece", "WordLevel")
    ),
    (model(vocab=[["a", 0.5]], type="Unigram"), "cannot be used: the model Unigram"),
    (model(dropout=0.1), "cannot be used: dropout"),
    (model(end_of_word_suffix="</w>"), "cannot be used: the end_of_word_suffix '</w>'"),
    (
        lambda data: (
            data["model"].update(byte_fallback=True, unk_token="ab")
            or data["model"]["vocab"].update({"<0x41>": 400})
        ),
        "cannot be used: byte_fallback with 1 of 256 bytes",
    ),
    (
        at(decoder={"type": "Replace", "pattern": {"String": "▁"}, "content": " "}),
        "cannot be used: a decoder that makes spaces of U+2581",
    ),
    (
        at(normalizer={"type": "Precompiled"}),
        "cannot be used: the normalizer Precompiled",
    ),
    (
        at(
            normalizer={
                "type": "Sequence",
                "normalizers": [{"type": "NFC"}, {"type": "Nmt"}],
            }
        ),
        "cannot be used: the normalizer Nmt",
    ),
    (
        at(pre_tokenizer={"type": "UnicodeScripts"}),
        "cannot be used: the pre-tokenizer UnicodeScripts",
    ),
    (special(**{"<a>": 97}), "in added_tokens[0].id, 97 is the id of"),
    (
        special(**{"x" * 16_385: 400}),
        "in added_tokens[0].content, it is longer than 16,384",
    ),
    (special(**{HALF: 400}), "'<�>' contains half of a character"),
    (special(**{"<a>": 400, "<b>": 400}), "in added_tokens[1].id, 400 is the id"),
    (
        at(added_tokens=[{"id": [], "content": {}}]),
        "in added_tokens[0].content, expected a text",
    ),
    (
        at(added_tokens=[{"id": {}, "content": "<x>"}]),
        "in added_tokens[0].id, expected a whole number",
    ),
    (
        lambda data: data["model"]["vocab"].pop("q") and merge("q a")(data),
        "in model.merges[3], the token 'q' is not",
    ),
    (merge("q a"), "in model.merges[3], the token 'qa' is not"),
    (merge("q a x"), "in model.merges[3], expected two tokens"),
    (
        at("model", "vocab", abc=257),
        "in model.vocab, 'bc' and 'abc' have the same id 257",
    ),
    (
        at("model", "vocab", abc=1 << 60),
        "in model.vocab, the id of 'abc' is not a whole number",
    ),
    (at("model", "vocab", abc=[]), "the id of 'abc' is not a whole number"),
    (model(merges={}), "in model.merges, expected a list"),
    (model(unk_token="<unk>"), "in model.unk_token, it is not in the vocabulary"),
    (at(normalizer={}), "in normalizer.type, the value is missing"),
    (
        at("pre_tokenizer", use_regex="yes"),
        "in pre_tokenizer.use_regex, expected true or false",
    ),
]
TEKKEN = [
    (
        at("config", default_vocab_size=9999),
        "in config.default_vocab_size, it asks for 9996",
    ),
    (at("config", default_vocab_size=5), "in config.default_vocab_size"),
    (at("vocab", 5, rank=7), "in vocab[5].rank, expected 5"),
    (
        at("vocab", 256, token_bytes="Y*I="),
        "in vocab[256].token_bytes, it is not base64",
    ),
    (at("vocab", 256, token_bytes="ÿ"), "in vocab[256].token_bytes, it is not base64"),
    (
        at("vocab", 256, token_bytes="YQ=="),
        "the ranks 97 and 256 have the same bytes",
    ),
    (at("vocab", 97, token_bytes="eHh4"), "no token for the byte 0x61"),
    (at("config", pattern="("), "not a valid regular expression"),
    (lambda data: data.pop("config"), "in config, the value is missing"),
    (
        at(special_tokens=[{"rank": 0, "token_str": HALF, "is_control": True}]),
        "'<�>' contains half of a character",
    ),
    (
        json.dumps(
            tekken(specials=0, special_tokens=[{"rank": 0, "token_str": "<unk>"}])
        ),
        "default_num_special_tokens, it is 0, and the file lists 1 special tokens",
    ),
    (
        at(special_tokens=[{"rank": rank, "token_str": "<s>"} for rank in (0, 1)]),
        "in special_tokens[1].token_str, '<s>' has two ranks",
    ),
]
SENTENCEPIECE = [
    (sentencepiece(kind=1), "of the type Unigram, and only BPE"),
    (sentencepiece(kind=4), "of the type Char"),
    (sentencepiece([*PIECES, ("zz", 0, UNUSED)]), "unused pieces"),
    (sentencepiece(trainer=bytes([0xC0, 1, 1])), "spaces as suffixes"),
    (
        sentencepiece(normalizer=field(1, b"nmt_nfkc") + field(2, b"x")),
        "the table 'nmt_nfkc'",
    ),
    (sentencepiece(normalizer=field(5, 0)), "does not replace spaces with U+2581"),
    (sentencepiece()[:3000], "cut off"),
    (sentencepiece([("\0", float("nan"), NORMAL)]), "cut off"),
]
TIKTOKEN = [
    (RANKS + b"YWI", "line 257 must be a base64 token"),
    (RANKS + b"YWI 256\n", "in line 257, 'YWI' is not base64"),
    (RANKS + b"Y*I= 256\n", "in line 257, 'Y*I=' is not base64"),
    (RANKS + b"YWI= x\n", "in line 257, 'x' is not a valid rank"),
    (RANKS + b"YWI= -1\n", "is not a valid rank"),
    (RANKS + b"YWI= 99999999999999999999999\n", "is not a valid rank"),
    (RANKS + b"YWI= 255\n", "in line 257, the rank 255 occurs a second time"),
    (RANKS + b"YQ== 256\n", "the ranks 97 and 256 have the same bytes"),
    (RANKS[: RANKS.index(b"YQ== 97")], "no token for the byte 0x61"),
    (RANKS.replace(b"YQ== 97\n", b""), "no token for the byte 0x61"),
    (RANKS[:1000], "is broken"),
    (RANKS + b"YWI= 256 7\n", "line 257"),
    (RANKS + b"\xff\xfe 256\n", "line 257"),
    *(
        (data, "")
        for data in (
            b"YQ== 0\nYg==",
            b"YQ== 0\nYg==\n",
            b"YQ== 0 Yg==",
            b"YQ==",
            b"0\n",
        )
    ),
]
JS_TIKTOKEN = [
    (at(bpe_ranks=JS + "300 YWJj"), "line 3 of the ranks does not begin with '!'"),
    (at(bpe_ranks=JS + "! x YWJj"), "line 3 of the ranks does not begin with '!'"),
    (at(bpe_ranks=JS + "!"), "line 3 of the ranks does not begin with '!'"),
    (
        at(bpe_ranks=JS + "! 99999999999 YWJj"),
        "line 3 of the ranks does not begin with '!'",
    ),
    (at(bpe_ranks=JS + "! 301 Y"), "in line 3 of the ranks, 'Y' is not base64"),
    (at(bpe_ranks=JS + "! 300 YWJjZA=="), "the rank 300 occurs a second time"),
    (at(bpe_ranks=JS + "! 301 YWJj"), "the ranks 300 and 301 have the same bytes"),
    (at(bpe_ranks="! 0 AA=="), "it has no token for the byte 0x01"),
    (at("special_tokens", **{HALF: 900}), "'<�>' contains half of a character"),
    *(
        (at(special_tokens=value), "broken")
        for value in ({"<s>": -1}, {"<s>": "x"}, [], {"": 400}, {"<s>": 256})
    ),
]
DOUBLING = "\n".join(f"{token} {token}" for token in range(256, 300))
MINBPE_TEXTS = [
    ("minbpe v2\n\n0\n", "version 'minbpe v2'"),
    ("minbpe v1\n", "ends before its third line"),
    ("minbpe v1\n\nx\n", "in line 3, 'x' is not a valid number"),
    ("minbpe v1\n\n9\n<x> 300\n", "ends before its 9 special tokens"),
    ("minbpe v1\n\n1\n<x>\n", "line 4 is not a special token and its id"),
    (
        "minbpe v1\n\n0\n97 98\n97 300\n",
        "Merge 2 joins the id 300, which no merge before it makes",
    ),
    ("minbpe v1\n\n0\n97 98\n97 98\n", "two merges join the ids 97 and 98"),
    ("minbpe v1\n\n0\n97\n", "line 4 is not the ids of two tokens"),
    ("minbpe v1\n\n1\n<x> 256\n97 98\n", "the id 256, which is taken already"),
    ("minbpe v1\n(\n0\n", "not a valid regular expression"),
    (f"minbpe v1\n\n0\n97 98\n{DOUBLING}", "tokens become too long"),
]
MERGES = [
    (
        "#version: 0.2\na b\na q\n",
        "merges.txt is broken: in line 3, the token 'aq' is not in the vocabulary",
    ),
    ("#version: 0.2\na b\n€ b\n", "in line 3, the token '€' is not in the vocabulary"),
    ("#version: 0.2\na b c\n", "line 2 is not two tokens"),
    ("#version: 0.2\na\n", "line 2 is not two tokens"),
    ("#version: 0.2\n\udcff a\n", "merges.txt is broken: it is not UTF-8 at byte 14"),
]
CONFIGURED = [
    *(
        ({"tokenizer_config.json": content}, "tokenizer_config.json is broken")
        for content in ("[", "[]", "[" * 100_000)
    ),
    *(
        (
            {"tokenizer_config.json": {"added_tokens_decoder": it}},
            "broken: in added_tokens_decoder",
        )
        for it in ([], {"x": {"content": "<a>"}}, {"300": "<a>"}, {"300": {}})
    ),
    (
        {"tokenizer_config.json": {"tokenizer_class": "CLIPTokenizer"}},
        "CLIPTokenizer is not supported",
    ),
    (
        {
            "vocab.json": dict(
                zip(["a", "b", "a</w>", "b</w>", "ab</w>"], range(5), strict=True)
            ),
            "merges.txt": "a b</w>\n",
        },
        "the ends of words with </w>",
    ),
    *(
        ({"vocab.json": text}, "")
        for text in (
            '{"a": 1',
            '{"a": 1, "a": 2}',
            '{"a": 1, "b": 1}',
            '{"a": -1}',
            '{"a": 1e5}',
        )
    ),
]
CASES = [
    (kind, change, sentence)
    for kind, cases in (
        ("native", NATIVE),
        ("huggingface", HUGGINGFACE),
        ("tekken", TEKKEN),
        ("sentencepiece", SENTENCEPIECE),
        ("tiktoken", TIKTOKEN),
        ("js_tiktoken", JS_TIKTOKEN),
        ("minbpe", MINBPE_TEXTS),
        ("merges", MERGES),
        ("two files", CONFIGURED),
    )
    for change, sentence in cases
]


def refusal(path, **how):
    with pytest.raises(FormatError) as raised:
        load(path, **how)
    return str(raised.value)


@pytest.mark.parametrize(
    ("kind", "change", "sentence"),
    CASES,
    ids=lambda it: it[:60] if isinstance(it, str) else "",
)
def test_what_is_broken_is_said_in_one_sentence(kind, change, sentence, tmp_path):
    files = whole(kind)
    pattern = "words" if kind == "tiktoken" else None
    path = put(tmp_path, files)
    assert load(path, pattern=pattern).n_vocab >= 256, "it is sound before"
    if isinstance(change, dict):
        files |= change
    elif callable(change):
        change(files[path.name])
    else:
        files[path.name] = change
    said = refusal(put(tmp_path, files), pattern=pattern)
    assert sentence in said and "\n" not in said


def test_an_object_that_is_none_and_parts_that_are_nested_too_deeply(tmp_path):
    assert refusal(put(tmp_path, {"tokenizer.json": huggingface() | {"model": []}}))
    inside = '{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true}'
    for depth in (100, 400, 3000):
        nested = (
            '{"type": "Sequence", "pretokenizers": [' * depth + inside + "]}" * depth
        )
        path = put(
            tmp_path,
            {"tokenizer.json": json.dumps(huggingface()).replace(inside, nested)},
        )
        try:
            assert load(path).encode("abc") == [258]
        except FormatError as error:
            assert "nested too deeply" in str(error) and depth > 100


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_half_a_character_is_no_special_token(text):
    for make in (
        lambda: train("abab", vocab_size=300, special_tokens=[text]),
        lambda: train("abab", vocab_size=300, end_of_word=text),
        lambda: Vocabulary(dict(enumerate(BYTES)), (), {text: 256}),
    ):
        with pytest.raises(OptionError, match="contains half of a character"):
            make()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\n\n"])
def test_every_cut_of_a_rank_file_is_refused_or_read(newline, tmp_path):
    """Wherever a download ended: inside of a token, of a rank, between the two."""
    lines = rank_lines([b"ab", b"abc"], newline)
    kinds = set()
    for content in [
        *(lines[:end] for end in range(0, len(lines), 17)),
        *(lines[:start] + lines[start + 9 :] for start in range(0, len(lines), 22)),
    ]:
        try:
            assert load(put(tmp_path, {"cut": content}), pattern="words").encode(
                "b"
            ) == [98]
            kinds.add("read")
        except FormatError:
            kinds.add("refused")
    assert kinds == {"read", "refused"}


def test_what_is_no_regular_file_is_not_read(tmp_path):
    assert "not a regular file" in refusal("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refusal(tmp_path / "pipe")


def test_a_file_of_any_size_is_refused_by_its_size(tmp_path):
    path = tmp_path / "huge"
    with open(path, "wb") as file:
        file.truncate(5 << 30)
    limit = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))"
    )
    code = f"{limit}\nfrom bpe_core import load\ntry: load({str(path)!r})\nexcept ValueError as error: print(error)"
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "too large for a tokenizer file" in out.stdout, out.stderr


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_packed_file_is_unpacked_within_bounds(pack, tmp_path, monkeypatch):
    save(train("abab", vocab_size=257), tmp_path / "a.json")
    (tmp_path / "packed").write_bytes(
        packed := pack((tmp_path / "a.json").read_bytes())
    )
    assert load(tmp_path / "packed").merges == load(tmp_path / "a.json").merges
    (tmp_path / "packed").write_bytes(packed[:-9])
    assert "cannot be read: the compressed data is cut off" in refusal(
        tmp_path / "packed"
    )
    monkeypatch.setattr("bpe_core.formats.file.LARGEST_FILE", 1 << 20)
    (tmp_path / "packed").write_bytes(pack(bytes((1 << 20) + 1)))
    assert "too large for a tokenizer file" in refusal(tmp_path / "packed")
