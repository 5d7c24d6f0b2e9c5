"""Texts as they are drawn: documents, rows, glyphs, strips and colors; nothing here knows an app or a widget."""
