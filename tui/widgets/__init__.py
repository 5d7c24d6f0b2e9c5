"""What panes are made of."""
