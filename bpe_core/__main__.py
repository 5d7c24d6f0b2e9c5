"""`python -m bpe_core`: the headless face, and the worker process of the app."""

import sys

from bpe_core.cli.main import main

if __name__ == "__main__":
    sys.exit(main(prog="python -m bpe_core"))
