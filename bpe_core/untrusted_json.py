"""JSON that nobody vouches for: whatever stands there, it becomes a value, or an error that says what is wrong in it.

Python's own reader may raise other errors than its own (values that are nested too deeply, numbers of too many
digits), lets half characters through, and makes of a file of 100 MB more than fits into the memory.
"""

import json
import re
from collections import Counter
from typing import Any, Final, NoReturn

from bpe_core.visible import quoted

_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_MOST_DIGITS: Final = 20
_LONG_NUMBER: Final = re.compile(rb"\d{20}")


class JsonError(ValueError):
    """A text is no JSON, or none that can be used; `str(error)` is a part of a sentence that begins after a colon."""


def parse(data: bytes | str, *, strict: bool = False, most: int | None = None) -> Any:
    """The JSON value in a text, or in its UTF-8. Raises `JsonError`.

    A whole number of more than twenty digits becomes a float, as in the readers of other languages. `strict` refuses
    it, and all that other readers refuse, or understand in different ways: a key that stands twice in an object, NaN
    and Infinity, and halves of characters. `most` is how many values there may be, counted roughly, for each takes up
    to a hundred bytes.
    """
    try:
        return _parsed(data, strict, most)
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 at byte {error.start}"
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno}, column {error.colno} is not JSON ({error.msg.lower()})"
    except RecursionError:
        problem = "its values are nested too deeply"
    except ValueError as error:
        problem = str(error)
    raise JsonError(problem)


def _parsed(data: bytes | str, strict: bool, most: int | None) -> Any:
    raw = data if isinstance(data, bytes) else data.encode(errors="surrogatepass")
    if most is not None and sum(map(raw.count, (b",", b"[", b"{"))) > most:
        raise JsonError(f"it has more than {most:,} values")
    text = raw.decode("utf-8-sig") if isinstance(data, bytes) else data
    has_long = _LONG_NUMBER.search(raw) is not None  # to be asked for every number would take its time
    if not strict:
        return json.loads(text, parse_int=_roughly if has_long else None)
    value = json.loads(
        text,
        object_pairs_hook=_without_repeats,
        parse_int=_exactly if has_long else None,
        parse_constant=_refuse,
    )
    if _HALF.search(raw):
        _refuse_halves(value)
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise JsonError(f"the key {quoted(twice)} stands twice in one object")
    return values


def _roughly(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def _exactly(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise JsonError(f"the number {digits[:_MOST_DIGITS]}… is too large")
    return int(digits)


def _refuse(constant: str) -> NoReturn:
    raise JsonError(f"{constant} is no number of JSON")


def _refuse_halves(value: object) -> None:
    """Raise if a text anywhere in a value has a surrogate without its other half, which no text of a file can have."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text):
                try:
                    text.encode()
                except UnicodeEncodeError:
                    raise JsonError(f"{quoted(text)} holds half of a character") from None
            case list(values):
                waiting += values
            case dict(values):
                waiting += (*values, *values.values())
