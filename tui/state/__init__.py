"""The values the main screen holds and its panes show: frozen, replaced as a whole, never changed in place."""
