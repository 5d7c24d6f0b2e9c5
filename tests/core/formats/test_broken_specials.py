"""Special tokens that cannot be: refused where a file is opened, not where an audit or a screen meets them."""

import json

import pytest

from bpe_core import FormatError, OptionError, load, train
from tests.attack.fuzz_files.sound import sound_files

HALF = "<\ud800>"


def with_special(kind, shape, text, token):
    """A sound file with one special token more."""
    sound = next(sound for sound in sound_files(kind) if sound.shape == shape)
    value = json.loads(sound.files[sound.mutated[0]])
    match kind:
        case "native":
            value["special_tokens"][text] = token
            value["n_vocab"] += 1
        case "js_tiktoken":
            value["special_tokens"][text] = token
        case "tekken":
            value["special_tokens"][0]["token_str"] = text
        case "huggingface":
            value["added_tokens"].append({"id": token, "content": text, "special": True})
    return json.dumps(value)


SHAPES = [("native", "trained"), ("js_tiktoken", "object"), ("tekken", "special tokens"), ("huggingface", "plain")]


@pytest.mark.parametrize(("kind", "shape"), SHAPES)
def test_half_of_a_character(kind, shape, tmp_path):
    path = tmp_path / "some.json"
    path.write_text(with_special(kind, shape, "<new>", 900))
    assert "<new>" in load(path).special_tokens
    path.write_text(with_special(kind, shape, HALF, 900))
    with pytest.raises(FormatError, match="is broken: '<�>' holds half of a character"):
        load(path)


@pytest.mark.parametrize(("kind", "shape"), [shape for shape in SHAPES if shape[0] != "tekken"])
def test_the_id_of_a_byte(kind, shape, tmp_path):
    path = tmp_path / "some.json"
    path.write_text(with_special(kind, shape, "<new>", 65))
    with pytest.raises(FormatError, match="65"):
        load(path)


def test_half_of_a_character_is_not_learned_either():
    with pytest.raises(OptionError, match="half of a character"):
        train("some text", vocab_size=300, special_tokens=[HALF])
