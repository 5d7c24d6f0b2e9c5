"""Ctrl+C: a command ends at once, with one sentence, whatever its threads do and however little of it is imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from shell import ROOT

from bpe_core import save, train

COMMANDS = {"python -m bpe_core": "bpe_core", "bpescope": "tui"}

INTERRUPTED_WHILE_A_THREAD_WORKS = """
import os, signal, threading
from bpe_core.cli import encode

def endless(*_):
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()

encode.most_threads = lambda: 2
encode.Tokenizer.encode_to_array = endless
encode.kernel.available = True
"""

INTERRUPTED_IN_AN_IMPORT = """
import sys
class Interruption:
    def find_spec(name, *_):
        if name == "bpe_core.cli.main" or name == "tui.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interruption)
"""


def run(module: str, before: str, *arguments: str | Path) -> subprocess.Popen[str]:
    """A command in a process that has done something `before`."""
    argv = ["bpescope", *map(str, arguments)]
    program = f"{before}\nimport runpy, sys; sys.argv = {argv!r}; runpy.run_module({module!r}, run_name='__main__')"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command, pipe = [sys.executable, "-c", program], subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)


@pytest.mark.parametrize("prog", ["python -m bpe_core", pytest.param("bpescope", marks=pytest.mark.slow)])
def test_an_interrupted_command_waits_for_no_thread(prog: str, tmp_path: Path) -> None:
    save(train("low lower lowest", vocab_size=260), tmp_path / "mine.json")
    (tmp_path / "long.txt").write_text("low lower lowest\n" * 60_000)
    command = ["encode", "-t", tmp_path / "mine.json", tmp_path / "long.txt"]
    process = run(COMMANDS[prog], INTERRUPTED_WHILE_A_THREAD_WORKS, *command)
    said, told = process.communicate(timeout=60)
    assert (process.returncode, said, told) == (130, "", f"{prog}: Interrupted.\n")


@pytest.mark.parametrize("prog", COMMANDS)
def test_a_command_that_is_interrupted_while_it_is_imported_says_so(prog: str) -> None:
    process = run(COMMANDS[prog], INTERRUPTED_IN_AN_IMPORT, "count", "-")
    assert process.communicate(timeout=60)[1] == f"{prog}: Interrupted.\n"
    assert process.returncode == 130


INTERRUPTED_BEFORE_ANY_IMPORT = """
import os, signal, sys
class Interruption:
    def find_spec(name, *_):
        if name == "bpe_core.process":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interruption)
from tui import command
command()
"""


def test_a_command_that_has_imported_nothing_yet_ends_without_a_word() -> None:
    process = subprocess.run([sys.executable, "-c", INTERRUPTED_BEFORE_ANY_IMPORT], capture_output=True, text=True)
    assert (process.returncode, process.stdout, process.stderr) == (130, "", "")


INTERRUPTED_WITH_MUCH_TO_FREE = """
import os, signal
from bpe_core.metrics import comparison

class Much:
    def __del__(self):
        print("freed", flush=True)

def endless(*_):
    much = Much()
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        pass

comparison.encoded = endless
"""


@pytest.mark.parametrize("command", [["measure"], ["compare", "-t", "mine.json"]])
def test_an_interrupted_command_frees_nothing_before_it_ends(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a text of 10 MB was cut into took a second to free."""
    monkeypatch.chdir(tmp_path)
    save(train("low lower lowest", vocab_size=260), "mine.json")
    Path("a.txt").write_text("low")
    process = run("bpe_core", INTERRUPTED_WITH_MUCH_TO_FREE, *command, "-t", "mine.json", "a.txt")
    said, told = process.communicate(timeout=60)
    assert (process.returncode, said, told.splitlines()[-1]) == (130, "", "python -m bpe_core: Interrupted.")
