"""Side-by-side runs against peers: `python -m benchmarks`. Nothing here is a test; no time is ever asserted."""
