"""The merge loop, which makes the tokens of a piece from its symbols, and its extension to very long pieces."""
