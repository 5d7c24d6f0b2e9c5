"""`diff`: decide whether two tokenizers mean the same, and show the shortest text that they encode differently."""

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Final

from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command, natural
from bpe_core.cli.diff_texts import text_sections, tokens_and_ids
from bpe_core.cli.streams import StderrReporter, open_tokenizer
from bpe_core.cli.train import with_field
from bpe_core.difference import Difference, diff
from bpe_core.difference.records import (
    Cause,
    DecodedWitness,
    Witness,
    label_of_id,
    written,
    written_tokens,
)
from bpe_core.errors import OptionError
from bpe_core.report import ReportTable, Section, as_text
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import OPTIONS
from bpe_core.visible import counted, shortened
from bpe_core.worker.inputs import compare_on_files
from bpe_core.worker.job import Job

EXIT_CODES: Final = {"same": 0, "different": 1, "unknown": 3}
_VERDICTS: Final = {
    "same": "A and B are the same: this is proved.",
    "different": "A and B are different.",
    "unknown": "No difference was found, but it is not proved that A and B are the same.",
}


def add(commands: Subcommands) -> None:
    parser = add_command(commands, run_diff)
    parser.add_argument("a", metavar="A", help=A_TOKENIZER)
    parser.add_argument("b", metavar="B", help="another tokenizer")
    pattern = (
        "split text by this pattern instead of the tokenizer's own; give it twice, for A and "
        'for B, with "" to keep its own pattern'
    )
    parser.add_argument(
        "paths",
        nargs="*",
        default=[],
        metavar="PATH",
        help="texts whose lines are also compared: files, folders, archives; - for standard input",
    )
    parser.add_value("--pattern", "P", pattern, None, action="append")
    parser.add_value(
        "--field",
        "NAME",
        "the field or column with the documents, for each PATH without ::NAME",
    )
    parser.add_flag("skip-bad", OPTIONS["skip-bad"].help())
    parser.add_value(
        "--lines",
        "N",
        "for each cause, print the first N differences in the texts (default: %(default)s)",
        5,
        type=natural,
    )
    parser.add_flag("json", "print one JSON object")


def run_diff(options: Namespace) -> int:
    """Decide whether two tokenizers are the same, and show the shortest text that they encode differently.

    diff gpt2 my-gpt2/tokenizer.json
    diff old/tokenizer.json new/tokenizer.json --json
    diff cl100k_base cl100k_base --pattern "" --pattern llama3
    diff gpt2 my-gpt2/tokenizer.json corpus/ logs.jsonl.gz --field text

    There are three answers. The same: every part of the two tokenizers is proved to do the same.
    Different: a text shows it. Unknown: no difference was found, but some parts could not be proved
    the same; the report lists them.

    With texts, diff also counts the lines that get different ids, by cause. It reads special tokens
    in them as ordinary text.

    diff doesn't compare the tokens that a tokenizer.json adds around every text (its post-processor).

    Exit code 0: the same. 1: different. 3: unknown.
    """
    patterns = options.pattern or ["", ""]
    if len(patterns) != 2:
        raise OptionError(
            'Give --pattern twice, for A and for B; use "" to keep a tokenizer\'s own pattern.'
        )
    a = open_tokenizer(options.a, patterns[0] or None)
    b = open_tokenizer(options.b, patterns[1] or None)
    on_texts = None
    examples: list[str] = []
    with closing(Job(StderrReporter(), patience=0.5)) as job:
        if options.paths:
            on_texts = compare_on_files(
                a,
                b,
                with_field(options.paths, options.field),
                job,
                skip_bad=options.skip_bad,
                n_shown=options.lines,
            )
            for cause in on_texts.causes:
                examples += [found.text for found in cause.first]
        progress = partial(job.progress, "comparing")
        difference = diff(a, b, texts=examples, progress=progress)
    if on_texts and on_texts.causes and difference.verdict == "unknown":
        # A part of a character may be different, which is no text by itself.
        difference = replace(difference, verdict="different")
    if options.json:
        found = difference.as_json()
        if on_texts:
            found["texts"] = on_texts.as_json()
        print(json.dumps(found))
    else:
        sections = list(_report(difference, a, b, options))
        if on_texts:
            sections += text_sections(on_texts, (a, b))
        print(as_text(sections), end="")
    return EXIT_CODES[difference.verdict]


def _report(
    difference: Difference, a: Tokenizer, b: Tokenizer, options: Namespace
) -> Iterator[Section]:
    """Yield the verdict with the witness, the causes, and what is the same or undecided."""
    sentences = [_VERDICTS[difference.verdict]]
    head = ["", "tokenizer", "tokens", "ids"]
    row_of_a = ["A", options.a]
    row_of_b = ["B", options.b]
    for row, pattern in zip((row_of_a, row_of_b), options.pattern or (), strict=False):
        if pattern:
            row[1] += f", pattern {shortened(pattern, 40)}"
    match difference.witness:
        case None:
            head = head[:2]
        case Witness() as witness:
            sentences.append(
                f"The shortest text found that shows it: {written_text(witness)}"
            )
            row_of_a += tokens_and_ids(a, witness.a)
            row_of_b += tokens_and_ids(b, witness.b)
        case DecodedWitness(ids, of_a, of_b):
            sentences.append(
                "No text was found that they encode differently, but they decode these ids differently:"
            )
            listed = " ".join(map(str, ids))
            row_of_a += [label_of_id(of_a), listed]
            row_of_b += [label_of_id(of_b), listed]
    table = ReportTable(head, [row_of_a, row_of_b], ())
    yield Section(sentences=sentences, table=table)
    rows = list(_rows_of_causes(difference))
    if rows:
        yield Section("Causes", table=ReportTable(["", ""], rows, ()))
    if difference.reasons:
        yield Section("What is the same", difference.reasons)
    if difference.undecided:
        tried = counted(difference.n_tried, "text was", "texts were")
        yield Section(
            "What is not decided", difference.undecided, more=f"{tried} tried."
        )


def written_text(witness: Witness) -> str:
    """Return the text of a witness in quotation marks, and how it is encoded if that is not as usual."""
    specials = ", with special tokens read" if witness.reads_specials else ""
    return written(witness.text) + specials


def _rows_of_causes(difference: Difference) -> Iterator[list[str]]:
    """Yield the part and a sentence for each cause. Before those of one part comes how many there are in all.

    The only cause of an undecided part is left out, since "What is not decided" names it.
    """
    for part in difference.parts:
        sentences = [_with_text(cause) for cause in part.causes]
        if len(sentences) > 1:
            sentences.insert(0, part.sentence)
        elif part.is_same is None:
            continue
        name = part.part
        for sentence in sentences:
            yield [name, sentence]
            name = ""


def _with_text(cause: Cause) -> str:
    """Return the sentence of a cause, with the text that shows it if it isn't in the sentence."""
    if cause.witness is None:
        return f"{cause.what} No text that shows it was found."
    if isinstance(cause.witness, Witness):
        text = written(cause.witness.text)
        label = written_tokens([cause.witness.text.encode()])
        if text not in cause.what and label not in cause.what:
            return f"{cause.what} Seen in {text}."
    return cause.what
