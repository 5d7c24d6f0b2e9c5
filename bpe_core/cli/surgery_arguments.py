"""The arguments of `prune`, `graft` and `unite`."""

from bpe_core.cli.arguments import A_TOKENIZER, Parser, integer
from bpe_core.formats import WRITABLE

_COUNTABLE = "what `count` reads, or files that it wrote; repeatable"
_MEAN = "a row for each new token: the mean of the rows of the tokens that it replaces"


def add_prune(parser: Parser) -> None:
    parser.add_argument("tokenizer", metavar="TOKENIZER", help=A_TOKENIZER)
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument(
        "--tokens",
        metavar="FILE",
        help="remove these tokens, one per line: an id (257), the bytes in hex (0x6c6f77), or the text with its "
        'spaces; a line in quotation marks is a JSON string, such as "257", as `audit --texts` prints it',
    )
    choice.add_argument(
        "--audit",
        metavar="KIND,...",
        help="remove the tokens with findings of these kinds; see `audit`, whose --ids prints a list for --tokens, also of "
        "findings that need a reference, embeddings or other tokenizers",
    )
    choice.add_argument(
        "--unused-in",
        metavar="SOURCE",
        action="append",
        help=f"remove the tokens that these texts don't contain: {_COUNTABLE}",
    )
    choice.add_argument(
        "--size",
        metavar="N",
        type=integer,
        help="remove the latest merges that no other token is built on, until N tokens are left",
    )
    parser.add_value(
        "--score",
        "X",
        "with --audit: only tokens with at least this score, from 0 to 1",
        None,
        type=float,
    )
    parser.add_value(
        "--corpus",
        "SOURCE",
        f"with --audit: texts to count the tokens in: {_COUNTABLE}",
        [],
        action="append",
    )
    parser.add_value(
        "--fewer-than",
        "N",
        "with --unused-in: remove the tokens that occur fewer than N times (default: 1)",
        None,
        type=integer,
    )
    decision = parser.add_mutually_exclusive_group()
    decision.add_argument(
        "--with-descendants",
        dest="decision",
        action="store_const",
        const="with-descendants",
        default="list",
        help="also remove the tokens that become unreachable without the removed ones",
    )
    decision.add_argument(
        "--keep-parents",
        dest="decision",
        action="store_const",
        const="keep-parents",
        help="keep the chosen tokens that others are built on, so that a text without chosen tokens keeps its tokens",
    )
    parser.add_flag(
        "renumber",
        "close the gaps between the ids, and write OUT.mapping.json: old id -> new id",
    )
    _add_common(parser, "the row of each token moved to its new id; needs --renumber")


def add_graft(parser: Parser) -> None:
    parser.add_argument("tokenizer", metavar="TOKENIZER", help=A_TOKENIZER)
    words = parser.add_mutually_exclusive_group(required=True)
    words.add_argument(
        "--words",
        metavar="FILE",
        help="one word per line, including any leading space; a line in quotation marks is a JSON string",
    )
    words.add_argument(
        "--from",
        dest="counts",
        metavar="SOURCE",
        action="append",
        help=f"choose the words that save the most tokens in these texts: {_COUNTABLE}",
    )
    parser.add_value(
        "--size",
        "N",
        "with --from: stop before the vocabulary has more than N tokens",
        None,
        type=integer,
    )
    _add_common(parser, _MEAN)


def add_unite(parser: Parser) -> None:
    parser.add_argument("tokenizer", metavar="A", help=A_TOKENIZER)
    parser.add_argument(
        "other", metavar="B", help="the tokenizer whose tokens are added to A"
    )
    parser.add_value(
        "--table",
        "FILE",
        "write the outcome of each token of B to this file, as CSV",
    )
    _add_common(parser, _MEAN)


def _add_common(parser: Parser, row: str) -> None:
    """Add the options of all three commands; `row` says what happens with the rows of embeddings."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files and folders of texts to show the change on",
    )
    parser.add_value(
        "-o --output", "OUT", "the file to write", required=True, default=None
    )
    parser.add_argument(
        "--format",
        choices=WRITABLE,
        help="the format of OUT (default: the input's format; the rest of a tokenizer.json stays unchanged)",
    )
    parser.add_argument(
        "--embeddings",
        nargs=2,
        default=(),
        metavar=("IN", "OUT"),
        help=f"copy a .safetensors file, with {row}",
    )
    parser.add_given_pattern()
    parser.add_flag("no-audit", "don't audit the tokenizer before and after the change")
    parser.add_flag("json", "print one JSON object with all tokens")
