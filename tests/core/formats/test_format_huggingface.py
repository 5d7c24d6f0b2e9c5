"""tokenizer.json: whatever the library itself writes gives the same ids here, or is refused by its name."""

import json
from bisect import bisect_left
from functools import cache

import pytest
import tokenizers
from real import real_file
from small_files import BYTE_NAMES, huggingface, put

from bpe_core import PATTERNS, FormatError, LiveText, load, save, train
from bpe_core.tokenizer import preparation
from tests.nasty import nasty_texts

N, P, D = tokenizers.normalizers, tokenizers.pre_tokenizers, tokenizers.decoders
Added, Regex = tokenizers.AddedToken, tokenizers.Regex

LLAMA3 = PATTERNS["llama3"]
TEXTS = nasty_texts(200)
CORPUS = [text.replace("<0x0A>", "") for text in nasty_texts(300, seed=5)]
FLAGS = [
    Added("<|x|>"),
    Added("  "),
    Added("World", single_word=True),
    Added("----", lstrip=True),
    Added("//x", rstrip=True, normalized=False),
    Added("{}", lstrip=True, rstrip=True, special=True),
    Added("Größe", normalized=True),
]


WORD_NUMBERS = ["½ a² ⑮ ㊆ Ⅳ ੴ", "x¼y ⑮b"]


def byte_level(prefix=False, split=True):
    return P.ByteLevel(add_prefix_space=prefix, use_regex=split)


def isolated(*patterns):
    return P.Sequence(
        [
            *(P.Split(Regex(pattern), "isolated") for pattern in patterns),
            byte_level(split=False),
        ]
    )


def learned(
    pre_tokenizer,
    normalizer=None,
    decoder=None,
    *,
    added=(),
    special=("<|endoftext|>",),
    size=700,
    full=True,
    **options,
):
    """A tokenizer that the library has trained."""
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(**options))
    for part, value in (
        ("pre_tokenizer", pre_tokenizer),
        ("normalizer", normalizer),
        ("decoder", decoder),
    ):
        if value:
            setattr(theirs, part, value)
    alphabet = P.ByteLevel.alphabet() if full else []
    theirs.train_from_iterator(
        CORPUS,
        tokenizers.trainers.BpeTrainer(
            vocab_size=size,
            show_progress=False,
            special_tokens=list(special),
            initial_alphabet=alphabet,
        ),
    )
    theirs.add_tokens(list(added))
    return theirs


def characters(pre_tokenizer, normalizer=None, decoder=None, **options):
    """One made of characters, unknown ones becoming bytes, as Llama-2's is."""
    options = {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True} | options
    special = ("<unk>", "<s>", *BYTE_NAMES)
    theirs = learned(
        pre_tokenizer,
        normalizer,
        decoder,
        special=special,
        size=1800,
        full=False,
        **options,
    )
    data = json.loads(theirs.to_str())
    data["added_tokens"] = [
        token for token in data["added_tokens"] if token["content"] not in BYTE_NAMES
    ]
    return tokenizers.Tokenizer.from_str(json.dumps(data))


LLAMA2 = N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁")])
LLAMA2_DECODER = D.Sequence(
    [D.Replace("▁", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)]
)
MAKERS = {
    "plain": lambda: learned(byte_level()),
    "a space before": lambda: learned(byte_level(prefix=True)),
    "llama 3": lambda: learned(isolated(LLAMA3)),
    "deepseek": lambda: learned(isolated(r"\p{N}{1,3}", "[一-龥]+", LLAMA3)),
    "starcoder": lambda: learned(
        P.Sequence([P.Digits(individual_digits=True), byte_level()])
    ),
    "falcon": lambda: learned(
        P.Sequence(
            [
                P.Punctuation("contiguous"),
                byte_level(),
                P.Digits(individual_digits=False),
                P.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
            ]
        )
    ),
    "letters of the byte alphabet": lambda: learned(
        P.Sequence(
            [
                P.Digits(),
                byte_level(prefix=True, split=False),
                P.Split(Regex(r"[Ġ¡-ÿ]|a"), "removed"),
            ]
        )
    ),
    "runs of digits": lambda: learned(
        P.Sequence([P.Digits(individual_digits=False), byte_level(prefix=True)])
    ),
    "NFC": lambda: learned(byte_level(), N.NFC()),
    "NFKC and lower case": lambda: learned(
        byte_level(), N.Sequence([N.NFKC(), N.Lowercase()])
    ),
    "an empty sequence": lambda: learned(byte_level(), N.Sequence([])),
    "replaced": lambda: learned(
        byte_level(),
        N.Sequence(
            [
                N.Strip(),
                N.Replace("e", "EE"),
                N.Replace(Regex(r"\s+"), "_"),
                N.Prepend("@"),
            ]
        ),
    ),
    "added": lambda: learned(
        byte_level(),
        added=[Added(text, normalized=False) for text in ("<s>", "  ", "q")],
    ),
    "added names of bytes": lambda: learned(
        byte_level(), added=[Added(text, normalized=True) for text in "õ÷Áý"]
    ),
    "added with flags": lambda: learned(byte_level(), added=FLAGS),
    "added and normalized": lambda: learned(
        byte_level(prefix=True), N.Sequence([N.NFKC(), N.Lowercase()]), added=FLAGS
    ),
    "ignore_merges": lambda: learned(byte_level(), ignore_merges=True),
    "contiguous": lambda: learned(
        P.Sequence(
            [P.Split("-", "contiguous"), P.Punctuation("contiguous"), byte_level()]
        )
    ),
    "merged": lambda: learned(
        P.Sequence(
            [
                P.Split(Regex(r"\s"), "merged_with_previous"),
                P.Split(Regex("[aeiou]"), "merged_with_next"),
                byte_level(split=False),
            ]
        )
    ),
    "removed": lambda: learned(
        P.Sequence([P.Split(Regex("[,.]|ab"), "removed"), byte_level()])
    ),
    "all else removed": lambda: learned(
        P.Sequence(
            [P.Split(Regex(r"\w+|x"), "removed", invert=True), byte_level(split=False)]
        )
    ),
    "whitespace": lambda: learned(
        P.Sequence([P.Whitespace(), byte_level(split=False)])
    ),
    "lines": lambda: learned(isolated(r"^ +|\s+$|\w+")),
    "llama 2": lambda: characters(None, LLAMA2, LLAMA2_DECODER),
    "metaspace": lambda: characters(P.Metaspace(prepend_scheme="always")),
    "metaspace first": lambda: characters(
        P.Metaspace(prepend_scheme="first"), byte_fallback=False
    ),
    "metaspace unsplit": lambda: characters(
        P.Metaspace(prepend_scheme="never", split=False),
        byte_fallback=False,
        fuse_unk=False,
    ),
    "characters": lambda: characters(P.Whitespace(), byte_fallback=False),
}


@cache
def made(name):
    return MAKERS[name]()


def opened(theirs, tmp_path):
    path = tmp_path / "tokenizer.json"
    theirs.save(str(path))
    return load(path)


def agree(ours, theirs, texts=TEXTS):
    """Whether both give the same ids, special tokens being taken as such, and as text."""
    for text in texts:
        theirs.encode_special_tokens = False
        assert (
            ours.encode(text, allowed_special="all")
            == theirs.encode(text, add_special_tokens=False).ids
        ), ascii(text)
        theirs.encode_special_tokens = True
        assert (
            ours.encode_ordinary(text)
            == theirs.encode(text, add_special_tokens=False).ids
        ), ascii(text)
    return True


@pytest.mark.parametrize("name", MAKERS)
def test_ids_are_those_of_the_library(name, tmp_path):
    theirs = made(name)
    assert agree(opened(theirs, tmp_path), theirs, ["aõb éñ÷Á Ã", *TEXTS[:60]])


@pytest.mark.parametrize("name", ["falcon", "letters of the byte alphabet"])
def test_a_character_that_is_split_between_its_bytes(name, tmp_path):
    """Of ò, C3 B2, the second byte is written as a superscript two, and that is a number."""
    theirs = made(name)
    ours = opened(theirs, tmp_path)
    texts = ["òòò", "x ò1ó", "a²b 1²³4", "¼½ 123456789", *TEXTS[:60]]
    assert agree(ours, theirs, texts)
    for text in texts:
        live = LiveText(ours, text)
        live.splice(0, live.n_characters // 2, "ò12")
        assert live.ids == ours.encode_ordinary(live.text)


@pytest.mark.parametrize("pattern", [r"\w+", r"[\w]+", r"[^\s\w]+", r"\W", r"x\b"])
def test_a_letter_of_a_word_is_what_it_is_there(pattern, tmp_path):
    """Some numbers are, but only outside of a set."""
    theirs = learned(isolated(pattern))
    assert agree(opened(theirs, tmp_path), theirs, [*WORD_NUMBERS, *TEXTS[:100]])


@pytest.mark.parametrize(
    "name",
    [
        "plain",
        "llama 3",
        "starcoder",
        "added",
        "ignore_merges",
        "deepseek",
        "added names of bytes",
    ],
)
def test_what_is_only_split_comes_back_and_can_be_edited(name, tmp_path):
    ours = opened(made(name), tmp_path)
    live = LiveText(ours, "")
    for text in TEXTS[:150]:
        assert ours.decode(ours.encode_ordinary(text)) == text
        middle = live.n_characters // 2
        live.splice(middle, live.n_characters, text)
        assert live.ids == ours.encode_ordinary(live.text)


def test_what_changes_the_text_says_so(tmp_path):
    ours = opened(made("NFC"), tmp_path)
    assert ours.decode(ours.encode("e\u0301")) == "é"
    assert not ours.by_piece and LiveText(ours, "e\u0301").ids == ours.encode("é")


def test_llama_2_drops_the_space_it_has_put_there(tmp_path):
    theirs = made("llama 2")
    ours = opened(theirs, tmp_path)
    for text in ("hello World", " hello", "  a\n\tb", "日本語 \U0001f9ff", ""):
        ids = ours.encode(text)
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False) == text
    assert len(ours.encode("\U0001f9ff")) == 1 + 4


def test_bytes_in_a_row_that_are_no_character_are_each_replaced(tmp_path):
    theirs = made("llama 2")
    ours = opened(theirs, tmp_path)
    id_of = [theirs.token_to_id(name) for name in BYTE_NAMES]
    for row in ("c3 a9", "c3 a9 c3", "f0 9f 41", "41 f0 9f", "20 c3 28", "e2 82"):
        ids = [id_of[byte] for byte in bytes.fromhex(row)] + ours.encode("World")
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False), row
    assert ours.decode(iter(id_of[0xF0:0xF4])) == "\ufffd" * 4


def test_merges_out_of_order_and_of_tokens_that_nothing_makes(tmp_path):
    data = huggingface(
        extra={"abcab": 300, "xy": 301, "xyab": 302},
        merges=["abc ab", "a b", "ab c", "xy ab"],
    )
    theirs = tokenizers.Tokenizer.from_str(json.dumps(data))
    ours = load(put(tmp_path, {"tokenizer.json": data}))
    assert agree(ours, theirs, ["abcab", "abcabcab", "xyab", "xy ab", *TEXTS[:50]])
    assert ours.token_bytes(301) == b"xy"


@pytest.mark.parametrize(
    "pattern",
    [
        "none",
        "gpt4",
        r"\d+|\p{L}+",
        "words",
        "gpt2",
        "gpt4o",
        "llama3",
        "qwen2",
        r"[a](?#then)gpt4",
    ],
)
def test_what_is_trained_here_opens_there(pattern, tmp_path):
    id_layout = "bytes-first" if pattern in ("none", "gpt2") else "specials-first"
    texts = [text.replace("<|endoftext|>", "") for text in TEXTS]
    ours = train(
        texts,
        vocab_size=500,
        pattern=pattern,
        id_layout=id_layout,
        special_tokens=["<|endoftext|>"],
    )
    path = tmp_path / "tokenizer.json"
    save(ours, path, format="huggingface")
    assert agree(ours, tokenizers.Tokenizer.from_file(str(path)))
    assert agree(load(path), tokenizers.Tokenizer.from_file(str(path)), TEXTS[:100])


@pytest.mark.parametrize(
    "name",
    [
        "deepseek",
        "added with flags",
        "a space before",
        "NFKC and lower case",
        "added",
        "ignore_merges",
    ],
)
def test_what_was_read_can_be_written_again(name, tmp_path):
    theirs = made(name)
    save(opened(theirs, tmp_path), tmp_path / "again.json", format="huggingface")
    assert agree(load(tmp_path / "again.json"), theirs)
    assert agree(
        load(tmp_path / "again.json"),
        tokenizers.Tokenizer.from_file(str(tmp_path / "again.json")),
    )


@pytest.mark.parametrize("name", ["falcon", "NFC", "deepseek", "added with flags"])
@pytest.mark.parametrize("pattern", ["none", "gpt4", r"\p{N}|\P{N}+"])
def test_a_pattern_that_was_given_is_the_one_that_is_written(name, pattern, tmp_path):
    made(name).save(str(tmp_path / "tokenizer.json"))
    ours = load(tmp_path / "tokenizer.json", pattern=pattern)
    save(ours, tmp_path / "again.json", format="huggingface")
    assert agree(
        ours, tokenizers.Tokenizer.from_file(str(tmp_path / "again.json")), TEXTS[:150]
    )
    assert agree(
        load(tmp_path / "again.json"),
        tokenizers.Tokenizer.from_file(str(tmp_path / "again.json")),
        TEXTS[:50],
    )


@pytest.mark.parametrize("format", ["tiktoken", "native", "gpt2", "minbpe"])
def test_what_changes_a_text_is_not_written_where_it_would_be_lost(format, tmp_path):
    for name in (
        "NFC",
        "NFKC and lower case",
        "a space before",
        "falcon",
        "replaced",
        "added with flags",
        "llama 2",
    ):
        with pytest.raises(FormatError, match="cannot be written"):
            save(opened(made(name), tmp_path), tmp_path / "x", format=format)
    assert not (tmp_path / "x").exists()


def test_flags_of_special_tokens_are_no_matter_to_ranks(tmp_path):
    theirs = learned(
        isolated(LLAMA3), added=[Added("<|x|>", special=True, rstrip=True)]
    )
    ours = opened(theirs, tmp_path)
    save(ours, tmp_path / "ranks", format="tiktoken")
    again = load(tmp_path / "ranks", pattern=ours.pattern)
    assert all(
        again.encode_ordinary(text) == ours.encode_ordinary(text) for text in TEXTS
    )


def test_thousands_of_added_tokens_are_compared_at_once(monkeypatch, tmp_path):
    looked_at = []
    monkeypatch.setattr(
        preparation,
        "bisect_left",
        lambda *args: looked_at.append(args) or bisect_left(*args),
    )
    added = [
        {
            "id": 1000 + n,
            "content": f"<{n}>",
            "special": n % 2 == 0,
            "normalized": False,
        }
        for n in range(6000)
    ]
    ours = load(
        put(tmp_path, {"tokenizer.json": huggingface() | {"added_tokens": added}})
    )
    assert ours.encode("abc<1>b<2>", allowed_special="all") == [
        258,
        1001,
        ours.encode("b")[0],
        1002,
    ]
    assert len(looked_at) <= 6000 * len(
        "<5999>"
    )  # for each of their characters once, not for each other token


@pytest.mark.parametrize(
    ("special", "ordinary", "is_plain"),
    [
        ("<a>", "b", True),
        ("<a>", "x<a>x", False),
        ("<a>", "x<", False),
        ("<a>", "a>", False),
        ("<a>", ">b", False),
    ],
)
def test_tokens_that_get_into_each_others_way_are_looked_for_in_turn(
    special, ordinary, is_plain, tmp_path
):
    data = huggingface()
    flags = {
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
    }
    data["added_tokens"] = [
        {"id": 259, "content": special, "special": True} | flags,
        {"id": 260, "content": ordinary, "special": False} | flags,
    ]
    ours = load(put(tmp_path, {"tokenizer.json": data}))
    assert ours.by_piece is is_plain
    texts = ["x<a>x", "x<a>", "<a>b<a>", "a>b", "xb"]
    assert agree(ours, tokenizers.Tokenizer.from_str(json.dumps(data)), texts)


@pytest.mark.slow
def test_a_rank_file_becomes_a_tokenizer_json(tmp_path):
    gpt2 = load(real_file("r50k_base.tiktoken", tmp_path))
    save(gpt2, tmp_path / "tokenizer.json", format="huggingface")
    assert agree(
        gpt2,
        tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json")),
        TEXTS[:200],
    )


def test_what_would_mean_something_else_there_is_not_written(tmp_path):
    for pattern, problem in (
        (r"\p{L}{1,3}+|.", r"\{1,3\}\+"),
        (r"\w+|.", r"\\w"),
        ("^a|.", r"\^"),
    ):
        with pytest.raises(FormatError, match=f"its pattern has {problem}"):
            save(
                train("", vocab_size=257, pattern=pattern),
                tmp_path / "x.json",
                format="huggingface",
            )
    for pattern in ("x*(?#else)gpt4", "ab|cd(?#else)gpt2"):
        with pytest.raises(
            FormatError, match="first cuts out text that is not a token"
        ):
            save(
                train("", vocab_size=257, pattern=pattern),
                tmp_path / "x.json",
                format="huggingface",
            )
    with pytest.raises(FormatError, match="not made of bytes"):
        save(
            opened(made("metaspace first"), tmp_path),
            tmp_path / "x.json",
            format="huggingface",
        )


@pytest.mark.parametrize(
    "name", ["plain", "deepseek", "added", "ignore_merges", "added names of bytes"]
)
def test_our_own_format_keeps_it_too(name, tmp_path):
    ours = opened(made(name), tmp_path)
    save(ours, tmp_path / "native.json")
    again = load(tmp_path / "native.json")
    assert again.n_vocab == ours.n_vocab
    assert all(
        again.encode_ordinary(text) == ours.encode_ordinary(text) for text in TEXTS
    )


@pytest.mark.parametrize(
    "pattern", ["gpt2", "gpt4", "gpt4o", "llama3", "qwen2", "none"]
)
def test_a_file_of_ours_is_read_as_what_it_was_written_from(pattern, tmp_path):
    """Published patterns are written so that Hugging Face's library understands them, and known again."""
    tokenizer = train(
        TEXTS, vocab_size=300, pattern=pattern, special_tokens=["<|end|>"]
    )
    for _ in range(2):
        save(tokenizer, tmp_path / "tokenizer.json", format="huggingface")
        loaded = load(tmp_path / "tokenizer.json")
        assert (loaded, loaded.pattern) == (tokenizer, pattern)
        tokenizer = loaded


def test_the_sign_for_a_space_is_three_bytes_where_tokens_are_made_of_bytes(tmp_path):
    """Spaces that a normalizer has replaced by U+2581 stay replaced; only a vocabulary of characters means a space."""
    replaces = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    whole = huggingface(("a b", "b c")) | {"normalizer": replaces}
    theirs = tokenizers.Tokenizer.from_str(json.dumps(whole))
    ours = load(put(tmp_path, {"tokenizer.json": whole}))
    for text in ("ab bc", " a  b", "▁ab"):
        assert ours.encode(text) == theirs.encode(text).ids
    whole["decoder"] = {**replaces, "pattern": {"String": "▁"}, "content": " "}
    with pytest.raises(FormatError, match="a decoder that makes spaces of U\\+2581"):
        load(put(tmp_path, {"tokenizer.json": whole}))


def test_a_space_that_decoding_strips_is_stripped_from_bytes_too(tmp_path):
    whole = huggingface(("a b", "b c"))
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    byte_level = dict(type="ByteLevel", trim_offsets=True)
    byte_level |= {"add_prefix_space": False, "use_regex": False}
    decoders = [byte_level, strip]
    whole["decoder"] = {"type": "Sequence", "decoders": decoders}
    ours = load(put(tmp_path, {"tokenizer.json": whole}))
    save(ours, tmp_path / "saved.json", format="huggingface")
    theirs = tokenizers.Tokenizer.from_str(json.dumps(whole))
    saved = tokenizers.Tokenizer.from_file(str(tmp_path / "saved.json"))
    for text in ("ab bc", " a  b", "  ab", " "):
        ids = ours.encode(text)
        assert ours.decode(ids) == theirs.decode(ids) == saved.decode(ids)
    for change in ({"start": 2}, {"stop": 1}, {"content": "a"}):
        decoders[1] = strip | change
        with pytest.raises(FormatError, match="strips more than one space"):
            load(put(tmp_path, {"tokenizer.json": whole}))


def test_a_word_is_no_piece_to_look_up_where_nothing_splits_the_text(tmp_path):
    whole = huggingface((), extra={"▁": 256, "ab": 257}, ignore_merges=True)
    replaces = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    whole |= {"normalizer": replaces, "pre_tokenizer": None}
    theirs = tokenizers.Tokenizer.from_str(json.dumps(whole))
    ours = load(put(tmp_path, {"tokenizer.json": whole}))
    for text in ("ab", "ab ab", "a b"):
        assert ours.encode(text) == theirs.encode(text).ids


def test_a_sign_put_first_behind_a_strip_is_refused(tmp_path):
    """The library puts it in front only if the text began with no white space, so " ab" and "ab" differ."""
    first = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}
    strip = {"type": "Strip", "strip_left": True, "strip_right": False}
    whole = huggingface((), extra={"▁": 256}) | {"pre_tokenizer": first}
    with pytest.raises(FormatError, match="the prepend_scheme first after"):
        load(put(tmp_path, {"tokenizer.json": whole | {"normalizer": strip}}))
    right_alone = strip | {"strip_left": False, "strip_right": True}
    load(put(tmp_path, {"tokenizer.json": whole | {"normalizer": right_alone}}))


@pytest.mark.parametrize("vocab_has_it", [False, True])
def test_a_text_that_is_added_twice_has_its_first_id_and_its_last_flags(
    tmp_path, vocab_has_it
):
    first = {"content": "<a>", "id": 259, "special": False}
    last = {"content": "<a>", "id": 260, "special": True, "lstrip": True}
    for flag in ("single_word", "lstrip", "rstrip", "normalized"):
        first[flag] = False
        last.setdefault(flag, False)
    extra = {"<a>": 259} if vocab_has_it else {}
    path = put(
        tmp_path, {"tokenizer.json": huggingface(added=[first, last], extra=extra)}
    )
    ours = load(path)
    theirs = tokenizers.Tokenizer.from_file(str(path))
    text = "<a>abc <a> ab"
    ids = ours.encode(text, allowed_special="all")
    assert ids == theirs.encode(text).ids == [259, 258, 259, 32, 256]
    assert ours.special_tokens == {"<a>": 259}
    assert ours.n_vocab == theirs.get_vocab_size() == 260


@pytest.mark.parametrize("name", ["|", "e"])
def test_a_special_token_that_is_a_byte_is_still_that_byte(name, tmp_path):
    path = tmp_path / "tokenizer.json"
    trained = train("low lower|lowest", vocab_size=260)
    save(trained, path, format="huggingface")
    fields = json.loads(path.read_text())
    token = fields["model"]["vocab"][name]
    special = {"id": token, "content": name, "special": True}
    special |= dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    fields["added_tokens"].append(special)
    path.write_text(json.dumps(fields))
    tokenizer = load(path)
    save(tokenizer, tmp_path / "native.json")
    again = load(tmp_path / "native.json")
    for each in tokenizer, again:
        assert each.special_tokens == {name: token}
        assert each.encode_ordinary("lower|") == trained.encode("lower|")
        assert each.token_bytes(token) == name.encode()


def split_by(source, tmp_path):
    """A tokenizer of bytes with this split, opened here and by the library."""
    trained = train("12345 1234567 12 x1" * 20, vocab_size=290, pattern="none")
    path = tmp_path / "tokenizer.json"
    save(trained, path, format="huggingface")
    data = json.loads(path.read_text("utf-8"))
    split = {"type": "Split", "pattern": {"Regex": source}, "behavior": "Isolated"}
    steps = [split | {"invert": False}, data["pre_tokenizer"]]
    data["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    path.write_text(json.dumps(data), "utf-8")
    return load(path), tokenizers.Tokenizer.from_file(str(path))


REPEATED_AGAIN = [
    r"\p{N}{1,3}+|.",
    r"[0-9]{2}+|.",
    r"\d{1,2}+x?|.",
    "x{1,2}+|.",
    PATTERNS["gpt4"],
]


@pytest.mark.parametrize("source", REPEATED_AGAIN)
def test_a_plus_sign_after_a_number_of_times_repeats_again(tmp_path, source):
    ours, theirs = split_by(source, tmp_path)
    texts = ["12345", "1234567", "12 345x1", "xxxxx", "a 1\n22  \n333 "]
    assert agree(ours, theirs, texts)


@pytest.mark.parametrize(
    "source, problem",
    [
        ("[a[b]1]+|.", r"the set \[a\[b\] of a pattern"),
        (r"[^\r\n[a-z]\p{N}]?\p{L}+|.", r"sets without other sets"),
        ("[1-9&&2]+|.", "sets without other sets or && in them"),
        (r"(?:\d|x){1,3}+|.", "a group that is repeated twice"),
    ],
)
def test_what_the_library_reads_differently_is_refused(tmp_path, source, problem):
    with pytest.raises(FormatError, match=problem):
        split_by(source, tmp_path)


def test_a_named_set_in_a_set_is_read(tmp_path):
    ours, theirs = split_by(r"[[:alpha:]1&]+|.", tmp_path)
    assert agree(ours, theirs, ["ab1&2", "x1345 12"])
