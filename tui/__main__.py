"""The command `bpescope`: a subcommand goes to the headless face, anything else opens the app on it.

Arguments are looked at before anything heavy is imported, so that a wrong one is answered at once.
"""

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from tui import command

HEADLESS = (
    *(
        "train",
        "count",
        "counts",
        "encode",
        "decode",
        "show",
        "measure",
        "compare",
        "audit",
        "why",
        "runs",
        "export",
    ),
    *("convert", "fetch"),
)
"""The subcommands of `bpe_core.cli.main`, whose import would take its time."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run bpescope with `argv` (default: the command line); the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    from bpe_core.process import guarded

    if arguments and arguments[0] in HEADLESS:
        from bpe_core.cli.main import main as headless

        return headless(arguments)
    options = Namespace(opens=False)
    code = guarded(lambda: _answer(arguments, options), "bpescope")
    return _open_app(options) if options.opens else code


def _answer(arguments: list[str], options: Namespace) -> int:
    """Parse the arguments into `options`, and print what needs no app; 0."""
    from bpe_core.cli.arguments import Parser

    parser = Parser(
        prog="bpescope",
        description="See byte-pair encoding: watch it learn, type among its tokens, audit its vocabulary.",
        epilog=f"Without the screen: bpescope COMMAND …, each with its own --help: {', '.join(HEADLESS)}.",
    )
    paths = "texts or folders to choose as the corpus; tokenizers to open"
    parser.add_argument("paths", nargs="*", metavar="PATH", help=paths)
    tokenizers = (
        "a tokenizer to open, several by several -t: a file in any supported format, a folder that holds one, a name "
        "of the app's list, or one such as gpt-4o"
    )
    parser.add_argument(
        "-t",
        "--tokenizer",
        action="append",
        default=[],
        metavar="TOKENIZER",
        help=tokenizers,
    )
    full_speed = "show merges as soon as they are learned, and at no pace for eyes, until another is chosen (+ and -)"
    parser.add_argument("--full-speed", action="store_true", help=full_speed)
    lesson = (
        "begin with the lesson in this file, of TOML; those of bpescope are an example"
    )
    parser.add_argument("--lesson", default="", metavar="FILE", help=lesson)
    parser.add_argument(
        "--version", action="store_true", help="say which version this is"
    )
    parser.parse_args(arguments, options)
    options.opens = not options.version
    if options.version:
        from importlib.metadata import version

        from bpe_core import kernel

        print(f"bpescope {version('bpescope')} {kernel.description}")
    return 0


def _open_app(options: Namespace) -> int:
    from bpe_core.errors import BpeError
    from bpe_core.process import print_to_stderr

    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        without = f"{', '.join(f'bpescope {command}' for command in HEADLESS[:-1])} or bpescope {HEADLESS[-1]}"
        print_to_stderr(
            f"bpescope: the app needs a terminal, and this is none; without one use {without}."
        )
        return 2
    gc.disable()  # nothing of what is loaded now will be garbage
    try:
        paths, tokenizers = (
            tuple(map(_checked, options.paths)),
            tuple(map(_located, options.tokenizer)),
        )
        if lesson := options.lesson:
            from tui.disk.lessons import read_lesson

            lesson = read_lesson(Path(lesson).absolute()).name
    except BpeError as error:
        print_to_stderr(f"bpescope: {error}")
        return 2
    from tui.app import BpeScope

    app = BpeScope(paths, tokenizers, full_speed=options.full_speed, lesson=lesson)
    # What is loaded by now stays to the end, and merges are kept too: to look through all of it for garbage again and
    # again, while a training makes ten thousand of them a second, would hold up the keys for 0.3 seconds each time.
    gc.freeze()
    gc.set_threshold(700, 10, 200)
    gc.enable()
    app.run()
    for sentence in app.main.last_words:
        print_to_stderr(f"bpescope: {sentence}")
    return app.return_code or 0


def _checked(path: str) -> str:
    """The absolute path of a text, folder or tokenizer; raises `TextError` for what is neither."""
    from bpe_core.errors import TextError
    from bpe_core.formats import why_no_tokenizer
    from tui.disk.sources import check_readable

    try:
        check_readable(path)
    except TextError:  # only what is no text is read whole now
        if why_no_tokenizer(path) is not None:
            raise
    return path if "://" in path else os.path.abspath(path)


def _located(tokenizer: str) -> str:
    """The absolute path of a tokenizer by its path, its name in the list or as published; `BpeError` without."""
    from bpe_core.errors import FormatError
    from bpe_core.formats.file import tokenizer_at
    from bpe_core.hub import located
    from bpe_core.visible import quoted
    from tui.disk.tokenizer_files import named_in_list

    named = None if os.path.exists(tokenizer) else named_in_list(tokenizer)
    path = os.path.abspath(tokenizer_at(Path(named or located(tokenizer))))
    if not os.path.exists(path):
        raise FormatError(
            f"There is no tokenizer {quoted(tokenizer, 200)}: no such file, and not a known name."
        )
    return path


if __name__ == "__main__":
    command()
