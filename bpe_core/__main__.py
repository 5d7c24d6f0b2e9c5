"""`python -m bpe_core`: the command line, which is also what the app runs as its worker process."""

import sys

from bpe_core.cli.main import main

if __name__ == "__main__":
    sys.exit(main(prog="python -m bpe_core"))
