"""The rules of the house that no type and no linter holds: what is imported when, and what files are called."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants import MUTANTS, ROOMS

ROOT = Path(__file__).parents[1]
FILES = [
    path for package in ("bpe_core", "tui") for path in (ROOT / package).rglob("*.py")
]


def loaded_by(statement: str, **environment: str) -> set[str]:
    """The top-level modules that a statement loads in a fresh Python."""
    program = f"{statement}\nimport sys\nprint(*sorted(sys.modules))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in ended.stdout.split()}


def test_the_engine_loads_no_screen_and_no_extra() -> None:
    loaded = loaded_by(
        "from bpe_core import *\nlist(audit(train('banana', vocab_size=258)))"
    )
    assert "regex" in loaded  # the one thing it stands on
    extras = {
        "numpy",
        "safetensors",
        "tiktoken",
        "tokenizers",
        "huggingface_hub",
        "textual_serve",
        "rustbpe",
    }
    assert not loaded & {"tui", "textual", "rich", "platformdirs", *extras}


def test_the_worker_loads_no_screen_either() -> None:
    assert not loaded_by("import bpe_core.cli.main") & {
        "tui",
        "textual",
        "rich",
        "platformdirs",
        "numpy",
    }


def test_every_module_of_the_engine_can_be_imported_without_the_kernel() -> None:
    found = "from importlib import import_module\nfrom pkgutil import walk_packages\nimport bpe_core\n"
    modules = (
        "(module.name for module in walk_packages(bpe_core.__path__, 'bpe_core.'))"
    )
    every = f"{found}for name in {modules}:\n    if not name.endswith(('__main__', '_kernel')): import_module(name)"
    assert "bpe_core" in loaded_by(every, BPESCOPE_KERNEL="0")


def test_arguments_are_looked_at_before_the_app_is_loaded() -> None:
    assert not loaded_by("import tui.__main__") & {
        "textual",
        "rich",
        "platformdirs",
        "regex",
        "bpe_core",
    }


def test_a_file_is_named_after_what_is_in_it() -> None:
    vague = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}
    assert len(FILES) > 50
    assert not [path for path in FILES if path.stem in vague]


def test_a_file_begins_with_what_it_is() -> None:
    for path in FILES:
        assert re.match(r'r?"""\S', path.read_text("utf-8")), (
            f"{path} does not say what it is"
        )


@pytest.mark.skipif(
    not shutil.which("lint-imports", path=str(Path(sys.executable).parent)),
    reason="no import-linter",
)
def test_the_packages_keep_to_their_layers() -> None:
    command = Path(sys.executable).parent / "lint-imports"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [command, "--no-cache"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout


def test_every_mutant_stands_in_the_code() -> None:
    """When code is rewritten, its mutants in `tests/mutants.py` move along."""
    stale = [
        mutant.name
        for mutant in MUTANTS
        if (ROOT / mutant.file).read_text().count(mutant.old) != 1
    ]
    assert stale == [] and len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert [
        room
        for room, tests in ROOMS.items()
        if not any(any(ROOT.glob(path)) for path in tests)
    ] == []
