"""How texts are drawn: documents, rows, glyphs, strips and lines. Nothing here uses the app or its widgets."""
