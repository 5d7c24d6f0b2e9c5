"""`python -m tests.attack.fuzz_lessons`: whatever is in a lesson file, it loads or gives one sentence.

Each lesson is one of bpescope's own, changed in one of the ways of `WAYS`: bytes are garbled, lines are moved, fields get
values of other kinds, or brackets and dotted keys are nested. Reading it must return a lesson or raise `LessonError`
with one sentence that names the file, and the line if the file is a text of an allowed size. Prints how often each way
was tried, and the seed of a defect.
"""

import random
import sys
import tempfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bpe_core.errors import LONGEST
from tui.disk import lesson_fields, lessons
from tui.disk.lessons import Lesson, LessonError, read_lesson

_DEPTHS: Final = (1, 20, 400, 1_000, 5_000, 50_000)
_FIELDS: Final = (
    *lesson_fields.LESSON_FIELDS,
    *lesson_fields.STEP_FIELDS,
    "",
    "other",
    "a.b",
    "\u00e9",
)
_PLACES_WITHOUT_LINE: Final = ("at end of document", "bytes; at most")
"""What a sentence without a line says in its place."""


def _garbled(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.choice((1, 3, 30))):
        changed[dice.randrange(len(changed))] = dice.choice(
            b"\x00\xff\"'[]{}=.,\n#\\0aZ"
        )
    return bytes(changed)


def _cut(data: bytes, dice: random.Random) -> bytes:
    start = dice.randrange(len(data))
    return data[:start] + data[dice.randrange(start, len(data)) :]


def _with_lines_moved(data: bytes, dice: random.Random) -> bytes:
    lines = data.split(b"\n")
    for _ in range(dice.choice((1, 3, 10))):
        lines.insert(dice.randrange(len(lines)), dice.choice(lines))
        lines.pop(dice.randrange(len(lines)))
    return b"\n".join(lines)


def _with_odd_value(data: bytes, dice: random.Random) -> bytes:
    return _with_line(data, f"{_key(dice)} = {_value(dice)}", dice)


def _nested(data: bytes, dice: random.Random) -> bytes:
    depth = dice.choice(_DEPTHS)
    dotted = ".".join(["a"] * min(depth, 5_000))  # tomllib's time grows with the square
    field = dice.choice(("options", "special_tokens", "step", "x"))
    lines = (
        f"{field} = {'[' * depth}",
        f"{field} = {'[' * depth}{']' * depth}",
        f"{field} = {'{a = ' * depth}",
        f"{field} = {'{a = ' * depth}1{'}' * depth}",
        f"options = {{ special_tokens = {'[' * depth}{']' * depth} }}",
        f"{field}.{dotted} = 1",
        f"[{field}.{dotted}]",
        f"[[{dotted}]]",
        f"[step.{dotted}]",
    )
    return _with_line(data, dice.choice(lines), dice)


def _of_other_bytes(data: bytes, dice: random.Random) -> bytes:
    odd = (
        b"",
        dice.randbytes(dice.choice((1, 100, 10_000))),
        data.decode().encode("utf-16"),
        b"\xef\xbb\xbf" + data,
        data * dice.choice((2, 50)),
        data + b"#" * (1 << 20),
    )
    return dice.choice(odd)


def _with_line(data: bytes, line: str, dice: random.Random) -> bytes:
    """Put a line into a lesson, or in the place of another one."""
    lines = data.split(b"\n")
    at = dice.randrange(len(lines))
    lines[at : at + dice.randrange(2)] = [line.encode()]
    return b"\n".join(lines)


def _key(dice: random.Random) -> str:
    field = dice.choice(_FIELDS)
    return dice.choice((field, f'"{field}"', f"step.{field}", f"options.{field}"))


def _value(dice: random.Random) -> str:
    long = dice.choice((10, 200, 5_000))
    texts = (
        "x" * long,
        "(" * long,
        "9" * long,
        "/" * long,
        "\\u0000",
        "\\u001b[31m",
        f"key {'k' * long}",
        f"until {'(' * long}",
        f"step {'9' * long}",
    )
    values = (
        f'"{dice.choice(texts)}"',
        f"'{dice.choice(texts)}'",
        "9" * long,
        "0x" + "f" * long,
        "-1",
        "nan",
        "inf",
        "1e999",
        "true",
        "1979-05-27",
        "[]",
        "[[], 1]",
        "{}",
        "[{}]",
        '[{ say = "x" }, { say = "y", other = 1 }]',
        "{ vocab_size = nan }",
        f"{{ pattern = '{'(' * long}' }}",
        "{ special_tokens = ['', 1, []] }",
    )
    return dice.choice(values)


WAYS: Final[dict[str, Callable[[bytes, random.Random], bytes]]] = {
    "garbled": _garbled,
    "cut": _cut,
    "lines moved": _with_lines_moved,
    "odd value": _with_odd_value,
    "nested": _nested,
    "other bytes": _of_other_bytes,
}
"""Name -> what it makes of the bytes of a lesson."""


def check(path: Path) -> str:
    """Return what became of a lesson file: "a lesson" or "a sentence". Raise `AssertionError` for anything else."""
    try:
        lesson = read_lesson(path)
    except LessonError as error:
        sentence = str(error)
        assert sentence.startswith(path.name), sentence
        assert sentence.endswith("."), sentence
        assert sentence.isprintable(), sentence
        assert len(sentence) <= LONGEST, sentence
        has_line = "line " in sentence
        assert has_line or any(place in sentence for place in _PLACES_WITHOUT_LINE), (
            sentence
        )
        return "a sentence"
    assert isinstance(lesson, Lesson)
    assert lesson.steps
    return "a lesson"


def attack(n_lessons: int, seed: int, folder: Path) -> Counter[str]:
    """Read so many lessons, and count ways and outcomes. Raise `AssertionError` that names the seed of a defect."""
    own = [path.read_bytes() for path in sorted(lessons._FOLDER.glob("*.toml"))]
    path = folder / "mine.toml"
    outcomes: Counter[str] = Counter()
    for number in range(seed, seed + n_lessons):
        dice = random.Random(number)
        way = dice.choice(list(WAYS))
        path.write_bytes(WAYS[way](dice.choice(own), dice))
        try:
            outcomes[f"{way}: {check(path)}"] += 1
        except Exception as error:
            raise AssertionError(f"seed {number}, {way}: {error!r}") from error
    return outcomes


def main() -> int:
    """Attack and print what became of the lessons; 1 after a defect."""
    parser = ArgumentParser(
        prog="python -m tests.attack.fuzz_lessons", description=__doc__
    )
    parser.add_argument("--lessons", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first lesson")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            outcomes = attack(options.lessons, options.seed, Path(folder))
        except AssertionError as error:
            print(error)
            return 1
    for outcome, number in sorted(outcomes.items()):
        print(f"{number:>7,}  {outcome}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
