"""Compare two tokenizers: whether they mean the same, and the shortest text that shows a difference."""
