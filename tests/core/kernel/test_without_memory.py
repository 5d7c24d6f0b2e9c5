"""Where memory runs out the kernel raises MemoryError, leaks nothing, and can go on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bpe_core import kernel

if not kernel.available:
    pytest.skip(f"the kernel is {kernel.why_not}", allow_module_level=True)


def test_where_memory_runs_out_nothing_leaks_and_work_can_go_on() -> None:
    pytest.importorskip("_testcapi")
    script = Path(__file__).with_name("without_memory.py")
    path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=os.environ | path)
    assert run.returncode == 0, run.stderr
