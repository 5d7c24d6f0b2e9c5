"""What is remembered comes back; what is broken, odd or from another version is the default, and never a crash."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tui.app import BpeScope
from tui.disk import config
from tui.disk.config import (
    Configuration,
    load_configuration,
    load_text,
    save_configuration,
    save_text,
)
from tui.features.corpus import possible
from tui.state import LaneChoice, Opened, TrainingOptions

pytestmark = pytest.mark.usefixtures("home")

FILLED = Configuration(
    theme="nord",
    tokenizer="/kept/book.json",
    corpus=("/a/book.txt", "/a/\udcff.txt"),  # a file name that is no UTF-8
    reference=("/b",),
    options=TrainingOptions(512, "gpt2", "largest", 2, ("<|endoftext|>",)),
    opened=(
        Opened("/m/mine.json", "", 264, "gpt2", 1234, 10**18),
        Opened("/c/x", "gpt-4o"),
    ),
    names={"/m/mine.json": "Anna"},
    forgotten=("/c/y",),
    lanes=(
        LaneChoice("/a:b c@2.json"),
        LaneChoice("/x", 12),
        LaneChoice("", 0),
        LaneChoice(),
    ),
)


def stored() -> Path:
    save_configuration(Configuration())
    return config._configuration_file()


def test_everything_comes_back_also_of_what_an_older_version_wrote() -> None:
    told: list[str] = []
    assert load_configuration() == Configuration()
    save_configuration(FILLED)
    assert load_configuration(told.append) == FILLED and not told
    stored().write_text('{"theme": "nord", "options": {"vocab_size": 512}}')
    assert (
        load_configuration(told.append)
        == Configuration(theme="nord", options=TrainingOptions(512))
        and not told
    )


def test_what_this_version_does_not_know_is_the_default() -> None:
    odd = TrainingOptions(-5, "(", "by lot", 0, ("<s>",))
    save_configuration(Configuration(options=odd))
    assert possible(load_configuration().options) == TrainingOptions(
        special_tokens=("<s>",)
    )
    own = TrainingOptions(
        pattern=r"[a-z]+|[^a-z]"
    )  # any regular expression is a pattern
    save_configuration(Configuration(options=own))
    assert possible(load_configuration().options) == own


def test_what_is_odd_is_left_out_and_the_rest_is_kept() -> None:
    odd = {
        **{
            "theme": 7,
            "tokenizer": None,
            "corpus": "not a list",
            "reference": ["/b", 3],
            "from the future": True,
        },
        "options": {
            "vocab_size": "many",
            "pattern": "gpt2",
            "ties": ["first"],
            "min_count": True,
            "special_tokens": [],
        },
    }
    stored().write_text(json.dumps(odd))
    # As texts: true equals 1, which it must not become.
    assert repr(load_configuration()) == repr(
        Configuration(options=TrainingOptions(pattern="gpt2"))
    )


def test_a_disk_that_refuses_is_an_error_and_leaves_nothing_half_written(
    home: Path,
) -> None:
    save_configuration(FILLED)
    folder = config._configuration_file().parent
    with pytest.raises(TypeError):
        save_configuration(replace(FILLED, theme=object()))
    assert load_configuration() == FILLED
    assert os.listdir(folder) == ["configuration.json"]
    config.text_file().parent.parent.mkdir(parents=True, exist_ok=True)
    config.text_file().parent.write_text("a file where the folder should be")
    with pytest.raises(OSError):
        save_text("lost")
    assert load_text() is None


# What cannot be read is kept beside what takes its place, and told


def test_what_is_not_understood_is_copied_once_and_told() -> None:
    path, odd = (
        stored(),
        b'{"theme": "nord", "from the future": 1, "options": {"ties": ["first"]}}',
    )
    broken = (
        b"",
        b"{",
        b"[1]",
        b"null",
        b'"text"',
        b"\x00",
        b'{"theme": "nor',
        b"\xff\xfe{}",
    )
    for content in (*broken, odd):
        path.write_bytes(content)
        for _ in range(
            2
        ):  # the second start says so again, as nothing has been changed meanwhile
            told: list[str] = []
            assert load_configuration(told.append) == Configuration(
                theme="nord" if content == odd else "bpescope-dark"
            )
            (sentence,) = told
            (copy,) = (
                other
                for other in path.parent.iterdir()
                if other != path and other.read_bytes() == content
            )
            assert str(copy) in sentence
        assert path.read_bytes() == content
    assert "(from the future, ties)" in told[-1]
    assert len(os.listdir(path.parent)) == 2 + len(broken)


@pytest.mark.parametrize("odd", ["folder", "pipe", "circle"])
@pytest.mark.parametrize("kept", ["configuration", "text"])
def test_what_is_no_file_gets_another_name(odd: str, kept: str) -> None:
    path = stored() if kept == "configuration" else config.text_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if odd == "folder":
        path.mkdir()
        (path / "in it").touch()
    elif odd == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path)
    told: list[str] = []
    load_configuration(told.append) if kept == "configuration" else load_text(
        tell=told.append
    )
    (aside,) = path.parent.iterdir()
    assert aside != path and str(aside) in told[0] and told[0].endswith(".")
    assert {
        "folder": aside.is_dir(),
        "pipe": aside.is_fifo(),
        "circle": aside.is_symlink(),
    }[odd]
    save_configuration(FILLED) if kept == "configuration" else save_text("new")
    assert path.is_file()


def test_bytes_that_are_no_text_are_shown_as_such_and_kept() -> None:
    save_text("before|after")
    path = config.text_file()
    path.write_bytes(path.read_bytes().replace(b"|", b"\xff"))
    told: list[str] = []
    assert load_text(tell=told.append) == "before\ufffdafter"
    assert "editor.txt is not UTF-8 at byte 6" in told[0]
    (copy,) = (other for other in path.parent.iterdir() if other != path)
    assert copy.read_bytes() == b"before\xffafter" and str(copy) in told[0]


def test_a_link_stays_one_and_leads_to_what_is_kept(home: Path) -> None:
    path = config.text_file()
    path.parent.mkdir(parents=True)
    path.symlink_to(home / "notes.txt")
    assert load_text() is None  # it leads nowhere yet
    save_text("kept")
    assert (
        path.is_symlink() and (home / "notes.txt").read_text() == "kept" == load_text()
    )
    path.unlink()
    path.symlink_to(home / "a disk that is not there" / "notes.txt")
    with pytest.raises(OSError):
        save_text("kept")
    assert not (home / "a disk that is not there").exists()


def test_an_app_at_full_speed_shows_merges_at_once_whatever_is_remembered() -> None:
    save_configuration(FILLED)
    assert BpeScope(full_speed=True)._configuration == replace(FILLED, pace=0)
    assert BpeScope()._configuration == FILLED
