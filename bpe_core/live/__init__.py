"""Texts whose tokens are kept up to date while they are edited, and how an edit changed the tokens."""
