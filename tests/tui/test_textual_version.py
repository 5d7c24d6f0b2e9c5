"""The app with another version of Textual, or without it: one sentence instead of a traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tui.scope import ROOT
from tui.terminal import textual_version

ANOTHER_VERSION = "from importlib import metadata; metadata.version = lambda name: '{}'"
OPENED = "from tui.__main__ import _run_app; import sys; sys.exit(_run_app((), (), '', False))"


def open_with(preparation: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"{preparation}\n{OPENED}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    "preparation",
    [
        "import sys; sys.modules['textual'] = None",
        "from textual.app import App; del App.native_ansi_color",
        "import textual._compositor; del textual._compositor.ChopsUpdate",
    ],
    ids=["missing", "old", "new"],
)
def test_a_textual_without_what_the_app_needs_gives_one_sentence(
    preparation: str,
) -> None:
    ended = open_with(f"{ANOTHER_VERSION.format('9.1.0')}\n{preparation}")
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "Textual 9.1.0 is installed" in ended.stderr
    assert f"Try: uvx --with 'textual{textual_version.TESTED}' bpescope" in ended.stderr


def test_an_error_of_our_own_is_not_blamed_on_a_tested_textual() -> None:
    ended = open_with("import sys; sys.modules['tui.app'] = None")
    assert ended.returncode == 1
    assert "Traceback" in ended.stderr
    assert "Try: uvx" not in ended.stderr


@pytest.mark.parametrize(
    ("version", "is_tested"),
    [
        ("8.2.4", False),
        ("8.2.5", True),
        ("8.2.10", True),
        ("8.3.0", False),
        ("9.2.8", False),
    ],
)
def test_versions_of_textual(version: str, is_tested: bool, monkeypatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: version)
    assert textual_version.is_tested() is is_tested


def test_the_tested_versions_begin_where_pyproject_does() -> None:
    least = textual_version.TESTED.partition(",")[0]
    assert f'"textual{least}"' in Path(ROOT, "pyproject.toml").read_text("utf-8")
    assert textual_version.is_tested()
