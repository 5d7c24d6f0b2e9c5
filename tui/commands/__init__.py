"""The table of all commands, and what is made from it: keys, palette, help and tooltips."""
