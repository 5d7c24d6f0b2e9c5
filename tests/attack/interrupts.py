"""`python -m tests.attack.interrupts`: interrupts the library's work at random moments (`tests.core.interrupted`)."""

import os
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

from tests.core.interrupted import cases, wrong


def main() -> None:
    """Interrupt, and say what was wrong afterwards; exits with 1 if anything was."""
    parser = ArgumentParser(
        prog="python -m tests.attack.interrupts", description=__doc__
    )
    parser.add_argument(
        "--interrupts", type=int, default=1000, help="how many, over all cases (1,000)"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = cases(Path(folder))
        found = [
            sentence
            for number in range(options.interrupts)
            for name in [list(made)[number % len(made)]]
            if (sentence := wrong(name, made[name], f"{options.seed}-{number}"))
        ]
    print(*found[:20], sep="\n")
    print(
        f"{options.interrupts:,} interrupts, seed {options.seed}: {len(found)} wrong afterwards."
    )
    sys.stdout.flush()
    os._exit(bool(found))


if __name__ == "__main__":
    main()
