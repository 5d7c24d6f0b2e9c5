"""`train`: learn a vocabulary from files, for a person at a prompt or as the worker process of the app."""

import os
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path

from bpe_core.cli.arguments import Subcommands, add_command, add_pattern, add_stream, integer
from bpe_core.cli.control import Control
from bpe_core.cli.counting import count_files
from bpe_core.cli.learning import learn, prepare
from bpe_core.cli.report import Report, report_to
from bpe_core.cli.wire import Counted, Done, Saved, Started
from bpe_core.content.presets import PRESETS, Line, Preset
from bpe_core.corpus.counts import Counts
from bpe_core.errors import FormatError, OptionError
from bpe_core.formats import save, save_beside
from bpe_core.formats.atomic import check_place
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer.options import Options
from bpe_core.trainer.ties import TIES
from bpe_core.visible import visible
from bpe_core.vocabulary import ID_LAYOUTS


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "train",
        run,
        "Learn a vocabulary from texts and save it.",
        (
            "my_texts/ notes.md -o mine.json --vocab-size 4096",
            "log.txt -o log.json --pattern none --special '<|endoftext|>'",
            "--preset S0",
        ),
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a text, or a folder of them; also .gz and .xz")
    parser.add_argument("-o", "--output", metavar="OUT", help="the file to save the tokenizer to")
    parser.add_argument(
        "--preset",
        choices=PRESETS,
        help="run a founding example again, with its own text and options, and say whether it comes out; no OUT needed",
    )
    parser.add_argument(
        "--keep-existing", action="store_true", help="replace no file: where OUT is taken, save as OUT-2, OUT-3, …"
    )
    add_pattern(parser)
    _add_rules(parser)
    add_stream(parser)
    parser.add_argument("--paused", action="store_true", help="with --stream: count, then wait for a command")


def _add_rules(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--vocab-size",
        type=integer,
        default=4096,
        metavar="N",
        help="tokens in all: bytes, merges, specials (%(default)s)",
    )
    parser.add_argument(
        "--ties",
        default="first",
        choices=TIES,
        help="which of equally frequent pairs is merged (%(default)s)",
    )
    parser.add_argument(
        "--id-layout", default="bytes-first", choices=ID_LAYOUTS, help="which ids come first (%(default)s)"
    )
    parser.add_argument("--special", action="append", default=[], metavar="S", help="a special token; repeatable")
    parser.add_argument(
        "--min-count",
        type=integer,
        default=1,
        metavar="N",
        help="stop when no pair occurs this often (%(default)s)",
    )
    parser.add_argument("--max-token-length", type=integer, metavar="N", help="bytes in a token at most (no limit)")
    parser.add_argument(
        "--end-of-word", default="", metavar="S", help="stands at the end of every piece, as a symbol of its own (none)"
    )


def run(options: Namespace) -> int:
    """Count, learn and save; returns 0, 1 if a preset gave another result than promised, or 130 after a signal.

    What was learned is saved whatever ends the learning: the trainer, a `stop`, a signal, the end of the app. If it is
    stopped before the first merge, no file is written or replaced.
    """
    began = time.monotonic()
    _check_usage(options)
    preset = PRESETS.get(options.preset)
    rules = _rules(options)  # checked by making it: a wrong option is told now, not after minutes of counting
    with (
        closing(Control(stdin=options.stream, paused=options.stream and options.paused)) as control,
        closing(report_to(options.stream, control)) as report,
    ):
        counts = _counts(options, preset, control, report)
        steps, reason = 0, ""
        lines: tuple[Line, ...] = ()
        trainer = counts and prepare(counts, rules, control, report)
        del counts  # the trainer has all it needs of them, in less room
        if trainer:
            report.send(Started(trainer.n_tokens, trainer.n_merges_wanted))
            steps = learn(trainer, control, report)
            reason = trainer.stop_reason or ""
            if steps or not control.stopped:
                lines = preset.check(trainer.tokenizer()) if preset else ()
                if options.output:
                    _save(trainer.tokenizer(), options.output, report, keep_existing=options.keep_existing)
        seconds = time.monotonic() - began
        report.send(Done(control.stopped or reason, steps, seconds))
        report.say(_ending(control.stopped, reason, steps, seconds, options.output))
    if control.stopped:
        return 130 if control.stopped == "interrupted" else 0
    if not options.stream:
        sys.stdout.writelines(map(_shown, lines))
    return int(not all(line.came_out for line in lines))


def _counts(options: Namespace, preset: Preset | None, control: Control, report: Report) -> Counts | None:
    if preset is None:
        return count_files(options.paths, options.pattern, control, report)
    counts = preset.counts()
    sizes = (counts.n_documents, counts.n_bytes, counts.n_characters, counts.n_pieces, len(counts.pieces))
    report.send(Counted(*sizes))
    return counts


def _shown(line: Line) -> str:
    if line.came_out and line.told:
        return visible(f"not as its article tells: {line.what}: {line.found}; told: {line.told}") + "\n"
    if line.came_out:
        return visible(f"as promised: {line.what}: {line.found}") + "\n"
    return visible(f"NOT as promised: {line.what}: {line.found}; promised: {line.expected}") + "\n"


def _rules(options: Namespace) -> Options:
    if options.preset:
        return PRESETS[options.preset].options
    return Options(
        vocab_size=options.vocab_size,
        pattern=options.pattern,
        ties=options.ties,
        id_layout=options.id_layout,
        min_count=options.min_count,
        max_token_length=options.max_token_length,
        special_tokens=options.special,
        end_of_word=options.end_of_word,
    )


def _check_usage(options: Namespace) -> None:
    if options.preset and options.paths:
        raise OptionError(f"The preset {options.preset} has its own text; leave out {options.paths[0]}, or --preset.")
    if not options.preset and not (options.paths and options.output):
        raise OptionError("Name the texts to learn from and, with -o, the file to save to; or a --preset.")
    if options.output:
        _check_output(Path(options.output), options.paths)


def _check_output(output: Path, texts: list[str]) -> None:
    """Raise OptionError or FormatError now if saving would fail later, or would destroy a text."""
    check_place(output)
    if output.exists() and any(Path(text).exists() and output.samefile(text) for text in texts):
        raise OptionError(f"{output} is a text to learn from; name another file for the tokenizer.")


def _save(tokenizer: Tokenizer, output: str, report: Report, *, keep_existing: bool) -> None:
    """Save to `output`; if that fails, to the folder for temporary files, for learning may have taken hours.

    Raises FormatError whenever `output` could not be written; the message then names the other file.
    """
    try:
        if keep_existing:
            output = str(save_beside(tokenizer, Path(output)))
        else:
            save(tokenizer, output)
        report.send(Saved(output))
    except FormatError as error:
        refuge = Path(tempfile.gettempdir(), f"{Path(output).stem[:100]}-{os.urandom(4).hex()}.json")
        try:
            save(tokenizer, refuge)
        except FormatError:
            raise error from None
        report.send(Saved(str(refuge)))
        raise FormatError(f"{str(error).rstrip('.')}; what was learned is saved in {refuge} instead.") from None


def _ending(stopped: str | None, reason: str, steps: int, seconds: float, output: str | None) -> str:
    if not output:
        return f"{(stopped or reason).capitalize()} after {counted(steps, 'merge')}; nothing is saved without -o."
    if not stopped:
        return f"Learned {counted(steps, 'merge')} in {seconds:.1f} s ({reason}); saved in {output}."
    if steps:
        return f"{stopped.capitalize()} after {counted(steps, 'merge')}; saved in {output}."
    return f"{stopped.capitalize()} before the first merge; nothing is saved."
