"""What is released: one version everywhere, links that work on PyPI, and builds that can be repeated."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "version"
]


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    command = [sys.executable, "-m", "tui", "--version"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert ended.stdout.startswith(f"bpescope {VERSION} ")
    assert version("bpescope") == VERSION
    newest = re.search(r"^## \[(\d[^]]*)\] - (\S+)$", read("CHANGELOG.md"), re.M)
    citation = read("CITATION.cff")
    assert newest and newest[1] == VERSION
    assert f"\nversion: {VERSION}\ndate-released: {newest[2]}\n" in citation


def test_the_notes_of_a_release_are_a_section_of_the_changelog() -> None:
    release_notes = runpy.run_path(str(ROOT / ".ci/release_notes.py"))["release_notes"]
    changelog = (
        "# C\n\n## [2.0] - d\n\na\n\n### b\n\nc\n\n## [1.0] - d\n\ne\n\n## [0]\n"
    )
    assert release_notes("v2.0", "2.0", changelog) == "a\n\n### b\n\nc"
    assert release_notes("v1.0", "1.0", changelog) == "e"
    with pytest.raises(SystemExit, match=r"tag is v2\.0, but .* version 1\.0"):
        release_notes("v2.0", "1.0", changelog)
    for missing in ("0", "1"):
        with pytest.raises(SystemExit, match="nothing about version"):
            release_notes(f"v{missing}", missing, changelog)
    assert release_notes(f"v{VERSION}", VERSION, read("CHANGELOG.md"))


def test_links_become_absolute() -> None:
    from hatch_build import with_addresses

    page = (
        '![a](docs/a.svg) [b](docs/b.md#c) [d](https://e.org) [f](#g) <img src="h.svg">'
    )
    assert with_addresses(page, "https://r", "v1") == (
        "![a](https://r/raw/v1/docs/a.svg) [b](https://r/blob/v1/docs/b.md#c) "
        '[d](https://e.org) [f](#g) <img src="https://r/raw/v1/h.svg">'
    )


@pytest.mark.slow
def test_two_builds_in_different_folders_are_equal(tmp_path: Path) -> None:
    digests = []
    for name in ("first", "the second"):
        checkout = tmp_path / name
        ignored = shutil.ignore_patterns(".*", "*.so", "__pycache__", "site")
        shutil.copytree(ROOT, checkout, ignore=ignored)
        # hatchling packs what git does not ignore, and needs no repository for that.
        shutil.copy(ROOT / ".gitignore", checkout)
        command = [sys.executable, "-m", "hatchling", "build", "-d", "dist"]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1800000000"}
        subprocess.run(command, cwd=checkout, env=environment, check=True)
        files = sorted((checkout / "dist").iterdir())
        digests.append(
            [(file.name, sha256(file.read_bytes()).hexdigest()) for file in files]
        )
    assert len(digests[0]) == 2 and digests[0] == digests[1]
