"""Opening a file: none keeps one waiting or fills the memory, and none is read whole only to be refused."""

import gzip
import lzma
import os
import subprocess
import sys

import pytest

from bpe_core import FormatError, load, save, train


def refusal(path):
    with pytest.raises(FormatError) as raised:
        load(path)
    return str(raised.value)


def test_what_is_no_regular_file_is_not_read(tmp_path):
    assert "no regular file" in refusal("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    assert "no regular file" in refusal(tmp_path / "pipe")


def test_a_file_of_any_size_is_refused_by_its_size(tmp_path):
    path = tmp_path / "huge"
    with open(path, "wb") as file:
        file.truncate(5 << 30)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))"
    code = f"{limit}\nfrom bpe_core import load\ntry: load({str(path)!r})\nexcept ValueError as error: print(error)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "too large for a tokenizer file" in out.stdout, out.stderr


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_packed_file_is_unpacked_within_bounds(pack, tmp_path, monkeypatch):
    save(train("abab", vocab_size=257), tmp_path / "a.json")
    (tmp_path / "packed").write_bytes(packed := pack((tmp_path / "a.json").read_bytes()))
    assert load(tmp_path / "packed").merges == load(tmp_path / "a.json").merges
    (tmp_path / "packed").write_bytes(packed[:-9])
    assert "cannot be read: its packing ends too early" in refusal(tmp_path / "packed")
    monkeypatch.setattr("bpe_core.formats.file.LARGEST_FILE", 1 << 20)
    (tmp_path / "packed").write_bytes(pack(bytes((1 << 20) + 1)))
    assert "too large for a tokenizer file" in refusal(tmp_path / "packed")
