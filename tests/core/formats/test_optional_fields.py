"""Files of every format with each optional field absent, at its default, or another: their ids are the library's.

A file that bpescope refuses, in one sentence, proves nothing, and neither does one that the library refuses. So each
property also counts the files that were compared, and fails if they are few.
"""

import json
import tempfile
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from dataclasses import fields as fields_of
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_files import BYTE_NAMES, BYTES, huggingface, put

from bpe_core import (
    BpeError,
    Tokenizer,
    UnknownTokenError,
    Vocabulary,
    load,
    save,
    train,
)
from bpe_core.tokenizer.training_record import TrainingRecord
from tests.attack.fuzz_files.sound import field
from tests.attack.fuzz_files.verdict import check_sentence

ABSENT = object()
NOT_HERE = "an oracle of the extra dev is not installed"
EXAMPLES = [60, pytest.param(1000, marks=pytest.mark.slow)]
TEXTS = (
    "",
    "ab abc  cab",
    " ab",
    "  a\tb \n\n c  ",
    "aéb ééa日日 é",
    "A1b12c123 ,,.a,b",
    "x<s>ab<s> abab<e>a",
    "▁ab▁ ▁c",
)

Encode = Callable[[str], list[int]]
"""Of a library: a text in, ids out."""


def hold(
    cases: st.SearchStrategy[Any],
    compare: Callable[[Any], str],
    n: int,
    *,
    least: float = 1,
) -> None:
    """Compare `n` cases; `compare` returns "same", or who refused the file. The share `least` must be the same."""
    outcomes = Counter[str]()

    @settings(max_examples=n)
    @given(cases)
    def agrees(case: Any) -> None:
        outcomes[compare(case)] += 1

    agrees()
    assert outcomes["same"] >= least * outcomes.total(), outcomes


def loaded(files: dict[str, Any], pattern: str | None = None) -> Tokenizer | None:
    """The tokenizer in the first of the files; None if it is refused, in one sentence."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return load(put(Path(folder), files), pattern=pattern)
        except BpeError as error:
            check_sentence(error)
            return None


def same_ids(
    ours: Tokenizer | None, theirs: Encode | None, texts: tuple[str, ...]
) -> str:
    """Compare the ids of texts without special tokens."""
    if ours is None:
        return "refused here"
    if theirs is None:
        return "refused there"
    for text in texts:
        try:
            ids = ours.encode_ordinary(text)
        except UnknownTokenError:  # the libraries leave such a character out
            continue
        assert ids == theirs(text), text
    return "same"


def optional(**values: list[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects in which each key is absent, or has one of its values."""
    keys = {key: st.sampled_from([ABSENT, *choices]) for key, choices in values.items()}
    return st.fixed_dictionaries(keys).map(present)


def present(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not ABSENT}


FLAG = [False, True]
PATTERNS = [r"\S+|\s+", r"[ab]+|\s|[^ab\s]+", r" ?\w+|[\s\S]"]
POOL = [b"ab", b"abc", b"bc", b" a", b" ab", b"aa", b"xyz", b"\xc3\xa9"]
texts_too = st.lists(st.text("abcAé日 ,.1▁\n<s>", max_size=9), max_size=2).map(
    lambda texts: (*TEXTS, *texts)
)

# tokenizer.json

MERGES = ("a b", "b c", "ab c", "a a", "b b", "c a", "Ġ a", "Ġ ab", "▁ a", "▁ ab")
"""In the byte alphabet Ġ is a space; in characters ▁ is."""
BYTE_MERGES = (*MERGES[:-2], "# #")

byte_level = st.fixed_dictionaries(
    {
        "type": st.just("ByteLevel"),
        "add_prefix_space": st.booleans(),
        "trim_offsets": st.booleans(),
    }
).flatmap(lambda part: optional(use_regex=FLAG).map(lambda more: part | more))
metaspace = optional(
    prepend_scheme=["always", "first", "never"], split=FLAG, add_prefix_space=[True]
).map(lambda more: {"type": "Metaspace", "replacement": "▁"} | more)
split = st.fixed_dictionaries(
    {
        "type": st.just("Split"),
        "pattern": st.sampled_from(
            [{"String": " "}, {"String": "."}, {"Regex": "[ab]+|,"}, {"Regex": r"\s"}]
        ),
        "behavior": st.sampled_from(
            [
                "Isolated",
                "Removed",
                "Contiguous",
                "MergedWithPrevious",
                "MergedWithNext",
            ]
        ),
        "invert": st.booleans(),
    }
)
punctuation = optional(behavior=["Isolated", "Removed", "Contiguous"]).map(
    lambda more: {"type": "Punctuation"} | more
)
digits = st.booleans().map(lambda alone: {"type": "Digits", "individual_digits": alone})
named = st.sampled_from(["Whitespace", "WhitespaceSplit", "BertPreTokenizer"]).map(
    lambda name: {"type": name}
)
delimiter = st.just({"type": "CharDelimiterSplit", "delimiter": ","})
step = st.one_of(split, punctuation, digits, named, delimiter)


def in_sequence(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": parts}


bytewise = st.one_of(
    byte_level,
    st.tuples(step, byte_level).map(list).map(in_sequence),
    st.tuples(step, step, byte_level).map(list).map(in_sequence),
)
characterwise = st.one_of(
    st.none(), metaspace, step, st.tuples(step, metaspace).map(list).map(in_sequence)
)
normalizer = st.one_of(
    st.none(),
    st.just({"type": "Lowercase"}),
    st.just({"type": "Prepend", "prepend": "▁"}),
    st.just({"type": "Replace", "pattern": {"String": " "}, "content": "▁"}),
    st.just({"type": "Replace", "pattern": {"Regex": "a|,+"}, "content": "b"}),
    st.tuples(st.booleans(), st.booleans()).map(
        lambda ends: {"type": "Strip", "strip_left": ends[0], "strip_right": ends[1]}
    ),
)
added_token = st.fixed_dictionaries(
    {
        "content": st.sampled_from(["<s>", "<e>", "ab", " a", "cab", "é", "A1"]),
        **dict.fromkeys(
            ("special", "normalized", "single_word", "lstrip", "rstrip"), st.booleans()
        ),
    }
)
model = optional(
    type=["BPE"],
    dropout=[None],
    unk_token=[None, "<unk>", "<unk>"],
    continuing_subword_prefix=[None, ""],
    end_of_word_suffix=[None, ""],
    fuse_unk=FLAG,
    byte_fallback=FLAG,
    ignore_merges=FLAG,
)


@st.composite
def recipes(draw: st.DrawFn) -> dict[str, Any]:
    """What `described` makes a tokenizer.json of."""
    is_bytewise = draw(st.booleans())
    return {
        "pre_tokenizer": draw(bytewise if is_bytewise else characterwise),
        "normalizer": draw(normalizer),
        "merges": draw(st.lists(st.sampled_from(MERGES), max_size=7)),
        "merges are lists": draw(st.booleans()),
        "lacking": draw(st.sampled_from([None, "<unk>", "cab", "<0xC3>"])),
        "bytes": not is_bytewise,
        "model": draw(model),
        "added_tokens": draw(
            st.lists(added_token, max_size=3, unique_by=lambda one: one["content"])
        ),
        "left out": draw(
            st.sets(st.sampled_from(["normalizer", "pre_tokenizer", "added_tokens"]))
        ),
    }


def described(recipe: dict[str, Any]) -> dict[str, Any]:
    whole = huggingface(MERGES)
    vocab = whole["model"]["vocab"]
    characters = (" a", *BYTE_NAMES) if recipe["bytes"] else ()
    for name in ("<unk>", "cab", *characters):
        if name != recipe["lacking"]:
            vocab[name] = len(vocab)
    merges = recipe["merges"]
    if recipe["merges are lists"]:
        merges = [pair.split() for pair in merges]
    whole["model"] = {"vocab": vocab, "merges": merges} | recipe["model"]
    whole["added_tokens"] = []
    next_id = len(vocab)
    for token in recipe["added_tokens"]:
        number = vocab.get(token["content"], next_id)
        next_id += number == next_id
        whole["added_tokens"].append(token | {"id": number})
    for key in ("pre_tokenizer", "normalizer"):
        whole[key] = recipe[key]
    for key in recipe["left out"]:
        if not whole[key]:  # empty or null, which is the same as absent
            del whole[key]
    return whole


def in_tokenizers(whole: dict[str, Any]) -> Any:
    """The library's tokenizer, which encodes special tokens; None if it refuses the file."""
    from tokenizers import Tokenizer as Theirs

    try:
        return Theirs.from_str(json.dumps(whole))
    except Exception:
        return None


@pytest.mark.parametrize("n", EXAMPLES)
def test_tokenizer_json(n: int) -> None:
    def compare(case: tuple[dict[str, Any], tuple[str, ...]]) -> str:
        recipe, texts = case
        whole = described(recipe)
        ours, theirs = loaded({"tokenizer.json": whole}), in_tokenizers(whole)
        if ours is None or theirs is None:
            return "refused"
        for text in texts:
            ids = theirs.encode(text, add_special_tokens=False).ids
            try:
                assert ours.encode(text, allowed_special="all") == ids, text
            except UnknownTokenError:
                continue
        theirs.encode_special_tokens = True
        named = {one["content"] for one in recipe["added_tokens"] if one["special"]}
        if (
            recipe["model"].get("ignore_merges")
            and named & whole["model"]["vocab"].keys()
        ):
            # The library looks up a special token's text as a piece; here it is never that token unless it is allowed.
            return "same"
        return same_ids(
            ours, lambda text: theirs.encode(text, add_special_tokens=False).ids, texts
        )

    hold(st.tuples(recipes(), texts_too), compare, n, least=1 / 3)


# SentencePiece

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


@st.composite
def models(draw: st.DrawFn) -> dict[str, Any]:
    """What `model_of` makes a model of; numbers are those of the fields."""
    joined = st.sampled_from(["ab", "bc", "abc", "aa", "ca", "▁a", "▁ab", "▁▁", "a▁"])
    names = ["▁", "a", "b", "c", *draw(st.lists(joined, unique=True))]
    score = st.sampled_from([-3.0, -2.0, -1.0, 0.0, 1.0, ABSENT])
    pieces = [
        (name, draw(score), draw(st.sampled_from([NORMAL, ABSENT]))) for name in names
    ]
    extra = draw(st.sampled_from([None, None, USER_DEFINED, UNUSED]))
    if extra:
        pieces.append(("cab", 0.0, extra))
    has_bytes = draw(st.booleans())
    return {
        "pieces": pieces,
        "bytes": has_bytes,
        "trainer": {
            3: draw(st.sampled_from([2, 2, 2, 2, 1, ABSENT])),
            24: draw(st.sampled_from([ABSENT, ABSENT, 0, 1])),
            35: 1 if has_bytes else draw(st.sampled_from([ABSENT, 0])),
        },
        "normalizer": {
            1: draw(st.sampled_from([ABSENT, b"identity", b"x"])),
            2: draw(st.sampled_from([ABSENT, b""])),
            3: draw(st.sampled_from([ABSENT, 0, 1])),
            4: draw(st.sampled_from([ABSENT, 0, 1])),
            5: draw(st.sampled_from([ABSENT, ABSENT, 1, 0])),
        },
    }


def model_of(recipe: dict[str, Any]) -> bytes:
    pieces = [("<unk>", ABSENT, UNKNOWN), ("<s>", ABSENT, CONTROL), *recipe["pieces"]]
    if recipe["bytes"]:
        pieces += [(name, 0.0, BYTE) for name in BYTE_NAMES]
    data = b"".join(
        field(1, message({1: name.encode(), 2: score, 3: kind}))
        for name, score, kind in pieces
    )
    data += field(2, message(recipe["trainer"]))
    normalizer = message(recipe["normalizer"])
    return data + field(3, normalizer) if normalizer else data


def message(fields: dict[int, Any]) -> bytes:
    return b"".join(field(number, value) for number, value in present(fields).items())


@pytest.mark.parametrize("n", EXAMPLES)
def test_sentencepiece_models(n: int) -> None:
    library = pytest.importorskip("sentencepiece", reason=NOT_HERE)

    def compare(case: tuple[dict[str, Any], tuple[str, ...]]) -> str:
        recipe, texts = case
        data = model_of(recipe)
        try:
            theirs = library.SentencePieceProcessor(model_proto=data)
        except RuntimeError:
            theirs = None
        ours = loaded({"tokenizer.model": data})
        for text in texts if ours and theirs else ():
            ids = theirs.encode(text)
            # The library shows the unknown token as a sign, and drops each ▁ in front.
            if 0 not in ids and "▁" not in text:
                assert ours.decode(ids) == theirs.decode(ids)
        return same_ids(ours, theirs and theirs.encode, texts)

    hold(st.tuples(models(), texts_too), compare, n, least=1 / 3)


# tekken.json


@st.composite
def tekkens(draw: st.DrawFn) -> dict[str, Any]:
    """What `tekken_of` makes a file of."""
    listed = st.lists(st.sampled_from(["<unk>", "<s>", "</s>"]), unique=True)
    return {
        "tokens": draw(st.lists(st.sampled_from(POOL), unique=True)),
        "unused": draw(st.integers(0, 3)),
        "specials": draw(st.sampled_from([3, 20, 22])),
        "listed": draw(st.one_of(st.none(), listed)),
        "config": {
            "pattern": draw(st.sampled_from(PATTERNS)),
            "version": draw(st.sampled_from(["v3", "v7", "v11"])),
            **draw(optional(num_vocab_tokens=[5])),
        },
    }


def tekken_of(recipe: dict[str, Any]) -> dict[str, Any]:
    tokens = [*BYTES, *recipe["tokens"]]
    n_used = len(tokens) - recipe["unused"]
    n_specials = recipe["specials"]
    config = recipe["config"] | {
        "default_vocab_size": n_used + n_specials,
        "default_num_special_tokens": n_specials,
    }
    rows = [
        {"rank": rank, "token_bytes": b64encode(data).decode(), "token_str": None}
        for rank, data in enumerate(tokens)
    ]
    whole = {"config": config, "vocab": rows}
    if recipe["listed"] is not None:
        whole["special_tokens"] = [
            {"rank": rank, "token_str": text, "is_control": True}
            for rank, text in enumerate(recipe["listed"])
        ]
    return whole


@pytest.mark.parametrize("n", EXAMPLES)
def test_tekken(n: int, tmp_path: Path) -> None:
    library = pytest.importorskip(
        "mistral_common.tokens.tokenizers.tekken", reason=NOT_HERE
    )

    def compare(case: tuple[dict[str, Any], tuple[str, ...]]) -> str:
        recipe, texts = case
        whole = tekken_of(recipe)
        try:
            theirs = library.Tekkenizer.from_file(put(tmp_path, {"tekken.json": whole}))
        except (AssertionError, ValueError):
            theirs = None
        ours = loaded({"tekken.json": whole})
        if ours and theirs:
            named = theirs._special_tokens_reverse_vocab
            assert ours.special_tokens == named
            assert ours.n_vocab == theirs.n_words
        encode = theirs and (lambda text: theirs.encode(text, bos=False, eos=False))
        return same_ids(ours, encode, texts)

    hold(st.tuples(tekkens(), texts_too), compare, n, least=1 / 3)


# Ranks

ranks = st.fixed_dictionaries(
    {
        "tokens": st.lists(st.sampled_from(POOL), unique=True),
        "order": st.sampled_from(["bytes first", "reversed", "by length"]),
        "gap": st.sampled_from([0, 5]),
    }
)
"""What `rows_of` makes the tokens of a file of ranks of."""


def rows_of(recipe: dict[str, Any]) -> list[tuple[bytes, int]]:
    """Tokens and their ranks, with a gap after the 258th if there is one."""
    tokens = [*BYTES, *recipe["tokens"]]
    if recipe["order"] == "reversed":
        tokens = [*reversed(BYTES), *recipe["tokens"]]
    if recipe["order"] == "by length":
        tokens.sort(key=len, reverse=True)
    return [
        (data, rank + recipe["gap"] * (rank > 257)) for rank, data in enumerate(tokens)
    ]


def in_tiktoken(
    rows: list[tuple[bytes, int]], pattern: str, specials: dict[str, int]
) -> Any:
    import tiktoken

    return tiktoken.Encoding(
        "x", pat_str=pattern, mergeable_ranks=dict(rows), special_tokens=specials
    )


@pytest.mark.parametrize("n", EXAMPLES)
def test_files_of_ranks(n: int) -> None:
    def compare(case: Any) -> str:
        recipe, pattern, newline, texts = case
        rows = rows_of(recipe)
        data = b"".join(
            b"%s %d%s" % (b64encode(token), rank, newline) for token, rank in rows
        )
        theirs = in_tiktoken(rows, pattern, {})
        ours = loaded({"a.tiktoken": data}, pattern)
        return same_ids(ours, theirs.encode_ordinary, texts)

    newlines = st.sampled_from([b"\n", b"\r\n", b"\n\n"])
    hold(st.tuples(ranks, st.sampled_from(PATTERNS), newlines, texts_too), compare, n)


js_files = st.fixed_dictionaries(
    {
        "ranks": ranks,
        "cuts": st.sets(st.integers(1, 255), max_size=2),
        "whole": optional(
            special_tokens=[{}, {"<s>": 400}, {"<s>": 400, "<e>": 401}],
            explicit_n_vocab=[402],
        ),
        "pattern": st.sampled_from(PATTERNS),
    }
)


def js_of(recipe: dict[str, Any]) -> dict[str, Any]:
    """A file whose ranks are cut into lines where there is a gap, and at `cuts`."""
    lines: list[str] = []
    last = -2
    for token, rank in rows_of(recipe["ranks"]):
        if rank != last + 1 or rank in recipe["cuts"]:
            lines.append(f"! {rank}")
        lines[-1] += f" {b64encode(token).decode()}"
        last = rank
    whole = {"pat_str": recipe["pattern"], "bpe_ranks": "\n".join(lines)}
    return whole | recipe["whole"]


@pytest.mark.parametrize("n", EXAMPLES)
def test_js_tiktoken(n: int) -> None:
    def compare(case: Any) -> str:
        recipe, texts = case
        specials = recipe["whole"].get("special_tokens", {})
        theirs = in_tiktoken(rows_of(recipe["ranks"]), recipe["pattern"], specials)
        ours = loaded({"a.json": js_of(recipe)})
        for text in texts if ours else ():
            ids = ours.encode(text, allowed_special="all")
            assert ids == theirs.encode(text, allowed_special="all")
        return same_ids(ours, theirs.encode_ordinary, texts)

    hold(st.tuples(js_files, texts_too), compare, n)


# vocab.json and merges.txt

two_files = st.fixed_dictionaries(
    {
        "merges": st.lists(st.sampled_from(BYTE_MERGES), unique=True, min_size=1),
        "version line": st.sampled_from(["", "#version: 0.2\n"]),
        "newline": st.sampled_from(["\n", "\r\n"]),
        "ends with a newline": st.booleans(),
        "added": st.sampled_from([None, {}, {"<e>": 300}, {"<e>": 300, "x y": 301}]),
        "configuration": st.one_of(
            st.none(),
            optional(
                add_prefix_space=[None, False, True],
                tokenizer_class=[None, "GPT2Tokenizer", "GPT2TokenizerFast"],
                unk_token=["<s>"],
            ),
        ),
    }
)


def two_files_of(recipe: dict[str, Any]) -> dict[str, Any]:
    vocab = huggingface(BYTE_MERGES)["model"]["vocab"]
    newline = recipe["newline"]
    merges = recipe["version line"] + newline.join(recipe["merges"])
    if recipe["ends with a newline"]:
        merges += newline
    files = {
        "vocab.json": vocab | {"<s>": len(vocab)},
        "merges.txt": merges,
        "added_tokens.json": recipe["added"],
        "tokenizer_config.json": recipe["configuration"],
    }
    return {name: value for name, value in files.items() if value is not None}


@pytest.mark.parametrize("n", EXAMPLES)
def test_two_files(n: int, tmp_path: Path) -> None:
    from tokenizers import Tokenizer as Theirs
    from tokenizers import models, pre_tokenizers

    def compare(case: tuple[dict[str, Any], tuple[str, ...]]) -> str:
        recipe, texts = case
        files = two_files_of(recipe)
        put(tmp_path, files)
        paths = [str(tmp_path / name) for name in ("vocab.json", "merges.txt")]
        theirs = Theirs(models.BPE.from_file(*paths))
        prefix = (recipe["configuration"] or {}).get("add_prefix_space") is True
        theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
        ours = loaded(files)
        if ours:
            added = recipe["added"] or {}
            assert ours.special_tokens == added | {"<s>": files["vocab.json"]["<s>"]}
        return same_ids(ours, lambda text: theirs.encode(text).ids, texts)

    hold(st.tuples(two_files, texts_too), compare, n)


# minbpe and bpescope's own files

specials = st.lists(st.sampled_from(["<s>", "<|end of text|>", "é"]), unique=True)
pairs = st.lists(
    st.tuples(st.integers(97, 99), st.one_of(st.integers(97, 99), st.just(32))),
    unique=True,
    max_size=5,
)
longer = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4)


def merges_of(short: list[tuple[int, int]], longer: list[tuple[int, int]]) -> Any:
    """The pairs, then pairs of what those make, each once."""
    merges = list(short)
    for left, right in longer:
        pair = (256 + left % len(merges), 256 + right % len(merges)) if merges else ()
        if pair and pair not in merges:
            merges.append(pair)
    return merges


def encoded_by(merges: list[tuple[int, int]], pattern: str) -> Encode:
    """minbpe's own way: of all pairs in a piece, merge the one with the lowest rank everywhere."""
    import regex

    id_of = {pair: 256 + rank for rank, pair in enumerate(merges)}

    def encode(text: str) -> list[int]:
        ids: list[int] = []
        for piece in regex.findall(pattern, text):
            part = list(piece.encode())
            while known := set(pairwise(part)) & id_of.keys():
                pair = min(known, key=id_of.__getitem__)
                place = 0
                while place < len(part) - 1:
                    if (part[place], part[place + 1]) == pair:
                        part[place : place + 2] = [id_of[pair]]
                    place += 1
            ids += part
        return ids

    return encode


@pytest.mark.parametrize("n", EXAMPLES)
def test_minbpe(n: int) -> None:
    def compare(case: Any) -> str:
        pattern, names, short, more, newline, texts = case
        merges = merges_of(short, more)
        lines = ["minbpe v1", pattern, str(len(names))]
        lines += [f"{name} {1000 + number}" for number, name in enumerate(names)]
        lines += [f"{left} {right}" for left, right in merges]
        ours = loaded({"a.model": newline.join([*lines, ""])})
        if ours:
            found = {name: 1000 + number for number, name in enumerate(names)}
            assert ours.special_tokens == found
        return same_ids(ours, encoded_by(merges, pattern), texts)

    newlines = st.sampled_from(["\n", "\r\n"])
    # minbpe strips the line of the pattern, so it can't begin with a space.
    files = (
        st.sampled_from(PATTERNS[:2]),
        specials,
        pairs,
        longer,
        newlines,
        texts_too,
    )
    hold(st.tuples(*files), compare, n)


RECORDED = {
    "n_given": [1, 4],
    "sample": ["half of it"],
    "weights": ["en=2"],
    "created": ["2026-01-01"],
    "max_token_length": [None, 9],
    "end_of_word": [""],
    "min_share": [None],
}
"""Optional fields of a training in bpescope's own format, and values of them."""


@pytest.mark.parametrize("n", EXAMPLES)
def test_the_record_of_a_training(n: int, tmp_path: Path) -> None:
    """What is absent is what the record has by default, and what is there is read as it is."""
    trained = train("low lower lowest, abc ab", vocab_size=260)
    save(trained, tmp_path / "mine.json")
    whole = json.loads((tmp_path / "mine.json").read_text())
    fields = {one.name: one.default for one in fields_of(TrainingRecord)}

    def compare(case: Any) -> str:
        recorded, source, first_counts = case
        for key in (*RECORDED, "weight", "documents"):
            whole["training"].pop(key, None)
            whole["training"]["sources"][0].pop(key, None)
        whole["training"] |= recorded
        whole["training"]["sources"][0] |= source
        whole.pop("first_counts", None)
        whole.update(first_counts)
        ours = loaded({"mine.json": whole})
        if ours is None or ours.record is None:
            return "refused"
        for key in RECORDED:
            assert getattr(ours.record, key) == recorded.get(key, fields[key])
        read = ours.record.sources[0]
        assert read.weight == source.get("weight", 1)
        assert read.documents == source.get("documents", 1)
        assert list(ours.record.first_counts) == first_counts.get("first_counts", [])
        return same_ids(ours, trained.encode_ordinary, TEXTS)

    sources = optional(weight=[1, 3], documents=[0, 1, 7])
    counts = optional(first_counts=[[], [*range(256)]])
    hold(st.tuples(optional(**RECORDED), sources, counts), compare, n)


# Fields that the libraries always write, and that are optional here


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
A_SPLIT = {"type": "Split", "pattern": {"Regex": "b"}, "behavior": "Removed"}
METASPACE = {"type": "Metaspace", "replacement": "▁"}


@pytest.mark.parametrize(
    ("key", "part", "field", "default", "other"),
    [
        ("normalizer", {"type": "Strip"}, "strip_left", True, False),
        ("normalizer", {"type": "Strip"}, "strip_right", True, False),
        ("pre_tokenizer", {"type": "ByteLevel"}, "add_prefix_space", True, False),
        ("pre_tokenizer", {"type": "ByteLevel"}, "use_regex", True, False),
        ("pre_tokenizer", {"type": "Digits"}, "individual_digits", False, True),
        ("pre_tokenizer", {"type": "Punctuation"}, "behavior", "Isolated", "Removed"),
        ("pre_tokenizer", METASPACE, "split", True, False),
        ("pre_tokenizer", METASPACE, "add_prefix_space", True, False),
        ("pre_tokenizer", A_SPLIT, "invert", False, True),
    ],
)
def test_an_absent_field_of_a_part_has_its_default(
    key: str, part: Any, field: str, default: Any, other: Any
) -> None:
    merges = ("1 2", ". .", "a Ġ", "Ġ b", "a ▁", "▁ b", "b a")

    def ids(**fields: Any) -> list[int]:
        whole = huggingface(merges)
        whole["pre_tokenizer"] = BYTE_LEVEL
        whole[key] = part | fields
        if key == "pre_tokenizer" and part["type"] not in ("ByteLevel", "Metaspace"):
            whole[key] = in_sequence([part | fields, BYTE_LEVEL])
        ours = loaded({"tokenizer.json": whole})
        assert ours
        return ours.encode("b a  b 12 ..ba ") + ours.encode(" b")

    assert ids() == ids(**{field: default}) != ids(**{field: other})


def test_an_absent_flag_of_an_added_token_has_its_default() -> None:
    def ids(text: str, **flags: Any) -> list[int]:
        whole = huggingface()
        whole["normalizer"] = {"type": "Lowercase"}
        whole["added_tokens"] = [{"id": 300, "content": "xy"} | flags]
        ours = loaded({"tokenizer.json": whole})
        assert ours
        return ours.encode(text, disallowed_special=())

    assert ids("xy") == ids("xy", special=False) == [300]
    assert ids("xy", special=True) == [120, 121]
    assert ids("XY") == ids("XY", normalized=True) == [300]
    assert ids("XY", normalized=False) == [120, 121]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"continuing_subword_prefix": "##"}, "the continuing_subword_prefix '##'"),
        ({"end_of_word_suffix": "</w>"}, "the end_of_word_suffix '</w>'"),
        ({"merges": None, "type": None}, "the model WordPiece"),
        ({"byte_fallback": True, "unk_token": "a"}, "byte_fallback with 255 of 256"),
    ],
)
def test_a_field_that_would_give_other_ids_is_refused(
    changes: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    whole = huggingface()
    for name in BYTE_NAMES[1:]:
        whole["model"]["vocab"][name] = len(whole["model"]["vocab"])
    whole["model"] |= changes
    whole["model"] = {k: v for k, v in whole["model"].items() if v is not None}
    with pytest.raises(BpeError, match=problem):
        load(put(tmp_path, {"tokenizer.json": whole}))


def test_an_inverted_split_that_joins_its_matches_is_refused(tmp_path: Path) -> None:
    whole = huggingface()
    inverted = A_SPLIT | {"behavior": "Contiguous", "invert": True}
    whole["pre_tokenizer"] = in_sequence([inverted, BYTE_LEVEL])
    with pytest.raises(BpeError, match="'Contiguous' with invert"):
        load(put(tmp_path, {"tokenizer.json": whole}))


def test_a_token_of_the_vocabulary_can_be_added_by_the_configuration() -> None:
    whole = huggingface()
    number = whole["model"]["vocab"]["abc"]
    entry = {"content": "abc", "special": True, "normalized": False}
    ours = loaded(
        {
            "tokenizer.json": whole | {"added_tokens": [{"id": 400, "content": "xy"}]},
            "tokenizer_config.json": {"added_tokens_decoder": {str(number): entry}},
        }
    )
    assert ours and ours.special_tokens == {"abc": number}


def test_a_model_of_sentencepiece_without_a_kind_is_of_the_kind_unigram(
    tmp_path: Path,
) -> None:
    data = field(1, message({1: b"a"})) + field(2, message({24: 0}))
    with pytest.raises(BpeError, match="of the type Unigram"):
        load(put(tmp_path, {"tokenizer.model": data}))


def test_a_special_token_behind_the_last_one_is_refused(tmp_path: Path) -> None:
    recipe = {"tokens": [], "unused": 0, "specials": 3, "listed": ["a", "b", "c"]}
    whole = tekken_of(recipe | {"config": {"pattern": PATTERNS[0], "version": "v7"}})
    whole["special_tokens"][2]["rank"] = 3
    with pytest.raises(BpeError, match="from 0 to 2, found 3"):
        load(put(tmp_path, {"tekken.json": whole}))


def test_a_token_made_by_a_merge_is_not_special_however_it_looks(
    tmp_path: Path,
) -> None:
    vocab = huggingface(("[ a", "[a ]"))["model"]["vocab"]
    merges = "#version: 0.2\n[ a\n[a ]\n"
    ours = load(
        put(tmp_path, {"vocab.json": vocab, "merges.txt": merges}), pattern="none"
    )
    assert ours.special_tokens == {}


def test_a_given_pattern_replaces_that_of_js_tiktoken() -> None:
    recipe = {"tokens": [b"ab", b"b c"], "order": "bytes first", "gap": 0}
    whole = {"ranks": recipe, "cuts": set(), "whole": {}, "pattern": PATTERNS[0]}
    ours = loaded({"a.json": js_of(whole)}, "none")
    assert ours and ours.encode("b c") == [257]


def test_no_token_is_looked_up_after_a_file_that_says_so(tmp_path: Path) -> None:
    base = dict(enumerate([*BYTES, b"xyz"]))
    for whole_pieces in ({}, {b"xyz": 256}):
        ours = Tokenizer(Vocabulary(base, [], whole_pieces=whole_pieces), "none")
        save(ours, tmp_path / "mine.json")
        assert load(tmp_path / "mine.json").encode("xyz") == ours.encode("xyz")
