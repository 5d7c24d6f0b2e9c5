"""`encode`, `decode` and `show`: texts into token ids and back, and as pictures of their tokens."""

import os
import sys
from argparse import Namespace
from array import array
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from bpe_core import kernel
from bpe_core.cli.arguments import Subcommands, add_command
from bpe_core.cli.streams import StderrReporter, open_tokenizer, text_blocks
from bpe_core.corpus import find_files
from bpe_core.corpus.reading import Reading
from bpe_core.corpus.streams import is_stream
from bpe_core.errors import OptionError, SpecialTokenError, TextError
from bpe_core.live.live_text import LiveText
from bpe_core.pictures.drawing import (
    TextLanes,
    colors_of,
    document,
    drawing,
    in_terminal,
    page,
)
from bpe_core.process import in_order, most_threads, shares
from bpe_core.token_ids import ids_in
from bpe_core.tokenizer import Choice, Tokenizer
from bpe_core.visible import counted, quoted, visible
from bpe_core.worker.job import Job
from bpe_core.worker.messages import WorkProgress

SHARE: Final = (
    1 << 18
)  # characters that are handed to a thread at a time, at least; this thread encodes what is left
_MOST: Final = (
    1 << 20
)  # and at most, or else this thread encodes them: an interruption reaches the kernel only here

Part = (
    str | list[int] | None
)  # what `Tokenizer.divide` gives; None behind the last part of a document
Share = tuple[
    int, list[Part]
]  # parts put together until they are worth a thread, and their size
Ids = tuple[
    int, str
]  # how many ids a part has, and these as they are printed; "" if only their number was asked for


def add(commands: Subcommands) -> None:
    parser = add_command(commands, run_encode)
    parser.add_tokenizer()
    several = "Several texts, those of a folder, or rows give a line each"
    texts = f"a text, packed ones and those with rows too; stdin, in UTF-8, if left out or -. {several}"
    parser.add_argument("paths", nargs="*", metavar="PATH", help=texts)
    json = 'print {"ids": [...]} instead of ids separated by spaces'
    count = 'print only how many tokens there are; of several texts a line each, and last "N total"'
    parser.add_forms(json=json, count=count)
    parser.add_value(
        "-o --output",
        "IDS",
        "with --dask: the new folder for .parquet files of ids, a row a document",
    )
    parser.add_cluster()
    special = parser.add_mutually_exclusive_group()
    allowed = 'encode this special token as one; repeatable; "all" allows every one'
    special.add_argument(
        "--allow-special", action="append", default=[], metavar="S", help=allowed
    )
    special.add_argument(
        "--special-as-text",
        action="store_true",
        help="encode special tokens as ordinary text",
    )
    parser = add_command(commands, run_decode)
    parser.add_tokenizer()
    ids = "ids separated by spaces or commas, a list of them, or what encode --json printed; stdin if left out or -"
    parser.add_argument("path", nargs="?", default="-", metavar="PATH", help=ids)
    parser = add_command(commands, run_show)
    parser.add_tokenizer("repeatable")
    text = "the text, in UTF-8; stdin if left out or -"
    parser.add_argument("path", nargs="?", default="-", metavar="PATH", help=text)
    parser.add_flag("ids", "put the id behind each token")
    own = "of its own, for dark and light"
    table = "code with borders, and a table of the tokens"
    form = parser.add_forms(
        html=f"a page {own}", svg=f"a drawing {own}", markdown=table
    )
    colors = (
        "colors, or borders between tokens; auto: colors in a terminal (%(default)s)"
    )
    form.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help=colors
    )


def run_encode(options: Namespace) -> int:
    """Turn text into token ids.

    encode -t mine.json notes.md
    encode -t gpt-4o --count < notes.md
    encode -t gpt-4o my_texts/ > ids.txt
    encode -t gpt-4o my_texts/ --dask local -o ids/
    """
    paths, is_far = options.paths or ["-"], bool(options.dask or options.output)
    is_alone = len(paths) == 1 and is_stream(paths[0])
    if is_far and (
        not (options.dask and options.output)
        or options.json
        or options.count
        or is_alone
    ):
        raise OptionError(
            "--dask and -o IDS go together, with files or folders, and without --json and --count."
        )
    if "-" in paths and not is_alone:
        raise OptionError(
            "What comes in on stdin (-) is encoded by itself; leave out the other texts, or the -."
        )
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    if unknown := {*options.allow_special} - tokenizer.special_tokens.keys() - {"all"}:
        raise SpecialTokenError(
            f"There is no special token {min(unknown)!r} in {options.tokenizer}."
        )
    specials: dict[str, Choice] = {
        "disallowed_special": () if options.special_as_text else "all"
    }
    specials["allowed_special"] = (
        "all" if "all" in options.allow_special else options.allow_special
    )
    if is_alone:
        _print(tokenizer, [text_blocks(paths[0])], options, specials)
        return 0
    found = find_files(paths, every_character=True)
    with closing(StderrReporter(has_bar=is_far or not sys.stdout.isatty())) as report:
        for skipped in found.skipped:
            report.send(skipped)
        if not is_far:
            reading = Reading(
                found.files, lambda *now: report.send(WorkProgress("counting", *now))
            )
            _print(
                tokenizer,
                chain.from_iterable(map(reading.documents, found.files)),
                options,
                specials,
            )
            return 0
        from bpe_core.worker.dask_connection import connected  # late: few need it

        with (
            closing(Job(report, patience=10)) as job,
            connected(options.dask, look=job.check) as cluster,
        ):
            progress = partial(job.progress, "counting")
            n = cluster.encode(
                found.files,
                tokenizer,
                Path(options.output).absolute(),
                progress,
                **specials,
            )
            job.say(
                f"{counted(n, 'token')} of {counted(len(found.files), 'file')} are in {options.output}."
            )
    return 0


def _print(
    tokenizer: Tokenizer,
    documents: Iterable[Iterable[str]],
    options: Namespace,
    specials: Mapping[str, Choice],
) -> None:
    """Encode and print documents, a line each; part by part, since a text may be larger than the memory."""
    before, between, after = (
        ('{"ids": [', ", ", "]}") if options.json else ("", " ", "")
    )
    n_documents = n_total = 0
    n = 0  # nothing is written before the first ids: whatever is wrong by then should be told first
    try:
        with closing(
            encoded(
                tokenizer, documents, None if options.count else between, **specials
            )
        ) as parts:
            for ids in parts:
                if ids is None:
                    end = (
                        str(n) if options.count else (before if n == 0 else "") + after
                    )
                    sys.stdout.write(f"{end}\n")
                    n_documents += 1
                    n_total += n
                    n = 0
                elif ids[0]:
                    if not options.count:
                        sys.stdout.write((between if n else before) + ids[1])
                    n += ids[0]
        if options.count and n_documents > 1:
            sys.stdout.write(f"{n_total} total\n")
    except SpecialTokenError as error:
        where, _, _ = str(error).partition(";")
        raise SpecialTokenError(
            f"{where}; name it with --allow-special, or use --special-as-text."
        ) from None


def encoded(
    tokenizer: Tokenizer,
    documents: Iterable[Iterable[str]],
    between: str | None,
    **specials: Choice,
) -> Generator[Ids | None, None, None]:
    """Yield the ids of documents, each of which comes in blocks: those of its parts in order, then None.

    `between` separates printed ids; None if only their number is asked for. `specials` are as in `Tokenizer.encode`.
    Where the kernel encodes, threads make of the parts the ids as they are printed.
    """

    def parts() -> Iterator[Part]:
        for blocks in documents:
            yield from tokenizer.divide(blocks, **specials)
            yield None

    def ids_of(part: Part) -> Ids | None:
        if part is None:
            return None
        ids = (
            tokenizer.encode_to_array(part)
            if isinstance(part, str)
            else array("I", part)
        )
        return len(ids), "" if between is None else kernel.decimals(
            ids.tobytes(), between
        )

    def is_own(share: Share) -> bool:
        return n_threads == 1 or not (kernel.available and SHARE <= share[0] <= _MOST)

    n_threads = most_threads()
    shared = shares(parts(), SHARE)
    for ids in in_order(
        lambda share: list(map(ids_of, share[1])), shared, n_threads, here=is_own
    ):
        yield from ids


def run_decode(options: Namespace) -> int:
    """Turn token ids back into text.

    decode -t mine.json ids.txt
    decode -t mine.json < ids.txt > notes.md
    """
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    ids, odd = ids_in("".join(text_blocks(options.path)))
    if odd:
        before, word = odd[0]
        place = f" (after {counted(before, 'id')})" if before else ""
        raise TextError(
            f"A token id is a whole number, not {quoted(word)}{place}; give numbers alone."
        )
    data = tokenizer.decode_bytes(ids)
    if sys.stdout.isatty():  # which would obey control characters
        print(
            "\n".join(map(visible, data.decode(errors="backslashreplace").split("\n")))
        )
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return 0


def run_show(options: Namespace) -> int:
    """Show a text as its tokens, under one tokenizer or several.

    show -t gpt-4o notes.md
    show -t gpt2 -t gpt-4o --html notes.md > notes.html
    show -t mine.json --ids < notes.md
    """
    if options.svg and options.ids:
        raise OptionError(
            "--svg draws tokens without ids; leave out --ids, or take --html."
        )
    tokenizers = [
        (name, open_tokenizer(name, options.pattern)) for name in options.tokenizer
    ]
    text = "".join(text_blocks(options.path))
    texts = [
        (one.name or os.path.basename(name), LiveText(one, text))
        for name, one in tokenizers
    ]
    is_picture = options.html or options.svg or options.markdown
    pictures = (
        [TextLanes.of(texts)]
        if is_picture and not options.ids
        else [TextLanes.of([one]) for one in texts]
    )
    if options.svg:
        print(drawing(pictures), end="")
    elif is_picture:
        print(
            (page if options.html else document)(pictures, with_ids=options.ids), end=""
        )
    else:
        is_terminal = options.color == "always" or (
            options.color == "auto" and sys.stdout.isatty()
        )
        environment = (
            dict(os.environ, NO_COLOR="") if options.color == "always" else os.environ
        )
        for number, picture in enumerate(pictures):
            if len(pictures) > 1:
                print(
                    ("\n" if number else "")
                    + f"{picture.titles[0]}: {picture.summaries[0]}"
                )
            print(
                in_terminal(
                    picture, colors_of(environment, is_terminal), with_ids=options.ids
                )
            )
        if len(pictures) == 1:
            print(pictures[0].summaries[0], file=sys.stderr)  # a pipe gets only tokens
    return 0
