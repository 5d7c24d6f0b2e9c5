"""Encoding files in several processes: portions of files go out, their ids come back in order, as printable text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from bpe_core.cli.counting import WORKER_LOST
from bpe_core.cli.tokenizers import open_tokenizer
from bpe_core.corpus import TextFile
from bpe_core.parallel.pool_size import n_processes
from bpe_core.parallel.portions import Cut, OnProgress, Portion, portion_size, portions
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.specials import Choice

BYTES_PER_PROCESS: Final = 1 << 22
"""Bytes on disk that one more process must have to do, to be worth starting and opening the tokenizer once more."""


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of a document, or of a part of one."""

    n: int
    """How many ids there are."""
    text: str | None
    """The ids as they are printed, separated; None if only their number was asked for."""


@dataclass(frozen=True, slots=True)
class EncodePortion:
    """The task of a process pool: encode whole files, or a part of one."""

    tokenizer: str
    """The path or name for `open_tokenizer`; each process opens the tokenizer for itself."""
    pattern: str | None
    """The split pattern to use instead of the tokenizer's own; None to keep that."""
    allowed_special: Choice
    """Special tokens that are encoded as such."""
    disallowed_special: Choice
    """Special tokens that are an error in the text."""
    between: str | None
    """The separator of printed ids; None if only their number is asked for."""

    def opened(self) -> Tokenizer:
        """The tokenizer; opened once in a process."""
        return _opened(self.tokenizer, self.pattern)

    def __call__(self, portion: Portion, progress: OnProgress) -> list[Ids]:
        """The ids of each file of the portion; `progress` is called with the bytes of it that are done.

        Raises `Unreadable`, and `SpecialTokenError` with the offset in the portion, not in the file.
        """
        tokenizer = self.opened()
        return [
            self._printed(
                tokenizer.encode_blocks(
                    blocks, allowed_special=self.allowed_special, disallowed_special=self.disallowed_special
                )
            )
            for _, blocks in portion.texts(progress)
        ]

    def _printed(self, ids: Iterator[list[int]]) -> Ids:
        if self.between is None:
            return Ids(sum(map(len, ids)), None)
        n, shown = 0, []
        for some in filter(None, ids):
            n += len(some)
            shown.append(self.between.join(map(_NAMES.__getitem__, some)))
        return Ids(n, self.between.join(shown))


def encode_together(
    work: EncodePortion,
    files: Sequence[TextFile],
    progress: OnProgress,
    say: Callable[[str], None] = lambda _: None,
    processes: int | None = None,
) -> Iterator[tuple[Portion, list[Ids]]]:
    """Yield (portion, ids of its files) for all portions of the files, in order; `processes` many, by default by size.

    `progress` is called with the bytes done of all files; an exception it raises ends the work. `say` is called with
    a sentence if a process died, whose portion is then encoded in this one.
    """
    tokenizer = work.opened()
    total = sum(file.size for file in files)
    processes = processes or n_processes(total, BYTES_PER_PROCESS)
    jobs = portions(files, portion_size(total, processes), None if processes == 1 else safe_cut(tokenizer))
    done = 0

    def in_all(n_bytes: int) -> None:
        progress(done + n_bytes)

    if processes == 1:
        answers: Iterator[tuple[Portion, list[Ids]]] = ((job, work(job, in_all)) for job in jobs)
        yield from answers
        return
    from bpe_core.parallel.process_pool import ProcessPool  # late: most texts are small

    with ProcessPool(work, processes) as pool:
        for portion, ids in pool.results(jobs, in_all):
            yield portion, ids
            done += portion.size
        if pool.n_lost:
            say(WORKER_LOST)


def safe_cut(tokenizer: Tokenizer) -> Cut | None:
    """A function that finds where a text may be cut so that its parts have the ids of the whole.

    It gives the splitter's cuts, but none inside of a special token. None if the tokenizer changes a text before it
    splits it, or if its pattern has no cuts that are known to be safe.
    """
    if tokenizer.preparation or not tokenizer.splitter.blockwise:
        return None
    specials = tuple(tokenizer.special_tokens)
    reach = max(map(len, specials), default=1)

    def cut(text: str) -> int:
        at = tokenizer.splitter.cut(text, reach)
        while at + reach <= len(text):
            if not any(special in text[at - len(special) + 1 : at + len(special) - 1] for special in specials):
                return at
            at = tokenizer.splitter.cut(text, at + 1)
        return len(text)

    return cut


@lru_cache(maxsize=1)
def _opened(tokenizer: str, pattern: str | None) -> Tokenizer:
    return open_tokenizer(tokenizer, pattern)


class _Names(dict[int, str]):
    """Id -> its decimal digits, each converted once."""

    def __missing__(self, token: int) -> str:
        name = self[token] = str(token)
        return name


_NAMES: Final = _Names()
