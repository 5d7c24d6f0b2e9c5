"""Documents into ids on all cores: they go out in portions, whose ids come back in order, ready to be printed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from bpe_core.cli.counting import WORKER_LOST
from bpe_core.cli.tokenizers import open_tokenizer
from bpe_core.corpus import TextFile
from bpe_core.parallel.pool_size import n_processes
from bpe_core.parallel.portions import Cut, Portion, portion_size, portions
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.specials import Choice

EACH: Final = 1 << 22
"""Bytes on disk from which on a process more is worth starting: it has to open the tokenizer, too."""

Look = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of a document, or of a part of one."""

    n: int
    """How many there are."""
    text: str | None
    """As they are printed; None if only their number was asked for."""


@dataclass(frozen=True, slots=True)
class EncodePortion:
    """Encodes whole files, or a part of one."""

    tokenizer: str
    """What `open_tokenizer` finds it by; each process opens it for itself."""
    pattern: str | None
    """The one asked for instead of the tokenizer's own."""
    allowed_special: Choice
    disallowed_special: Choice
    between: str | None
    """What to print between two ids; None if only their number is asked for."""

    def opened(self) -> Tokenizer:
        """The tokenizer, opened once."""
        return _opened(self.tokenizer, self.pattern)

    def __call__(self, portion: Portion, look: Look) -> list[Ids]:
        """One for each file. Raises `Unreadable`, and `SpecialTokenError` with the offset in the portion."""
        tokenizer = self.opened()
        return [
            self._printed(
                tokenizer.encode_blocks(
                    blocks, allowed_special=self.allowed_special, disallowed_special=self.disallowed_special
                )
            )
            for _, blocks in portion.texts(look)
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
    look: Look,
    tell: Callable[[str], None] = lambda _: None,
    processes: int | None = None,
) -> Iterator[tuple[Portion, list[Ids]]]:
    """The portions of the files in order, encoded by as many processes as that is worth.

    `look` is told how many bytes are done; what it raises ends the work. `tell` is given a sentence if a process died.
    """
    tokenizer = work.opened()
    total = sum(file.size for file in files)
    processes = processes or n_processes(total, EACH)
    jobs = portions(files, portion_size(total, processes), None if processes == 1 else safe_cut(tokenizer))
    done = 0

    def looked(n_bytes: int) -> None:
        look(done + n_bytes)

    if processes == 1:
        answers: Iterator[tuple[Portion, list[Ids]]] = ((job, work(job, looked)) for job in jobs)
        yield from answers
        return
    from bpe_core.parallel.process_pool import ProcessPool  # late: most texts are small

    with ProcessPool(work, processes) as pool:
        for portion, ids in pool.results(jobs, looked):
            yield portion, ids
            done += portion.size
        if pool.n_lost:
            tell(WORKER_LOST)


def safe_cut(tokenizer: Tokenizer) -> Cut | None:
    """Where a text may be cut so that its parts have the ids of the whole; None if that is not known.

    Besides the splitter's cuts it takes care that no special token lies across.
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
    """Id -> its digits, written once."""

    def __missing__(self, token: int) -> str:
        name = self[token] = str(token)
        return name


_NAMES: Final = _Names()
