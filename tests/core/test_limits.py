"""What a text or a small file asks for is bounded: the work is counted, or so large that only a child waits for it."""

import json
import random
import subprocess
import sys
import tracemalloc
import unicodedata
from itertools import pairwise

import pytest
import regex

from bpe_core import (
    OptionError,
    PatternError,
    Tokenizer,
    Vocabulary,
    audit,
    load,
    train,
)
from bpe_core import tokenizer as tokenizers
from bpe_core.live.live_text import LiveText
from bpe_core.patterns import patience
from bpe_core.tokenizer import normalizers
from bpe_core.tokenizer.normalizers import SourceMap
from bpe_core.vocabulary.symbols import BYTE_OF

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
MARKS = "\u0301\u0316\u0345\u0308\u0344\u0f71\u0f73\u3099\uff9e\uff9f\u0327\u0c56\u20d2"


def tokenizer_with(folder, normalizer) -> Tokenizer:
    path = folder / "tokenizer.json"
    model = {"type": "BPE", "vocab": dict(BYTE_OF), "merges": []}
    pre_tokenizer = {"type": "ByteLevel", "add_prefix_space": False}
    decoder = {"type": "ByteLevel"}
    parts = {
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "decoder": decoder,
        "model": model,
    }
    path.write_text(json.dumps(parts))
    return load(path)


# --- normalizers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_long_runs_of_marks_are_normalized_as_unicodedata_does_it(form):
    rng = random.Random(form)
    normalize = normalizers.Normalizer([normalizers.NormalForm(form)])
    for _ in range(15):
        marks = rng.sample(MARKS, rng.randint(1, 5))
        text = "".join(
            rng.choice("ae\u1100\u1161\u11a8か中 ")
            + "".join(rng.choices(marks, k=rng.choice((0, 1, 3, 63, 64, 300, 700))))
            for _ in range(rng.randint(1, 6))
        )
        assert normalize(text) == unicodedata.normalize(form, text)
        assert SourceMap().add(text, normalize) == unicodedata.normalize(form, text)


def test_all_that_is_put_in_order_is_taken_for_a_mark():
    for character in map(chr, range(sys.maxunicode + 1)):
        if any(
            map(unicodedata.combining, unicodedata.normalize("NFKD", character)[:1])
        ):
            assert normalizers._LONG_RUN_OF_MARKS.fullmatch(
                character * normalizers._LONG_RUN
            ), ascii(character)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "unit", ["\u0301\u0316", "\u0308", "\u0f73\u0345", "\uff9e\u0301"]
)
def test_many_marks_are_no_more_work_than_as_many_characters(form, unit, monkeypatch):
    n_normalized = 0
    given = unicodedata.normalize

    def normalize(form, text):
        nonlocal n_normalized
        n_normalized += len(text)
        n_out_of_order = sum(
            a > b > 0
            for a, b in pairwise(
                map(unicodedata.combining, given("NFKD", text[:1]) + text)
            )
        )
        assert n_out_of_order <= 300, "the square of these is what it takes"
        return given(form, text)

    monkeypatch.setattr(normalizers.unicodedata, "normalize", normalize)
    text = "x" + unit * 2000
    normal = normalizers.Normalizer([normalizers.NormalForm(form)])
    assert SourceMap().add(text, normal) == normal(text)
    assert n_normalized < 40 * len(text)


def test_normalizers_that_make_very_much_of_little_are_refused(tmp_path):
    doubling = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
    long = {"type": "Replace", "pattern": {"Regex": "b|$"}, "content": "b" * 1000}
    before = {"type": "Prepend", "prepend": "c" * 1000}
    for parts in ([doubling] * 40, [long], [before]):
        tokenizer = tokenizer_with(tmp_path, {"type": "Sequence", "normalizers": parts})
        for ask in (
            tokenizer.encode_ordinary,
            lambda text, tokenizer=tokenizer: LiveText(tokenizer, text).ids,
        ):
            with pytest.raises(OptionError, match="normalizers of this tokenizer make"):
                ask("ab")
    little = tokenizer_with(
        tmp_path, {"type": "Sequence", "normalizers": [doubling] * 3}
    )
    assert little.encode_ordinary("a") == [97] * 8
    assert normalizers.Normalizer([normalizers.NormalForm("NFKD")])(
        "\ufdfa" * 1000
    ) == unicodedata.normalize("NFKD", "\ufdfa" * 1000)


def test_a_normalizer_that_backtracks_without_end_is_stopped(tmp_path):
    slow = {"type": "Replace", "pattern": {"Regex": "(?:a|aa)+!"}, "content": "b"}
    tokenizer = tokenizer_with(tmp_path, slow)
    for ask in (tokenizer.encode_ordinary, lambda text: LiveText(tokenizer, text).ids):
        with (
            pytest.raises(
                PatternError, match=r"pattern of a normalizer took more than 0\.0 s"
            ),
            patience(0.02),
        ):
            ask("a" * 200)


def test_an_expression_is_replaced_as_the_regex_module_replaces_it():
    for source in (r"\s+|(?<=a)|$", "b*", r"(?r)a.?"):
        for text in ("", "a  b\n", "aab b", "bb"):
            assert normalizers.ReplacedMatches(source, "_")(text) == regex.sub(
                source, "_", text
            )


# --- tokens that are found in the text -------------------------------------------------------------------------------


@pytest.mark.slow
def test_half_a_million_added_tokens_in_a_text_take_seconds():
    """What takes the square of that takes minutes."""
    look = (
        "from bpe_core.tokenizer.preparation import AddedToken, Finder\n"
        "find = Finder([AddedToken('x', 1, lstrip=True), AddedToken('\\n', 2, rstrip=True)])\n"
        "print(sum(1 for _ in find.parts('ax ' * 250_000 + '\\n' * 250_000, frozenset())))"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "750001\n", done.stderr


@pytest.mark.slow
def test_tens_of_thousands_of_special_tokens_are_looked_for_at_once():
    look = (
        "from bpe_core.tokenizer.special_tokens import chosen_specials, refuse_specials, special_parts\n"
        "from bpe_core.patterns import splitter\n"
        "import regex\n"
        "tokens = frozenset(f'<|audio_{n}|>' for n in range(40_000))\n"
        "refuse_specials(tokens, '<|audio_|>' * 1000)\n"
        "print(len(list(special_parts(tokens, ['a<|audio_7|><|audio_37777|>b']))))\n"
        "texts = sorted(tokens, key=lambda text: (-len(text), text))\n"
        "split = splitter('|'.join(map(regex.escape, texts)) + '(?#else)gpt4')\n"
        "print(split.split('a<|audio_7|><|audio_37777|>b'), split.blockwise)"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "4\n['a', '<|audio_7|>', '<|audio_37777|>', 'b'] True\n", (
        done.stderr
    )


# --- what is remembered ----------------------------------------------------------------------------------------------


def test_few_pieces_are_remembered_and_no_long_ones(monkeypatch):
    monkeypatch.setattr(tokenizers, "_MOST_CACHED", 10)
    tokenizer = train(
        "the theme of the other thesis " * 9, vocab_size=280, pattern="words"
    )
    rng = random.Random(0)
    for n in range(100):
        word = "".join(rng.choices("theomsr", k=n))
        assert tokenizer.decode(tokenizer.encode_piece(word)) == word
    cache = tokenizer._cached_ids_of_piece.cache_info()
    assert cache.currsize == 10
    assert cache.hits + cache.misses < 50


# --- very long pieces and tokens -------------------------------------------------------------------------------------


def test_a_very_long_piece_takes_a_few_numbers_for_each_of_its_bytes():
    tokenizer = train(
        "the theme of the other thesis " * 9, vocab_size=270, pattern="none"
    )
    text = "".join(random.Random(0).choices("theomsrfabcdxyz ", k=50_000))
    tokenizer.encode_ordinary(text[:1000])
    tracemalloc.start()
    ids = tokenizer.encode_ordinary(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(ids) > 40_000
    assert peak < 50 * len(
        text
    )  # symbols, tokens, where these begin, and the ids, eight bytes each


@pytest.mark.slow
def test_what_an_audit_tries_around_a_very_long_token_is_bounded():
    class Counted(Tokenizer):
        n_characters = 0

        def encode_ordinary(self, text):
            Counted.n_characters += len(text)
            return super().encode_ordinary(text)

    merges = [(97, 97, 256), *((255 + n, 255 + n, 256 + n) for n in range(1, 12))]
    doubling = Vocabulary({byte: bytes([byte]) for byte in range(256)}, merges)
    found = audit(Counted(doubling, r"\p{L}"))
    assert {finding.id for finding in found.of("unreachable")} == set(range(256, 268))
    assert Counted.n_characters < 2_000_000
    assert max(len(finding.reason) for finding in found) < 1000
