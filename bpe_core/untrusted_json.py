"""Reading untrusted JSON: every input gives a value, or a `JsonError` that says what is wrong with it.

`json.loads` may also raise other errors (for deep nesting, for numbers of too many digits), accepts lone surrogates,
and may need far more memory than a file is long.
"""

import json
import re
from collections import Counter
from functools import partial
from typing import Any, Final, NoReturn

from bpe_core.visible import quoted

_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_MOST_DIGITS: Final = 20
_ZEROS_FOR_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)


class JsonError(ValueError):
    """A text is not JSON, or exceeds the limits; `str(error)` is a clause to be put after a colon."""


def parse(data: bytes | str, *, strict: bool = False, most: int | None = None) -> Any:
    """The JSON value in a text, or in its UTF-8. Raises `JsonError`.

    A whole number of more than twenty digits becomes a float, as in other languages. `strict` refuses such numbers, and
    whatever JSON readers disagree on: a key that is twice in an object, NaN and Infinity, and lone surrogates. `most`
    limits the number of values, estimated before parsing, since each needs up to a hundred bytes of memory.
    """
    try:
        raw = data if isinstance(data, bytes) else data.encode(errors="surrogatepass")
        if most is not None and sum(map(raw.count, (b",", b"[", b"{"))) > most:
            raise JsonError(f"it has more than {most:,} values")
        text = raw.decode("utf-8-sig") if isinstance(data, bytes) else data
        # To look at every number would take its time, and so does a regular expression.
        has_long = b"0" * _MOST_DIGITS in raw.translate(_ZEROS_FOR_DIGITS)
        parse_int = partial(_number, strict) if has_long else None
        if not strict:
            return json.loads(text, parse_int=parse_int)
        value = json.loads(text, object_pairs_hook=_without_repeats, parse_int=parse_int, parse_constant=_refuse)
        if _HALF.search(raw):
            json.dumps(value, ensure_ascii=False).encode()  # fails at a lone surrogate in any string, keys included
        return value
    except UnicodeEncodeError as error:
        text, at = error.object, error.start
        word = text[:at].rpartition('"')[2] + text[at:].partition('"')[0]
        problem = f"{quoted(word)} holds half of a character"
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 at byte {error.start}"
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno}, column {error.colno} is not JSON ({error.msg.lower()})"
    except RecursionError:
        problem = "its values are nested too deeply"
    except ValueError as error:
        problem = str(error)
    raise JsonError(problem)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise JsonError(f"the key {quoted(twice)} stands twice in one object")
    return values


def _number(strict: bool, digits: str) -> int | float:
    if len(digits) <= _MOST_DIGITS:
        return int(digits)
    if strict:
        raise JsonError(f"the number {digits[:_MOST_DIGITS]}… is too large")
    return float(digits)


def _refuse(constant: str) -> NoReturn:
    raise JsonError(f"{constant} is no number of JSON")
