"""Rank files: GPT-2, GPT-4 and GPT-4o to the last id, what their lines may look like, and what is refused."""

import json
from base64 import b64decode, b64encode
from hashlib import sha256
from unicodedata import normalize

import pytest
import tiktoken
from real import real_file
from small_files import js_tiktoken, put, rank_lines

from bpe_core import PATTERNS, FormatError, Tokenizer, load, save, train
from bpe_core.formats import tiktoken as ranks
from bpe_core.formats import why_no_tokenizer
from bpe_core.formats.known_files import KNOWN_FILES, KnownFile
from bpe_core.vocabulary import Vocabulary
from tests.nasty import nasty_texts


def rank_file(tmp_path, tokens=(), *, newline="\n", name="ranks.tiktoken"):
    """A file of the 256 bytes and more tokens; a token is bytes, or (bytes, rank)."""
    return put(tmp_path, {name: rank_lines(tokens, newline)})


def tiktoken_of(path, pattern, specials=None):
    """tiktoken itself on the same file."""
    rows = (line.split() for line in path.read_bytes().splitlines() if line.strip())
    ranks = {b64decode(data): int(rank) for data, rank in rows}
    return tiktoken.Encoding(
        "ranks", pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials or {}
    )


@pytest.mark.parametrize(
    ("name", "n_merges", "n_tokens"),
    [
        ("r50k_base", 50_000, 50_257),
        pytest.param("cl100k_base", 100_000, 100_261, marks=pytest.mark.slow),
        pytest.param("o200k_base", 199_742, 200_000, marks=pytest.mark.slow),
    ],
)
def test_published_files_give_the_ids_of_tiktoken(name, n_merges, n_tokens, tmp_path):
    path = real_file(f"{name}.tiktoken", tmp_path)
    tokenizer = load(path)
    theirs = tiktoken_of(path, PATTERNS[tokenizer.pattern], tokenizer.special_tokens)
    assert (tokenizer.name, tokenizer.n_tokens) == (name, n_tokens)
    assert (tokenizer.n_vocab, tokenizer.max_token_value) == (
        theirs.n_vocab,
        theirs.max_token_value,
    )
    for text in nasty_texts(150):
        ids = tokenizer.encode_ordinary(text)
        assert ids == theirs.encode_ordinary(text), ascii(text)
        assert tokenizer.decode(ids) == text
        assert tokenizer.encode(text, allowed_special="all") == theirs.encode(
            text, allowed_special="all"
        )
    if name == "r50k_base":
        assert len(tokenizer.merges) == n_merges


def test_a_token_that_no_merge_builds_is_found_whole(tmp_path):
    """tiktoken looks a piece up before it merges: xyz is a token, though neither xy nor yz is."""
    path = rank_file(tmp_path, [b"ab", b"xyz", b"abxyz"])
    ours, theirs = load(path, pattern="words"), tiktoken_of(path, r"\S+")
    for text in ("xyz", "xyzx", "abxyz", "ab", "abxyzab"):
        assert ours.encode(text) == theirs.encode(text)
    assert ours.encode("xyz") == [257]
    assert ours.merges == [(97, 98, 256)]
    assert ours.at(0).encode("ab") == [97, 98]


def test_holes_windows_line_ends_and_a_token_without_bytes(tmp_path):
    path = rank_file(tmp_path, [(b"ab", 300), (b"abc", 302)], newline="\r\n")
    path.write_bytes(path.read_bytes() + b"= 310\r\n\r\n")
    tokenizer = load(path, pattern="words")
    assert tokenizer.encode("abcab") == [302, 300]
    assert (tokenizer.n_tokens, tokenizer.n_vocab) == (259, 311)
    assert 301 not in tokenizer.vocabulary
    assert tokenizer.token_bytes(310) == b""


@pytest.mark.parametrize(
    ("name", "pattern", "n_special", "some"),
    [
        ("r50k_base", "gpt2", 1, {"<|endoftext|>": 50256}),
        (
            "cl100k_base",
            "gpt4",
            5,
            {
                "<|endoftext|>": 100257,
                "<|fim_suffix|>": 100260,
                "<|endofprompt|>": 100276,
            },
        ),
        (
            "whisper",
            "gpt2",
            1608,
            {
                "<|startoftranscript|>": 50258,
                "<|notimestamps|>": 50363,
                "<|30.00|>": 51864,
            },
        ),
        (
            "llama3",
            "llama3",
            256,
            {"<|eot_id|>": 128009, "<|reserved_special_token_245|>": 128255},
        ),
        (
            "llama4",
            "gpt4o",
            2048,
            {
                "<|eot|>": 200008,
                "<|image|>": 200090,
                "<|reserved_special_token_903|>": 202047,
            },
        ),
        ("qwen", "qwen2", 208, {"<|im_start|>": 151644, "<|extra_204|>": 151850}),
    ],
)
def test_special_tokens_have_the_ids_that_their_publishers_give_them(
    name, pattern, n_special, some
):
    (known,) = (known for known in KNOWN_FILES.values() if known.name == name)
    special = known.special_tokens
    assert (known.pattern, len(special)) == (pattern, n_special)
    assert {text: special.get(text) for text in some} == some
    assert n_special < 9 or sorted(special.values()) == list(
        range(min(special.values()), max(special.values()) + 1)
    )


def test_a_published_file_whose_texts_are_normalized_first(tmp_path, monkeypatch):
    path = rank_file(tmp_path, [bytes([0xC3, 0xA9]), b"the"])
    known = KnownFile("known", "gpt2", {"<s>": 300}, normalization="NFC")
    monkeypatch.setattr(
        ranks, "KNOWN_FILES", {sha256(path.read_bytes()).hexdigest(): known}
    )
    ours, theirs = load(path), tiktoken_of(path, PATTERNS["gpt2"], {"<s>": 300})
    assert ours.encode("e\u0301") == [256]
    for text in ("e\u0301<s>the", *nasty_texts(100)):
        expected = theirs.encode(normalize("NFC", text), allowed_special="all")
        assert ours.encode(text, allowed_special="all") == expected, ascii(text)
    save(ours, tmp_path / "tokenizer.json", format="huggingface")
    assert load(tmp_path / "tokenizer.json").encode(
        "e\u0301<s>the", allowed_special="all"
    ) == [256, 300, 257]


def test_what_is_written_opens_in_tiktoken(tmp_path):
    texts = nasty_texts(300)
    tokenizer = train(
        texts, vocab_size=600, pattern="gpt4", special_tokens=["<|endoftext|>"]
    )
    path = tmp_path / "mine.tiktoken"
    save(tokenizer, path, format="tiktoken")
    theirs = tiktoken_of(path, PATTERNS["gpt4"], tokenizer.special_tokens)
    again = load(path, pattern="gpt4")
    assert again.merges == tokenizer.merges
    for text in nasty_texts(500, seed=1):
        assert (
            tokenizer.encode_ordinary(text)
            == theirs.encode_ordinary(text)
            == again.encode_ordinary(text)
        )


def test_merges_that_ranks_cannot_tell_are_not_written(tmp_path):
    base = {byte: bytes([byte]) for byte in range(256)}
    twice = Tokenizer(
        Vocabulary(
            base, [(97, 98, 256), (98, 99, 257), (256, 99, 258), (97, 257, 259)]
        ),
        "none",
    )
    with pytest.raises(FormatError, match="the same bytes"):
        save(twice, tmp_path / "x", format="tiktoken")
    late = Tokenizer(Vocabulary(base, [(97, 98, 400), (400, 99, 300)]), "none")
    with pytest.raises(FormatError, match="as its merges do"):
        save(late, tmp_path / "x", format="tiktoken")
    early = Tokenizer(Vocabulary(base, [(97, 97, 257), (97, 98, 256)]), "none")
    assert early.encode("aab") == [257, 98]
    with pytest.raises(FormatError, match="as its merges do"):
        save(early, tmp_path / "x", format="tiktoken")
    assert not (tmp_path / "x").exists()


def test_an_unused_id_hides_no_ranks_and_a_token_that_looks_special_is_not_written(
    tmp_path,
):
    base = {byte + (byte > 2): bytes([byte]) for byte in range(256)}
    gap = Tokenizer(Vocabulary(base, [(98, 99, 257)]), "gpt2")
    save(gap, tmp_path / "x", format="tiktoken")
    assert (
        load(tmp_path / "x", pattern="gpt2").encode("ab") == gap.encode("ab") == [257]
    )
    odd = Tokenizer(
        Vocabulary(base | {300: b"<s>"}, [(98, 99, 257)], whole_pieces={}), "gpt2"
    )
    with pytest.raises(FormatError, match="'<s>' would be read as a special one"):
        save(odd, tmp_path / "vocab.json", format="gpt2")


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("Chapter 1\nIt was a dark night.\n", ""),
        ("Book 1\nOf Kings and Queens\n", ""),
        ("Book 1", ""),
        ("Year 1990\nYear 1989\n", ""),
        ("Book 1\nVers 22\n", ""),
        ("Lion 1\nBear 2\n", "it has no token for the byte 0x00"),
    ],
)
def test_a_text_that_begins_with_a_word_and_a_number_is_a_text(text, doubt, tmp_path):
    (tmp_path / "text.txt").write_text(text)
    why = why_no_tokenizer(tmp_path / "text.txt")
    assert why is not None and doubt in why and bool(why) == bool(doubt)


# js-tiktoken's form: the same tokens in a few long lines, with pattern and special tokens


def test_ranks_go_up_from_the_first_of_a_line(tmp_path):
    tokenizer = load(
        put(tmp_path, {"ranks.json": js_tiktoken(pat_str=PATTERNS["gpt4o"])})
    )
    assert tokenizer.pattern == "gpt4o"
    assert tokenizer.encode("abc ab<|end|>", allowed_special="all") == [
        300,
        32,
        256,
        400,
    ]
    assert (tokenizer.token_bytes(256), tokenizer.token_bytes(300)) == (b"ab", b"abc")
    assert (tokenizer.n_tokens, tokenizer.n_vocab) == (259, 401)


def test_a_published_file_in_this_form_is_the_same_tokenizer(tmp_path):
    published = real_file("r50k_base.tiktoken", tmp_path)
    words = [line.split()[0].decode() for line in published.read_bytes().splitlines()]
    lines = "! 0 " + " ".join(words)
    data = js_tiktoken(
        lines, pat_str=PATTERNS["gpt2"], special_tokens={"<|endoftext|>": 50256}
    )
    ours, theirs = load(put(tmp_path, {"ranks.json": data})), load(published)
    assert ours.vocabulary.bytes_of == theirs.vocabulary.bytes_of
    assert (ours.pattern, ours.special_tokens) == (
        theirs.pattern,
        theirs.special_tokens,
    )


def test_ids_too_far_apart_to_be_recognized_are_not_written(tmp_path):
    single = " ".join(b64encode(bytes([byte])).decode() for byte in range(256))
    word = b64encode(b"xyz").decode()
    fields = {
        "pat_str": r"\S+|\s+",
        "special_tokens": {},
        "bpe_ranks": f"! 500 {word}\n! 2147483647 {single}",
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps(fields))
    tokenizer = load(path)
    with pytest.raises(FormatError, match="too far apart"):
        save(tokenizer, tmp_path / "ranks.tiktoken", format="tiktoken")
    assert not (tmp_path / "ranks.tiktoken").exists()
