"""The commands and Python examples of README.md and of all pages in docs/, run as they are written.

Each page has an empty folder with `book.txt` and two texts in `notes/`. Its `sh` and `python` blocks run in order, and
a block may use what the blocks before it made. The line `<!-- not run: REASON -->` before a block leaves it out.

A `text` block that directly follows a block is what that block prints, stdout and stderr together. In it,

- a line `…` matches any number of lines, and a `…` in a line any characters,
- any amount of spaces matches any other amount,
- a number with a unit of time or speed (`0.4 s`, `12 ms`, `91 MB/s`), a version (`0.1.0`) and a time
  (`2026-11-29 03:56`) match any other.
"""

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import regex

from tests.attack import published

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKING = [*sorted(ROOT.glob("*.md")), *PAGES[1:]]
QUICK = {"README.md", "docs/index.md", "docs/guides/homework.md"}
"""Pages that run with the quick tests. A command takes half a second, and all others are marked slow."""

RUN = ("sh", "python")
NOT_RUN = ("text", "toml", "json", "csv", "yaml", "dockerfile")
REASON = regex.compile(r"<!-- not run: (\w[^<>]{10,}) -->")
PUBLISHED_NAME = regex.compile(
    r"""(?:-t |--extend |fetch |convert |load\(")(gpt-?[234]|cl100k|o200k|r50k|p50k)"""
)


@dataclass
class Block:
    """A fenced block of a page. `printed` is the `text` block after it, `reason` why it is not run."""

    language: str
    line: int
    reason: str = ""
    lines: list[str] = field(default_factory=list)
    printed: "Block | None" = None

    @property
    def text(self) -> str:
        return "".join(line + "\n" for line in self.lines)


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, each with the output that the page shows for it."""
    blocks: list[Block] = []
    block = None
    last_line = ""  # the last line outside a block that is not empty
    indent = 0
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        stripped = line.strip()
        if block is None and stripped.startswith("```"):
            block = Block(stripped.strip("` "), number + 1)
            indent = line.index("`")
            if note := REASON.fullmatch(last_line):
                block.reason = note[1]
            elif last_line.startswith("<!-- not run"):
                pytest.fail(f"{page}:{number - 1}: say why it is not run")
        elif block is not None and stripped == "```":
            if block.language == "text" and last_line == "```" and blocks:
                blocks[-1].printed = block
            blocks.append(block)
            block = None
            last_line = "```"
        elif block is not None:
            block.lines.append(line[indent:])
        elif stripped:
            last_line = stripped
    assert block is None, f"{page}: a block has no end"
    return blocks


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def pages_to_run() -> Iterator[object]:
    for page in PAGES:
        name = name_of(page)
        marks = [] if name in QUICK else [pytest.mark.slow]
        yield pytest.param(page, id=name, marks=marks)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The reader's folder, the current one; `bpescope` is on the PATH and the home folder is empty."""
    folder = tmp_path / "work"
    notes = folder / "notes"
    home = tmp_path / "home"
    notes.mkdir(parents=True)
    home.mkdir()
    samples = ROOT / "sample_texts"
    shutil.copy(samples / "english-prose.txt", folder / "book.txt")
    shutil.copy(samples / "english-everyday.txt", notes / "letters.txt")
    shutil.copy(samples / "one-tale-many-scripts.txt", notes / "tale.txt")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(home))
    programs = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("COLUMNS", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.mark.parametrize("page", pages_to_run())
def test_the_examples_of_a_page_run_as_written(page, folder):
    blocks = blocks_of(page)
    to_run = [block for block in blocks if block.language in RUN and not block.reason]
    if any(PUBLISHED_NAME.search(block.text) for block in to_run):
        find_published_vocabularies(page, folder.parent)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in to_run:
        match block.language:
            case "sh":
                printed = run_commands(page, block, folder)
            case _:
                printed = run_python(page, block, namespace)
        if block.printed and not block.printed.reason:
            check_output(page, block.printed, printed)


def find_published_vocabularies(page: Path, folder: Path) -> None:
    """Put the published vocabularies where bpescope finds them, or skip the test."""
    found = published.unpacked(folder)
    for name in ("gpt2", "cl100k_base", "o200k_base"):
        if name not in found:
            pytest.skip(
                f"{name_of(page)} needs the published {name}; set BPESCOPE_VOCABS to a folder with its files"
            )


def run_commands(page: Path, block: Block, folder: Path) -> str:
    """Run a block with bash and return its output; fail with the line of the first command that fails."""
    page_name = name_of(page)
    script = folder.parent / "block.sh"
    fail = f"trap 'echo \"{page_name}:$LINENO: exit code $?\"' ERR"
    first_line = f"set -e -o pipefail; {fail}"
    empty_lines = "\n" * (
        block.line - 1
    )  # so that bash numbers the lines as the page does
    script.write_text(first_line + empty_lines + block.text, "utf-8")
    run = subprocess.run(
        ["bash", script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # without a terminal, the app does not start
        timeout=300,
    )
    printed = run.stdout.decode("utf-8", "replace")
    if run.returncode:
        pytest.fail(f"{page_name}:{block.line}: the block failed\n{printed}")
    return printed


def run_python(page: Path, block: Block, namespace: dict[str, object]) -> str:
    """Run a block in the namespace of its page, and return what it prints."""
    empty_lines = "\n" * (block.line - 1)
    code = compile(empty_lines + block.text, name_of(page), "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def check_output(page: Path, expected: Block, printed: str) -> None:
    """Fail if a block did not print what the page shows."""
    pattern = ""
    for line in expected.lines:
        if line.strip() == "…":
            pattern += r"(?:.*\n)*"
        else:
            parts = comparable(line).split("…")
            pattern += ".*".join(map(regex.escape, parts)) + "\n"
    lines = "".join(comparable(line) + "\n" for line in printed.splitlines())
    if not regex.fullmatch(pattern, lines, timeout=20):
        pytest.fail(
            f"{name_of(page)}:{expected.line}: the page shows\n{expected.text}\nand the command printed\n{printed}"
        )


def comparable(line: str) -> str:
    """Return a line without what may differ: times, speeds, versions, and the width of spaces."""
    line = regex.sub(r"\d[\d.,]*(?= ?(s|ms|seconds|[kM]B/s)\b)", "N", line)
    line = regex.sub(r"\d+\.\d+\.\d+", "VERSION", line)
    line = regex.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "TIME", line)
    return regex.sub(r"\s+", " ", line).strip()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_have_a_language_that_is_known(page):
    for block in blocks_of(page):
        assert block.language in (*RUN, *NOT_RUN), f"{name_of(page)}:{block.line - 1}"


@pytest.mark.parametrize("page", LINKING, ids=name_of)
def test_links_lead_to_files_and_headings(page):
    text = regex.sub(r"(?ms)^ *```.*?^ *```|`[^`\n]*`", "", page.read_text("utf-8"))
    targets = regex.findall(r'\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"', text)
    for target in (markdown or html for markdown, html in targets):
        if regex.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{name_of(page)}: no file {path}"
        if anchor and linked.suffix == ".md":
            assert anchor in anchors_of(linked), f"{name_of(page)}: no heading {target}"


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MkDocs make them."""
    headings = regex.findall(r"(?m)^#+ (.+)$", page.read_text("utf-8"))
    return {
        regex.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in headings
    }


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_and_names_in_the_pages_for_contributors_exist(name):
    folders = ("bpe_core", "tui", "tests", "benchmarks", "docs", ".ci", ".github")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*")]
    files += ROOT.iterdir()
    paths = [f"/{file.relative_to(ROOT).as_posix()}" for file in files]
    paths += [path.removesuffix(".py") for path in paths]
    suffixes = (".py", ".c", ".toml", ".yml")
    sources = [file for file in files if file.suffix in suffixes]
    source = "".join(file.read_text("utf-8") for file in sources)
    words = set(regex.findall(r"\w+", source))

    text = (ROOT / name).read_text("utf-8")
    modules = regex.findall(r"python -m ((?:tests|benchmarks)[\w.]*)", text)
    names = [module.replace(".", "/") for module in modules]
    names += regex.findall(r"`([\w./][^`\s]*)`", text)
    for named in names:
        if regex.search(r"/|\.(?:py|c|json|toml|yml|md|cff)$", named):
            path_end = "/" + named.strip("/")
            exists = any(path.endswith(path_end) for path in paths)
        else:
            exists = words.issuperset(regex.findall(r"[A-Za-z_]\w+", named))
        assert exists, f"{name}: {named}"


def test_the_twelve_lines_of_the_page_are_those_the_app_runs():
    page = ROOT / "docs/how-bpe-works.md"
    (block,) = (block for block in blocks_of(page) if "def get_stats" in block.text)
    only_here = ("words = [list(", "n_merges =", "#")
    shown = [line for line in block.lines if line and not line.startswith(only_here)]
    run = (ROOT / "bpe_core/explain/twelve_lines.txt").read_text("utf-8").splitlines()
    assert shown == [line for line in run if line]


@pytest.mark.parametrize(
    ("shown", "printed", "is_same"),
    [
        ("a  b\n", "a b\n", True),
        ("a b\n", "a c\n", False),
        ("took 0.4 s\n", "took 12 s\n", True),
        ("took 4 tokens\n", "took 5 tokens\n", False),
        ("bpescope 0.1.0\n", "bpescope 0.2.0\n", True),
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a\n…\nd\n", "a\nb\nc\n", False),
        ("a … d\n", "a b c d\n", True),
        ("a\n", "a\nb\n", False),
    ],
)
def test_output_differs_only_where_it_may(shown, printed, is_same):
    expected = Block("text", 1, lines=shown.splitlines())
    if is_same:
        check_output(PAGES[0], expected, printed)
    else:
        with pytest.raises(pytest.fail.Exception):
            check_output(PAGES[0], expected, printed)


def test_a_failing_command_is_reported_with_its_line(folder):
    block = Block("sh", 7, lines=["true", "", "false", "true"])
    with pytest.raises(pytest.fail.Exception, match=r"README\.md:9: exit code 1"):
        run_commands(PAGES[0], block, folder)
