"""`python -m tests.attack.monkey`: a random player of the app."""
