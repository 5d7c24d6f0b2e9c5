"""minbpe's .model files: read as they are, written where nothing is lost."""

import pytest
import regex
from small_files import MINBPE, put

from bpe_core import FormatError, Tokenizer, load, save, train
from bpe_core.formats.file import LONGEST_TOKEN
from bpe_core.reference import merged
from bpe_core.vocabulary import Vocabulary
from tests.nasty import nasty_texts


def test_bytes_then_merges_then_specials_wherever_they_are(tmp_path):
    tokenizer = load(put(tmp_path, {"some.model": MINBPE}))
    assert tokenizer.merges == [(97, 98, 256), (256, 99, 257)]
    assert tokenizer.special_tokens == {"<|end of text|>": 100257, "<|x|>": 300}
    assert tokenizer.encode("abc ab<|x|>", allowed_special="all") == [257, 32, 256, 300]
    assert (
        load(put(tmp_path, {"some.model": MINBPE.replace("\n", "\r\n")})).merges
        == tokenizer.merges
    )


def test_without_a_pattern_a_text_is_one_piece(tmp_path):
    assert load(
        put(tmp_path, {"some.model": "minbpe v1\n\n0\n97 32\n256 98\n"})
    ).encode("a ba b") == [257, 257]


@pytest.mark.parametrize("pattern", ["gpt2", "gpt4", "none", r"\d+", "words"])
def test_what_is_written_means_the_same_there(pattern, tmp_path):
    """minbpe: every match of the pattern is a piece, anything else is dropped; then merges by rank."""
    tokenizer = train(
        nasty_texts(200), vocab_size=400, pattern=pattern, special_tokens=["<|x|>"]
    )
    save(tokenizer, tmp_path / "mine.model", format="minbpe")
    lines = (tmp_path / "mine.model").read_text(encoding="utf-8").split("\n")
    merges = [
        (*map(int, line.split()), 256 + rank) for rank, line in enumerate(lines[4:-1])
    ]
    assert merges == tokenizer.merges
    again = load(tmp_path / "mine.model")
    for text in nasty_texts(60, seed=3):
        pieces = regex.findall(lines[1], text) if lines[1] else [text]
        ids = []
        for piece in pieces:
            symbols = list(piece.encode())
            for left, right, token in merges:
                symbols = merged(symbols, (left, right), token)
            ids += symbols
        assert tokenizer.encode_ordinary(text) == ids == again.encode_ordinary(text)


def test_what_it_cannot_say_is_refused(tmp_path):
    texts = nasty_texts(100)
    for options, problem in (
        (
            {"id_layout": "specials-first", "special_tokens": ["<x>"]},
            "not the bytes 0 to 255 in order",
        ),
        ({"special_tokens": ["<a b>"]}, "whitespace in it"),
        ({"pattern": "\\s"}, None),
        (
            {"pattern": "a(?#then)gpt2".replace("a", "[a]")},
            "several, one after another",
        ),
    ):
        tokenizer = train(texts, vocab_size=300, **options)
        if problem:
            with pytest.raises(FormatError, match=problem):
                save(tokenizer, tmp_path / "x.model", format="minbpe")
        else:
            save(tokenizer, tmp_path / "x.model", format="minbpe")


def test_a_few_lines_that_double_a_token_do_not_fill_the_memory(tmp_path):
    for n_lines in (13, 14, 26, 40):
        lines = [
            "minbpe v1",
            "",
            "0",
            "97 97",
            *(f"{token} {token}" for token in range(256, 256 + n_lines)),
        ]
        (tmp_path / "double.model").write_text("\n".join(lines))
        if n_lines == 13:
            tokenizer = load(tmp_path / "double.model")
            assert len(tokenizer.token_bytes(256 + n_lines)) == LONGEST_TOKEN
        else:
            with pytest.raises(
                FormatError, match=r"the tokens become too long|a token of"
            ):
                load(tmp_path / "double.model")


def test_a_token_that_no_reader_would_take_is_kept_in_our_own_format_alone(tmp_path):
    doubled = [
        (97, 97, 256),
        *((token, token, token + 1) for token in range(256, 256 + 14)),
    ]
    tokenizer = Tokenizer(
        Vocabulary({byte: bytes([byte]) for byte in range(256)}, doubled), "none"
    )
    for format in ("minbpe", "tiktoken", "huggingface"):
        with pytest.raises(FormatError, match="cannot hold a token of 32,768 bytes"):
            save(tokenizer, tmp_path / "x", format=format)
    save(tokenizer, tmp_path / "x")
    assert load(tmp_path / "x").merges == doubled


@pytest.mark.parametrize("pattern", ["x*", "^|$", r"\b", "(?=a)", "a|", r"(?<=x)a*|."])
def test_a_pattern_that_may_match_nothing_is_not_written(pattern, tmp_path):
    """Behind such a match the original goes on in another way."""
    tokenizer = train("ab xx", vocab_size=257, pattern=pattern)
    for format in ("minbpe", "huggingface"):
        with pytest.raises(FormatError, match="cannot be written"):
            save(tokenizer, tmp_path / "x", format=format)


def test_a_pattern_that_is_one_word_is_no_name_of_a_pattern(tmp_path):
    for pattern in ("(?:a)", "(?:a-b)", "(?:a_1)"):
        tokenizer = train("xaxxa a-b a_1", vocab_size=258, pattern=pattern)
        save(tokenizer, tmp_path / "x", format="huggingface")
        assert load(tmp_path / "x").encode("axaa-ba_1x") == tokenizer.encode(
            "axaa-ba_1x"
        )
    tokenizer = train("xaxxa", vocab_size=258, pattern="(?#only)a")
    with pytest.raises(FormatError, match="drops what it does not match"):
        save(tokenizer, tmp_path / "y", format="minbpe")
