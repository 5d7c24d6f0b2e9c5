"""`python -m bpe_core`: the command line."""

from bpe_core.process import run_to_end

PROG = "python -m bpe_core"


def main() -> int:
    """Run the command line and return its exit code."""
    from bpe_core.cli.main import main

    return main(prog=PROG)


if __name__ == "__main__":
    run_to_end(main, PROG)
