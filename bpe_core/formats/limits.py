"""How much a file may ask for: a short broken one must not fill the memory."""

from typing import Final

LARGEST_ID: Final = (1 << 31) - 1
"""No real id is anywhere near it."""

MOST_BYTES: Final = 1 << 28
"""Of all tokens together: forty lines that each double a token would pass it."""
