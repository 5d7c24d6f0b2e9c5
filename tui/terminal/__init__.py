"""Between Textual and the terminal: what neither bears, signals, keys typed ahead, and colors."""
