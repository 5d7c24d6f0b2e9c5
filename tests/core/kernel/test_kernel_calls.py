"""Nothing behind the kernel's door trusts its caller, and all of it has a test that says so."""

import operator
import os
import signal
import subprocess
import sys
from array import array
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from bpe_core import kernel

if not kernel.available:
    pytest.skip(f"the kernel is {kernel.why_not}", allow_module_level=True)

from kernel_calls import kernel_calls

NAMES = list(kernel_calls(100))

WRONG = (
    *(
        None,
        -1,
        0,
        1,
        1 << 31,
        (1 << 32) - 1,
        1 << 63,
        1 << 70,
        0.5,
        object(),
        len,
        "",
        "text",
        "a\ud800",
        b"",
        b"abc",
    ),
    *(
        b"\xff" * 8,
        bytearray(b"ab"),
        memoryview(b"abcdef")[::2],
        [],
        ["a\ud800"],
        [None],
        [b"\xff", ""],
        [""],
        (),
    ),
    (-1,) * 256,
    *({}, {b"a": -1}, {b"a": None}, {b"": 1 << 80}, {"a": 1}, {b"x" * 1000: 7}),
)
"""What may stand where something else belongs."""

REFUSED = (TypeError, ValueError, OverflowError, LookupError, MemoryError, BufferError)


def test_everything_is_tried() -> None:
    there = set()
    for name in ("Scanner", "Encoder", "PieceTable", "Learner"):
        methods = vars(getattr(kernel, name)).items()
        there |= {name} | {
            f"{name}.{method}"
            for method, function in methods
            if type(function) is type(str.join)
        }
    from bpe_core.kernel import _kernel

    there |= {
        name for name, function in vars(_kernel).items() if type(function) is type(len)
    }
    assert there == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_wrong_is_refused_and_what_is_right_still_works(name: str) -> None:
    call, right = kernel_calls(100)[name]()
    for place in range(len(right)):
        for wrong in WRONG:
            arguments = (*right[:place], wrong, *right[place + 1 :])
            try:
                call(*arguments)
            except REFUSED:
                continue
    with pytest.raises(TypeError):
        call(*right, None, None)
    if name != "Learner.merge":  # it was given before, and the pair is gone
        call(*right)


BYTES = bytes(range(256))
WRONG_IDS = [
    (0,) * 255,
    [0] * 256,
    (-1,) * 256,
    (1 << 31,) * 256,
    (1 << 90,) * 256,
    ("a",) * 256,
]
NO_DOCUMENTS = [-1, 1 << 31, 1 << 70]
MUST_BE_REFUSED = {
    "Scanner": [[1], [4, -1], [-1]],
    "Scanner.ends": [["abc"]],
    "Encoder": [WRONG_IDS, ["x"], [[], {"a": 1}], [{b"ab": -5}], [{}]],
    "Encoder.extended": [[b"abc", b"\xff" * 4, "a"], [b"abcd"], ["a"]],
    "Encoder.encode_batch": [[("a",), [None], ["a", "a\ud800"]], ["gpt4"], [-1, "0"]],
    "Encoder.piece": [[3, None], [-1, "0"]],
    "Encoder.pieces": [[("a",), ["a", None], ["a", "a\ud800"]], [4, -1]],
    "Encoder.parents": [[(b"a",), [b"a", 3]]],
    "PieceTable": [["gpt2", 3]],
    "PieceTable.add": [["a", None, 1], NO_DOCUMENTS],
    "PieceTable.append": [["a", None, 1], NO_DOCUMENTS, [0, -1]],
    "PieceTable.columns": [["a", None], ["a", 1 << 70]],
    "PieceTable.extend": [
        ["a", b"", b"a"],
        ["a", b"\xff" * 48, bytes(48)],
        NO_DOCUMENTS,
        [0, -1],
    ],
    "Learner": [
        [[], {"a": 1}],
        [3, -1],
        [0, 1 << 70],
        [0],
        [BYTES[:255], "a", bytes(256)],
        [None],
    ],
    "Learner.learn": [[-1, 1 << 80, "1", None]],
    "read_ranks": [["YQ== 0\n"]],
    "decimals": [[b"abc", bytearray(8)], ["\u2003", "\ud800", b" "]],
}
"""Name -> for each place of its arguments, what may not stand there."""


@pytest.mark.parametrize("name", MUST_BE_REFUSED)
def test_what_would_do_harm_is_refused(name: str) -> None:
    for place, values in enumerate(MUST_BE_REFUSED[name]):
        for wrong in values:
            call, right = kernel_calls(100)[name]()
            with pytest.raises(REFUSED):
                call(*right[:place], wrong, *right[place + 1 :])


class Emptying(bytes):
    """A token whose look-up empties `ids`, the dictionary that it comes from, if that is set."""

    ids: dict[bytes, int] | None = None
    events: list[tuple[str, bytes]]
    freed: list[bytes]

    def __hash__(self) -> int:
        if ids := type(self).ids:
            ids.clear()
        return hash(bytes(self))

    def __eq__(self, other: object) -> bool:
        self.events.append(("compared", bytes(self)))
        return bytes(self) == other

    def __del__(self) -> None:
        self.events.append(("freed", bytes(self)))
        self.freed.append(self)  # so that its memory can still be read


def test_a_token_is_held_while_it_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise it would be freed at the end of `__hash__`, and then compared and read."""
    monkeypatch.setattr(Emptying, "events", [], raising=False)
    monkeypatch.setattr(Emptying, "freed", [], raising=False)
    ids: dict[bytes, int] = {Emptying(b"token %d" % n): n for n in range(256, 300)}
    ranks = {bytes(token): n for token, n in ids.items()}
    monkeypatch.setattr(Emptying, "ids", ids)
    kernel.Encoder(tuple(BYTES), None, None, ids, ranks, True, True)
    assert not ids
    first = [event for event, token in Emptying.events if token == b"token 256"]
    assert first == ["compared", "freed"]


@pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="there are no timers on this system"
)
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("Encoder.pieces", 1_600_000),
        ("Encoder.encode_batch", 4_000_000),
        ("PieceTable.add", 1_600_000),
        ("Scanner.ends", 4_000_000),
        ("read_ranks", 1_000_000),
    ],
)
def test_an_interruption_ends_the_work_itself(name: str, size: int) -> None:
    call, arguments = kernel_calls(size)[name]()
    ended_early = False

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(3):  # it may be past its last check before the timer
            done: list[bool] = []
            # Python looks for signals between its own instructions: here are none from the timer's
            # start to the end of the work. A timer of processor time would go by the ticks of the
            # system, which are 4 ms apart; a call may have no check left by then.
            steps = (
                partial(signal.setitimer, signal.ITIMER_REAL, 0.0005),
                partial(call, *arguments),
                partial(done.append, True),
            )
            with suppress(KeyboardInterrupt):
                list(map(operator.call, steps))
                signal.setitimer(signal.ITIMER_REAL, 0)
            if ended_early := not done:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ended_early


def test_where_memory_runs_out_nothing_leaks_and_work_can_go_on() -> None:
    pytest.importorskip("_testcapi")
    script = Path(__file__).with_name("without_memory.py")
    path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        env=os.environ | path,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("between", [" ", ", ", "", " and then "])
def test_the_digits_of_ids_are_those_of_python(between: str) -> None:
    all_numbers = [
        0,
        *(10**n + more for n in range(10) for more in (-1, 0, 1)),
        2**31 - 1,
        2**31,
        2**32 - 1,
    ]
    for numbers in (
        [],
        *([number] for number in all_numbers),
        all_numbers[::-1],
        all_numbers * 500,
    ):
        assert kernel.decimals(array("I", numbers).tobytes(), between) == between.join(
            map(str, numbers)
        )
