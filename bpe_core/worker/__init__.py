"""Work beside somebody: requests, the events that answer them, and the one Job that steers and reports all of it.

`python -m bpe_core.worker` runs one request in a process of its own, which is how the app works; the command line runs
the same functions in its own process.
"""
