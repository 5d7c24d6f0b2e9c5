"""Texts from stdin and pipes: counted and learned from as files are, and refused where they would be read twice."""

import bz2
import gzip
import json
import lzma
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from shell import in_a_shell

from bpe_core import load
from bpe_core.cli.main import main
from bpe_core.corpus import find_files
from bpe_core.corpus.counts import Counts
from bpe_core.corpus.streams import streams_and_files
from bpe_core.errors import OptionError, Stopped, TextError

TEXT = "low lower lowest, naïve 東京 new newest\n" * 900


@contextmanager
def pipe_with(data: bytes, chunk: int = 1 << 16) -> Iterator[str]:
    """The path of a pipe that brings the data, so many bytes at a time."""
    out, into = os.pipe()

    def write() -> None:
        with suppress(BrokenPipeError), os.fdopen(into, "wb", buffering=0) as file:
            for at in range(0, len(data), chunk):
                file.write(data[at : at + chunk])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield f"/dev/fd/{out}"
    finally:
        os.close(out)
        writer.join()


def counted(*paths: str) -> Counts:
    with streams_and_files(paths, skip_bad=False, heed=bool) as found:
        return Counts.read(found.files, "gpt4")


@pytest.mark.parametrize(
    ("pack", "chunk"),
    [
        (bytes, 1 << 16),
        (bytes, 7),
        (gzip.compress, 11),
        (bz2.compress, 1 << 16),
        (lzma.compress, 1 << 16),
        (lambda data: data.decode().encode("utf-16"), 13),
        (lambda data: b"\xef\xbb\xbf" + data, 1),
    ],
)
def test_a_pipe_is_read_as_a_file_with_the_same_bytes(
    tmp_path: Path, pack: Callable[[bytes], bytes], chunk: int
) -> None:
    data = pack(TEXT.encode()[: 40_000 if chunk > 100 else 3000])
    (tmp_path / "file").write_bytes(data)
    expected = Counts.read(find_files([tmp_path / "file"]).files, "gpt4")
    with pipe_with(data, chunk) as pipe:
        found = counted(pipe)
    assert found.pieces == expected.pieces
    assert [one.sha256 for one in found.sources] == [
        one.sha256 for one in expected.sources
    ]


def test_rows_come_through_a_pipe_too() -> None:
    rows = "".join(
        json.dumps({"id": "x", "text": text}) + "\n" for text in ("low", "lower", "new")
    )
    with pipe_with(rows.encode(), 5) as pipe:
        assert counted(f"{pipe}::text").n_documents == 3


def test_pipes_and_files_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    with pipe_with(b"p") as one, pipe_with(b"q") as other:
        paths = [
            one,
            str(tmp_path / "b.txt"),
            other,
            str(tmp_path),
            str(tmp_path / "b.txt"),
        ]
        assert list(counted(*paths).pieces) == ["p", "b", "q", "a"]


def test_what_cannot_be_read_from_a_pipe_is_one_sentence() -> None:
    with (
        pipe_with(b"low") as pipe,
        pytest.raises(
            OptionError, match="named twice, and a pipe can be read only once"
        ),
    ):
        counted(pipe, pipe)
    with (
        pipe_with(b"") as pipe,
        pytest.raises(TextError, match=r"No text found in pipe [0-9]+: it is empty"),
    ):
        counted(pipe)
    with (
        pipe_with(b"low\xff") as pipe,
        pytest.raises(TextError, match="byte 0xff at offset 3"),
    ):
        counted(pipe)
    with (
        pipe_with(b"low") as pipe,
        streams_and_files([pipe], skip_bad=False, heed=bool) as found,
    ):
        Counts.read(found.files, "gpt4")
        with pytest.raises(
            TextError, match="can be read only once; save its text to a file first"
        ):
            Counts.read(found.files, "gpt4")


def test_a_pipe_that_brings_nothing_can_be_stopped() -> None:
    def stop() -> None:
        raise Stopped

    out, into = os.pipe()
    os.write(into, b"some text, and then nothing for long")
    with (
        pytest.raises(Stopped),
        streams_and_files([f"/dev/fd/{out}"], skip_bad=False, heed=stop),
    ):
        pass
    os.close(out)
    os.close(into)


@pytest.mark.parametrize(
    "option", ["--sample 1/2", "--documents 3", "--dedupe", "--dask local"]
)
def test_what_would_read_stdin_twice_or_elsewhere_is_refused(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "-", "-o", str(tmp_path / "new.json"), *option.split()]) == 2
    said = capsys.readouterr().err
    assert option.split()[0] in said and "save the text to a file" in said


def test_every_command_that_learns_or_counts_takes_what_a_shell_pipes(
    tmp_path: Path,
) -> None:
    (tmp_path / "x.txt").write_text("low lower lowest low low\n" * 40)
    (tmp_path / "x.gz").write_bytes(gzip.compress((tmp_path / "x.txt").read_bytes()))
    line = """
    options="--vocab-size 262 -o"
    bpescope train x.txt $options file.json && zcat x.gz | bpescope train - $options stdin.json &&
    bpescope train <(zcat x.gz) $options process.json && bpescope count - < x.gz &&
    zcat x.gz | bpescope train - --resume --vocab-size 263 -o stdin.json && mkfifo pipe && { cat x.gz > pipe & } &&
    bpescope count pipe
    """
    ended = in_a_shell(line, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count(b"bytes             1,000\n") == 2
    learned = [
        load(tmp_path / f"{name}.json").merges for name in ("file", "process", "stdin")
    ]
    assert learned[0] == learned[1] == learned[2][:6]
    assert len(learned[2]) == 7
