"""Texts that are not what they seemed: packed ones without end, and files that are cut while they are read."""

import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bpe_core.corpus import Counts, find_files, unpacking
from bpe_core.corpus import reading as corpus_reading
from bpe_core.errors import TextError

TEXT = "the theme of the other thesis, the thing that they thought through\n"


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_small_packed_file_does_not_become_any_amount_of_text(
    tmp_path: Path, pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "_SMALL", 1 << 20)
    bomb, text = tmp_path / "bomb", tmp_path / "text"
    bomb.write_bytes(pack(b"a " * (1 << 20)))
    assert bomb.stat().st_size < 10_000
    (file,) = find_files(bomb).files
    read = 0
    with pytest.raises(
        TextError,
        match="bomb cannot be read: it unpacks to more than 100 times its size",
    ):
        for block in file.blocks():
            read += len(block)
    assert read <= 1 << 20
    text.write_bytes(
        pack(b"some words, " * 80_000)
    )  # repeats itself as no text does, and yet may
    assert sum(map(len, find_files(text).files[0].blocks())) == 960_000


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_is_cut_while_parts_of_it_are_counted_is_told(
    tmp_path: Path, workers: int
) -> None:
    path = tmp_path / "log.txt"
    (tmp_path / "other.txt").write_text(TEXT)
    for required in (True, False):
        path.write_text(TEXT * 3000)
        files = find_files(path if required else tmp_path).files

        def read(files: Any = files) -> Counts:
            return Counts.read(
                files, progress=lambda *_: os.truncate(path, 100), workers=workers
            )

        if required:
            with pytest.raises(
                TextError,
                match=r"log.txt cannot be read: it changed while it was being read",
            ):
                read()
        else:
            counted = read()
            assert {skipped.reason for skipped in counted.skipped} == {
                corpus_reading.CHANGED
            }
            assert (counted.n_documents, counted.n_bytes) == (
                1,
                len(TEXT),
            ) and counted.pieces["the"] == 1
