"""What is remembered comes back; what is broken, odd or from another version is the default, and never a crash."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tui import config
from tui.config import Configuration, load_configuration, load_text, save_configuration, save_text
from tui.options import possible
from tui.state import TrainingOptions

pytestmark = pytest.mark.usefixtures("home")

FILLED = Configuration(
    theme="nord",
    tokenizer="/kept/book.json",
    corpus=("/a/book.txt", "/a/\udcff.txt"),  # a file name that is no UTF-8
    reference=("/b",),
    options=TrainingOptions(512, "gpt2", "largest", 2, ("<|endoftext|>",)),
)


def stored() -> Path:
    save_configuration(Configuration())
    return config._configuration_file()


def test_everything_comes_back() -> None:
    assert load_configuration() == Configuration()
    save_configuration(FILLED)
    assert load_configuration() == FILLED


@pytest.mark.parametrize("content", ["", "{", "[1]", "null", '"text"', "\x00", '{"theme": "nor'])
def test_a_broken_file_is_the_defaults(content: str) -> None:
    stored().write_text(content)
    assert load_configuration() == Configuration()


def test_what_this_version_does_not_know_is_the_default() -> None:
    odd = TrainingOptions(-5, "(", "by lot", 0, ("<s>",))
    save_configuration(Configuration(options=odd))
    assert possible(load_configuration().options) == TrainingOptions(special_tokens=("<s>",))
    own = TrainingOptions(pattern=r"[a-z]+|[^a-z]")  # any regular expression is a pattern
    save_configuration(Configuration(options=own))
    assert possible(load_configuration().options) == own


def test_bytes_that_are_no_text_are_the_defaults() -> None:
    stored().write_bytes(b"\xff\xfe{}")
    assert load_configuration() == Configuration()


def test_what_is_odd_is_left_out_and_the_rest_is_kept() -> None:
    odd = {
        **{"theme": 7, "tokenizer": None, "corpus": "not a list", "reference": ["/b", 3], "from the future": True},
        "options": {
            "vocab_size": "many",
            "pattern": "gpt2",
            "ties": ["first"],
            "min_count": True,
            "special_tokens": [],
        },
    }
    stored().write_text(json.dumps(odd))
    assert load_configuration() == Configuration(options=TrainingOptions(pattern="gpt2"))


@pytest.mark.parametrize("text", ["", "a\r\nb\rc\n", "\x1b]0;title\x07\x00", "e\u0301 👩‍👩‍👧 \u2028", "\ufeffBOM"])
def test_the_text_comes_back_character_for_character(text: str) -> None:
    assert load_text() is None
    save_text(text)
    assert load_text() == text


def test_half_a_surrogate_does_not_keep_the_rest_from_being_kept() -> None:
    save_text("before\ud83dafter")
    assert load_text() == "before?after"


def test_a_text_that_is_too_large_leaves_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "LARGEST_KEPT_TEXT", 10)
    save_text("short")
    save_text("a very long text")
    assert load_text() == "short"


def test_a_disk_that_refuses_is_an_error_and_leaves_nothing_half_written(home: Path) -> None:
    save_configuration(FILLED)
    folder = config._configuration_file().parent
    with pytest.raises(TypeError):
        save_configuration(replace(FILLED, theme=object()))  # type: ignore[arg-type]
    assert load_configuration() == FILLED
    assert os.listdir(folder) == ["configuration.json"]
    config._text_file().parent.parent.mkdir(parents=True, exist_ok=True)
    config._text_file().parent.write_text("a file where the folder should be")
    with pytest.raises(OSError):
        save_text("lost")
    assert load_text() is None
