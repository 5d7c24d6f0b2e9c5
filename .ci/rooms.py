"""Lines and files of each room beside what it is to have: python .ci/rooms.py; exit code 1 if one is past its limit."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {
    # room: (files, aim and limit of lines, aim and limit of files)
    "bpe_core": ("bpe_core/**/*.py", 15_000, 17_500, 110, 130),
    "tui": ("tui/**/*.py", 13_000, 14_500, 75, 90),
    "C": ("bpe_core/**/*.[ch]", 3_600, 4_200, None, None),
    "tests": ("tests/**/*.py", 19_000, 22_000, None, None),
    "tests/attack": ("tests/attack/**/*.py", 2_500, 3_300, None, None),
    "benchmarks": ("benchmarks/**/*.py", 1_800, 2_500, None, None),
}


def main() -> int:
    """Print the table."""
    print(f"{'room':14}{'lines':>8}{'aim':>8}{'limit':>8}{'files':>8}{'aim':>6}{'limit':>7}")
    over = []
    attack = set(ROOT.glob(ROOMS["tests/attack"][0]))
    for room, (pattern, aim, limit, aim_files, limit_files) in ROOMS.items():
        files = set(ROOT.glob(pattern)) - (attack if room == "tests" else set())
        lines = sum(path.read_bytes().count(b"\n") for path in files)
        is_over = lines > limit or (limit_files is not None and len(files) > limit_files)
        over += [room] * is_over
        print(
            f"{room:14}{lines:8,}{aim:8,}{limit:8,}{len(files):8}{aim_files or '':>6}{limit_files or '':>7}"
            + "  past its limit" * is_over
        )
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
