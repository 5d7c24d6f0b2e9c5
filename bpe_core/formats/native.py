"""bpescope's own format: a readable JSON file with the options and the training record first, then a merge per line.

The text at the end of a merge's line is for people; a file in which it does not match the ids is refused.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
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
_PLAIN: Final = ("left", "right", "token", "text")
_TRAINED: Final = (*_PLAIN[:3], "count", "ties", "n_tokens", "text")
_ELSEWHERE: Final = (
    "sources",
    "steps",
    "first_counts",
    "special_tokens",
)  # of the record: not a line each
_TARGET: Final = "in bpescope's own format"
_ESCAPES: Final = {0x7F: "\\u007f"} | {
    code: json.dumps(chr(code))[1:-1] for code in CONTROLS if code > 0x7F
}


def recognizes(data: bytes) -> bool:
    return data.lstrip()[:1] == b"{" and b'"bpescope"' in data[:200]


def write(tokenizer: Tokenizer) -> Iterator[str]:
    record = tokenizer.record
    if tokenizer.preparation:
        refuse(
            _TARGET, "it changes a text before it splits it, or looks for tokens in it"
        )
    vocabulary = merges_of(tokenizer.vocabulary, _TARGET)
    base = vocabulary.base
    if vocabulary.end_of_word is None:
        if not vocabulary.is_bytewise:
            refuse(_TARGET, "it is made of characters")
        if any(
            vocabulary.symbols(bytes([byte])) != [token]
            for byte, token in bytes_among(base).items()
        ):
            refuse(_TARGET, "some of its bytes have two tokens")
    head = {"format": FORMAT, "version": VERSION, "name": tokenizer.name}
    head |= {"pattern": tokenizer.pattern, "pattern_source": tokenizer.splitter.source}
    head |= {
        "n_vocab": tokenizer.n_tokens,
        "special_tokens": dict(vocabulary.special_tokens),
    }
    yield "{\n" + "".join(map(_entry, head, head.values()))
    first = min(base, default=0)
    if base == bytes_from(first):
        yield _entry("first_byte", first)
    else:
        yield from _table(
            "base", map(str, base), (data.hex() for data in base.values())
        )
        yield ",\n"
    if vocabulary.end_of_word is not None:
        yield _entry("end_of_word", vocabulary.end_of_word)
    elif vocabulary.whole_pieces != whole_by_default(base):
        yield _entry("whole_pieces", sorted(vocabulary.whole_pieces.values()))
    rows = [f"{left}, {right}, {token}" for left, right, token in vocabulary.merges]
    if record:
        yield ' "training": {\n'
        names = [
            field.name for field in fields_of(record) if field.name not in _ELSEWHERE
        ]
        if not record.created:
            names.remove("created")
        yield from (_entry(name, getattr(record, name)) for name in names)
        sources = ",\n".join(
            f"  {_escaped(_ON_ONE_LINE(asdict(source)))}" for source in record.sources
        )
        yield f' "sources": [\n{sources}\n ]}},\n'
        if record.first_counts:
            yield _entry("first_counts", record.first_counts)
        numbers = _ON_ONE_LINE(record.steps)[2:-2].split("], [")
        rows = [f"{row}, {step}" for row, step in zip(rows, numbers, strict=False)]
    yield _entry("columns", _TRAINED if record else _PLAIN)
    made = (
        vocabulary.bytes_of[token].decode(errors="backslashreplace")
        for _, _, token in vocabulary.merges
    )
    yield from _table("merges", rows, made)
    yield "\n}\n"


def bytes_from(first: int) -> dict[int, bytes]:
    return {first + byte: bytes([byte]) for byte in range(256)}


def _written_count(fraction: Count) -> int | str:
    """Write a count that is not an int: a whole number as such, or the text of a fraction."""
    count = weighted_count(fraction)
    return count if isinstance(count, int) else count_text(count)


_ON_ONE_LINE: Final = json.JSONEncoder(
    ensure_ascii=False, default=_written_count
).encode
_BY_LINES: Final = json.JSONEncoder(ensure_ascii=False, separators=("\n", ":")).encode


def _escaped(text: str) -> str:
    """JSON with escapes for characters that are invisible or control a terminal."""
    return text if text.isascii() and "\x7f" not in text else text.translate(_ESCAPES)


def _entry(key: str, value: object) -> str:
    return f' "{key}": {_escaped(_ON_ONE_LINE(value))},\n'


def _table(key: str, numbers: Iterable[str], tokens: Iterable[str]) -> Iterator[str]:
    """A list of rows, one per line: numbers in digits, and a text."""
    encoded = _BY_LINES(list(tokens))[
        1:-1
    ]  # all in one call, which takes a fifth of the time of one each
    texts = map(_escaped, encoded.split("\n") if encoded else ())
    yield f' "{key}": [\n'
    yield ",\n".join(
        [f"[{row}, {text}]" for row, text in zip(numbers, texts, strict=True)]
    )
    yield "\n ]"


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    fields = file.fields()
    version = fields.number("version") if fields.text("format") == FORMAT else None
    if version != VERSION:
        fields.fail(
            "version",
            f"version {VERSION} of the format {FORMAT} was expected; another bpescope may read this",
        )
    columns = _TRAINED if "training" in fields else _PLAIN
    if fields.any("columns") != list(columns):
        fields.fail("columns", f"{', '.join(columns)} were expected, in this order")
    left, right, made, *steps, texts = fields.columns(
        "merges", columns, counts=("count", "n_tokens")
    )
    merges, base = list(zip(left, right, made, strict=True)), _base(fields)
    check_pairs(file, merges)
    specials, name = fields.ids("special_tokens"), fields.text("name")
    end = fields.number("end_of_word") if "end_of_word" in fields else None
    if end is not None and end not in base:
        fields.fail("end_of_word", f"there is no token {end} that no merge makes")
    vocabulary = Vocabulary(
        base, merges, specials, end_of_word=end, most_bytes=len(file.data)
    )
    bytes_of = vocabulary.bytes_of
    for row, (token, text) in enumerate(zip(made, texts, strict=True)):
        if bytes_of[token].decode("utf-8", "backslashreplace") != text:
            fields.fail(f"merges[{row}]", "the text is not what the ids stand for")
    record = _record(fields, tuple(zip(*steps, strict=True))) if steps else None
    if end is None and "whole_pieces" in fields:
        whole = fields.items("whole_pieces")
        if not all(is_number(token) and token in bytes_of for token in whole):
            fields.fail("whole_pieces", "a list of tokens was expected")
        pieces = {bytes_of[token]: token for token in whole}
        vocabulary = Vocabulary(base, merges, specials, whole_pieces=pieces)
    if fields.number("n_vocab") != vocabulary.n_tokens:
        fields.fail(
            "n_vocab",
            f"{vocabulary.n_tokens} was expected, the number of tokens in the file",
        )
    return Tokenizer(vocabulary, pattern or _pattern(fields), record=record, name=name)


def check_pairs(file: TokenizerFile, merges: list[Triple]) -> None:
    """Refuse the file if two of its merges join the same two tokens."""
    if len({merge[:2] for merge in merges}) < len(merges):
        (left, right), _ = Counter(merge[:2] for merge in merges).most_common(1)[0]
        file.broken(f"{left} and {right} are merged twice")


def _pattern(fields: Fields) -> str:
    """The pattern; of a name that does not mean what it meant when the file was written, its regular expression."""
    pattern, source = fields.text("pattern"), fields.text("pattern_source")
    return (
        source if is_bare_word(pattern) and PATTERNS.get(pattern) != source else pattern
    )


def _base(fields: Fields) -> dict[int, bytes]:
    if "first_byte" in fields:
        return bytes_from(fields.number("first_byte", largest=LARGEST_ID - 255))
    base: dict[int, bytes] = {}
    for row, (token, digits) in enumerate(
        zip(*fields.columns("base", ("token", "text")), strict=True)
    ):
        try:
            data = bytes.fromhex(digits)
        except ValueError:
            fields.fail(f"base[{row}]", "bytes in hexadecimal digits were expected")
        if base.setdefault(token, data) != data or token > LARGEST_ID:
            fields.fail(
                f"base[{row}]", f"the id {token} stands there twice or is too large"
            )
    return base


def _record(fields: Fields, steps: tuple[tuple[int, int, int], ...]) -> TrainingRecord:
    training = fields.fields("training")
    values: dict[str, Any] = {}
    for field in fields_of(TrainingRecord):
        if field.name not in _ELSEWHERE and (
            field.default is MISSING or field.name in training
        ):
            holds_number = field.type in (int, int | None, Count)
            read = training.count if holds_number else training.text
            values[field.name] = read(field.name)
    if values.get("n_given", 0) > len(steps):
        training.fail(
            "n_given", f"no more than {len(steps)} was expected, the number of merges"
        )
    items = fields.items("first_counts", [])
    counts = [count for item in items if (count := count_in(item)) is not None]
    if len(items) not in (0, 256 + ("end_of_word" in fields)) or len(counts) < len(
        items
    ):
        fields.fail(
            "first_counts",
            "counts of all bytes were expected, and of the end-of-word marker if there is one",
        )
    sources: list[Source] = []
    for one in training.objects("sources"):
        sizes = one.number("bytes"), one.number("characters")
        sources.append(
            Source(
                one.text("name"),
                *sizes,
                one.text("sha256"),
                one.count("weight", 1),
                one.number("documents", 1),
            )
        )
    return TrainingRecord(
        **values, sources=tuple(sources), steps=steps, first_counts=tuple(counts)
    )
