"""Which processes a test has started, and whether they do anything."""

import os
from pathlib import Path


def children(parent: int | None = None) -> set[int]:
    """The processes that `parent`, or this one, has started and that are still there."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, of, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(of) == (parent or os.getpid()) and state != "Z":
                found.add(int(folder.name))
    return found


def at_work(process: int, but: int = 0) -> bool:
    """Whether any thread of a process runs, or would if a core were free, `but` for the thread of this number."""
    try:
        threads = [thread for thread in Path(f"/proc/{process}/task").iterdir() if int(thread.name) != but]
        states = {(thread / "stat").read_text().rpartition(")")[2].split()[0] for thread in threads}
    except OSError:  # a thread has just ended: look again
        return True
    return bool(states & {"R", "D"})
