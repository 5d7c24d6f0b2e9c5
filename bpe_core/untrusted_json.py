"""Reading untrusted JSON: every input gives a value, or a ValueError that says what is wrong.

`json.loads` alone may raise other errors (for deep nesting, or numbers with too many digits),
keeps the last of several equal keys, and may need far more memory than the size of the file.
"""

import json
from collections import Counter
from typing import Any

from bpe_core.visible import quoted


def parse(data: bytes, *, most: int | None = None) -> Any:
    """Parse a JSON text in UTF-8. NaN, Infinity and lone surrogates are accepted.

    Args:
        most: Maximum number of values, estimated before parsing. Each value needs up to a
            hundred bytes of memory.

    Raises:
        ValueError: The text is not valid. The message is a clause to put after a colon.
    """
    if most is not None:
        n_values = data.count(b",") + data.count(b"[") + data.count(b"{")
        if n_values > most:
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
        counts = Counter(key for key, _ in pairs)
        repeated, _ = counts.most_common(1)[0]
        raise LookupError(f"the key {quoted(repeated)} occurs twice in one object")
    return values
