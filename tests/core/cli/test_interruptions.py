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
