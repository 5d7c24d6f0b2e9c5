"""What published tokenizer.json files really hold: merges listed more than once, out of order, ids that are taken."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from small_files import huggingface, put

from bpe_core import FormatError, audit, load, save, train
from bpe_core.vocabulary.symbols import BYTE_OF


@pytest.mark.parametrize(
    "merges",
    [
        ["a b", "b c", "ab c", "a bc"],  # each way to a token, as Llama 3 lists them
        ["a b", "abc d", "ab c"],  # a token is used before it is made
        ["ab c", "a b", "a bc", "a b"],
        ["abc d", "ab c", "a b", "a bc", "abcd e"],
    ],
)
def test_merges_listed_more_than_once_and_out_of_order_can_be_audited(tmp_path, merges):
    tokenizer = load(put(tmp_path, {"tokenizer.json": huggingface(merges)}))
    found = audit(tokenizer)
    assert {finding.kind for finding in found} >= {"unused-byte"}
    assert all(finding.evidence["gap"] > 0 for finding in found.of("scaffold"))
    assert tokenizer.decode(tokenizer.encode("abcd abc")) == "abcd abc"


@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize("flags", [{}, {"lstrip": True}])
@pytest.mark.parametrize(
    ("text", "token"),
    [("<x>", BYTE_OF["A"]), ("<x>", 256), ("Ġ", BYTE_OF["Ġ"]), ("é", BYTE_OF["é"])],
)
def test_an_added_token_cannot_have_the_id_of_what_pieces_become(
    tmp_path, text, token, special, flags
):
    data = huggingface(
        ["a b"], [{"id": token, "content": text, "special": special, **flags}]
    )
    path = put(tmp_path, {"tokenizer.json": data})
    with pytest.raises(FormatError, match=rf"{token}(, which)? is (the id|that) of "):
        load(path)


def test_an_added_token_can_be_one_that_pieces_become(tmp_path):
    added = [
        {"id": 256, "content": "ab", "special": False},
        {"id": BYTE_OF["q"], "content": "q", "special": False},
    ]
    tokenizer = load(put(tmp_path, {"tokenizer.json": huggingface(["a b"], added)}))
    assert tokenizer.encode("abq") == [256, BYTE_OF["q"]]


def test_several_threads_can_ask_for_merges_that_are_yet_to_be_recovered(tmp_path):
    learned = train(
        "the theme of the other thesis, another text altogether " * 20, vocab_size=330
    )
    save(learned, tmp_path / "ranks.tiktoken", format="tiktoken")
    for _ in range(20):
        vocabulary = load(tmp_path / "ranks.tiktoken", pattern="gpt4").vocabulary

        def ask(_, vocabulary=vocabulary):
            while not vocabulary.recover(0.0):
                pass
            return len(vocabulary.merges)

        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(ask, range(6)))
        assert found == [len(learned.merges)] * 6
