"""Reading untrusted JSON: every input gives a value, or a ValueError that says what is wrong with it.

`json.loads` may also raise other errors (for deep nesting, for numbers of too many digits), takes the last of several
equal keys, and may need far more memory than a file is long.
"""

import json
from collections import Counter
from typing import Any

from bpe_core.visible import quoted


def parse(data: bytes, *, most: int | None = None) -> Any:
    """The JSON value in a text in UTF-8; NaN, Infinity and halves of characters are accepted. Raises ValueError, whose
    text is a clause to be put after a colon.

    `most` limits the number of values, estimated before parsing, since each needs up to a hundred bytes of memory.
    """
    if most is not None and sum(map(data.count, (b",", b"[", b"{"))) > most:
        raise ValueError(f"it has more than {most:,} values")
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_without_repeats)
    except LookupError as error:
        problem = str(error)
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 at byte {error.start}"
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno}, column {error.colno} is not JSON ({error.msg.lower()})"
    except RecursionError:
        problem = "its values are nested too deeply"
    except ValueError:
        problem = "a number in it has thousands of digits"
    raise ValueError(problem)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise LookupError(f"the key {quoted(twice)} stands twice in one object")
    return values
