"""The arguments of `bpescope` without a subcommand, which opens the app."""

from collections.abc import Sequence

from bpe_core.cli.arguments import Parser


def app_parser(subcommands: Sequence[str]) -> Parser:
    """Return the parser of the arguments that open the app."""
    parser = Parser(
        prog="bpescope",
        description="See how byte-pair encoding works: watch a vocabulary grow, edit text as tokens, audit a vocabulary.",
        epilog=f"Commands that do not open the app: {', '.join(subcommands)}. See bpescope COMMAND --help.",
    )
    paths = "texts or folders to use as the corpus, or tokenizers to open"
    parser.add_argument("paths", nargs="*", metavar="PATH", help=paths)
    tokenizers = (
        "a tokenizer to open: a file in any supported format, a folder with one, a name in the app's list, or a name "
        "such as gpt-4o; repeatable"
    )
    parser.add_argument(
        "-t",
        "--tokenizer",
        action="append",
        default=[],
        metavar="TOKENIZER",
        help=tokenizers,
    )
    parser.add_flag(
        "full-speed",
        "show merges as soon as they are learned, until you choose a slower speed (+ and -)",
    )
    lesson = "start with the lesson in this TOML file; see docs/reference/lessons.md"
    parser.add_argument("--lesson", default="", metavar="FILE", help=lesson)
    parser.add_flag("version", "show the version, and whether the C kernel is used")
    return parser
