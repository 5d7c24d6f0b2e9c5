"""Mutants: small errors put into the code one at a time, each of which the quick tests of its room must notice.

    python -m tests.mutants                   all of them, two at a time; before a release
    python -m tests.mutants --room patterns   those of one room
    python -m tests.mutants --only cuts-empty one of them

Works in copies of the checkout, never in the checkout. Says of each mutant which test killed it, or that it survived.
Ends with 0 if nine of ten of those that ran died, the tests of each room passed without one, and each mutant's old text
stands exactly once in its file; with 1 otherwise. When code is rewritten, its mutants move along: the same error, in
the words of the new code.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
PARALLEL: Final = 2
SECONDS: Final = 540
"""How long the tests of a room may take; a mutant that makes them hang is noticed, too."""
NO_SHRINKING: Final = "--hypothesis-profile=no shrinking"
SHARE: Final = 0.9
"""Part of the mutants that must die."""


class Mutant(NamedTuple):
    """An error: in `file`, `new` in the place of `old`, which stands there once; none at all without a file."""

    name: str
    room: str
    file: str
    old: str
    new: str


_TABLE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ROOMS: Final[dict[str, list[str]]] = _TABLE["rooms"]
"""Room -> its quick tests, as patterns of paths; one that matches nothing is passed over."""
MUTANTS: Final = tuple(Mutant(**row) for row in _TABLE["mutants"])


class Copy:
    """A copy of the checkout, in which files are changed and tests are run."""

    def __init__(self, folder: Path) -> None:
        self.folder: Final = folder
        shutil.copytree(
            ROOT,
            folder,
            symlinks=True,
            ignore=shutil.ignore_patterns(".*", "__pycache__", "build", "dist"),
        )

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[str]:
        """With the mutant in it; what stops it from being tried, if anything."""
        if not mutant.file:
            yield ""
            return
        file = self.folder / mutant.file
        text = file.read_text() if file.exists() else ""
        if text.count(mutant.old) != 1:
            yield f"stale: its old text stands {text.count(mutant.old)} times in {mutant.file}"
            return
        with self.replaced(mutant.file, text.replace(mutant.old, mutant.new)):
            failed = ""
            if file.suffix in (".c", ".h"):
                built = self.run("hatch_build.py")
                if built.returncode != 0:
                    failed = f"does not compile: {built.stdout[-300:]}"
            yield failed

    @contextmanager
    def replaced(self, name: str, text: str) -> Iterator[None]:
        """Replace the text of a file; put it and the kernel back at the end."""
        before = {
            path: path.read_bytes()
            for path in (self.folder / "bpe_core/kernel").glob("_kernel*")
        }
        file = self.folder / name
        before[file] = file.read_bytes()
        try:
            file.write_text(text)
            yield
        finally:
            for path, data in before.items():
                path.write_bytes(data)

    def test(self, room: str) -> tuple[int | None, str]:
        """(exit code of pytest, None after `SECONDS`; the first test that failed, or its last words)."""
        paths = [
            str(path)
            for pattern in ROOMS[room]
            for path in sorted(self.folder.glob(pattern))
        ]
        if not paths:
            return 4, "no tests"
        return self.pytest(*paths)

    def pytest(self, *tests: str, seconds: int = SECONDS) -> tuple[int | None, str]:
        """Run tests up to the first that fails: (exit code, None at a timeout; that test, or the last words)."""
        options = ("-x", "-n0", "--no-header", "--tb=line", "-rfE", NO_SHRINKING)
        try:
            run = self.run("-m", "pytest", *options, *tests, seconds=seconds)
        except subprocess.TimeoutExpired:
            return None, f"no end after {seconds} s"
        failed = re.search(
            r"^(?:FAILED|ERROR) (?:\S*/)?(\S+)", run.stdout, re.MULTILINE
        )
        if failed:
            return run.returncode, failed[1]
        return run.returncode, run.stdout[-300:].strip()

    def run(
        self,
        *arguments: str,
        seconds: int = SECONDS,
        variables: dict[str, str] | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        """Run Python with these arguments in the copy, and end its whole process group with it."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            **(variables or {}),
        }
        with subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            try:
                stdout, _ = process.communicate(timeout=seconds)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, stdout)


def tried(copy: Copy, mutant: Mutant) -> tuple[str, str]:
    """("killed", "survived" or "not tried", the test that noticed it or what stopped it)."""
    with copy.changed(mutant) as problem:
        code, told = (4, problem) if problem else copy.test(mutant.room)
    return (
        ("survived", "")
        if code == 0
        else ("not tried" if code in (4, 5) else "killed", told)
    )


def main() -> int:
    """Try the mutants asked for; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--room", action="append", choices=ROOMS, help="only the mutants of a room"
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=[mutant.name for mutant in MUTANTS],
        help="only this mutant",
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="do not run the tests without mutants first",
    )
    asked = parser.parse_args()
    mutants = [
        mutant
        for mutant in MUTANTS
        if mutant.room in (asked.room or ROOMS)
        and (not asked.only or mutant.name in asked.only)
    ]
    rooms = [] if asked.trust else sorted({mutant.room for mutant in mutants})
    unchanged = [Mutant("unchanged", room, "", "", "") for room in rooms]
    with (
        tempfile.TemporaryDirectory(prefix="mutants-") as folder,
        ThreadPoolExecutor(PARALLEL) as threads,
    ):
        free: SimpleQueue[Copy] = SimpleQueue()
        for number in range(PARALLEL):
            free.put(Copy(Path(folder, str(number))))

        def run(mutant: Mutant) -> tuple[Mutant, str]:
            copy = free.get()
            try:
                state, told = tried(copy, mutant)
            finally:
                free.put(copy)
            print(f"{state:<10} {mutant.room:<12} {mutant.name:<22} {told}", flush=True)
            return mutant, state

        outcomes = list(threads.map(run, [*unchanged, *mutants]))
    for room in (None, *ROOMS):
        states = [
            state
            for mutant, state in outcomes
            if mutant.file and room in (None, mutant.room)
        ]
        if states:
            print(
                f"{states.count('killed'):>4} of {len(states)} mutants died: {room or 'all'}"
            )
    killed = [state == "killed" for mutant, state in outcomes if mutant.file]
    is_sound = all(
        state != "not tried" if mutant.file else state == "survived"
        for mutant, state in outcomes
    )
    return 0 if is_sound and sum(killed) >= SHARE * len(killed) else 1


if __name__ == "__main__":
    sys.exit(main())
