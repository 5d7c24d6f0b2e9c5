"""`train`: learn a vocabulary from files, for a person at a prompt or as the worker process of the app."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from bpe_core.cli.arguments import Subcommands, add_command
from bpe_core.cli.checkpoints import add_resume, checkpoint_of, checkpoints_of, earlier_of
from bpe_core.cli.export import write_curve
from bpe_core.cli.learning import learn, preparing
from bpe_core.cli.progress import report_to_person
from bpe_core.cli.saving import check_output, save_learned
from bpe_core.cli.training_arguments import QuietParser
from bpe_core.cli.training_options import add_options, rules_of, sample_of, start_of
from bpe_core.content.presets import PRESETS, Preset, PresetCheck
from bpe_core.corpus.counts import Counts
from bpe_core.corpus.weights import parsed
from bpe_core.errors import FormatError, OptionError, Stopped
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import Options
from bpe_core.trainer import Trainer
from bpe_core.trainer.checkpoints import check_options
from bpe_core.visible import visible
from bpe_core.worker.counting import count_files
from bpe_core.worker.job import Job
from bpe_core.worker.messages import Counted, Done, Started


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
            "more/ --extend mine.json -o larger.json --vocab-size 8192",
            "my_texts/ notes.md -o mine.json --vocab-size 4096 --resume",
            "--preset S0",
        ),
        "Every few seconds what is learned is kept in OUT.checkpoint, a tokenizer file like any other, until OUT is\n"
        "saved. After any end, the same command with --resume goes on from there, or from OUT if it was stopped.\n"
        "--extend STAGE1 --pattern none merges across words behind the merges of STAGE1: that is SuperBPE.",
    )
    _add_arguments(parser)


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a text, or a folder of them; also .gz and .xz")
    parser.add_argument("-o", "--output", metavar="OUT", help="the file to save the tokenizer to")
    parser.add_argument(
        "--preset",
        choices=PRESETS,
        help="run a founding example again, with its own text and options, and say whether it comes out; no OUT needed",
    )
    parser.add_argument(
        "--curve",
        metavar="FILE",
        help="write the corpus after every merge there, as CSV",
    )
    parser.add_argument(
        "--keep-existing", action="store_true", help="replace no file: where OUT is taken, save as OUT-2, OUT-3, …"
    )
    add_options(parser)
    add_resume(parser)


def run(options: Namespace) -> int:
    """Count, learn and save; returns 0, 1 if a preset gave another result than promised, or 130 after a signal."""
    with closing(Job(report_to_person(), patience=0)) as job:
        lines = _train(options, job)
    if job.stopped:
        return 130
    sys.stdout.writelines(map(_shown, lines))
    return int(not all(line.is_as_expected for line in lines))


def train_beside(arguments: Sequence[str], job: Job) -> None:
    """The training that these arguments ask for, beside the app. Raises `OptionError` for what makes no sense."""
    parser = QuietParser(add_help=False)
    _add_arguments(parser)
    _train(parser.parse_args(arguments), job)


def _train(options: Namespace, job: Job) -> tuple[PresetCheck, ...]:
    """Train, and report how it ended; what a preset promised.

    What was learned is saved whatever ends the learning: the trainer, a "stop", a signal, the end of the app. If it is
    stopped before the first merge, or before it has caught up with the merges that were known, no file is written.
    """
    _check_usage(options)
    preset = PRESETS.get(options.preset)
    outcome, lines = _Outcome(), tuple[PresetCheck, ...]()
    with suppress(Stopped):
        old = start_of(options, preparing("recovering merges", job))
        rules = rules_of(options, old)
        start = old.vocabulary if old else None
        checkpoints = checkpoints_of(options, job)
        if earlier := earlier_of(options, job):
            sample = sample_of(options)
            check_options(earlier, rules, str(sample) if sample else "")
        outcome.n_known = max(start.n_merges if start else 0, earlier.step if earlier else 0)
        counts = _counts(options, preset, rules, job)
        progress = preparing("counting pairs", job)
        trainer = Trainer(counts, **asdict(rules), start=start, resume=earlier, progress=progress)
        del counts  # the trainer has all it needs of them, in less room
        sizes = trainer.n_tokens, trainer.n_merges_wanted, trainer.n_known
        job.send(Started(*sizes, trainer.first_counts, trainer.n_bytes))
        learn(trainer, job, checkpoints)
        outcome.n_merges, outcome.n_given = trainer.n_merges, trainer.n_given
        outcome.reason = trainer.stop_reason or ""
        if outcome.n_merges >= max(outcome.n_known, 1) or not job.stopped:
            lines = preset.check(trainer.tokenizer()) if preset else ()
            if options.output:
                keep = options.keep_existing
                outcome.saved = save_learned(trainer.tokenizer(), options.output, job, keep_existing=keep)
                checkpoints.remove()
            if options.curve:
                _write_curve(trainer.tokenizer(), options.curve, outcome.saved)
    job.send(Done(job.stopped or outcome.reason, outcome.n_merges, job.seconds))
    job.say(_ending(job.stopped, outcome, job.seconds))
    return lines


def _counts(options: Namespace, preset: Preset | None, rules: Options, job: Job) -> Counts:
    if preset is None:
        outputs = [Path(place) for place in (options.output, checkpoint_of(options), options.curve) if place]
        weights = parsed(options.weight, options.paths)
        return count_files(
            options.paths, rules.pattern, job, outputs=outputs, weights=weights, sample=sample_of(options)
        )
    counts = preset.counts()
    job.send(Counted(counts.n_documents, counts.n_bytes, counts.n_characters, counts.n_pieces, len(counts.table)))
    return counts


def _write_curve(tokenizer: Tokenizer, path: str, saved: str) -> None:
    """Raises `FormatError`, which says where the tokenizer is nevertheless."""
    try:
        write_curve(tokenizer, path)
    except FormatError as error:
        if not saved:
            raise
        raise FormatError(f"{str(error).rstrip('.')}; what was learned is saved in {saved} all the same.") from None


def _shown(line: PresetCheck) -> str:
    if line.is_as_expected and line.stated:
        return visible(f"not as its article states: {line.what}: {line.found}; stated: {line.stated}") + "\n"
    if line.is_as_expected:
        return visible(f"as promised: {line.what}: {line.found}") + "\n"
    return visible(f"NOT as promised: {line.what}: {line.found}; promised: {line.expected}") + "\n"


def _check_usage(options: Namespace) -> None:
    if options.preset and options.paths:
        raise OptionError(f"The preset {options.preset} has its own text; leave out {options.paths[0]}, or --preset.")
    if not options.preset and not (options.paths and options.output):
        raise OptionError("Name the texts to learn from and, with -o, the file to save to; or a --preset.")
    if options.output:
        check_output(Path(options.output), options.paths)
    for other in filter(None, (options.checkpoint, options.curve)):
        check_output(Path(other), options.paths)


@dataclass(slots=True)
class _Outcome:
    """What has come of a training."""

    n_known: int = 0
    """Merges that were made before it."""
    n_merges: int = 0
    n_given: int = 0
    """So many of these were given."""
    reason: str = ""
    """Why the trainer ended; empty if it did not."""
    saved: str = ""
    """The file; empty if there is none."""


def _ending(stopped: str, outcome: _Outcome, seconds: float) -> str:
    learned = counted(outcome.n_merges - outcome.n_given, "merge")
    behind = f" behind {outcome.n_given:,} of the old vocabulary" if outcome.n_given else ""
    place = f"saved in {outcome.saved}" if outcome.saved else "nothing is saved without -o"
    if not stopped:
        return f"Learned {learned}{behind} in {seconds:.1f} s ({outcome.reason}); {place}."
    if outcome.n_merges < outcome.n_known:
        return f"{stopped.capitalize()} before all that was known was made again; no file has changed."
    if outcome.n_merges:
        return f"{stopped.capitalize()} after {learned}{behind}; {place}."
    return f"{stopped.capitalize()} before the first merge; nothing is saved."
