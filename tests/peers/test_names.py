"""Programs written for tiktoken and minbpe run on `bpe_core` behind these libraries' names, with the same results."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core import train
from tests.nasty import nasty_texts
from tests.peers import minbpe_names
from tests.peers.tiktoken_names import Encoding

TEXTS = nasty_texts(60, seed=5) + ["சூர்யா 除\N{GRINNING FACE} naïve\r\n"] * 9
TRAINED = train(TEXTS, vocab_size=330, special_tokens=["<|endoftext|>", "<|fim|>"])
THEIRS = TRAINED.to_tiktoken()
RANKS, SPECIALS = THEIRS._mergeable_ranks, THEIRS._special_tokens
OURS = Encoding(THEIRS.name, pat_str=THEIRS._pat_str, mergeable_ranks=RANKS, special_tokens=SPECIALS)
MARKED = [text[:9] + "<|fim|>" + text for text in TEXTS]
ALLOWED = {"allowed_special": {"<|fim|>"}, "disallowed_special": ()}

SAME = {
    "n_vocab": lambda e: (e.n_vocab, e.max_token_value, e.eot_token, e.special_tokens_set, e.name),
    "batch": lambda e: e.encode_batch(MARKED, num_threads=3, **ALLOWED),
    "batch, refused": lambda e: e.encode_batch(MARKED),
    "batch, all": lambda e: e.encode_batch(MARKED, allowed_special="all"),
    "ordinary batch": lambda e: e.encode_ordinary_batch(MARKED, num_threads=2),
    "array": lambda e: [e.encode_to_numpy(text, allowed_special="all").tolist() for text in MARKED],
    "array, refused": lambda e: e.encode_to_numpy(MARKED[0]),
    "decode": lambda e: [e.decode(range(n, n + 20)) for n in range(280)],
    "decode batch": lambda e: e.decode_batch([[104], [], [240, 159], [300, 329]], errors="ignore"),
    "one token": lambda e: [e.encode_single_token(e.decode_single_token_bytes(one)) for one in range(e.n_vocab)],
    "special token": lambda e: (e.encode_single_token("<|fim|>"), e.encode_single_token(b"<|fim|>")),
    "no token": lambda e: e.encode_single_token("<|fim|> and"),
    "no id": lambda e: e.decode_single_token_bytes(10_000),
    "tokens": lambda e: (e.decode_tokens_bytes([70, 329]), e.token_byte_values()[5:9]),
    "bytes": lambda e: e.decode_bytes(e._encode_bytes(b"\xec\x8b\xa4\xed")),
    "pickle": lambda e: pickle.loads(pickle.dumps(e)).encode(MARKED[0], allowed_special="all"),
}


def outcome(ask, encoding):
    try:
        return ask(encoding)
    except (KeyError, ValueError) as error:
        return "KeyError" if isinstance(error, KeyError) else "ValueError"


@pytest.mark.parametrize("what", SAME)
def test_a_program_for_tiktoken_sees_no_difference(what):
    assert outcome(SAME[what], OURS) == outcome(SAME[what], THEIRS)


@given(st.lists(st.integers(0, 331), max_size=9) | st.sampled_from(TEXTS).map(TRAINED.encode_ordinary))
def test_offsets_are_those_of_tiktoken_for_any_ids(ids):
    ours, theirs = (outcome(lambda e: e.decode_with_offsets(ids), one) for one in (TRAINED, THEIRS))
    assert ours == theirs


@pytest.mark.parametrize("kind", [minbpe_names.BasicTokenizer, minbpe_names.RegexTokenizer])
def test_a_program_for_minbpe_trains_saves_and_loads(kind, tmp_path):
    tokenizer, again = kind(), kind()
    assert tokenizer.encode("hé") == [104, 195, 169]  # before any training
    tokenizer.train("aaabdaaabac", 256 + 3)
    assert tokenizer.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    tokenizer.register_special_tokens({"<|end|>": 300})
    with pytest.raises(ValueError, match="special token"):
        tokenizer.encode("ab<|end|>")
    tokenizer.save(tmp_path / "mine")
    again.load(tmp_path / "mine.model")
    for how in ("all", "none", {"<|end|>"}):
        assert again.encode("aaab<|end|>", how) == tokenizer.encode("aaab<|end|>", how)
    assert again.decode([258, 300]) == "aaab<|end|>"
