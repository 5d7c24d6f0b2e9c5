r"""The line protocol between the app and its worker: one JSON object a line out, one word a line in.

The worker writes events to its stdout and reads commands from its stdin. Lines are pure ASCII (JSON escapes the rest),
so no locale, lone surrogate or line separator inside a text can break one in two. The pipe itself is the backpressure:
a worker whose reader falls behind blocks in its write.

    worker -> app   {"event": "merges", "rows": [[1, 97, 97, 256, "6161", 4, 1, 9]]}
    app -> worker   step 3

Which events come in which order, `events` tells.
"""

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, Literal, get_args

from bpe_core.cli.events import Event
from bpe_core.errors import BpeError, OptionError

if TYPE_CHECKING:
    from bpe_core.trainer.conditions import Condition

Verb = Literal["run", "pause", "step", "stop", "pace", "until"]
"""What a worker can be told."""


class WireError(BpeError, ValueError):
    """A line is not of this protocol: cut short by a worker that died, or written by something else."""


@dataclass(frozen=True, slots=True)
class Command:
    """What the app tells a worker.

    "run": go on; "pause": wait; "step": make n more merges and wait; "until": go on to the first merge after which
    `condition` holds, and wait; "pace": from now on make at most n merges a second; "stop": end, and keep all.
    """

    verb: Verb
    n: int = 0
    """For "step", merges, which add to those of earlier steps that are still to be made; for "pace", merges a second,
    0 for as many as can be made."""
    condition: "Condition | None" = None
    """For "until"."""


ONE_STEP: Final = Command("step", 1)

_EVENTS: Final[dict[str, type[Event]]] = {kind.__name__.lower(): kind for kind in get_args(Event)}


def to_line(message: Event | Command) -> str:
    r"""`message` as its line, newline included.

    >>> from bpe_core.cli.events import Saved
    >>> to_line(Saved("out.json")), to_line(Command("step", 3))
    ('{"event": "saved", "path": "out.json"}\n', 'step 3\n')
    """
    if isinstance(message, Command):
        match message.verb:
            case "step" | "pace":
                return f"{message.verb} {message.n}\n"
            case "until" if message.condition is not None:
                return f"until {message.condition}\n"
        return f"{message.verb}\n"
    # Not dataclasses.asdict: it copies every row, and merges are sent by the ten thousand a second.
    body = {field.name: getattr(message, field.name) for field in fields(message)}
    return json.dumps({"event": type(message).__name__.lower(), **body}) + "\n"


def parse(line: str | bytes) -> Event:
    """The event of a line, its newline optional; WireError if it is none.

    >>> parse('{"event": "saved", "path": "out.json"}')
    Saved(path='out.json')
    """
    try:
        # Not `untrusted_json`: in the bytes of long tokens it sees long numbers, and looks at each number then.
        body = json.loads(line)
        return _EVENTS[body.pop("event")](**body)
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise WireError(f"Not an event of the worker: {_shown(line)}; run the worker by hand to see more.") from error


def parse_command(line: str | bytes) -> Command:
    """The command of a line, its newline optional; WireError if it is none.

    >>> parse_command("step 3") == Command("step", 3), str(parse_command("until ratio >= 3").condition)
    (True, 'ratio >= 3')
    """
    text = line.decode("ascii", "replace") if isinstance(line, bytes) else line
    match text.split():
        case ["run" | "pause" | "stop" as verb]:
            return Command(verb)
        case ["step"]:
            return Command("step", 1)
        case ["step", n] if _is_number(n) and int(n) > 0:
            return Command("step", int(n))
        case ["pace", n] if _is_number(n):
            return Command("pace", int(n))
        case ["until", *_]:
            from bpe_core.trainer.conditions import condition

            try:
                return Command("until", condition=condition(text.strip().partition(" ")[2]))
            except OptionError as error:
                raise WireError(f"Not a command: {error}") from error
    known = "run, pause, step N, until CONDITION, pace N and stop"
    raise WireError(f"Not a command: {_shown(line)}; a worker knows {known}.")


def _is_number(digits: str) -> bool:
    return digits.isascii() and digits.isdigit() and len(digits) < 12


def _shown(line: str | bytes) -> str:
    return repr(line[:80])
