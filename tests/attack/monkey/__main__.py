"""`python -m tests.attack.monkey`: a random player of the app, for as many deeds as there is time for.

It presses keys, pastes (also past 100,000 and 500,000 characters), clicks, drags, scrolls, resizes, opens the palette
and dialogs, switches tokenizers, trains, audits and travels through time; after every deed the ids of the editor must
be those that `encode` gives, and log, curve, steps and title must tell of the tokenizer that is in force. Where
something is wrong, the deeds are shortened to those that are needed for it, and printed so that they make a test.
"""

import asyncio
import gc
import logging
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Final

from tests.attack.monkey.app import Played, own_home, play
from tests.attack.monkey.deeds import Deed, count, deeds, shortened
from tui.disk import sources

_SESSION: Final = 250
"""Batches of deeds that begin in a fresh home folder."""

_SHORTENING: Final = 60.0
"""Seconds after which deeds are not shortened any more."""


def main() -> None:
    """Play; exits with 1 where something was wrong."""
    parser = ArgumentParser(prog="python -m tests.attack.monkey", description=__doc__)
    parser.add_argument("--deeds", type=int, default=10_000, help="how many (10,000)")
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="the first; each further session has the next",
    )
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="end after so long"
    )
    parser.add_argument(
        "--go-on", action="store_true", help="tell of what is wrong, and play on"
    )
    options = parser.parse_args()
    done, batches, wrong, began = 0, 0, 0, time.monotonic()
    seed = options.seed
    while done < options.deeds and time.monotonic() < began + options.seconds:
        todo = list(deeds(seed, _SESSION))
        played = _in_app(todo)
        done += count(todo[: played.done])
        batches += played.done
        if played.wrong:
            wrong += 1
            print(
                f"\nseed {seed}, deed {played.done}: {_short(played.wrong)}", flush=True
            )
            needed = _needed(todo[: played.done], _cause(played.wrong))
            print(
                "\n".join(
                    ["these deeds are enough:", *(f"    {deed!r}," for deed in needed)]
                ),
                flush=True,
            )
            if not options.go_on:
                break
        seed += 1
    seconds = time.monotonic() - began
    print(
        f"{done:,} deeds in {batches:,} batches, seeds {options.seed} to {seed - 1}, {seconds:,.0f} s, {wrong} wrong"
    )
    sys.exit(bool(wrong))


def _in_app(todo: list[Deed]) -> Played:
    with tempfile.TemporaryDirectory() as folder, own_home(Path(folder)):
        sources.computer_sources = lambda: []  # tens of megabytes to be read
        played = asyncio.run(play(todo))
        gc.collect()
    return played


def _needed(todo: list[Deed], cause: str) -> list[Deed]:
    end = time.monotonic() + _SHORTENING
    return shortened(
        todo,
        lambda some: time.monotonic() < end and _cause(_in_app(some).wrong) == cause,
    )


def _cause(wrong: str) -> str:
    """What went wrong, without the values in it: the last line of our own, and the kind of error."""
    lines = wrong.strip().splitlines()
    places = [line.strip() for line in lines if line.startswith("  File")]
    return "" if not lines else f"{places[-1] if places else ''} {lines[-1][:60]}"


def _short(wrong: str) -> str:
    return "\n".join(line[:300] for line in wrong.strip().splitlines()[-14:])


if __name__ == "__main__":
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    main()
