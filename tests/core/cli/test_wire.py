"""What goes over the wire comes back the same, on one line, whatever the text; what is not of the wire is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.cli.events import (
    Auditing,
    Checkpoint,
    Counted,
    Counting,
    Done,
    Event,
    Failed,
    Merges,
    Saved,
    Skipped,
    Started,
    State,
)
from bpe_core.cli.wire import Command, WireError, parse, parse_command, to_line
from bpe_core.errors import BpeError
from bpe_core.trainer.conditions import condition

NASTY_NAMES = ["two\nlines", "\x1b]0;title\x07", "line\u2028separator", "lone \udc80 surrogate", "😊", ""]

EVENTS: list[Event] = [
    Counting(done=10, total=168, name="a.txt"),
    Counting(done=10, total=168, name="b.txt", role="reference"),
    Skipped(path="photo.jpg", reason="binary"),
    Counted(documents=1, bytes=168, characters=168, pieces=1, unique=1),
    Started(tokens=11, merges=3),
    Started(tokens=11, merges=3, known=2, first_counts=[0, 3]),
    Merges(rows=[[1, 97, 97, 256, "6161", 4, 1, 9], [2, 256, 97, 257, "616161", 2, 2, 7]]),
    State("paused"),
    State("paused", "ratio >= 3.5"),
    Checkpoint("out.json.checkpoint", steps=2),
    Checkpoint("out.json.checkpoint", steps=0, problem="No space is left."),
    Saved("out.json"),
    Auditing(done=256, total=4096, name="reachable tokens"),
    Done(reason="no pair left", steps=106, seconds=0.25),
    Failed("There is no file x.txt; check the path."),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_is_one_line_and_comes_back(event: Event) -> None:
    line = to_line(event)
    assert line.endswith("\n") and line.count("\n") == 1
    assert parse(line) == parse(line.encode()) == event


def test_the_line_itself_is_plain_json_for_other_programs_to_read() -> None:
    assert json.loads(to_line(Saved("out.json"))) == {"event": "saved", "path": "out.json"}


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_a_nasty_file_name_neither_breaks_the_line_nor_reaches_a_terminal(name: str) -> None:
    line = to_line(Counting(0, 1, name))
    assert line.isascii() and line[:-1].isprintable()
    assert parse(line) == Counting(0, 1, name)


@given(st.text())
def test_any_message_survives(text: str) -> None:
    assert parse(to_line(Failed(text))) == Failed(text)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        '{"event": "merges", "ro',
        '{"event": "party"}',
        "[]",
        "7",
        b"\xff",
        '{"event": "saved"}',
        '{"event": "saved", "path": "x", "more": 1}',
        '{"event": []}',
    ],
)
def test_what_is_no_event_is_refused(line: str | bytes) -> None:
    with pytest.raises(WireError, match="Not an event"):
        parse(line)


@pytest.mark.parametrize(
    "command",
    [
        *(Command("run"), Command("pause"), Command("step", 3), Command("pace", 10), Command("pace", 0)),
        Command("until", condition=condition("ratio >= 3.5")),
        Command("stop"),
    ],
)
def test_a_command_comes_back(command: Command) -> None:
    assert parse_command(to_line(command)) == parse_command(to_line(command).encode()) == command


def test_step_alone_is_one_step() -> None:
    assert parse_command("step") == Command("step", 1)


@pytest.mark.parametrize(
    "line", ["", "jump", "step x", "step -1", "step 0", "step 1 2", "run 3", "step ٣", "pace", "pace -1", b"\xff"]
)
def test_what_is_no_command_is_refused(line: str | bytes) -> None:
    with pytest.raises(BpeError, match="run, pause, step N, until CONDITION, pace N and stop"):
        parse_command(line)


def test_a_condition_that_is_none_is_refused_with_what_could_be_written() -> None:
    with pytest.raises(BpeError, match="'the moon' is no condition; write a field, an operator and a number"):
        parse_command("until the moon")
