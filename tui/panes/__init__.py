"""The panes of the main screen; they do not know each other."""
