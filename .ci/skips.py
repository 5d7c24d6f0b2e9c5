"""Hold the skipped tests of a run against those that may be: python .ci/skips.py [--without-kernel] LOG.

LOG is what `pytest -rs` printed. A skipped oracle or a missing vocabulary tests nothing, so where all is installed
only what is listed here may be skipped, and without the kernel what is about the kernel. Exit code 1 names each other.
"""

import re
import sys
from pathlib import Path

MAY_BE = (
    "nothing is forbidden to root",
    # Oracles that are not in the extra `dev`: what they say of some files is checked where people have them.
    "scipy is not installed",
    "tokenization-scorer is not installed",
    "mistral-common is not installed",
    "sentencepiece is not installed",
)
WITHOUT_KERNEL = ("the kernel is turned off", "the scanner is part of the kernel")


def main() -> int:
    """Print the skips that may not be."""
    *options, log = sys.argv[1:]
    lines = Path(log).read_text("utf-8", "replace").splitlines()
    skipped = [line for line in lines if line.startswith("SKIPPED [")]
    may_be = (*MAY_BE, *WITHOUT_KERNEL) if options else MAY_BE
    wrong = [line for line in skipped if not any(reason in line for reason in may_be)]
    n_skipped = re.findall(r"(\d+) skipped", lines[-1])
    if n_skipped and not skipped:
        wrong.append(
            f"{n_skipped[0]} tests were skipped, and the log does not say which: run pytest with -rs"
        )
    print(
        *(f"skipped, but must run: {line}" for line in wrong),
        sep="\n",
        end="\n" * bool(wrong),
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
