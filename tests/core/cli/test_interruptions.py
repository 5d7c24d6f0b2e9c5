"""Ctrl+C: a command ends at once, with one sentence, whatever its threads do and however little of it is imported."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from shell import ROOT

from bpe_core import Tokenizer, save, train, utf8
from bpe_core.cli.main import main
from bpe_core.metrics import comparison
from bpe_core.metrics.boundaries import EncodedText

WHILE_A_THREAD_WORKS = """
import os, signal, threading
from bpe_core.cli import encode

def endless(*_):
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()

encode.most_threads = lambda: 2
encode.Tokenizer.encode_to_array = endless
encode.kernel.available = True
"""

IN_AN_IMPORT = """
class Interruption:
    def find_spec(name, *_):
        if name == "bpe_core.cli.main" or name == "tui.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interruption)
"""

WITH_MUCH_TO_FREE = """
import os, signal
from bpe_core.metrics import comparison

class Much:  # what a text of 10 MB was cut into took a second to free
    def __del__(self):
        print("freed", flush=True)

def endless(*_):
    much = Much()
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        pass

comparison.encode_with_ends = endless
"""

BEFORE_ANY_IMPORT = """
import os, signal
class Interruption:
    def find_spec(name, *_):
        if name == "bpe_core.process":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interruption)
"""


def interrupted(before: str, what: str, *arguments: str) -> tuple[int, str, str]:
    """Exit code and output of `what` with these arguments, in a process that has done something `before`."""
    program = f"import sys; sys.argv = {['bpescope', *arguments]!r}\n{before}\n{what}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )
    return ended.returncode, ended.stdout, ended.stderr


BEFORE = {
    "encode -t mine.json long.txt": WHILE_A_THREAD_WORKS,
    "count -": IN_AN_IMPORT,
    "measure -t mine.json long.txt": WITH_MUCH_TO_FREE,
    "compare -t mine.json -t mine.json long.txt": WITH_MUCH_TO_FREE,
}
"""Command -> what is done before it."""


@pytest.mark.parametrize(
    "prog", ["python -m bpe_core", pytest.param("bpescope", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("command", BEFORE)
def test_an_interrupted_command_waits_for_nothing_and_frees_nothing(
    prog: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(train("low lower lowest", vocab_size=260), "mine.json")
    Path("long.txt").write_text("low lower lowest\n" * 60_000)
    module = "tui" if prog == "bpescope" else "bpe_core"
    run = f"import runpy; runpy.run_module({module!r}, run_name='__main__')"
    code, said, told = interrupted(BEFORE[command], run, *command.split())
    assert (code, said, told.splitlines()[-1]) == (130, "", f"{prog}: Interrupted.")


def test_a_command_that_has_imported_nothing_yet_ends_without_a_word() -> None:
    assert interrupted(BEFORE_ANY_IMPORT, "from tui import command; command()") == (
        130,
        "",
        "",
    )


def test_an_interrupted_comparison_encodes_no_further_part_of_a_long_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save(train("low lower lowest", vocab_size=260), "mine.json")
    Path("long.txt").write_text("low lower lowest\n" * 60_000)
    sizes = []

    def encoded(tokenizer: Tokenizer, text: str, *cuts: object) -> EncodedText:
        sizes.append(len(text))
        os.kill(os.getpid(), signal.SIGINT)
        return original(tokenizer, text, *cuts)

    original = comparison.encode_with_ends
    monkeypatch.setattr(comparison, "encode_with_ends", encoded)
    assert main(["compare", "-t", "mine.json", "-t", "mine.json", "long.txt"]) == 130
    assert len(sizes) == 1 and sizes[0] < 400_000
    assert capsys.readouterr() == ("", "Interrupted before all texts were encoded.\n")


def test_ctrl_c_ends_the_search_for_the_characters_of_a_long_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One call over all of a text of 500 MB would take many seconds."""
    n_found = 0

    def accumulate(lengths: Iterable[int], initial: int = 0) -> list[int]:
        nonlocal n_found
        found = [initial, *lengths]
        n_found += len(found)
        os.kill(os.getpid(), signal.SIGINT)
        return found

    text = "é" * 1_000_000
    monkeypatch.setattr(utf8, "accumulate", accumulate)
    with pytest.raises(KeyboardInterrupt):
        utf8.byte_offsets(text)
    assert n_found < len(text) / 2


def test_ctrl_c_ends_the_search_for_the_words_of_a_long_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = []

    class WideSpace:
        @staticmethod
        def sub(_: object, text: str) -> str:
            sizes.append(len(text))
            os.kill(os.getpid(), signal.SIGINT)
            return text

    text = "é" * 1_000_000
    monkeypatch.setattr(comparison, "WIDE_SPACE", WideSpace)
    with pytest.raises(KeyboardInterrupt):
        comparison._words(text)
    assert sum(sizes) < len(text) / 2
