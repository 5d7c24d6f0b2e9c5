"""Helpers for drawing: colors, labels of tokens, columns of text, charts, rows of tokens. They do not use the app."""
