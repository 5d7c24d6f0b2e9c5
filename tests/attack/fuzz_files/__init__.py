"""Broken tokenizer files by the thousand, each ending in one sentence or in a sound tokenizer, in 5 s and 1 GB."""
