"""Worker processes: one is started and steered, and what it tells becomes values."""
