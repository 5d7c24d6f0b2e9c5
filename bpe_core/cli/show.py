"""`show`: draw a text as its tokens, in a terminal, as a page, a drawing or Markdown."""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence

from bpe_core.cli.arguments import Subcommands, add_command
from bpe_core.cli.streams import open_tokenizer, text_blocks
from bpe_core.errors import OptionError
from bpe_core.live.live_text import LiveText
from bpe_core.pictures.drawing import (
    TextLanes,
    colors_of,
    document,
    drawing,
    in_terminal,
    page,
)


def add(commands: Subcommands) -> None:
    parser = add_command(commands, run_show)
    parser.add_tokenizer("repeatable")
    text = "a text file, compressed or not; standard input (UTF-8) if left out or -"
    parser.add_argument("path", nargs="?", default="-", metavar="PATH", help=text)
    parser.add_flag("ids", "print the id after each token")
    form = parser.add_forms(
        html="print a self-contained HTML page with a light and a dark theme",
        svg="print a self-contained SVG drawing with a light and a dark theme",
        markdown="print a code block with borders between tokens, and a table",
    )
    form.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="show tokens by colors, or else by borders; auto: colors in a terminal (default: "
        "%(default)s)",
    )


def run_show(options: Namespace) -> int:
    """Show a text as its tokens, with one tokenizer or several.

    show -t gpt-4o notes.md
    show -t gpt2 -t gpt-4o --html notes.md > notes.html
    show -t mine.json --ids < notes.md
    """
    if options.svg and options.ids:
        raise OptionError("--svg can't show ids; leave out --ids, or use --html.")
    tokenizers = [open_tokenizer(name, options.pattern) for name in options.tokenizer]
    text = "".join(text_blocks(options.path))
    texts = []
    for name, tokenizer in zip(options.tokenizer, tokenizers, strict=True):
        title = tokenizer.name or os.path.basename(name)
        texts.append((title, LiveText(tokenizer, text)))
    is_picture = options.html or options.svg or options.markdown
    is_shared = is_picture and not options.ids
    groups = [texts] if is_shared else [[each] for each in texts]
    pictures = [TextLanes.of(group) for group in groups]
    if not is_picture:
        _print_in_terminal(pictures, options)
        return 0
    if options.svg:
        output = drawing(pictures)
    elif options.html:
        output = page(pictures, with_ids=options.ids)
    else:
        output = document(pictures, with_ids=options.ids)
    print(output, end="")
    return 0


def _print_in_terminal(pictures: Sequence[TextLanes], options: Namespace) -> None:
    """Print the text once per tokenizer, with a line of totals."""
    environment = dict(os.environ)
    has_colors = options.color == "always"
    if has_colors:
        environment["NO_COLOR"] = ""
    elif options.color == "auto":
        has_colors = sys.stdout.isatty()
    colors = colors_of(environment, has_colors)
    for number, picture in enumerate(pictures):
        if len(pictures) > 1:
            if number:
                print()
            print(f"{picture.titles[0]}: {picture.summaries[0]}")
        print(in_terminal(picture, colors, with_ids=options.ids))
    if len(pictures) == 1:
        # On stderr, so that a pipe gets only the tokens.
        print(pictures[0].summaries[0], file=sys.stderr)
