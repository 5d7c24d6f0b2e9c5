"""Explain the tokens of a text (merges, unstable end, pitfalls) and merges (counts, ties, places)."""
