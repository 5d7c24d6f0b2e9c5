"""What the C sources of this folder define, for type checkers and readers."""

STAMP: int
"""`stamp()` of the sources from which this was compiled."""
