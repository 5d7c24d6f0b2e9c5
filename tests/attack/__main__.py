"""`python -m tests.attack [--scale S]`: every attack, its own size times S; exit code 1 if one finds a defect.

The sizes are those that a release runs. One attack alone: `python -m tests.attack.NAME --help`.
"""

import subprocess
import sys
import time
from argparse import ArgumentParser
from typing import Final

from tests.attack.published import not_attacked

SIZES: Final[dict[str, dict[str, int]]] = {
    "fuzz_kernel": {"texts": 1_000_000, "corpora": 25_000},
    "fuzz_splice": {"edits": 1_000_000},
    "fuzz_files": {"files": 20_000},
    "fuzz_counts": {"flips": 100_000, "forged": 20_000},
    "fuzz_corpora": {"files": 1_000},
    "fuzz_data_folder": {"rounds": 1_000},
    "fuzz_lessons": {"lessons": 20_000},
    "fuzz_addresses": {"addresses": 2_000},
    "forks": {"forks": 10_000},
    "interrupts": {"interrupts": 10_000},
    "agreement": {"strings": 100_000, "kilobytes": 10_000, "pipelines": 30},
    "monkey": {"deeds": 100_000},
}
"""Attack -> its options, with what each is in a whole run."""


def main() -> int:
    """Run them, each in a process of its own."""
    parser = ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument(
        "--scale",
        type=float,
        default=1.0,
        metavar="S",
        help="the part of each size (1)",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=SIZES,
        default=list(SIZES),
        metavar="NAME",
        help="only these",
    )
    options = parser.parse_args()
    failed = []
    for name in options.only:
        sizes = [
            f"--{option}={max(1, round(size * options.scale))}"
            for option, size in SIZES[name].items()
        ]
        print(f"-- {name} {' '.join(sizes)}", flush=True)
        began = time.monotonic()
        command = [
            sys.executable,
            "-m",
            f"tests.attack.{name}",
            f"--seed={options.seed}",
            *sizes,
        ]
        failed += [name] * bool(
            subprocess.run(command, stdin=subprocess.DEVNULL).returncode
        )
        print(f"-- {name}: {time.monotonic() - began:.0f} s", flush=True)
    missing = not_attacked()
    if failed:
        print(f"{', '.join(failed)}: defects found.")
    elif missing:
        print("No attack has found a defect in what was attacked.")
    else:
        print("No attack has found a defect.")
    if missing:
        print(missing)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
