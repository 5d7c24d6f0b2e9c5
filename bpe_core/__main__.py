"""`python -m bpe_core`: the command line."""

from bpe_core.process import end, exit_code

PROG = "python -m bpe_core"


def main() -> int:
    """Run the command that the command line names; the exit code."""
    from bpe_core.process import print_to_stderr, why_refused

    if sentence := why_refused():
        print_to_stderr(f"{PROG}: {sentence}")
        return 2
    from bpe_core.cli.main import main

    return main(prog=PROG)


if __name__ == "__main__":
    end(exit_code(main, PROG))
