"""Lets one allocation after another fail while files are written: the old file stays, and nothing is left.

To be run in a process of its own: the failures hit whatever thread allocates next.
"""

import _testcapi
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bpe_core import Tokenizer, save, train
from bpe_core.whole_file import write_atomically, write_whole
from tui.disk import config

STEP = 5
"""One of so many allocations fails."""
ENOUGH = 20
"""Writes without an error, after which there are no more allocations to fail."""


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def writers(folder: Path) -> list[Callable[[int], object]]:
    """Functions that write an old (0) or a new (1) version."""
    tokenizers: list[Tokenizer] = [
        train(text, vocab_size=262, pattern="gpt2") for text in ("ab ab", "low lower")
    ]
    return [
        lambda n: write_atomically((folder / "text", ["old", "new"][n])),
        lambda n: write_whole(
            folder / "whole", lambda file: file.write([b"old", b"new"][n])
        ),
        lambda n: save(tokenizers[n], folder / "native.json"),
        lambda n: save(tokenizers[n], folder / "vocab.json", format="gpt2"),
        lambda n: config.save_text(["old", "new"][n], folder / "editor.txt"),
    ]


def n_failures(write: Callable[[int], object], folder: Path) -> int:
    write(1)
    after = contents(folder)
    write(0)
    before = contents(folder)
    n_failed = n_in_a_row = nth = 0
    while n_in_a_row < ENOUGH:
        nth += STEP
        _testcapi.set_nomemory(nth, nth + 1)
        try:
            write(1)
            failed = False
        except Exception:  # Python turns some of these into a TypeError
            failed = True
        finally:
            _testcapi.remove_mem_hooks()
        assert contents(folder) in ((before, after) if failed else (after,)), nth
        if contents(folder) != before:
            write(0)
        n_failed += failed
        n_in_a_row = 0 if failed else n_in_a_row + 1
    return n_failed


def main() -> None:
    """Try everything. Flushing to the disk is slow, and allocates nothing."""
    os.fsync = lambda file: None
    for number in range(5):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            n_failed = n_failures(writers(folder)[number], folder)
            print(f"{number}: {n_failed} failures", file=sys.stderr)
            assert n_failed
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
