"""The command `bpescope`: run a subcommand, or open the app.

Arguments are checked before anything heavy is imported, so that a wrong one is reported at once.
The check only looks at the status of files. They are opened after the first frame.
"""

import gc
import os
import stat
import sys
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tui import command

HEADLESS = (
    "train",
    "count",
    "counts",
    "encode",
    "decode",
    "show",
    "measure",
    "compare",
    "diff",
    "lock",
    "check",
    "audit",
    "why",
    "prune",
    "graft",
    "unite",
    "runs",
    "export",
    "convert",
    "fetch",
    "completion",
)
"""The subcommands of `bpe_core.cli.main`, listed here since importing it is slow."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run bpescope with `argv` (default: the command line), and return the exit code."""
    if argv is None:
        argv = sys.argv[1:]
    arguments = list(argv)
    from bpe_core.process import guarded

    if arguments and arguments[0] in HEADLESS:
        from bpe_core.cli.main import main as headless

        return headless(arguments)
    options = Namespace(opens=False)
    code = guarded(partial(_parse, arguments, options), "bpescope")
    if options.opens:
        return _open_app(options)
    return code


def _parse(arguments: list[str], options: Namespace) -> int:
    """Parse the arguments into `options`, print the version if requested, and return the exit code 0."""
    from bpe_core.cli.app import app_parser

    app_parser(HEADLESS).parse_args(arguments, options)
    options.opens = not options.version
    if options.version:
        from importlib.metadata import version

        from bpe_core import kernel

        print(f"bpescope {version('bpescope')} {kernel.description}")
    return 0


def _open_app(options: Namespace) -> int:
    from bpe_core.errors import BpeError
    from bpe_core.process import print_to_stderr

    if sys.platform == "win32":  # no termios and no SIGHUP
        print_to_stderr(
            "bpescope: On Windows the app runs in WSL only; the commands run without it. "
            "Type wsl --install, then start bpescope in its terminal: uvx bpescope"
        )
        return 2
    # Textual reads keys from stdin, draws on stderr, and asks stdout for the size of the terminal.
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if not all(stream.isatty() for stream in streams):
        print_to_stderr(
            "bpescope: The app needs an interactive terminal for stdin, stdout and stderr. "
            "Without one, use a command; bpescope --help lists them."
        )
        return 2
    from tui.terminal.driver import keyboard_held

    with keyboard_held():
        # None of the modules loaded now will become garbage.
        gc.disable()
        try:
            paths = tuple(_checked_path(path) for path in options.paths)
            tokenizers = tuple(_checked_tokenizer(name) for name in options.tokenizer)
            lesson = options.lesson
            if lesson:
                from tui.disk.lessons import read_lesson

                lesson = read_lesson(Path(lesson).absolute()).name
        except BpeError as error:
            print_to_stderr(f"bpescope: {error}")
            return 2
        return _run_app(paths, tokenizers, lesson, options.full_speed)


def _run_app(
    paths: tuple[str, ...], tokenizers: tuple[str, ...], lesson: str, full_speed: bool
) -> int:
    """Run the app until the user leaves it; return the exit code."""
    from bpe_core.process import print_to_stderr
    from tui.terminal import textual_version

    try:
        textual_version.check_textual()
        from tui.app import BpeScope
    except (ImportError, AttributeError) as error:
        if textual_version.is_tested():
            raise
        mismatch = textual_version.describe_mismatch()
        print_to_stderr(f"bpescope: {mismatch} ({error})")
        return 2
    app = BpeScope(paths, tokenizers, full_speed=full_speed, lesson=lesson)
    # The modules loaded by now are never freed, and merges are rarely freed. During a training of ten
    # thousand merges per second, each full garbage collection would block the keys for 0.3 seconds.
    gc.freeze()
    gc.set_threshold(700, 10, 200)
    gc.enable()
    app.run()
    for sentence in app.main.last_words:
        print_to_stderr(f"bpescope: {sentence}")
    if app.return_code == 1 and not textual_version.is_tested():
        print_to_stderr(f"bpescope: {textual_version.describe_mismatch()}")
    return app.return_code or 0


def _checked_path(path: str) -> str:
    """Return the absolute path of a text, folder or tokenizer, or an address as it is.

    Raise `TextError` if there is nothing at the path, or something that is never read, such as a pipe.
    """
    if "://" in path:
        return path
    if not _is_file_or_folder(path):
        from tui.disk.sources import check_readable

        check_readable(path)
    return os.path.abspath(path)


def _is_file_or_folder(path: str) -> bool:
    """Return whether a file or folder is at the path, or at the part of it in front of ``::FIELD``."""
    for place in (path, path.rpartition("::")[0]):
        try:
            mode = os.stat(place).st_mode
        except (OSError, ValueError):
            continue
        return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    return False


def _checked_tokenizer(tokenizer: str) -> str:
    """Return the absolute path of a tokenizer, or a name that may be known. Raise `BpeError` otherwise."""
    if os.path.exists(tokenizer):
        return os.path.abspath(tokenizer)
    from tui.disk.arguments import check_name

    check_name(tokenizer)
    return tokenizer


if __name__ == "__main__":
    command()
