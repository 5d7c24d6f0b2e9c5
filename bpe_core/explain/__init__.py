"""Why a text became these tokens: merges, what may come, pitfalls; and why a merge was chosen: counts, ties, places."""
