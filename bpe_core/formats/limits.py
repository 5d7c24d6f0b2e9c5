"""Limits for files, so that a malicious or broken one cannot exhaust memory or time."""

from typing import Final

LARGEST_ID: Final = (1 << 31) - 1
"""The largest id; real ones are far below."""

LARGEST_FILE: Final = 1 << 27
"""Bytes of a file; the largest published ones have a quarter of it. It also limits the tokens that are written out."""

LONGEST_ADDED: Final = 10_000
"""Characters of an added token; real ones have a few dozen."""

MOST_VALUES: Final = 10_000_000
"""Values in a JSON file; the largest published ones have two million."""

MOST_MADE: Final = 1 << 24
"""Bytes of all tokens together in a file of merges, where a line can double a token; a million real ones have less."""

LONGEST_TOKEN: Final = 1 << 14
"""Bytes of a token in any format but the native one; fifteen merges that each double a token exceed it, and an audit of
longer ones takes minutes. The longest published ones have some hundreds."""
