"""Every command in one table, and all that is made of it: keys, palette, help and tooltips."""
