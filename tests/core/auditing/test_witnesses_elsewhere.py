"""A witness of a token must give that token in other programs, too: here in Hugging Face's tokenizers."""

import pytest
from real import real_file

from bpe_core import load
from bpe_core.auditing.witness import witness
from tests.attack.agreement.against_huggingface import published
from tests.attack.published import ENCODINGS

pytestmark = pytest.mark.slow

PARTS = 5000
"""Texts that are encoded at once."""


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_every_witness_of_a_published_vocabulary_gives_its_token_there(name, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    for file in ENCODINGS[name]:
        real_file(file, tmp_path)
    published(name, tmp_path)  # writes a tokenizer.json
    ours = load(tmp_path / ENCODINGS[name][0])
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / f"{name}.json"))
    theirs.encode_special_tokens = True
    specials = {*ours.special_tokens.values()}
    texts = {
        token: text
        for token in ours.vocabulary.ids()
        if token not in specials and (text := witness(ours, token).text) is not None
    }
    assert len(texts) > 0.999 * (ours.n_vocab - len(specials) - 13)
    tokens = list(texts)
    for start in range(0, len(tokens), PARTS):
        part = tokens[start : start + PARTS]
        encoded = theirs.encode_batch([texts[token] for token in part])
        for token, encoding in zip(part, encoded, strict=True):
            assert token in encoding.ids, (token, texts[token])
