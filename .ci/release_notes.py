"""Print the section of CHANGELOG.md about the version in pyproject.toml: python .ci/release_notes.py TAG

Any tag but `v` and that version is an error.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def release_notes(tag: str, version: str, changelog: str) -> str:
    """Return the section; raise SystemExit if the tag is wrong, or the section missing or empty."""
    if tag != f"v{version}":
        raise SystemExit(f"The tag is {tag}, but pyproject.toml has version {version}.")
    heading = rf"^## \[{re.escape(version)}\].*\n"
    section = re.search(rf"{heading}((?:(?!## ).*\n)*)", changelog, re.M)
    if section is None or not section[1].strip():
        raise SystemExit(f"CHANGELOG.md has nothing about version {version}.")
    return section[1].strip()


if __name__ == "__main__":
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    print(release_notes(sys.argv[1], pyproject["project"]["version"], changelog))
