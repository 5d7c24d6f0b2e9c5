"""Parts of drawings: colors, lines of columns, and rows of tokens. Nothing here uses texts or the app."""
