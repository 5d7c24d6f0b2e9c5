"""On a Python that looks like one on Windows, the library and the commands work, and the app names WSL."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*arguments: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    folders = (ROOT, ROOT / "tests/windows")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "BPESCOPE_KERNEL": "0",
    }
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, input=text, capture_output=True)


@pytest.mark.slow
def test_commands_work_on_windows(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("low lower lowest löwe\n" * 50, "utf-8")
    tokenizer = str(tmp_path / "book.json")

    def bpescope(*arguments: str, text: bytes = b"") -> bytes:
        ended = run("-m", "tui", *arguments, text=text)
        assert ended.returncode == 0, ended.stderr.decode()
        return ended.stdout

    training = ("train", str(book), "-o", tokenizer, "--vocab-size")
    bpescope(*training, "258")
    bpescope(*training, "262")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book.json", "book.txt"]
    bpescope("train", "-", *training[2:], "262", text=book.read_bytes())
    ids = bpescope("encode", "-t", tokenizer, text="low löwe".encode())
    assert bpescope("decode", "-t", tokenizer, text=ids).strip() == "low löwe".encode()
    for command in ("show", "measure", "why"):
        assert bpescope(command, "-t", tokenizer, str(book))
    assert bpescope("audit", "-t", tokenizer, "--corpus", str(book))
    assert bpescope("--version")
    huggingface = str(tmp_path / "tokenizer.json")
    bpescope("convert", tokenizer, "-o", huggingface, "--format", "huggingface")
    bpescope("compare", "-t", tokenizer, "-t", huggingface, str(book))


def test_the_library_works_on_windows() -> None:
    program = "from bpe_core import train; print(train('banana', vocab_size=258).encode('an'))"
    ended = run("-c", program)
    assert ended.stdout.strip() == b"[256]", ended.stderr.decode()


def test_the_app_names_wsl_on_windows() -> None:
    ended = run("-m", "tui")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"wsl --install" in ended.stderr and ended.stderr.count(b"\n") == 1
