"""Hold the skipped tests of a run against those that may be: python .ci/skips.py [--without WHAT ...] LOG.

LOG is what `pytest -rs` printed. A skipped oracle or a missing vocabulary tests nothing, so where all is installed
only what is listed here may be skipped, and without the kernel, the vocabularies or /proc what needs them. Prints how
many tests were skipped for which reason. Exit code 1 names each other.
"""

import re
import sys
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path

MAY_BE = (
    "nothing is forbidden to root",
    # Oracles that are not in the extra `dev`: what they say of some files is checked where people have them.
    "scipy is not installed",
    "tokenization-scorer is not installed",
    "transformers is not installed",
    # A file that its owner does not let others pass on.
    "no llama3.json",
    # Shells whose completion is tried where they are there, and the checker of manual pages.
    "zsh is not installed",
    "fish is not installed",
    "mandoc is not installed",
)
WITHOUT = {
    "kernel": ("the kernel is turned off", "the scanner is part of the kernel"),
    "vocabularies": ("set BPESCOPE_VOCABS to a folder",),
    "proc": ("this system has no /proc",),
}


def main() -> int:
    """Print the skips, and those that may not be."""
    parser = ArgumentParser(description="Hold skipped tests against those that may be.")
    parser.add_argument("--without", nargs="+", choices=WITHOUT, default=[])
    parser.add_argument("log", type=Path)
    options = parser.parse_args()
    reasons = list(MAY_BE)
    for absent in options.without:
        reasons += WITHOUT[absent]

    lines = options.log.read_text("utf-8", "replace").splitlines()
    skips = [line for line in lines if line.startswith("SKIPPED [")]
    n_by_reason: Counter[str] = Counter()
    wrong = []
    for line in skips:
        count = re.match(r"SKIPPED \[(\d+)\] .+?:(?:\d+: )?(.+)", line)
        if count:
            n_by_reason[count[2].strip()] += int(count[1])
        if not any(reason in line for reason in reasons):
            wrong.append(line)
    n_skipped = re.findall(r"(\d+) skipped", lines[-1]) if lines else []
    if n_skipped and not skips:
        wrong.append(
            f"{n_skipped[0]} tests, and the log does not say which: run pytest with -rs"
        )

    print(f"{n_by_reason.total()} tests were skipped.")
    for reason, n_tests in n_by_reason.most_common():
        print(f"- {n_tests}: {reason}")
    for line in wrong:
        print(f"Skipped, but must run: {line}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
