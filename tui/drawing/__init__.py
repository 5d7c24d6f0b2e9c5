"""Parts of drawings: colors, labels of tokens, lines of columns, charts, rows of tokens. Nothing here uses the app."""
