"""Keep the tokens of a text up to date while it is edited, and report how each edit changed them."""
