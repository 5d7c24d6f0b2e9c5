"""The texts that can be chosen: named so that any name can be shown, listed so that any folder can be opened."""

from pathlib import Path

import pytest

from bpe_core.content.presets import PRESETS
from bpe_core.visible import visible
from tui.disk.sources import (
    LARGEST_FOLDER,
    check_readable,
    computer_sources,
    file_source,
    first_characters,
    first_corpus,
    first_pieces,
    listing,
    preset_sources,
    sample_sources,
    title_of,
    whole_text,
)


def test_folders_come_first_and_what_is_hidden_does_not_come(tmp_path: Path) -> None:
    for name in ("b.txt", "A.txt", ".hidden"):
        (tmp_path / name).write_text(name)
    for name in ("zoo", ".git"):
        (tmp_path / name).mkdir()
    listed, _ = listing(tmp_path)
    assert [(source.title, source.is_folder, source.size) for source in listed] == [
        *(("zoo", True, None), ("A.txt", False, 5), ("b.txt", False, 5))
    ]


def test_a_name_is_shown_without_what_would_act_on_a_terminal(tmp_path: Path) -> None:
    name = "\x1b]0;pwned\x07\nx\x9b31m"
    (tmp_path / name).mkdir()
    ((source,), _) = listing(tmp_path)
    assert source.path == str(tmp_path / name)
    for shown in (source.title, source.reason, title_of((source.path,))):
        assert shown == visible(shown) and "pwned" in shown


def test_what_cannot_be_looked_at_is_listed_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "nowhere").symlink_to("missing")
    listed, _ = listing(tmp_path)
    assert [(source.title, source.size) for source in listed] == [
        ("circle", None),
        ("nowhere", None),
    ]
    with pytest.raises(OSError):
        listing(tmp_path / "missing")
    assert file_source(tmp_path / "missing").size is None


def test_of_an_endless_folder_only_the_beginning_is_listed(tmp_path: Path) -> None:
    for number in range(LARGEST_FOLDER + 5):
        (tmp_path / f"{number:05}").touch()
    listed, remark = listing(tmp_path)
    assert [source.title for source in listed] == [
        f"{number:05}" for number in range(LARGEST_FOLDER)
    ]
    assert remark == "and 5 more"
    (tmp_path / "empty").mkdir()
    assert listing(tmp_path / "empty")[1] == "no visible files"


def test_a_preset_is_split_as_it_is_trained(tmp_path: Path) -> None:
    pieces = {
        source.preset: first_pieces(source, 600, "gpt4") for source in preset_sources()
    }
    assert pieces["S0"] == list(PRESETS["S0"].documents)
    assert pieces["S1"][:6] == ["low"] * 5 + ["lower"] and len(pieces["S1"]) == 16
    assert pieces["S2"] == pieces["S1"], "split at spaces, which are dropped"
    (tmp_path / "text").write_text("one two")
    assert first_pieces(file_source(tmp_path / "text"), 600, "gpt4") == ["one", " two"]


def test_a_choice_has_a_short_name() -> None:
    library = computer_sources()[0].path
    assert title_of(()) == "nothing chosen"
    assert title_of((library,)) == "Python library"
    assert title_of(("/a/book.txt", library)) == "book.txt + Python library"
    assert title_of(("/a/book.txt", "/b", "/c", "/d")) == "book.txt + 3 more"
    assert title_of(tuple(source.path for source in sample_sources())) == "all samples"
    assert title_of(first_corpus().paths) == "A story in English"
    assert title_of(("/",)) == "/"


def test_a_text_is_read_exactly(tmp_path: Path) -> None:
    path = tmp_path / "text"
    text = "a\r\nb\x0c\x00".replace("\x00", "") + "é" * 100_000
    path.write_bytes(text.encode())
    assert whole_text(path) == text
    assert first_characters(str(path), 4) == "a\r\nb"
    check_readable(str(path))
    check_readable(str(tmp_path))


def test_a_folder_shows_the_text_that_is_found_first_its_own_before_those_below(
    tmp_path: Path,
) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert first_pieces(file_source(tmp_path), 600, "gpt4") == []
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 9)
    (below / "deep").write_text("one two")
    assert first_pieces(file_source(tmp_path), 600, "gpt4") == ["one", " two"]
    (tmp_path / "own").write_text("three")
    assert first_pieces(file_source(tmp_path), 600, "gpt4") == ["three"]
