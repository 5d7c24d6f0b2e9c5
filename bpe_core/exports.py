"""What was learned, for other programs and for print: the merges as text, the curve as CSV, the record as JSON.

Tokenizers for other libraries are written by `bpe_core.formats`.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, fields

from bpe_core.errors import OptionError
from bpe_core.metrics.training_curve import CurvePoint, TrainingCurve
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import token_label


def exported(what: str, tokenizers: list[Tokenizer], names: list[str]) -> Iterable[str]:
    """The "merges", "curve" or "record" of a training, newlines included; `names` are files. Raises `OptionError`."""
    if what == "merges":
        return merges_as_text(tokenizers[0])
    if what == "record":
        return [record_as_json(tokenizers[0])]
    return curve_lines(tokenizers, names)


def curve_lines(tokenizers: list[Tokenizer], names: list[str]) -> Iterable[str]:
    """The curves of trainings, `names` being the files, as CSV. Raises `OptionError`."""
    curves = {
        name if names.count(name) == 1 else f"{name} {number}": TrainingCurve.of(tokenizer).points
        for number, (name, tokenizer) in enumerate(zip(map(os.path.basename, names), tokenizers, strict=True), 1)
    }
    return curve_as_csv(curves)


def merges_as_text(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield a line a merge, its values separated by tabs, the names of the columns first; newlines included.

    Tokens are labels, as the app shows them, and bytes in hexadecimal; what a training
    recorded follows if it is known.
    """
    steps = tokenizer.record.steps if tokenizer.record else ()
    columns = ["step", "left_id", "right_id", "id", "left", "right", "token", "hex"]
    yield "\t".join([*columns, *(("count", "ties", "n_tokens") if steps else ())]) + "\n"
    for number, merge in enumerate(tokenizer.merges):
        labels = (token_label(tokenizer.token_bytes(id)) for id in merge)
        values = (number + 1, *merge, *labels, tokenizer.token_bytes(merge[2]).hex())
        yield "\t".join(map(str, (*values, *(steps[number] if number < len(steps) else ())))) + "\n"


def curve_as_csv(curves: Mapping[str, Sequence[CurvePoint]]) -> Iterator[str]:
    """Yield the points of curves (name -> points) as lines of CSV, a header first; what is not known is empty.

    With several curves the first column is their name.
    """
    names = [field.name for field in fields(CurvePoint)]
    yield ",".join(["run", *names] if len(curves) > 1 else names) + "\n"
    for name, points in curves.items():
        first = [_quoted(name)] if len(curves) > 1 else []
        for point in points:
            yield ",".join([*first, *_cells(astuple(point))]) + "\n"


def _cells(values: Iterable[object]) -> Iterator[str]:
    return ("" if value is None else repr(value) for value in values)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def record_as_json(tokenizer: Tokenizer) -> str:
    """The training record as a JSON object, with the digest of the corpus, and for each step [count, ties, n_tokens].

    Raises `OptionError` if there is none.
    """
    if tokenizer.record is None:
        raise OptionError("There is no record of a training in this tokenizer's file.")
    record = {**asdict(tokenizer.record), "corpus_digest": tokenizer.record.corpus_digest}
    record["steps"] = record["steps"][: tokenizer.step]
    return json.dumps(record, ensure_ascii=False) + "\n"
