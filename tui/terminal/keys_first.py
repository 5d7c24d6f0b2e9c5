"""Keys before all other work: what is done in portions rests while a key that was pressed is on its way to the screen.

A key passes through some ten rounds of the event loop until it is drawn. It would be drawn after ten portions if each
round did another one.
"""

import asyncio
from time import monotonic
from typing import Final

KEY_SECONDS: Final = 0.03
"""Seconds within which a key is drawn by an app that does nothing else."""

_drawn_by = 0.0


def key_pressed() -> None:
    """A key has arrived."""
    global _drawn_by
    _drawn_by = monotonic() + KEY_SECONDS


def seconds_of_rest() -> float:
    """For how long other work should rest; 0 where no key is on its way."""
    return max(0.0, _drawn_by - monotonic())


async def let_keys_pass() -> None:
    """Wait between two portions of work: a round of the event loop, or until the key that was pressed is drawn."""
    await asyncio.sleep(seconds_of_rest())
