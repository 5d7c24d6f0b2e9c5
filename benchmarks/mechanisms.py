"""`python -m benchmarks.mechanisms [RANKS ...]`: what each mechanism of the Python engine is worth, alone.

One after the other is switched off, and a job that people do is done with it and without it in turn: a text is encoded
for the first time, or edited and drawn. Told are the median of the ratios of CPU seconds, without it to with it (above
1 it gains, below 1 it loses), and the milliseconds with it. The kernel is off. RANKS are files such as
cl100k_base.tiktoken; a vocabulary that is learned from sources and samples is always there.
"""

import os
import random
import string
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, Final

os.environ["BPESCOPE_KERNEL"] = "0"

from benchmarks import inputs, table
from bpe_core import LiveText, Tokenizer, Vocabulary, load, save, train
from bpe_core import tokenizer as tokenizing
from bpe_core.content.samples import samples
from bpe_core.editing.live_text import block_list, blocks, pieces, splicing
from bpe_core.merging import merge_loop, windows

PUBLISHED: Final = {"r50k_base": "gpt2", "cl100k_base": "gpt4", "o200k_base": "gpt4o"}
"""The pattern of rank files, by name."""
ROUNDS: Final = 3
EDITS: Final = 120
NEVER: Final = 1 << 60
"""As a length: more than any text has."""

Off = Callable[[], AbstractContextManager[None]]
"""What switches a mechanism off for a while."""


def replaced(*owners: Any, **values: Any) -> Off:
    """Attributes of modules or classes replaced by others."""

    @contextmanager
    def off() -> Iterator[None]:
        old = [(owner, name, getattr(owner, name)) for owner in owners for name in values]
        for owner, name, _ in old:
            setattr(owner, name, values[name])
        try:
            yield
        finally:
            for owner, name, value in old:
                setattr(owner, name, value)

    return off


def together(*mechanisms: Off) -> Off:
    """Several switched off at once."""

    @contextmanager
    def off() -> Iterator[None]:
        with ExitStack() as stack:
            for mechanism in mechanisms:
                stack.enter_context(mechanism())
            yield

    return off


class Forgetful(dict[Any, Any]):
    """A memory that keeps nothing."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """Keep nothing."""


class ForgetfulPieces(tokenizing.PieceCache):
    """A memory of pieces that keeps none."""

    __slots__ = ()

    def __setitem__(self, piece: str, ids: tuple[int, ...]) -> None:
        """Keep nothing."""


def forgetting(name: str) -> Off:
    """Vocabularies with a memory that keeps nothing."""
    set_up = Vocabulary._set

    def forget(self: Vocabulary, *arguments: Any) -> None:
        set_up(self, *arguments)
        setattr(self, name, Forgetful())

    return replaced(Vocabulary, _set=forget)


ENCODING: Final[Mapping[str, Off]] = {
    "memory of pieces": replaced(tokenizing, PieceCache=ForgetfulPieces),
    "windows over long pieces": replaced(merge_loop, WINDOW=NEVER),
    "repetitions in long pieces": replaced(windows, _repeat=lambda symbols, tokens, starts, done: done),
}
EDITING: Final[Mapping[str, Off]] = {
    "edits between two cuts in a block": replaced(splicing, _between_cuts=lambda *arguments: None),
    "blocks of 1,024 characters, not 8,192": together(
        replaced(blocks, block_list, SIZE=8192, MOST=32768), replaced(splicing, MOST=32768)
    ),
    "long pieces in parts": replaced(pieces, LONG=NEVER),
    "memory of tokens' bytes": forgetting("_asked"),
}


def main() -> None:
    """Measure and print the tables; some ten minutes."""
    parser = ArgumentParser(prog="python -m benchmarks.mechanisms", description=__doc__)
    parser.add_argument("ranks", type=Path, nargs="*", metavar="RANKS")
    parser.add_argument("--size", type=int, default=300_000, help="characters of a text of words (300,000)")
    options = parser.parse_args()
    print(table.machine())
    texts = dict(_texts(options.size))
    with tempfile.TemporaryDirectory() as folder:
        openers = dict(_openers(options.ranks, Path(folder)))
        for mechanisms, job, title in ((ENCODING, _encoded, "Encoding"), (EDITING, _edited, "Editing")):
            print(f"\n### {title}\n")
            for line in table.markdown(("mechanism", "vocabulary", *texts), _rows(mechanisms, job, openers, texts)):
                print(line, flush=True)


Opener = Callable[[], Tokenizer]


def _rows(
    mechanisms: Mapping[str, Off],
    job: Callable[[Opener, str], float],
    openers: Mapping[str, Opener],
    texts: Mapping[str, str],
) -> Iterator[list[str]]:
    for mechanism, off in mechanisms.items():
        for vocabulary, opener in openers.items():
            yield [mechanism, vocabulary, *(_compared(partial(job, opener, text), off) for text in texts.values())]


def _compared(job: Callable[[], float], off: Off) -> str:
    """The ratio, and what the job takes with the mechanism. Who begins changes from round to round."""
    with_it: list[float] = []
    without: list[float] = []
    for number in range(2 * ROUNDS):
        if number % 4 in (0, 3):
            with_it.append(job())
        else:
            with off():
                without.append(job())
    ratio = median(slow / fast for slow, fast in zip(without, with_it, strict=True))
    return f"{ratio:.2f} ({1e3 * median(with_it):.0f})"


def _encoded(opener: Opener, text: str) -> float:
    """CPU seconds that encoding a text takes a fresh tokenizer."""
    tokenizer = opener()
    tokenizer.splitter.compile_all()
    began = time.process_time()
    tokenizer.encode_ordinary(text)
    return time.process_time() - began


def _edited(opener: Opener, text: str) -> float:
    """CPU seconds of edits, and of looking at the spans around each."""
    live = LiveText(opener(), text)
    live.tokenizer.splitter.compile_all()
    live.settle(float("inf"))
    rng, at = random.Random(3), 0
    began = time.process_time()
    for _ in range(EDITS):
        at = rng.choice((at, rng.randrange(live.n_characters)))
        typed = rng.choice(("a", "e", " ", "\n", "7", ")", "é", "中", "the word "))
        live.splice(at, min(live.n_characters, at + rng.choice((0, 0, 1))), typed)
        live.spans(max(0, at - 200), min(live.n_characters, at + 200))
        at = min(at + len(typed), live.n_characters - 1)
    return time.process_time() - began


def _openers(ranks: list[Path], folder: Path) -> Iterator[tuple[str, Opener]]:
    learned = folder / "learned.json"
    texts = [data.decode() for data in islice(inputs._texts(), 120)]
    save(train([*texts, *(sample.path.read_text("utf-8") for sample in samples())], vocab_size=8192), learned)
    yield "learned", partial(load, learned)
    for path in ranks:
        yield path.stem, partial(load, path, pattern=PUBLISHED.get(path.stem))


def _texts(size: int) -> Iterator[tuple[str, str]]:
    """What people edit and encode, and what turns anything that is quadratic into a wait."""
    rng = random.Random(1)
    sources = "\n".join(data.decode() for data in islice(inputs._texts(), 60))
    prose = " ".join(line for line in sources.splitlines() if line.startswith("    ") and line.endswith((".", ",")))
    yield "prose", prose[:size]
    yield "code", sources[:size]
    tale = (inputs.ROOT / "sample_texts" / "one-tale-many-scripts.txt").read_text("utf-8")
    sentences = [text for text in tale.replace("。", "。\n").splitlines() if text > "\u3000"]
    yield "Chinese", "\n".join(rng.choices(sentences, k=size // 100))
    yield "Chinese in one piece", "".join(map(chr, rng.choices(inputs._COMMON_HAN, k=size // 12)))
    yield "digits", "".join(rng.choices(string.digits, k=size // 4))
    yield "random letters in one piece", "".join(rng.choices(string.ascii_lowercase, k=size // 4))
    yield "one letter", "a" * (size // 4)


if __name__ == "__main__":
    main()
