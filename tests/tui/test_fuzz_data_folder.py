"""Broken files where the app keeps its own, in small: what `python -m tests.attack.fuzz_data_folder` does."""

import random
from pathlib import Path

import pytest

from tests.attack.fuzz_data_folder import WAYS, House, break_file, play, what


@pytest.mark.slow
async def test_whatever_lies_in_its_folders_the_app_starts_and_loses_none(home: Path) -> None:
    house = House(home / "house")
    house.root.mkdir()
    house.furnish()
    assert (await play(house, 0)).broken


@pytest.mark.parametrize("way", WAYS)
def test_each_way_breaks_a_file(tmp_path: Path, way: str) -> None:
    whole = b'{"a": [1, {"b": "c"}]}'
    paths = [tmp_path / f"{seed}.json" for seed in range(9)]
    for seed, path in enumerate(paths):
        path.write_bytes(whole)
        break_file(path, way, random.Random(seed))
    assert any(what(path) != ("file", whole) for path in paths)
