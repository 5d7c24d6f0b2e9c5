"""Saving what was learned: to the file asked for, or else to one that is named."""

import os
import tempfile
from pathlib import Path

from bpe_core.errors import FormatError, OptionError
from bpe_core.formats import save, save_beside
from bpe_core.formats.atomic import check_place
from bpe_core.tokenizer import Tokenizer
from bpe_core.worker.job import Job
from bpe_core.worker.messages import Saved


def check_output(output: Path, texts: list[str]) -> None:
    """Raise OptionError or FormatError now if saving would fail later, or would destroy a text."""
    check_place(output)
    if output.exists() and any(Path(text).exists() and output.samefile(text) for text in texts):
        raise OptionError(f"{output} is a text to learn from; name another file for the tokenizer.")


def save_learned(tokenizer: Tokenizer, output: str, job: Job, *, keep_existing: bool) -> str:
    """Save to `output`, and return where it is; if that fails, to the folder for temporary files, for learning may have
    taken hours.

    Raises FormatError whenever `output` could not be written; the message then names the other file.
    """
    try:
        if keep_existing:
            output = str(save_beside(tokenizer, Path(output)))
        else:
            save(tokenizer, output)
        job.send(Saved(output))
        return output
    except FormatError as error:
        refuge = Path(tempfile.gettempdir(), f"{Path(output).stem[:100]}-{os.urandom(4).hex()}.json")
        try:
            save(tokenizer, refuge)
        except FormatError:
            raise error from None
        job.send(Saved(str(refuge)))
        raise FormatError(f"{str(error).rstrip('.')}; what was learned is saved in {refuge} instead.") from None
