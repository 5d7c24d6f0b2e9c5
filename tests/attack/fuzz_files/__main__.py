"""`python -m tests.attack.fuzz_files`: mutants of tokenizer files of all formats, each judged in a bounded process.

Every mutant has 5 s of processor time and 1 GB of memory, and ends as "refused" in one sentence, or as "sound" (see
`verdict`). Whatever else happens is printed with the number that makes the same mutant again (`--number`).
"""

import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from argparse import ArgumentParser, Namespace
from collections import Counter
from pathlib import Path
from typing import Final

from tests.attack.fuzz_files.mutations import mutant
from tests.attack.fuzz_files.sound import KINDS, sound_files
from tests.attack.published import content

SECONDS: Final = 5
MEMORY: Final = 1 << 30
FINDINGS: Final = 20
"""How many an audit has to make, which takes longer than all the rest; but every `WHOLE`-th runs to its end."""
WHOLE: Final = 16


def main() -> int:
    """Make and judge them; 1 if any was unsound."""
    parser = ArgumentParser(
        prog="python -m tests.attack.fuzz_files", description=__doc__
    )
    parser.add_argument("--files", type=int, default=300, help="of each format (300)")
    parser.add_argument(
        "--format", action="append", choices=KINDS, help="only this one"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument(
        "--number",
        type=int,
        help="only this one, with its traceback, and without bounds",
    )
    parser.add_argument(
        "--keep", type=Path, help="with --number: a folder to put its files in"
    )
    parser.add_argument("--child", action="store_true", help="judge in this process")
    options = parser.parse_args()
    if options.child:
        return _judge_in_turn(options)
    n_unsound = 0
    for format in options.format or KINDS:
        if options.number is not None:
            print(judged(format, options.seed, options.number, keep=options.keep))
            continue
        began = time.monotonic()
        outcomes, unsound = _watched(format, options)
        n_unsound += len(unsound)
        told = ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(outcomes.items()))
        print(
            f"{format}: {options.files:,} files in {time.monotonic() - began:.0f} s, seed {options.seed}: {told}",
            flush=True,
        )
        for problem, numbers in unsound.items():
            print(
                f"    {len(numbers):5}  {problem}  (--number {' '.join(map(str, numbers[:4]))})",
                flush=True,
            )
    if not (content("encoder.json") and content("vocab.bpe")):
        print("Not attacked: mutants of GPT-2's own files, which are not here.")
    return 1 if n_unsound else 0


def judged(format: str, seed: int, number: int, keep: Path | None = None) -> str:
    """The verdict on a mutant: "refused" or "sound"; raises whatever went wrong."""
    from tests.attack.fuzz_files.verdict import verdict

    rng = random.Random(f"{seed} {format} {number}")
    sound = rng.choice(sound_files(format))
    with tempfile.TemporaryDirectory() as folder:
        place = keep or Path(folder)
        place.mkdir(exist_ok=True)
        for name, data in mutant(sound, rng).items():
            (place / name).write_bytes(data)
        return verdict(
            place / sound.mutated[0],
            sound.pattern,
            most=None if number % WHOLE == 0 else FINDINGS,
        )


def _judge_in_turn(options: Namespace) -> int:
    """A line for each mutant that begins, and one for how it ended."""
    format = options.format[0]
    sound_files(format)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number in range(options.first, options.first + options.files):
        used = time.process_time()
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used) + SECONDS + 1, hard))
        print("begins", number, flush=True)
        print("ends", number, _outcome(format, options.seed, number), flush=True)
    return 0


def _outcome(format: str, seed: int, number: int) -> str:
    try:
        return judged(format, seed, number)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = next(
            (frame for frame in reversed(frames) if "bpe_core" in frame.filename),
            frames[-1],
        )
        what = (
            ascii(str(error))[1:-1][:160]
            if type(error).__name__ == "Unsound"
            else type(error).__name__
        )
        return f"unsound {what} [{Path(place.filename).name}:{place.lineno}]"


def _watched(
    format: str, options: Namespace
) -> tuple[Counter[str], dict[str, list[int]]]:
    """How all mutants of a format ended: in processes of which a new one goes on where one has died."""
    outcomes: Counter[str] = Counter()
    unsound: dict[str, list[int]] = {}
    first, end = options.first, options.first + options.files
    while first < end:
        arguments = [
            "--child",
            "--format",
            format,
            "--seed",
            options.seed,
            "--first",
            first,
            "--files",
            end - first,
        ]
        command = [
            sys.executable,
            "-m",
            "tests.attack.fuzz_files",
            *map(str, arguments),
        ]
        last, lines = first - 1, 0
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as child:
            for line in child.stdout or ():
                word, number, *rest = line.split(" ", 2)
                last, lines = int(number), lines + 1
                if word == "ends":
                    _count(rest[0].strip(), last, outcomes, unsound)
        if child.returncode:
            died = (
                "too slow"
                if -child.returncode == signal.SIGXCPU
                else f"died of {child.returncode}"
            )
            _count(f"unsound {died}", last, outcomes, unsound)
        if not lines:
            raise SystemExit(
                f"The judging process does not start: exit code {child.returncode}."
            )
        first = last + 1
    return outcomes, unsound


def _count(
    outcome: str, number: int, outcomes: Counter[str], unsound: dict[str, list[int]]
) -> None:
    kind, _, problem = outcome.partition(" ")
    outcomes[kind] += 1
    if kind == "unsound":
        unsound.setdefault(problem, []).append(number)


if __name__ == "__main__":
    sys.exit(main())
