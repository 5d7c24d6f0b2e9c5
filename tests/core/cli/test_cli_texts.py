"""Texts that commands read: alone or beside others they are the same, and what has no end is not begun."""

import gzip
import lzma
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from shell import in_a_shell

from bpe_core import save, train
from bpe_core.cli.main import main
from bpe_core.corpus import Counts, find_files
from bpe_core.corpus import reading as corpus_reading
from bpe_core.corpus.sampling import Sample
from bpe_core.errors import TextError

TEXT = "the theme of the other thesis, the thing that they thought through\n"


@pytest.fixture
def lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """What `encode` prints for some files of the current folder."""
    monkeypatch.chdir(tmp_path)
    save(train(TEXT, vocab_size=280), "t.json")

    def encode(*paths: str) -> list[str]:
        code = main(["encode", "-t", "t.json", *paths])
        out, err = capfd.readouterr()
        assert (code, err) == (0, "")
        return out.splitlines()

    return encode


def test_a_text_has_the_same_ids_alone_and_beside_another(lines: Callable[..., list[str]]) -> None:
    Path("plain.txt").write_text(TEXT)
    Path("mark.txt").write_text("\ufeff" + TEXT)
    Path("wide.txt").write_bytes(TEXT.encode("utf-16"))
    Path("empty.txt").touch()
    Path("packed.gz").write_bytes(gzip.compress(TEXT.encode()))
    Path("packed.xz").write_bytes(lzma.compress(TEXT.encode()))
    names = ["plain.txt", "mark.txt", "wide.txt", "empty.txt", "packed.gz", "packed.xz", "plain.txt"]
    alone = [lines(name) for name in names]
    assert lines(*names) == [line for (line,) in alone]
    assert alone[0] == alone[2] == alone[4] == alone[5]
    assert alone[3] == [""] == lines("empty.txt", "empty.txt")[:1]
    mark = train(TEXT, vocab_size=280).encode("\ufeff")
    assert alone[1] == [f"{' '.join(map(str, mark))} {alone[0][0]}"]  # the mark is a character of the text


@pytest.mark.slow
def test_a_pipe_of_the_shell_is_read_and_a_device_is_not(tmp_path: Path) -> None:
    save(train(TEXT, vocab_size=280), tmp_path / "t.json")
    ended = in_a_shell("bpescope encode -t t.json <(printf 'the theme') | bpescope decode -t t.json <(cat)", tmp_path)
    assert ended.stdout == b"the theme", ended.stderr
    assert in_a_shell("bpescope encode -t t.json /dev/null", tmp_path).stdout == b"\n"
    for line in ("encode -t t.json /dev/zero", "decode -t t.json /dev/zero", "count /dev/zero"):
        ended = in_a_shell(f"ulimit -v 2000000; bpescope {line}", tmp_path)
        assert ended.returncode == 2 and b"it is a device" in ended.stderr and ended.stderr.count(b"\n") == 1
    ended = in_a_shell("mkfifo pipe; bpescope count pipe", tmp_path)
    assert ended.returncode == 2 and b"it is a named pipe" in ended.stderr


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_small_packed_file_does_not_become_any_amount_of_text(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    bomb, text = tmp_path / "bomb", tmp_path / "text"
    bomb.write_bytes(pack(b"a " * (1 << 25)))
    assert bomb.stat().st_size < 210_000
    (file,) = find_files(bomb).files
    read = 0
    with pytest.raises(TextError, match="bomb cannot be read: it unpacks to more than 100 times its size"):
        for block in file.blocks():
            read += len(block)
    assert read <= 1 << 25
    text.write_bytes(pack(b"some words, " * 1_000_000))  # repeats itself as no text does, and yet may
    assert sum(map(len, find_files(text).files[0].blocks())) == 12_000_000


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_is_cut_while_parts_of_it_are_counted_is_told(tmp_path: Path, workers: int) -> None:
    path = tmp_path / "log.txt"
    (tmp_path / "other.txt").write_text(TEXT)
    for required in (True, False):
        path.write_text(TEXT * 3000)
        files = find_files(path if required else tmp_path).files

        def read(files: Any = files) -> Counts:
            return Counts.read(
                files, progress=lambda _: os.truncate(path, 100), workers=workers, sample=Sample(Fraction(1))
            )

        if required:
            with pytest.raises(TextError, match=r"log.txt cannot be read: it became shorter while it was read"):
                read()
        else:
            counted = read()
            assert {skipped.reason for skipped in counted.skipped} == {corpus_reading.CHANGED}
            assert (counted.n_documents, counted.n_bytes) == (1, len(TEXT)) and counted.pieces["the"] == 1
