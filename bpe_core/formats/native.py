"""Read and write bpescope's own format: JSON that a person can read.

The options and the training record come first, then one line per merge. The text at the end of the
line of a merge is for people; a file in which it does not match the ids is refused.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, asdict
from dataclasses import fields as fields_of
from typing import Any, Final

from bpe_core.corpus import Source
from bpe_core.formats.file import TokenizerFile, refuse
from bpe_core.formats.json_fields import LARGEST_ID, Fields, count_in, is_number
from bpe_core.formats.ranks import merges_of
from bpe_core.patterns import PATTERNS
from bpe_core.patterns.pattern import is_bare_word
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import TrainingRecord
from bpe_core.visible import CONTROLS
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.vocabulary.store import whole_by_default
from bpe_core.vocabulary.symbols import bytes_among
from bpe_core.weighted import Count, count_text, weighted_count

FORMAT: Final = "bpescope"
VERSION: Final = 1
_PLAIN_COLUMNS: Final = ("left", "right", "token", "text")
"""The columns of the merges of a vocabulary without a training record."""
_TRAINED_COLUMNS: Final = (
    "left",
    "right",
    "token",
    "count",
    "ties",
    "n_tokens",
    "text",
)
_WRITTEN_SEPARATELY: Final = ("sources", "steps", "first_counts", "special_tokens")
"""The fields of the training record that are not entries of "training" on one line."""
_TARGET: Final = "in bpescope's own format"
_ESCAPES: Final = {0x7F: "\\u007f"} | {
    code: json.dumps(chr(code))[1:-1] for code in CONTROLS if code > 0x7F
}
"""Code points that control a terminal or are invisible -> their escapes in JSON."""


def _number_of(fraction: Count) -> int | str:
    """Return the JSON value of a count that is not an int."""
    count = weighted_count(fraction)
    return count if isinstance(count, int) else count_text(count)


_ON_ONE_LINE: Final = json.JSONEncoder(ensure_ascii=False, default=_number_of).encode
"""Encodes a value as JSON. Fractions are written as texts."""
_ONE_PER_LINE: Final = json.JSONEncoder(
    ensure_ascii=False, separators=("\n", ":")
).encode
"""Encodes a list of strings with one string per line."""


def recognizes(data: bytes) -> bool:
    return data.lstrip()[:1] == b"{" and b'"bpescope"' in data[:200]


def write(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the text of the file, in parts.

    Raises:
        FormatError: The format cannot hold the tokenizer.
    """
    vocabulary = _vocabulary_to_write(tokenizer)
    record = tokenizer.record
    yield "{\n"
    yield _entry("format", FORMAT)
    yield _entry("version", VERSION)
    yield _entry("name", tokenizer.name)
    yield _entry("pattern", tokenizer.pattern)
    yield _entry("pattern_source", tokenizer.splitter.source)
    yield _entry("n_vocab", tokenizer.n_tokens)
    yield _entry("special_tokens", dict(vocabulary.special_tokens))
    yield from _base_entries(vocabulary)
    columns: tuple[str, ...] = _PLAIN_COLUMNS
    rows = [f"{left}, {right}, {token}" for left, right, token in vocabulary.merges]
    if record:
        columns = _TRAINED_COLUMNS
        yield from _record_entries(record)
        # One call for all steps is faster. Without a merge, there is one empty text.
        steps = _ON_ONE_LINE(record.steps)[2:-2].split("], [")
        rows = [f"{row}, {step}" for row, step in zip(rows, steps, strict=False)]
    yield _entry("columns", columns)
    texts = [_shown(vocabulary.bytes_of[token]) for _, _, token in vocabulary.merges]
    yield from _table("merges", rows, texts)
    yield "\n}\n"


def _vocabulary_to_write(tokenizer: Tokenizer) -> Vocabulary:
    """Return the vocabulary with its merges, or refuse the tokenizer."""
    if tokenizer.preparation:
        refuse(
            _TARGET, "it changes a text before it splits it, or looks for tokens in it"
        )
    vocabulary = merges_of(tokenizer.vocabulary, _TARGET)
    if vocabulary.end_of_word is not None:
        return vocabulary
    if not vocabulary.is_bytewise:
        refuse(_TARGET, "it is made of characters")
    # The file does not record which of two tokens a byte becomes. `Vocabulary`, which `read` makes, takes the lowest.
    for byte, lowest_id in bytes_among(vocabulary.base).items():
        if vocabulary.symbols(bytes([byte])) != [lowest_id]:
            refuse(_TARGET, "some of its bytes have two tokens")
    return vocabulary


def _base_entries(vocabulary: Vocabulary) -> Iterator[str]:
    base = vocabulary.base
    first_byte = min(base, default=0)
    if base == bytes_from(first_byte):
        yield _entry("first_byte", first_byte)
    else:
        yield from _table(
            "base", map(str, base), [data.hex() for data in base.values()]
        )
        yield ",\n"
    if vocabulary.end_of_word is not None:
        yield _entry("end_of_word", vocabulary.end_of_word)
    elif vocabulary.whole_pieces != whole_by_default(base):
        yield _entry("whole_pieces", sorted(vocabulary.whole_pieces.values()))


def _record_entries(record: TrainingRecord) -> Iterator[str]:
    yield ' "training": {\n'
    # Only earlier versions recorded when the training ended.
    for field in fields_of(record):
        is_missing = field.name == "created" and not record.created
        if field.name not in _WRITTEN_SEPARATELY and not is_missing:
            yield _entry(field.name, getattr(record, field.name))
    sources = [_escaped(_ON_ONE_LINE(asdict(source))) for source in record.sources]
    yield ' "sources": [\n'
    yield ",\n".join(f"  {source}" for source in sources)
    yield "\n ]},\n"
    if record.first_counts:
        yield _entry("first_counts", record.first_counts)


def bytes_from(first: int) -> dict[int, bytes]:
    """Return id -> bytes of the 256 bytes in order, with ids from `first` on."""
    return {first + byte: bytes([byte]) for byte in range(256)}


def _shown(data: bytes) -> str:
    """Return the bytes of a token as a text for people."""
    return data.decode(errors="backslashreplace")


def _escaped(json_text: str) -> str:
    """Escape the characters that are invisible or control a terminal."""
    if json_text.isascii() and "\x7f" not in json_text:
        return json_text
    return json_text.translate(_ESCAPES)


def _entry(key: str, value: object) -> str:
    """Return the line of a key and its value."""
    return f' "{key}": {_escaped(_ON_ONE_LINE(value))},\n'


def _table(key: str, numbers: Iterable[str], texts: Sequence[str]) -> Iterator[str]:
    """Yield a list of rows, one per line; the numbers of a row, then its text.

    >>> "".join(_table("base", ["1", "2"], ["a", "b"]))
    ' "base": [\\n[1, "a"],\\n[2, "b"]\\n ]'
    """
    encoded: list[str] = []
    if texts:
        # One call for all texts takes a fifth of the time of one call per text.
        encoded = _ONE_PER_LINE(texts)[1:-1].split("\n")
    rows = zip(numbers, map(_escaped, encoded), strict=True)
    yield f' "{key}": [\n'
    yield ",\n".join([f"[{row_numbers}, {text}]" for row_numbers, text in rows])
    yield "\n ]"


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    fields = file.fields()
    version = fields.number("version") if fields.text("format") == FORMAT else None
    if version != VERSION:
        fields.fail(
            "version",
            f"expected version {VERSION} of the format {FORMAT}; another version of bpescope "
            "may read this file",
        )
    is_trained = "training" in fields
    names = _TRAINED_COLUMNS if is_trained else _PLAIN_COLUMNS
    if fields.any("columns") != list(names):
        fields.fail("columns", f"expected {', '.join(names)}, in this order")
    columns = fields.columns("merges", names, counts=("count", "n_tokens"))
    merges = list(zip(*columns[:3], strict=True))
    vocabulary = _vocabulary(file, fields, merges, texts=columns[-1])
    record = None
    if is_trained:
        record = _record(fields, tuple(zip(*columns[3:-1], strict=True)))
    if fields.number("n_vocab") != vocabulary.n_tokens:
        fields.fail(
            "n_vocab",
            f"expected {vocabulary.n_tokens}, the number of tokens in the file",
        )
    if pattern is None:
        pattern = _pattern(fields)
    return Tokenizer(vocabulary, pattern, record=record, name=fields.text("name"))


def _vocabulary(
    file: TokenizerFile, fields: Fields, merges: list[Triple], texts: Sequence[str]
) -> Vocabulary:
    """Return the vocabulary in a file; `texts` are the texts at the ends of the merges' lines."""
    base = _base(fields)
    check_pairs(file, merges)
    special_tokens = fields.ids("special_tokens")
    end_of_word = None
    if "end_of_word" in fields:
        end_of_word = fields.number("end_of_word")
        if end_of_word not in base:
            fields.fail(
                "end_of_word", f"{end_of_word} is not the id of a token of the base"
            )
    vocabulary = Vocabulary(
        base,
        merges,
        special_tokens,
        end_of_word=end_of_word,
        most_bytes=len(file.data),
    )
    bytes_of = vocabulary.bytes_of
    for row, ((_, _, token), text) in enumerate(zip(merges, texts, strict=True)):
        if _shown(bytes_of[token]) != text:
            fields.fail(f"merges[{row}]", "the text does not match the ids")
    if end_of_word is not None or "whole_pieces" not in fields:
        return vocabulary
    whole_tokens = fields.items("whole_pieces")
    if not all(is_number(token) and token in bytes_of for token in whole_tokens):
        fields.fail("whole_pieces", "expected a list of ids of tokens")
    whole_pieces = {bytes_of[token]: token for token in whole_tokens}
    return Vocabulary(base, merges, special_tokens, whole_pieces=whole_pieces)


def check_pairs(file: TokenizerFile, merges: list[Triple]) -> None:
    """Raise `FormatError` if two merges of the file join the same two tokens."""
    pairs = [(left, right) for left, right, _ in merges]
    if len(set(pairs)) < len(pairs):
        (left, right), _ = Counter(pairs).most_common(1)[0]
        file.broken(f"two merges join the ids {left} and {right}")


def _pattern(fields: Fields) -> str:
    """Return the pattern, or its expression if its name has another meaning in this version."""
    pattern = fields.text("pattern")
    expression = fields.text("pattern_source")
    if is_bare_word(pattern) and PATTERNS.get(pattern) != expression:
        return expression
    return pattern


def _base(fields: Fields) -> dict[int, bytes]:
    """Return id -> bytes of the tokens that no merge makes."""
    if "first_byte" in fields:
        return bytes_from(fields.number("first_byte", largest=LARGEST_ID - 255))
    base: dict[int, bytes] = {}
    tokens, texts = fields.columns("base", ("token", "text"))
    for row, (token, digits) in enumerate(zip(tokens, texts, strict=True)):
        try:
            data = bytes.fromhex(digits)
        except ValueError:
            fields.fail(f"base[{row}]", "expected bytes in hexadecimal digits")
        if base.setdefault(token, data) != data or token > LARGEST_ID:
            fields.fail(f"base[{row}]", f"the id {token} occurs twice or is too large")
    return base


def _record(
    fields: Fields, steps: tuple[tuple[Count, int, Count], ...]
) -> TrainingRecord:
    training = fields.fields("training")
    values: dict[str, Any] = {}
    for field in fields_of(TrainingRecord):
        if field.name in _WRITTEN_SEPARATELY:
            continue
        is_required = field.default is MISSING
        if is_required or field.name in training:
            is_count = field.type in (int, int | None, Count)
            read_value = training.count if is_count else training.text
            values[field.name] = read_value(field.name)
    if values.get("n_given", 0) > len(steps):
        training.fail(
            "n_given", f"expected no more than {len(steps)}, the number of merges"
        )
    return TrainingRecord(
        **values,
        sources=tuple(map(_source, training.objects("sources"))),
        steps=steps,
        first_counts=_first_counts(fields),
    )


def _first_counts(fields: Fields) -> tuple[Count, ...]:
    n_symbols = 257 if "end_of_word" in fields else 256
    items = fields.items("first_counts", [])
    counts = [count for count in map(count_in, items) if count is not None]
    if len(counts) < len(items) or len(counts) not in (0, n_symbols):
        fields.fail(
            "first_counts",
            "expected counts of all bytes, and of the end-of-word marker if there is one",
        )
    return tuple(counts)


def _source(fields: Fields) -> Source:
    return Source(
        name=fields.text("name"),
        bytes=fields.number("bytes"),
        characters=fields.number("characters"),
        sha256=fields.text("sha256"),
        weight=fields.count("weight", 1),
        documents=fields.number("documents", 1),
    )
