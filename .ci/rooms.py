"""Measure the content and the density of the code: python .ci/rooms.py.

Content is counted in syntax nodes and in files, and has limits. Density is how much one line asks of its reader; it is
printed next to what well-known projects have, and has no limit. Exit code 1 if a limit is exceeded.
"""

import ast
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Limit(NamedTuple):
    """How much one package may hold."""

    nodes: int
    files: int


# Plain code has more nodes than dense code: a record with named fields, or two statements instead of one. On top of that
# bpe_core bounds the memory of its readers, checks files of counts by a digest, encodes by one strategy per kind, and
# prints completion for three shells. An audit asks other vocabularies, and joins what says one thing. `difference` proves
# that two tokenizers are the same or finds a text, on texts by cause, and holds them to a lock; `surgery` removes and adds
# tokens with proofs, in five formats. Both have more than was planned for them (15,000), and are the place to take away.
LIMITS = {
    "bpe_core": Limit(nodes=229_800, files=197),
    # The stage, lessons with questions that check themselves, jump labels, compared texts and a drawn token.
    "tui": Limit(nodes=164_000, files=156),
}

# Per line of code, and per 1,000 lines of code. Projects that people like to read stay below these.
DENSITY_AIMS = {
    "syntax nodes per line": 8,
    "characters per line": 37,
    "lines over 100 characters": 10,
    "conditional expressions": 15,
    "assignments to several names": 12,
    "stars": 6,
    "walruses": 3,
    "lambdas": 3,
    "sequences times a condition": 0,
}


class Room:
    """The Python files of one package, counted."""

    def __init__(self, folder: Path) -> None:
        self.files = sorted(folder.rglob("*.py"))
        self.counts: Counter[str] = Counter()
        for path in self.files:
            self._count(path.read_text("utf-8"))

    def _count(self, source: str) -> None:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            self.counts["nodes"] += 1
            self.counts[kind_of(node)] += 1
        for line in code_lines(source, tree):
            self.counts["lines"] += 1
            self.counts["characters"] += len(line.strip())
            self.counts["lines over 100 characters"] += len(line) > 100

    def density(self, measure: str) -> float:
        """Return one of `DENSITY_AIMS`."""
        lines = self.counts["lines"]
        if measure == "syntax nodes per line":
            return self.counts["nodes"] / lines
        if measure == "characters per line":
            return self.counts["characters"] / lines
        return self.counts[measure] / lines * 1000


def code_lines(source: str, tree: ast.AST) -> list[str]:
    """Return the lines that are not blank and not part of a comment or docstring."""
    documentation: set[int] = set()
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text and isinstance(node.value.value, str):
            documentation.update(range(node.lineno, node.end_lineno + 1))
    return [
        line
        for number, line in enumerate(source.splitlines(), 1)
        if line.strip()
        and not line.lstrip().startswith("#")
        and number not in documentation
    ]


def kind_of(node: ast.AST) -> str:
    """Return the measure that counts this node, or "" if none does."""
    match node:
        case ast.IfExp():
            return "conditional expressions"
        case ast.Assign(targets=[ast.Tuple(), *_]):
            return "assignments to several names"
        case ast.Starred():
            return "stars"
        case ast.NamedExpr():
            return "walruses"
        case ast.Lambda():
            return "lambdas"
        case ast.BinOp(op=ast.Mult()) if is_condition(node.left) or is_condition(
            node.right
        ):
            return "sequences times a condition"
    return ""


def is_condition(node: ast.expr) -> bool:
    """Whether the value is True or False: `a < b`, `a and b`, `not a`."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, ast.Compare | ast.BoolOp)


def main() -> int:
    """Print both tables and return the exit code."""
    rooms = {name: Room(ROOT / name) for name in LIMITS}
    exit_code = 0
    print(f"{'package':12}{'nodes':>9}{'limit':>9}{'files':>7}{'limit':>7}")
    for name, room in rooms.items():
        limit = LIMITS[name]
        nodes = room.counts["nodes"]
        n_files = len(room.files)
        print(f"{name:12}{nodes:9,}{limit.nodes:9,}{n_files:7}{limit.files:7}")
        if nodes > limit.nodes or n_files > limit.files:
            print(
                f"{name} is over its limit: take something away, or raise the limit and say what users get for it."
            )
            exit_code = 1

    print(f"\n{'density':30}{'aim':>6}" + "".join(f"{name:>10}" for name in rooms))
    for measure, aim in DENSITY_AIMS.items():
        values = "".join(f"{room.density(measure):10.1f}" for room in rooms.values())
        print(f"{measure:30}{aim:6}{values}")
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
