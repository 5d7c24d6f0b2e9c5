"""Where a `train` keeps checkpoints, and the file in which an earlier run of the same command left what it learned."""

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from bpe_core.errors import FormatError, OptionError
from bpe_core.formats import load
from bpe_core.formats.atomic import file_of
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer.checkpoints import Checkpoints
from bpe_core.worker.job import Job
from bpe_core.worker.messages import Checkpoint

BEGIN_ANEW: Final = "leave out --resume to begin anew"


def add_resume(parser: ArgumentParser) -> None:
    """Add the arguments that say where checkpoints go, and whether to go on from one."""
    parser.add_argument(
        "--resume", action="store_true", help="go on where an earlier run of this command ended, however it ended"
    )
    parser.add_argument(
        "--resume-from", metavar="FILE", help="the same, from this file instead of OUT.checkpoint or OUT"
    )
    parser.add_argument(
        "--checkpoint", metavar="FILE", help="where to keep what is learned so far, until OUT is saved (OUT.checkpoint)"
    )


def checkpoint_of(options: Namespace) -> Path | None:
    """Where the checkpoints of a training go: beside its OUT; None if it saves to no file of a disk."""
    if options.checkpoint:
        if options.output and os.path.realpath(options.checkpoint) == os.path.realpath(options.output):
            raise OptionError(f"{options.output} is where the tokenizer goes; name another file for the checkpoints.")
        return Path(options.checkpoint)
    place = file_of(options.output) if options.output else None
    return place and place.with_name(f"{place.name}.checkpoint")


def checkpoints_of(options: Namespace, job: Job) -> Checkpoints:
    """The checkpoints of a training, each of which is reported; a problem is said once, and not every few seconds."""
    place, said = checkpoint_of(options), ""

    def tell(n_merges: int, problem: str) -> None:
        nonlocal said
        if problem not in ("", said):
            job.say(f"No checkpoint: {problem}")
        said = problem
        job.send(Checkpoint(str(place), n_merges, problem))

    return Checkpoints(place, tell)


def earlier_of(options: Namespace, job: Job) -> Tokenizer | None:
    """What the run that is to be resumed has learned; None if none is to be, or it left no file: that is said.

    Raises `FormatError` if there is no such file, `OptionError` if it is broken.
    """
    place = checkpoint_of(options)
    if options.resume_from:
        place = Path(options.resume_from)
    elif not options.resume:
        if place and place.exists():
            job.say(f"{place} is of a run that did not end; --resume would have gone on from it.")
        return None
    elif not (place and place.exists()):
        place = Path(options.output or os.devnull)
        if not place.is_file():
            job.say("There is no checkpoint to resume; this run begins at the beginning.")
            return None
    try:
        earlier = load(place)
    except FormatError as error:
        if not place.is_file():
            raise
        raise OptionError(f"{place} is no whole checkpoint; {BEGIN_ANEW}.") from error
    job.say(f"Going on from {place}, after {counted(earlier.step, 'merge')}.")
    return earlier
