"""`python -m tests.attack.fuzz_counts`: broken files of counts; each loads as it was, or is refused in one sentence.

In some files one bit is flipped: every bit of two small files, if there are as many to flip. In the others a value
is replaced, and the digest made for it, as a program that writes such files by itself could do: what loads then
must be in range, and add up.
"""

import random
import resource
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow import parquet

from bpe_core import BpeError, Counts, untrusted_json
from bpe_core.corpus import Skipped
from bpe_core.corpus.counts import KEY, LARGEST_COUNT
from bpe_core.corpus.counts_file import SCHEMA, write_rows

MEMORY: Final = 1 << 32
_PIECES: Final = (b"", b"\xff", b"low", b"a longer piece than all others")
_SMALL: Final = (-(2**63), -1, 0, 1, 2, 7, 10**6, 10**6 + 1, 2**31 - 1, 2**31, 2**32)
_NUMBERS: Final = (*_SMALL, 2**53, 2**62, 2**63 - 1)
_OTHERS: Final = (None, True, 1.5, "", "x", "1/0", "-1", "1e9", [], {}, [1], {"a": 1})
_VALUES: Final = (*_NUMBERS, *_OTHERS, 2**63, 2**64, 10**30)


@cache
def sound_files() -> list[bytes]:
    """Two small files: of texts, and of texts with weights."""
    plain = Counts.of(["low lower lowest, low", "é low 中"], "gpt4")
    plain.skipped.append(Skipped(Path("broken.txt"), "it is binary"))
    parts = [
        (Counts.of(["a b a"]), Fraction(1, 3)),
        (Counts.of(["b", "c b"]), Fraction(5, 2)),
    ]
    weighted = Counts.weighted(parts)
    weighted.weights = "a=1/3 b=2.5"
    weighted.sample = "half of it"
    return [plain.to_bytes(), weighted.to_bytes()]


def known(counts: Counts) -> dict[str, Any]:
    """All that counts hold, order included."""
    numbers = counts.table.columns(0, len(counts.table))[1]
    state = vars(counts) | {"numbers": numbers, "n_pieces": counts.n_pieces}
    for name in ("splitter", "spill", "table", "_pieces"):
        del state[name]
    return state | {"pieces": list(counts.pieces)}


def flipped(data: bytes, bit: int) -> bytes:
    """Return the file with one bit changed."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def flips(n_flips: int, rng: random.Random) -> Iterator[tuple[int, int]]:
    """Yield (number of a sound file, bit): all there are, or as many at random."""
    every = [
        (number, bit)
        for number, data in enumerate(sound_files())
        for bit in range(8 * len(data))
    ]
    if n_flips < len(every):
        every = rng.sample(every, n_flips)
    yield from every


def outcome_of_flip(number: int, bit: int) -> str:
    """Return "refused" or "equal", or what is wrong."""
    data = sound_files()[number]
    counts = loaded(flipped(data, bit))
    if isinstance(counts, str):
        return counts
    if known(counts) != known(Counts.load(data)):
        return "it loads with other content"
    return "equal"


def forged(rng: random.Random) -> bytes:
    """Return a file in which one value is replaced, with the right digest."""
    with parquet.ParquetFile(BytesIO(rng.choice(sound_files()))) as file:
        about = untrusted_json.parse(file.metadata.metadata[KEY])
        columns = file.read().to_pydict()
    if rng.random() < 0.5:
        name = rng.choice(SCHEMA.names)
        values = _PIECES if name == "piece" else _NUMBERS
        columns[name][rng.randrange(len(columns[name]))] = rng.choice(values)
    else:
        record = rng.choice([about, *about["sources"], *about["skipped"]])
        key = rng.choice(sorted(record.keys() - {"order"}))
        if rng.random() < 0.1:
            del record[key]
        else:
            record[key] = rng.choice(_VALUES)
    file = BytesIO()
    write_rows(about, [pa.RecordBatch.from_pydict(columns, SCHEMA)], file)
    return file.getvalue()


def outcome_of_forgery(data: bytes) -> str:
    """Return "refused" or "sound", or what is wrong."""
    counts = loaded(data)
    if isinstance(counts, str):
        return counts
    try:
        twice = counts.merge(Counts.load(data))
    except BpeError as error:
        return sentence_or_problem(error)
    again = loaded(twice.to_bytes())
    if isinstance(again, str):
        return f"what was merged and saved is refused: {again}"
    numbers = known(again)["numbers"]
    if numbers != known(twice)["numbers"]:
        return "what was merged, saved and loaded is another"
    if sum(again.pieces.values()) * again.scale > LARGEST_COUNT:
        return "the counts are above 2^63"
    return "sound"


def loaded(data: bytes) -> Counts | str:
    """Return the counts, "refused", or what is wrong."""
    try:
        return Counts.load(data)
    except BpeError as error:
        return sentence_or_problem(error)
    except Exception as error:
        return f"{type(error).__name__}: {ascii(str(error))[:100]}"


def sentence_or_problem(error: BpeError) -> str:
    """Return "refused" if the error is one sentence."""
    sentence = str(error)
    if "\n" in sentence or not sentence.endswith(".") or ": ;" in sentence:
        return f"it is not one sentence: {ascii(sentence)[:100]}"
    return "refused"


def main() -> int:
    """Break files, and print what was wrong afterwards; 1 if anything was."""
    parser = ArgumentParser(
        prog="python -m tests.attack.fuzz_counts", description=__doc__
    )
    parser.add_argument("--flips", type=int, default=3000, help="bits (3,000)")
    parser.add_argument("--forged", type=int, default=1000, help="values (1,000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    outcomes: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for number, bit in flips(options.flips, random.Random(options.seed)):
        outcome = outcome_of_flip(number, bit)
        outcomes[outcome] += 1
        examples.setdefault(outcome, f"bit {bit} of file {number}")
    for number in range(options.forged):
        seed = f"{options.seed}-{number}"
        outcome = outcome_of_forgery(forged(random.Random(seed)))
        outcomes[outcome] += 1
        examples.setdefault(outcome, f"forged file {seed}")
    problems = set(outcomes) - {"refused", "equal", "sound"}
    for outcome, n in outcomes.most_common():
        print(f"{n:8,}  {outcome}  ({examples[outcome]})")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
