"""Random mutants: small errors drawn by a seed from all that cosmic-ray can make of both packages.

    pip install cosmic-ray coverage
    python -m tests.random_mutants --seed 36 --count 300 --results ../mutants.jsonl
    python -m tests.random_mutants --seed 36 --count 300 --only 17 --only 23    two of them again

Each mutant changes one place in a copy of the checkout, and the quick tests that reach its line run, the fastest
first. A map of the tests that reach each line is made first, with coverage: it takes ten minutes, and all of it takes
an hour. Coverage does not see the processes that tests start: if no test is known to reach a line, all tests of its
room run. Which of the survivors change nothing that can be seen, a reader decides.
"""

import argparse
import ast
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, NamedTuple

from tests.mutants import NO_SHRINKING, PARALLEL, ROOT, Copy

PACKAGES: Final = ("bpe_core", "tui")
MOST_TESTS: Final = 150
MOST_SECONDS: Final = 60.0
"""How long the tests of one mutant may take in all, as measured for the map."""
LONGEST_NAME: Final = 1000
"""Characters of the name of a test. A command line has no room for longer ones."""
MOST_SECONDS_OF_FILE: Final = 300
"""How long the tests of one file may run under coverage; the map lacks those that take longer."""
COVERAGE_SETTINGS: Final = """\
[run]
source = bpe_core,tui
data_file = %(folder)s/data/measured
parallel = true
core = ctrace
disable_warnings = module-not-measured,no-data-collected,module-not-imported
"""
Span = tuple[tuple[int, int], tuple[int, int]]
"""The first (line, column) and the one after the last."""


class Drawn(NamedTuple):
    """One place in a file, and one of the operators of cosmic-ray that change it."""

    file: str
    span: Span
    operator: str
    occurrence: int


class Reach(NamedTuple):
    """Which tests reach a line, and how long each of them takes."""

    tests_by_line: dict[str, dict[int, set[str]]]
    seconds: dict[str, float]

    def of_lines(self, file: str, lines: range) -> set[str]:
        """The tests that run one of these lines."""
        by_line = self.tests_by_line.get(file, {})
        return {test for line in lines for test in by_line.get(line, ())}


def places(source: str, file: str) -> dict[Span, list[Drawn]]:
    """All mutants of a file, by the place that they change; annotations are left out."""
    import parso
    from cosmic_ray.ast import ast_nodes
    from cosmic_ray.plugins import get_operator, operator_names

    annotations = list(_annotations(ast.parse(source)))
    nodes = list(ast_nodes(parso.parse(source)))
    found: dict[Span, list[Drawn]] = defaultdict(list)
    for name in operator_names():
        operator_class = get_operator(name)
        if operator_class.arguments():
            continue
        operator = operator_class()
        spans = (span for node in nodes for span in operator.mutation_positions(node))
        for occurrence, span in enumerate(spans):
            if not any(start <= span[0] < end for start, end in annotations):
                found[span].append(Drawn(file, span, name, occurrence))
    return found


def _annotations(tree: ast.AST) -> Iterator[Span]:
    """The places of types: a change of one fails at the import, or does nothing."""
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            if part is not None:
                start = (part.lineno, part.col_offset)
                yield start, (part.end_lineno, part.end_col_offset)


def mutated(source: str, drawn: Drawn) -> str | None:
    """The source with the error in it; None if Python refuses to compile that."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    text = mutate_code(source, get_operator(drawn.operator)(), drawn.occurrence)
    try:
        compile(text, drawn.file, "exec")
    except (SyntaxError, ValueError, TypeError):
        return None
    return str(text)


def draw(seed: int, count: int) -> list[Drawn]:
    """Draw as many places of both packages, each as likely as any other, and one mutant of each."""
    sources: dict[str, str] = {}
    by_place: dict[tuple[str, Span], list[Drawn]] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            file = path.relative_to(ROOT).as_posix()
            sources[file] = path.read_text("utf-8")
            for span, mutants in places(sources[file], file).items():
                by_place[file, span] = mutants
    chance = random.Random(seed)
    order = sorted(by_place)
    chance.shuffle(order)
    chosen: list[Drawn] = []
    for place in order:
        drawn = chance.choice(by_place[place])
        if mutated(sources[drawn.file], drawn) is not None:
            chosen.append(drawn)
        if len(chosen) == count:
            break
    return chosen


def lines_to_reach(source: str, drawn: Drawn) -> range:
    """The lines of which a test must run one, so that it may notice the mutant.

    Those of the statement in a function; all of the function for its decorators and defaults; all of the file for
    what only an import runs.
    """
    line = drawn.span[0][0]
    smallest: ast.stmt | None = None
    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.stmt):
            continue
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *[decorator.lineno for decorator in decorators]])
        if first <= line <= (node.end_lineno or first):
            smallest = node  # `walk` comes to the inner ones later
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                function = node
    if function is None or smallest is None:
        return range(1, source.count("\n") + 2)
    if smallest is function:
        return range(function.body[0].lineno, (function.end_lineno or 0) + 1)
    body = getattr(smallest, "body", None) or getattr(smallest, "cases", None)
    if body:
        last_line_of_head = max(smallest.lineno, body_line(body[0]) - 1)
        return range(smallest.lineno, last_line_of_head + 1)
    return range(smallest.lineno, (smallest.end_lineno or smallest.lineno) + 1)


def body_line(node: Any) -> int:
    """The first line of a statement, or of a case of `match`."""
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    return int(node.lineno)


def pytest_runtest_protocol(item: Any) -> None:
    """Tell coverage which test begins: pytest calls this with `-p tests.random_mutants`."""
    import coverage

    measured = coverage.Coverage.current()
    if measured is not None:
        measured.switch_context(item.nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    """Note how long a part of a test took: pytest calls this with `-p tests.random_mutants`."""
    note = os.environ.get("BPESCOPE_TEST_DURATIONS")
    if note:
        with open(note, "a", encoding="utf-8") as file:
            print(
                json.dumps([report.nodeid, report.duration, report.outcome]), file=file
            )


def measure_reach(folder: Path) -> Reach:
    """Run the quick tests under coverage in a copy of the checkout, each file in a process of its own.

    So a file whose tests hang takes no other file out of the map.
    """
    copy = Copy(folder / "measured")
    (folder / "data").mkdir()
    settings = folder / "coveragerc"
    settings.write_text(COVERAGE_SETTINGS % {"folder": folder})
    durations = folder / "durations"
    durations.touch()

    def measure(test_file: Path) -> None:
        coverage = ("-m", "coverage", "run", f"--rcfile={settings}")
        pytest = ("-m", "pytest", "-n0", "-p", "tests.random_mutants", NO_SHRINKING)
        with suppress(subprocess.TimeoutExpired):
            copy.run(
                *coverage,
                *pytest,
                str(test_file),
                seconds=MOST_SECONDS_OF_FILE,
                variables={"BPESCOPE_TEST_DURATIONS": str(durations)},
            )

    with ThreadPoolExecutor(PARALLEL) as threads:
        list(threads.map(measure, sorted(copy.folder.glob("tests/**/test_*.py"))))
    return read_reach(copy.folder, durations, sorted((folder / "data").iterdir()))


def read_reach(checkout: Path, durations: Path, data_files: list[Path]) -> Reach:
    """Read the map out of what coverage and pytest have written; tests that failed are left out."""
    from coverage import CoverageData

    seconds: dict[str, float] = defaultdict(float)
    failed = set()
    for row in durations.read_text("utf-8").splitlines():
        test, duration, outcome = json.loads(row)
        seconds[test] += duration
        if outcome != "passed" or len(test) > LONGEST_NAME:
            failed.add(test)
    for test in failed:
        del seconds[test]
    tests_by_line: dict[str, dict[int, set[str]]] = {}
    for data_file in data_files:
        data = CoverageData(str(data_file))
        with suppress(Exception):  # of a process that was killed while it wrote
            data.read()
        for path in data.measured_files():
            file = Path(path).relative_to(checkout).as_posix()
            by_line = tests_by_line.setdefault(file, {})
            for line, contexts in data.contexts_by_lineno(path).items():
                tests = seconds.keys() & set(contexts)
                by_line.setdefault(line, set()).update(tests)
    return Reach(tests_by_line, dict(seconds))


def tests_for(source: str, drawn: Drawn, reach: Reach) -> list[str]:
    """The quick tests that may notice a mutant, the fastest first, as many as fit into the time."""
    tests = reach.of_lines(drawn.file, lines_to_reach(source, drawn))
    chosen = []
    left = MOST_SECONDS
    for test in sorted(tests, key=lambda test: (reach.seconds[test], test)):
        left -= reach.seconds[test]
        if chosen and (left < 0 or len(chosen) == MOST_TESTS):
            break
        chosen.append(test)
    return chosen


def tests_of_room(file: str) -> list[str]:
    """The test files of a room of the engine, or of a module of the app."""
    package, *folders, name = file.split("/")
    if package == "tui":
        patterns = [f"tests/tui/test_{name}", "tests/tui/test_features.py"]
    else:
        patterns = [f"tests/core/{folder}/**/test_*.py" for folder in folders[:1]]
    paths = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    return [path.relative_to(ROOT).as_posix() for path in paths]


def try_mutant(copy: Copy, drawn: Drawn, reach: Reach) -> dict[str, object]:
    """What became of a mutant, as a row of the results."""
    source = (ROOT / drawn.file).read_text("utf-8")
    new_source = mutated(source, drawn)
    assert new_source is not None
    row: dict[str, object] = {
        "file": drawn.file,
        "line": drawn.span[0][0],
        "operator": drawn.operator.removeprefix("core/"),
        "change": changed_lines(source, new_source),
    }
    tests = tests_for(source, drawn, reach)
    row["tests"] = len(tests)
    planned = sum(reach.seconds[test] for test in tests)
    if not tests:
        tests = tests_of_room(drawn.file)
        planned = MOST_SECONDS
    if not tests:
        return row | {"state": "unreached"}
    started = time.monotonic()
    with copy.replaced(drawn.file, new_source):
        code, words = copy.pytest(*tests, seconds=int(60 + 4 * planned))
    row["seconds"] = round(time.monotonic() - started, 1)
    if code is None:
        return row | {"state": "timeout"}
    if code == 0:
        return row | {"state": "survived"}
    if code == 4 and "not found" in words:  # the test, not the mutant, is at fault
        return row | {"state": "not tried", "by": words}
    return row | {"state": "killed", "by": words, "code": code}


def changed_lines(old: str, new: str) -> list[str]:
    """The lines that differ, the old ones with "-", the new ones with "+"."""
    import difflib

    lines = difflib.ndiff(old.splitlines(), new.splitlines())
    return [line for line in lines if line[0] in "-+"]


def main() -> int:
    """Draw and try the mutants; 0, whatever becomes of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--only", type=int, action="append", help="number of a mutant")
    parser.add_argument(
        "--results", type=Path, help="a file, outside of the checkout, for a row each"
    )
    asked = parser.parse_args()
    mutants = draw(asked.seed, asked.count)
    numbers = asked.only or range(len(mutants))
    with (
        tempfile.TemporaryDirectory(prefix="random-mutants-") as folder,
        ThreadPoolExecutor(PARALLEL) as threads,
    ):
        reach = measure_reach(Path(folder))
        free: SimpleQueue[Copy] = SimpleQueue()
        for number in range(PARALLEL):
            free.put(Copy(Path(folder, str(number))))

        def run(number: int) -> str:
            copy = free.get()
            try:
                row = {"number": number, **try_mutant(copy, mutants[number], reach)}
            finally:
                free.put(copy)
            print(json.dumps(row), file=results, flush=True)
            print(number, row["state"], row["file"], row["change"], flush=True)
            return str(row["state"])

        with asked.results.open("a") if asked.results else io.StringIO() as results:
            states = Counter(threads.map(run, numbers))
    print(*(f"{count} {state}" for state, count in states.most_common()), sep=", ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
