"""How much a file may ask for: a short broken one must not fill the memory."""

from typing import Final

LARGEST_ID: Final = (1 << 31) - 1
"""No real id is anywhere near it."""

LARGEST_FILE: Final = 1 << 27
"""Bytes; the largest published ones have a quarter of it. So much is in all tokens together where each is written out.
"""

LONGEST_ADDED: Final = 10_000
"""Characters of a token that is looked for in every text; real ones have a few dozen."""

MOST_VALUES: Final = 10_000_000
"""In a JSON file; the largest published ones have two million."""

MOST_MADE: Final = 1 << 24
"""Bytes of all tokens together, where a file tells of each only what it is made of; a million real ones have less."""

LONGEST_TOKEN: Final = 1 << 14
"""Bytes of a token in a file of anybody's; fifteen lines that each double a token would pass it, and an audit of longer
ones takes minutes. The longest published ones have some hundreds."""
