"""How many tokens the same data takes in different formats: JSON, YAML, XML, CSV and others."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, Final
from xml.etree import ElementTree

from bpe_core import untrusted_json
from bpe_core.errors import TextError
from bpe_core.tokenizer import Tokenizer

Data = Any
"""What JSON can hold: objects, lists, strings, numbers, true, false and null."""

_EXTRA: Final = "YAML needs PyYAML, of the extra [economy]: pip install PyYAML."
_DEEPEST: Final = 100
"""Levels of nesting at most."""


def read(text: str) -> Data:
    """The data in a text, which is tried as JSON, JSON lines, CSV with a header row, and YAML, in this order.

    Raises `TextError` if it is none of them, or if it may be YAML and PyYAML is not installed.
    """
    if not text.strip():
        raise TextError("There is no data in an empty text; give it JSON, YAML or CSV.")
    for reader in (_json, _json_lines, _table):
        try:
            return reader(text)
        except ValueError:
            pass
    return _yaml(text)


def _json(text: str) -> Data:
    return untrusted_json.parse(text)


def _json_lines(text: str) -> Data:
    return [_json(line) for line in text.splitlines() if line.strip()]


def _table(text: str) -> Data:
    """Rows of CSV as objects. Raises ValueError if rows differ in their number of cells, or have fewer than two."""
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError
    return [dict(zip(rows[0], map(_value, row), strict=True)) for row in rows[1:]]


def _value(cell: str) -> Data:
    """The value of a cell: a number, true, false or null if it reads as such in JSON, else the text."""
    try:
        value = json.loads(cell)
    except ValueError:
        return cell
    return value if value is None or isinstance(value, int | float) else cell


def _yaml(text: str) -> Data:
    try:
        yaml = import_module("yaml")
    except ImportError:
        raise TextError(f"This is neither JSON nor CSV. {_EXTRA}") from None
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f" (line {line + 1})"
        raise TextError(f"This is neither JSON, nor YAML{where}, nor CSV with as many cells in each row.") from None
    if not isinstance(data, list | dict):
        raise TextError("This is text and no data; give it JSON, YAML or CSV.")
    return json.loads(json.dumps(data, default=str))


def written(data: Data) -> Iterator[tuple[str, str]]:
    """(format, the data in that format) for each format that can express the data.

    CSV, TSV and a Markdown table only for a list of flat objects, YAML only if PyYAML is installed, XML only without
    control characters. Raises `TextError` for data nested more than 100 levels deep.
    """
    if _depth(data) > _DEEPEST:
        raise TextError(f"These data lie more than {_DEEPEST} levels deep in one another.")
    yield "JSON", json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    yield "JSON, pretty", json.dumps(data, ensure_ascii=False, indent=2)
    if isinstance(data, list):
        yield "JSON lines", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in data)
    try:
        yaml = import_module("yaml")
    except ImportError:
        pass
    else:
        yield "YAML", yaml.safe_dump(data, allow_unicode=True, sort_keys=False)
    xml = _xml(data)
    with suppress(ElementTree.ParseError):  # it cannot hold control characters
        ElementTree.fromstring(xml)
        yield "XML", xml
    if head := _head(data):
        for name, write in (("CSV", _csv), ("TSV", _tsv), ("Markdown table", _markdown)):
            yield name, write(head, [[_cell(row.get(key)) for key in head] for row in data])


def _depth(data: Data) -> int:
    depth, level = 0, [data]
    while level:
        depth += 1
        level = [
            part
            for value in level
            if isinstance(value, list | dict)
            for part in (value.values() if isinstance(value, dict) else value)
        ]
    return depth


def _head(data: Data) -> list[str]:
    """The names of the columns; empty if the data are not a list of flat objects."""
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        return []
    if any(isinstance(value, list | dict) for row in data for value in row.values()):
        return []
    return list(dict.fromkeys(key for row in data for key in row))


def _cell(value: Data) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _csv(head: Sequence[str], rows: Sequence[Sequence[str]], delimiter: str = ",") -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return out.getvalue()


def _tsv(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return _csv(head, rows, "\t")


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells) + " |\n"

    return line(head) + line(["---"] * len(head)) + "".join(map(line, rows))


def _xml(data: Data) -> str:
    root = ElementTree.Element("data")
    _fill(root, data)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def _fill(element: ElementTree.Element, data: Data) -> None:
    if isinstance(data, dict):
        for key, value in data.items():
            _fill(ElementTree.SubElement(element, _tag(key)), value)
    elif isinstance(data, list):
        for value in data:
            _fill(ElementTree.SubElement(element, "item"), value)
    else:
        element.text = _cell(data)


def _tag(key: str) -> str:
    """A key as the name of an XML element: other characters than letters, digits, "_", "-" and "." become "_"."""
    tag = "".join(c if c.isalnum() or c in "_-." else "_" for c in key)
    return tag if tag[:1].isalpha() else f"_{tag}"


def economy(data: Data, tokenizers: Iterable[Tokenizer]) -> list[tuple[str, int, tuple[int, ...]]]:
    """(format, UTF-8 bytes, tokens by each tokenizer), ascending by the tokens of the first tokenizer.

    Raises `TextError` as `written` does.
    """
    tokenizers = tuple(tokenizers)
    rows = [
        (name, len(text.encode()), tuple(len(one.encode_ordinary(text)) for one in tokenizers))
        for name, text in written(data)
    ]
    return sorted(rows, key=lambda row: row[2])
