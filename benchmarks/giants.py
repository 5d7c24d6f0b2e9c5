"""`python -m benchmarks.giants [FILE ...]`: what one edit costs in long texts, and in giant pieces above all.

FILE is a tokenizer, such as cl100k_base.tiktoken; without one, a small one is learned from the samples. First come
edits at random places of 1 and 10 MB of our samples, astral characters among them; then edits in texts that some
pattern leaves in one piece, once when all their tokens are known and once before anybody has looked at them.
"""

import base64
import gc
import random
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks import table
from bpe_core import LiveText, Tokenizer, load, train
from bpe_core.content.samples import samples

MB: Final = 1_000_000
PUBLISHED: Final = {"r50k_base": "gpt2", "cl100k_base": "gpt4", "o200k_base": "gpt4o"}
"""The pattern of rank files, by name."""
_HEAD: Final = ("tokenizer", "text", "median µs", "99 % µs", "worst µs", "of CPU: median µs", "edits")
_TYPED: Final = (*"abcdefg  \n.,1é中", "\U0001f60a", "word ", "x" * 40)


def main() -> None:
    """Edit and print the table; a minute for each tokenizer."""
    parser = ArgumentParser(prog="python -m benchmarks.giants", description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE")
    parser.add_argument("--edits", type=int, default=4000, help="in each long text (4,000); in giant ones a hundredth")
    options = parser.parse_args()
    print(table.machine(), "\n")
    for line in table.markdown(_HEAD, _rows(options.files, options.edits)):
        print(line, flush=True)


def _rows(files: list[Path], n_edits: int) -> Iterator[list[str]]:
    for name, tokenizer in _tokenizers(files):
        for megabytes in (1, 10):
            yield [name, f"{megabytes} MB", *_measured(tokenizer, _prose(megabytes * MB), n_edits)]
        for what, text in _giants().items():
            for settled in (True, False):
                row = _measured(tokenizer, text, max(10, n_edits // 100), settled)
                yield [name, what if settled else f"{what}, not looked at", *row]


def _tokenizers(files: list[Path]) -> Iterator[tuple[str, Tokenizer]]:
    if not files:
        yield "samples", train([sample.path.read_text("utf-8") for sample in samples()], vocab_size=4096)
    for path in files:
        yield path.stem, load(path, pattern=PUBLISHED.get(path.stem))


def _prose(n_characters: int) -> str:
    text = "\n".join(sample.path.read_text("utf-8") for sample in samples() if sample.group != "Long")
    return (text * (n_characters // len(text) + 1))[:n_characters]


def _giants() -> dict[str, str]:
    rng = random.Random(0)
    return {
        "1 MB line": _prose(MB).replace("\n", " "),
        "1 MB of spaces": " " * MB,
        "1 MB of one letter": "a" * MB,
        "1 MB of ab": "ab" * (MB // 2),
        "1 MB base64": base64.b64encode(rng.randbytes(MB * 3 // 4)).decode(),
        "1 MB of letters": "".join(rng.choices("etaoinshrdlu", k=MB)),
        "1 MB of digits": "".join(rng.choices("0123456789", k=MB)),
        "1 MB of one emoji": "\U0001f60a" * (MB // 4),
        "1 MB of Chinese": "".join(rng.choices([chr(0x4E00 + int(n**1.7)) for n in range(340)], k=MB // 3)),
    }


def _measured(tokenizer: Tokenizer, text: str, n_edits: int, settled: bool = True) -> list[str]:
    """Edits one after the other, on the clock and in CPU time: on a busy machine the first holds waits for others."""
    rng = random.Random(1)
    live = LiveText(tokenizer, text)
    if settled:
        live.settle(float("inf"))
    gc.collect()
    walls, cpus = [], []
    for _ in range(n_edits):
        start = rng.randrange(live.n_characters)
        end = min(live.n_characters, start + rng.choice((0, 0, 0, 1, 1, 5)))
        if settled:
            live.settle(float("inf"))
        began, cpu = time.perf_counter(), time.thread_time()
        live.splice(start, end, rng.choice(_TYPED) if end - start != 1 else "")
        walls.append(1e6 * (time.perf_counter() - began))
        cpus.append(1e6 * (time.thread_time() - cpu))
    walls.sort()
    return [
        *(f"{figure:,.0f}" for figure in (median(walls), walls[int(0.99 * (n_edits - 1))], walls[-1], median(cpus))),
        f"{n_edits:,}",
    ]


if __name__ == "__main__":
    main()
