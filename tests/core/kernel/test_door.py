"""The door to the compiled kernel: that it is used where it is there and wanted, and never where it is stale."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bpe_core
from bpe_core import kernel

DOOR = "from bpe_core import kernel; print(kernel.available, kernel.why_not)"
STALE = (
    "import sys, types; stale = types.ModuleType('_kernel'); stale.STAMP = 1; "
    "sys.modules['bpe_core.kernel._kernel'] = stale; "
)
WITHOUT_GIL = STALE + "sys._is_gil_enabled = bool; "
BROKEN = """
import sys
class Broken:
    def find_spec(name, *_):
        if name.endswith("._kernel"):
            raise ImportError("undefined symbol: x")
sys.meta_path.insert(0, Broken)
"""

needs_kernel = pytest.mark.skipif(
    not kernel.available, reason=f"the kernel is {kernel.why_not}"
)


def said(monkeypatch: pytest.MonkeyPatch, before: str, switch: str | None) -> str:
    """What a fresh process says of the kernel, having done something `before`."""
    if switch is None:
        monkeypatch.delenv(kernel.SWITCH, raising=False)
    else:
        monkeypatch.setenv(kernel.SWITCH, switch)
    run = subprocess.run(
        [sys.executable, "-c", before + DOOR], capture_output=True, text=True
    )
    return run.stdout.strip() or run.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("module", ["tui", "bpe_core"])
def test_a_required_kernel_that_is_missing_is_told_in_one_sentence(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kernel.SWITCH, "1")
    run = f"import runpy; sys.argv = ['bpescope', 'count', 'x']; runpy.run_module('{module}', run_name='__main__')"
    program = BROKEN + run
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "BPESCOPE_KERNEL=1 asks for" in ended.stderr


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (STALE, "compiled from other sources"),
        (BROKEN, "not loadable (undefined symbol: x)"),
        (WITHOUT_GIL, "not safe without the GIL"),
    ],
)
def test_a_kernel_that_is_stale_or_broken_is_not_used_and_an_error_where_it_is_required(
    monkeypatch: pytest.MonkeyPatch, before: str, reason: str
) -> None:
    assert (
        said(monkeypatch, before, None)
        == said(monkeypatch, before, "")
        == f"False {reason}"
    )
    required = said(monkeypatch, before, "1")
    assert (
        f"KernelError: BPESCOPE_KERNEL=1 asks for the compiled kernel, but it is {reason};"
        in required
    )


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(monkeypatch, "", "0") == "False turned off by BPESCOPE_KERNEL=0"


def test_where_it_was_never_compiled_everything_is_pure_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine = tmp_path / "bpe_core"
    shutil.copytree(
        Path(bpe_core.__file__).parent,
        engine,
        ignore=shutil.ignore_patterns("*.so", "*.pyd"),
    )
    there = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
    assert said(monkeypatch, there, None) == "False not compiled"
    assert "but it is not compiled;" in said(monkeypatch, there, "1")


@needs_kernel
def test_it_is_used_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(monkeypatch, "", "1") == said(monkeypatch, "", None) == "True"
