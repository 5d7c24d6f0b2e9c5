"""`show`: a text as its tokens, in the terminal or as a picture to share."""

import os
import sys
from argparse import Namespace

from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command, add_given_pattern, add_input
from bpe_core.cli.inputs import open_tokenizer, text_blocks
from bpe_core.live.live_text import LiveText
from bpe_core.pictures.drawing import TextLanes, colors_of, document, drawing, in_terminal, page


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "show",
        run,
        "Show a text as its tokens, under one tokenizer or several.",
        ("-t gpt-4o notes.md", "-t gpt2 -t gpt-4o --html notes.md > notes.html", "-t mine.json --ids < notes.md"),
    )
    parser.add_argument(
        "-t", "--tokenizer", action="append", required=True, metavar="TOKENIZER", help=f"{A_TOKENIZER}; repeatable"
    )
    add_given_pattern(parser)
    add_input(parser, "the text, in UTF-8")
    parser.add_argument("--ids", action="store_true", help="put the id behind each token")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--html", action="store_true", help="a page of its own, for dark and light")
    form.add_argument("--svg", action="store_true", help="a drawing of its own, for dark and light")
    form.add_argument("--markdown", action="store_true", help="code with borders, and a table of the tokens")
    form.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colors, or borders between tokens; auto: colors in a terminal (%(default)s)",
    )


def run(options: Namespace) -> int:
    """Print the text as its tokens, in the form that was asked for; returns 0."""
    tokenizers = [(name, open_tokenizer(name, options.pattern)) for name in options.tokenizer]
    text = "".join(text_blocks(options.path))
    texts = [(one.name or os.path.basename(name), LiveText(one, text)) for name, one in tokenizers]
    if (options.html or options.svg or options.markdown) and not options.ids:
        pictures = [TextLanes.of(texts)]
    else:
        pictures = [TextLanes.of([titled]) for titled in texts]
    if options.html:
        print(page(pictures, with_ids=options.ids), end="")
    elif options.svg:
        print(drawing(pictures), end="")
    elif options.markdown:
        print(document(pictures, with_ids=options.ids), end="")
    else:
        _print(pictures, options)
    return 0


def _print(pictures: list[TextLanes], options: Namespace) -> None:
    """Print for a terminal or a pipe; the summary of a single picture goes to stderr: a pipe gets only tokens."""
    is_terminal = options.color == "always" or (options.color == "auto" and sys.stdout.isatty())
    environment = dict(os.environ, NO_COLOR="") if options.color == "always" else os.environ
    for number, picture in enumerate(pictures):
        if len(pictures) > 1:
            print(("\n" if number else "") + f"{picture.titles[0]}: {picture.summaries[0]}")
        print(in_terminal(picture, colors_of(environment, is_terminal), with_ids=options.ids))
    if len(pictures) == 1:
        print(pictures[0].summaries[0], file=sys.stderr)
