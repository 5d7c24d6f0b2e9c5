"""The tokenizer: ids and back, special tokens by tiktoken's rules, and the merge loop against the oracle."""

from array import array
from itertools import chain

import numpy
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bpe_core import (
    OptionError,
    SpecialTokenError,
    TextError,
    Tokenizer,
    UnknownTokenError,
    Vocabulary,
    train,
)
from bpe_core.errors import NotAnIdError

TEXTS = [
    "low low lower",
    "newest widest",
    "    indented\n\n\n",
    "naïve café",
    "日本語",
    "😊😊 🤯",
    "aaaaaaaaaaaa",
] * 2
SPECIALS = ["<|endoftext|>", "<|end|>", "<|end|>x"]


@pytest.fixture(scope="module")
def tokenizer():
    return train(TEXTS, vocab_size=330, special_tokens=SPECIALS)


def test_encode_and_decode(tokenizer):
    ids = tokenizer.encode("low lower")
    assert [tokenizer.token_bytes(token) for token in ids] == [b"low", b" lower"]
    assert tokenizer.decode(ids) == "low lower"
    assert tokenizer.encode("") == []
    assert tokenizer.encode("q") == [ord("q")]
    assert tokenizer.decode([]) == ""


@pytest.mark.parametrize(
    "pattern", ["gpt4", r"\w+", "none", "gpt2", "gpt4o", "llama3", "qwen2"]
)
@given(
    text=st.text(
        st.characters(exclude_categories=["Cs"]) | st.sampled_from("aelow \n😊")
    )
)
def test_any_text_comes_back(pattern, text):
    tokenizer = Tokenizer(TRAINED.vocabulary, pattern)
    for step in (0, 5, tokenizer.step):
        assert (
            tokenizer.at(step).decode(tokenizer.at(step).encode_ordinary(text)) == text
        )


TRAINED = train(TEXTS, vocab_size=320, pattern="gpt2")


# Special tokens


def test_a_text_where_names_belong_is_a_mistake(tokenizer):
    with pytest.raises(OptionError, match='"all" or a set'):
        tokenizer.encode("low", allowed_special="<|end|>")


PARTS = [
    "low",
    "est",
    " ",
    "\n",
    "é",
    "😊",
    "aaa",
    "日本",
    "<|end|>",
    "<|endoftext|>",
    "<|end",
    "|>",
    "'s",
    "12",
]
WITH_SPECIALS = train(TEXTS, vocab_size=330, special_tokens=SPECIALS[:2])
CHOICES = st.just("all") | st.sets(st.sampled_from([*SPECIALS[:2], "low"]))


@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join), CHOICES, CHOICES)
@example("low<|end|>", {"<|end|>"}, {"<|end|>"})
def test_tiktoken_gives_the_same_ids_or_refuses_too(text, allowed, disallowed):
    ours, theirs = WITH_SPECIALS, WITH_SPECIALS.to_tiktoken()
    options = {
        "allowed_special": allowed if allowed == "all" else allowed - {"low"},
        "disallowed_special": disallowed,
    }
    try:
        expected = theirs.encode(text, **options)
    except ValueError:
        with pytest.raises(SpecialTokenError):
            ours.encode(text, **options)
    else:
        assert ours.encode(text, **options) == expected


# Ids that are no text


@given(ids=st.lists(st.integers(0, 400)))
def test_decode_never_raises(ids):
    assert isinstance(TRAINED.decode(ids), str)


class Scalar:
    """A whole number as torch has them: its hash is not that of the int, and it is equal to none."""

    def __init__(self, number):
        self._number = number

    def __index__(self):
        return self._number


IDS = [97, 257, 98]
WHOLE_NUMBERS = {
    "scalars": [Scalar(number) for number in IDS],
    "numpy scalars": [numpy.int64(97), numpy.uint8(1) + numpy.int16(256), 98],
    "numpy array": numpy.array(IDS, numpy.int32),
    "unsigned array": numpy.array(IDS, numpy.uint32),
    "array": array("I", IDS),
    "tuple": tuple(IDS),
    "view": memoryview(bytes([97, 98])),
}
DECODERS = {
    "decode": lambda tokenizer, ids: tokenizer.decode(ids),
    "strict": lambda tokenizer, ids: tokenizer.decode(ids, "strict"),
    "decode_bytes": lambda tokenizer, ids: tokenizer.decode_bytes(ids),
    "decode_batch": lambda tokenizer, ids: tokenizer.decode_batch([ids]),
    "decode_with_offsets": lambda tokenizer, ids: tokenizer.decode_with_offsets(ids),
}


@pytest.mark.parametrize("decode", DECODERS.values(), ids=DECODERS)
def test_whole_numbers_of_any_kind_are_ids(decode):
    for kind, ids in WHOLE_NUMBERS.items():
        expected = [97, 98] if kind == "view" else IDS
        assert decode(TRAINED, ids) == decode(TRAINED, expected), kind
    assert TRAINED.decode(iter(IDS)) == TRAINED.decode(IDS)
    for token in (Scalar(257), numpy.uint16(257)):
        assert (
            TRAINED.token_bytes(token)
            == TRAINED.decode_single_token_bytes(token)
            == TRAINED.token_bytes(257)
        )


@pytest.mark.parametrize("decode", DECODERS.values(), ids=DECODERS)
@pytest.mark.parametrize("odd", ["1", "low", 97.0, None, b"a", [97], Scalar])
def test_what_is_not_a_whole_number_is_refused_and_not_decoded(decode, odd):
    TRAINED.decode([97])  # 97.0 is equal to an id that was asked for before
    for ids in ([odd], [97, odd], iter([97, odd])):
        with pytest.raises(
            NotAnIdError, match=r"^A token id is a whole number, not the \w+ "
        ):
            decode(TRAINED, ids)
    with pytest.raises(TypeError, match=r"^A token id is a whole number, not the \w+ "):
        TRAINED.token_bytes(odd)


@pytest.mark.parametrize("decode", DECODERS.values(), ids=DECODERS)
def test_a_text_a_single_number_and_a_negative_one_are_not_ids(decode):
    for odd in ("low", 97, None, numpy.array(97)):
        with pytest.raises(NotAnIdError):
            decode(TRAINED, odd)
    for negative in (-1, numpy.int32(-100), Scalar(-1)):
        with pytest.raises(UnknownTokenError):
            decode(TRAINED, [97, negative])
    with pytest.raises(
        NotAnIdError, match="is a list of lists of ids, not the text 'low'"
    ):
        TRAINED.decode_batch("low")
    with pytest.raises(NotAnIdError, match=r"not the float 97\.5"):
        decode(TRAINED, numpy.array([97.5]))


def test_an_unknown_id_is_asked_for_once_however_often_it_occurs(
    tokenizer, monkeypatch
):
    asked, token_bytes = [], Vocabulary.token_bytes
    monkeypatch.setattr(
        Vocabulary,
        "token_bytes",
        lambda self, token: asked.append(token) or token_bytes(self, token),
    )
    assert tokenizer.decode([97, 10**9, 10**9, 10**9]) == "a" + "\ufffd" * 3
    assert asked.count(10**9) == 1


def test_what_cannot_be_decoded_becomes_the_replacement_character(tokenizer):
    assert tokenizer.decode([128]) == "\ufffd"
    assert tokenizer.decode([97, 10**9, 98]) == "a\ufffdb"
    assert tokenizer.at(1).decode([258]) == "\ufffd"
    for errors, text in (
        ("replace", "a\ufffd"),
        ("ignore", "a"),
        ("backslashreplace", "a\\x80"),
    ):
        assert tokenizer.decode([97, 128], errors=errors) == text
        assert tokenizer.decode([97, 128, 10**9], errors=errors) == f"{text}\ufffd"
    with pytest.raises(TextError, match="invalid start byte at byte 1"):
        tokenizer.decode([97, 128], errors="strict")
    with pytest.raises(UnknownTokenError):
        tokenizer.decode([10**9], errors="strict")
    with pytest.raises(UnknownTokenError) as caught:
        tokenizer.decode_bytes([10**9])
    assert caught.value.__context__ is None  # a traceback of one error
    with pytest.raises(OptionError, match="choose one of replace"):
        tokenizer.decode([97], errors="shrug")


@pytest.mark.parametrize(
    "text", [b"low", bytearray(b"low"), memoryview(b"low"), 5, None]
)
def test_what_is_no_text_is_refused_and_not_encoded(tokenizer, text):
    for encode in (
        tokenizer.encode_ordinary,
        tokenizer.encode,
        tokenizer.encode_to_array,
    ):
        with pytest.raises(TypeError):
            encode(text)
    with pytest.raises(TypeError):
        tokenizer.encode_batch(["low", text])


def test_a_pair_of_surrogates_counts_as_its_character(tokenizer):
    """A letter here, so that it is split as one; this is how tiktoken reads such texts, too."""
    text = "low \ud835\udc00's \udc00\ud835\ud83d\ude0a" * 3
    assert tokenizer.encode(text) == tokenizer.encode(
        "low \U0001d400's \ufffd\ufffd\U0001f60a" * 3
    )
    assert tokenizer.encode_piece("\ud83d\ude0a") == tokenizer.encode_piece(
        "\U0001f60a"
    )


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_a_text_in_blocks_is_encoded_as_one_wherever_the_blocks_end(size):
    tokenizer = train(
        "low lower newest widest " * 9,
        vocab_size=290,
        special_tokens=["<|a|>", "<|a|><|b|>", "<"],
    )
    text = "low<|a|><|b|>er <|a|><|bnewest  \n<|a|>< widest<|a|><|b|>" * 3
    blocks = [text[i : i + size] for i in range(0, len(text), size)]
    for allowed in ({"<|a|>"}, {"<|a|>", "<|a|><|b|>"}, "all", frozenset()):
        options = {"allowed_special": allowed, "disallowed_special": ()}
        parts = tokenizer.divide(blocks, **options)
        ids = [
            part if isinstance(part, list) else tokenizer.encode_ordinary(part)
            for part in parts
        ]
        assert [*chain(*ids)] == tokenizer.encode(text, **options)
    with pytest.raises(SpecialTokenError, match=r"'<\|a\|><\|b\|>' at offset 3"):
        list(tokenizer.divide(blocks, disallowed_special={"<|a|><|b|>"}))
