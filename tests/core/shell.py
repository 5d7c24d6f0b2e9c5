"""The commands in a real shell, with its pipes and redirections."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The checkout under test."""
SEED = "aaabdaaabac"
TEXT = (
    "the theme of the other thesis, the thing that they thought through 12345 times\n"
    * 9
)
Bpescope = Callable[[str], tuple[int, str, str]]
"""`bpescope` with a line as a shell would take it; exit code, stdout, stderr."""


def in_a_shell(
    line: str, cwd: Path, data: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """`line` in a real shell, where `bpescope` is this checkout's headless face."""
    script = f'set -o pipefail; bpescope() {{ "{sys.executable}" -m bpe_core "$@"; }}; {line}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", script],
        cwd=cwd,
        input=data,
        capture_output=True,
        env=environment,
        timeout=60,
    )
