"""`python -m tests.attack.fuzz_corpora`: mutated and hostile corpora of every form that holds rows or members.

Each ends in documents or in one sentence, within 10 s of processor time and 512 MB more than an idle
process has. Whatever else happens is printed with the number that makes the same corpus again
(`--form`, `--number`).
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import random
import resource
import subprocess
import sys
import tarfile
import tempfile
import traceback
import zipfile
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bpe_core import BpeError
from bpe_core.corpus import Counts, find_files
from bpe_core.errors import LONGEST
from bpe_core.visible import visible
from tests.attack.fuzz_files.mutations import mutant
from tests.attack.fuzz_files.sound import Sound

SECONDS: Final = 10
ROOM: Final = 512 << 20
MEMORY: Final = 300_000_000
"""What the readers are told that they may take."""
HOSTILE_EVERY: Final = 10
_TEXT: Final = "the theme of the other thesis, naïve 日本\r\n\N{GRINNING FACE}"


def texts(rng: random.Random) -> list[str]:
    return [_TEXT * rng.choice((0, 1, 3, 100)) for _ in range(rng.choice((1, 5, 40)))]


def hostile_texts(rng: random.Random) -> list[str]:
    """A long one, one that repeats, or very many."""
    return rng.choice((["a " * (30 << 20)], [_TEXT * 1000] * 3000, [""] * 100_000))


def json_lines(rows: list[str], rng: random.Random) -> bytes:
    return "".join(json.dumps({"n": 1, "text": row}) + "\n" for row in rows).encode()


def deep_json(rows: list[str], rng: random.Random) -> bytes:
    return b'{"text": ' + b"[" * 1_000_000 + b"\n" + json_lines(rows, rng)


def table(rows: list[str], rng: random.Random) -> bytes:
    lines = io.StringIO(newline="")
    csv.writer(lines, delimiter=rng.choice(",\t")).writerows([["text"], *([row] for row in rows)])  # fmt: skip
    return lines.getvalue().encode()


def tar(rows: list[str], rng: random.Random) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for number, row in enumerate(rows[:2000]):
            data = packed(row.encode(), rng)
            member = tarfile.TarInfo(f"{number}.txt" + "x" * rng.choice((0, 200)))
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def zipped(rows: list[str], rng: random.Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice((0, 8, 12, 14))) as archive:
        for number, row in enumerate(rows[:2000]):
            archive.writestr(f"{number}.txt", packed(row.encode(), rng))
    return out.getvalue()


def web_archive(rows: list[str], rng: random.Random) -> bytes:
    records = []
    for row in rows:
        data = row.encode()
        head = f"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: {len(data)}\r\n\r\n"
        records.append(head.encode() + data + b"\r\n\r\n")
    return b"".join(records)


def column(rows: list[str], rng: random.Random) -> Any:
    import pyarrow as pa

    array = pa.array(rows)
    return pa.table({"text": rng.choice((array, array.dictionary_encode()))})


def parquet(rows: list[str], rng: random.Random) -> bytes:
    import pyarrow.parquet

    out = io.BytesIO()
    pyarrow.parquet.write_table(
        column(rows, rng), out, compression=rng.choice(("none", "snappy", "zstd")), row_group_size=rng.choice((3, 1 << 20))
    )  # fmt: skip
    return out.getvalue()


def arrow(rows: list[str], rng: random.Random) -> bytes:
    import pyarrow as pa

    out, rows_of = io.BytesIO(), column(rows, rng)
    options = pa.ipc.IpcWriteOptions(compression=rng.choice((None, "lz4", "zstd")))
    new = rng.choice((pa.ipc.new_file, pa.ipc.new_stream))
    with new(out, rows_of.schema, options=options) as writer:
        writer.write_table(rows_of)
    return out.getvalue()


FORMS: Final[dict[str, Callable[[list[str], random.Random], bytes]]] = {
    "jsonl": json_lines,
    "deep.jsonl": deep_json,
    "csv": table,
    "tsv": table,
    "tar": tar,
    "zip": zipped,
    "warc": web_archive,
    "parquet": parquet,
    "arrow": arrow,
}
_PACKERS: Final = (bytes, bytes, bytes, gzip.compress, lzma.compress, bz2.compress)


def packed(data: bytes, rng: random.Random) -> bytes:
    return rng.choice(_PACKERS)(data)


def corpus(form: str, seed: int, number: int) -> bytes:
    """Return the file with this number: hostile, or with a few changes, packed before or after them."""
    rng = random.Random(f"{seed} {form} {number}")
    if number % HOSTILE_EVERY == 0:
        return packed(FORMS[form](hostile_texts(rng), rng), rng)
    data = FORMS[form](texts(rng), rng)
    if rng.random() < 0.3:
        data = packed(data, rng)
    sound = Sound(form, {"a": data}, ("a",))
    return packed(mutant(sound, rng)["a"], rng)


class Unsound(Exception):
    """What a corpus must not end in."""


def judge(path: Path, *, skip_bad: bool) -> str:
    """Return "read" or "refused"; raise whatever else happens."""
    try:
        files = find_files(path, skip_bad=skip_bad, memory=MEMORY).files
        counts = Counts.read(files, "gpt4", workers=1)
    except BpeError as error:
        if not 0 < len(str(error)) <= LONGEST or visible(str(error)) != str(error):
            raise Unsound(f"no sentence: {ascii(str(error))[:200]}") from None
        return "refused"
    if sum(source.documents for source in counts.sources) != counts.n_documents:
        raise Unsound("the documents do not add up")
    return "read"


def judge_here(path: Path, skip_bad: bool) -> int:
    """Judge a file in this process, whose memory and time are limited."""
    Counts.of("low lower", "gpt4")
    for library in ("pyarrow.parquet", "pyarrow.ipc"):
        __import__(library)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    try:
        print(judge(path, skip_bad=skip_bad))
    except Exception:
        print(traceback.format_exc().strip().splitlines()[-1][:200])
        return 1
    return 0


def outcome(form: str, options: Namespace, number: int) -> str:
    """Make a corpus and have it judged in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a.{form}")
        path.write_bytes(corpus(form, options.seed, number))
        command = [sys.executable, "-m", "tests.attack.fuzz_corpora", "--judge", str(path)]  # fmt: skip
        if number % 2:
            command.append("--skip-bad")
        ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode == 0:
        return ended.stdout.strip()
    return f"unsound: {ended.stdout.strip() or f'died of {ended.returncode}'}"


def main() -> int:
    """Make and judge them; 1 if any was unsound."""
    parser = ArgumentParser(prog="python -m tests.attack.fuzz_corpora", description=__doc__)  # fmt: skip
    parser.add_argument("--files", type=int, default=100, help="of each form (100)")
    parser.add_argument("--form", action="append", choices=FORMS, help="only this one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, help="only this one")
    parser.add_argument("--judge", type=Path, help="judge this file in this process")
    parser.add_argument("--skip-bad", action="store_true", help="with --judge")
    options = parser.parse_args()
    if options.judge:
        return judge_here(options.judge, options.skip_bad)
    n_unsound = 0
    for form in options.form or FORMS:
        outcomes: Counter[str] = Counter()
        numbers = range(options.files) if options.number is None else [options.number]
        for number in numbers:
            ended = outcome(form, options, number)
            kind = ended.partition(":")[0]
            outcomes[kind] += 1
            if kind == "unsound":
                n_unsound += 1
                print(f"    --form {form} --seed {options.seed} --number {number}: {ended}", flush=True)  # fmt: skip
        told = ", ".join(f"{n:,} {kind}" for kind, n in sorted(outcomes.items()))
        print(f"{form}: {told}", flush=True)
    return int(n_unsound > 0)


if __name__ == "__main__":
    sys.exit(main())
