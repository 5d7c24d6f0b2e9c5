"""Neither random deeds nor broken files end the app or make it lie; each list of deeds that once did stays here.

`python -m tests.attack.monkey` plays as long as one likes, and shortens what it finds to a list for `FOUND`;
`python -m tests.attack.fuzz_data_folder` breaks files where the app keeps its own.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attack.fuzz_data_folder import WAYS, House, break_file, what
from tests.attack.fuzz_data_folder import play as play_in
from tests.attack.monkey.app import own_home, play
from tests.attack.monkey.deeds import PASTES, Deed, deeds, shortened
from tui.disk import sources
from tui.text.edited_text import EditedText

FOUND: dict[str, list[Deed]] = {
    "names are listed below a path where there is no room for them": [
        ("resize", 8, 3),
        ("keys", "ctrl+o", "ctrl+s", "ctrl+end"),
        ("keys", "é", "s", "6", "]", "o", "\u0301", "h", "[", "\u202e"),
    ],
}
"""What was wrong -> the deeds that are needed for it."""


@pytest.fixture
def player_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder with texts and tokenizers, and nothing else on this computer that takes long to read."""
    monkeypatch.setattr(sources, "computer_sources", lambda: [])
    with own_home(tmp_path / "player") as home:
        yield home


@pytest.mark.slow
@pytest.mark.usefixtures("player_home")
@pytest.mark.parametrize("name", FOUND)
async def test_what_was_once_wrong(name: str) -> None:
    assert not (await play(FOUND[name])).wrong


@pytest.mark.slow
@pytest.mark.usefixtures("player_home")
async def test_random_deeds() -> None:
    played = await play(list(deeds(1, 15)))
    assert not played.wrong, f"deed {played.done}: {played.wrong}"


def test_the_eye_of_these_tests_is_open(player_home: Path) -> None:
    """A list of deeds is shortened to those that are needed, and follows from its seed."""
    assert list(deeds(7, 50)) == list(deeds(7, 50)) != list(deeds(8, 50))
    assert all(len(make(1234)) <= 1234 and make(1) for make in PASTES.values())
    needed: list[Deed] = [("keys", "f1"), ("keys", "x")]
    others = [
        [deed for deed in deeds(seed, 20) if deed not in needed] for seed in (1, 2, 3)
    ]
    many = [*others[0], needed[0], *others[1], needed[1], *others[2]]
    assert shortened(many, lambda some: all(deed in some for deed in needed)) == needed


@pytest.mark.slow
async def test_a_lie_is_found(
    player_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EditedText, "_apply", lambda *_: None)
    assert (await play([("keys", "a", "b")])).wrong


@pytest.mark.slow
async def test_whatever_lies_in_its_folders_the_app_starts_and_loses_none(
    home: Path,
) -> None:
    house = House(home / "house")
    house.root.mkdir()
    house.furnish()
    assert (await play_in(house, 0)).broken


@pytest.mark.parametrize("way", WAYS)
def test_each_way_breaks_a_file(tmp_path: Path, way: str) -> None:
    whole = b'{"a": [1, {"b": "c"}]}'
    paths = [tmp_path / f"{seed}.json" for seed in range(9)]
    for seed, path in enumerate(paths):
        path.write_bytes(whole)
        break_file(path, way, random.Random(seed))
    assert any(what(path) != ("file", whole) for path in paths)
