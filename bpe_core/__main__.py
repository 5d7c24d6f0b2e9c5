"""`python -m bpe_core`: the command line, which is also what the app runs as its worker process."""

import sys

from bpe_core.cli.kernel_required import why_refused

if __name__ == "__main__":
    if sentence := why_refused():
        print(f"python -m bpe_core: {sentence}", file=sys.stderr)
        sys.exit(2)
    from bpe_core.cli.main import main

    sys.exit(main(prog="python -m bpe_core"))
