"""Texts that stay tokenized while they are edited, where their tokens stand, and what an edit changed."""
