"""`show`: a text as its tokens, in the terminal or as a picture to share."""

import os
import sys
from argparse import Namespace
from typing import Final

from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command, add_given_pattern, add_input
from bpe_core.cli.inputs import open_tokenizer, text_blocks
from bpe_core.editing.aligned_text import followed
from bpe_core.pictures.html import lanes_page, page
from bpe_core.pictures.lanes import Lanes
from bpe_core.pictures.markdown import document, lanes_document
from bpe_core.pictures.picture import Picture
from bpe_core.pictures.svg import drawing, lanes_drawing
from bpe_core.pictures.terminal import colors_of, in_terminal

_LANES: Final = {"html": lanes_page, "svg": lanes_drawing, "markdown": lanes_document}
"""Option -> what makes one picture of several tokenizers, each line of the text once for each."""


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
    titled = [(one.name or os.path.basename(name), one) for name, one in tokenizers]
    lanes_form = next((form for name, form in _LANES.items() if getattr(options, name)), None)
    if lanes_form and len(titled) > 1 and not options.ids:
        print(lanes_form(Lanes.of([(title, followed(one, text)) for title, one in titled])), end="")
        return 0
    pictures = [Picture.of(one, text, title) for title, one in titled]
    if options.html:
        print(page(pictures, with_ids=options.ids), end="")
    elif options.svg:
        print(drawing(pictures), end="")
    elif options.markdown:
        print(document(pictures, with_ids=options.ids), end="")
    else:
        _print(pictures, options)
    return 0


def _print(pictures: list[Picture], options: Namespace) -> None:
    """Print for a terminal or a pipe; the summary of a single picture goes to stderr: a pipe gets only tokens."""
    is_terminal = options.color == "always" or (options.color == "auto" and sys.stdout.isatty())
    environment = dict(os.environ, NO_COLOR="") if options.color == "always" else os.environ
    for number, picture in enumerate(pictures):
        if len(pictures) > 1:
            print(("\n" if number else "") + f"{picture.title}: {picture.summary}")
        shown = in_terminal(picture, colors_of(environment, is_terminal), with_ids=options.ids)
        print(shown, end="" if shown.endswith("\n") else "\n")
    if len(pictures) == 1:
        print(pictures[0].summary, file=sys.stderr)
