"""The command: what it says without a terminal, and to a path that it cannot open."""

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bpe_core import load, save
from bpe_core.cli.arguments import Parser
from bpe_core.cli.main import COMMANDS
from bpe_core.errors import BpeError
from bpe_core.formats import WRITABLE
from tests.tui.scope import ROOT
from tests.tui.terminal import terminal
from tui.__main__ import HEADLESS, main
from tui.disk.arguments import Recognition, located
from tui.disk.config import Configuration, save_configuration
from tui.state import Opened

pytestmark = pytest.mark.usefixtures("home")


def in_a_pipe(
    *arguments: str | Path, text: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "tui", *map(str, arguments)]
    return subprocess.run(command, input=text, capture_output=True, timeout=60)


def in_a_terminal(*arguments: str | Path) -> tuple[int, str]:
    """Exit code and output of a command that ends by itself."""
    with terminal(*arguments) as command:
        return command.wait(), command.sent.decode().replace("\r\n", "\n")


@pytest.fixture
def answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Exit code and output of a command that ends by itself, in this process."""

    def answered(*arguments: str) -> tuple[int, str]:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            monkeypatch.setattr(stream, "isatty", lambda: True)
        try:
            return main(arguments), "".join(capsys.readouterr())
        finally:
            gc.enable()

    return answered


def test_without_a_terminal_it_names_the_commands_that_need_none(book: Path) -> None:
    for arguments in ([], [book]):
        ended = in_a_pipe(*arguments)
        assert (ended.returncode, ended.stdout) == (2, b"")
        sentence = ended.stderr.decode()
        assert (
            "The app needs an interactive terminal for stdin, stdout and stderr."
            in sentence
            and sentence.count("\n") == 1
        )
        assert "bpescope --help lists them" in sentence


@pytest.mark.parametrize("redirected", ["stdin", "stdout", "stderr"])
def test_all_three_streams_must_be_a_terminal(
    redirected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("stdin", "stdout", "stderr"):
        is_terminal = name != redirected
        monkeypatch.setattr(getattr(sys, name), "isatty", lambda it=is_terminal: it)
    assert main([]) == 2
    assert "for stdin, stdout and stderr." in capsys.readouterr().err


def test_every_subcommand_of_the_engine_is_one_here() -> None:
    commands = Parser().add_subparsers()
    for module in COMMANDS:
        module.add(commands)
    assert tuple(commands.choices) == HEADLESS


def test_a_tokenizer_is_named_by_its_file_or_its_name(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert located(str(kept)) == str(kept)
    assert located(os.path.relpath(kept)) == str(kept)
    monkeypatch.setattr(
        "bpe_core.hub.located", lambda name: kept if name == "gpt-4o" else name
    )
    assert located("gpt-4o") == str(kept)


@pytest.mark.parametrize("format", WRITABLE)
def test_a_tokenizer_of_any_format_is_opened_as_one(
    home: Path, kept: Path, format: str
) -> None:
    written = home / ("vocab.json" if format == "gpt2" else "mine")
    save(load(kept, pattern="gpt2"), written, format=format)
    assert Recognition([str(written)], []).run() == ((), (str(written),), (), ())


def test_a_checkout_is_opened_as_the_tokenizer_in_it(
    home: Path, kept: Path, book: Path
) -> None:
    checkout, broken = home / "model-7b", home / "broken"
    for folder in (checkout, broken):
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / "README.md").write_text("A model.")
    save(load(kept), checkout / "tokenizer.json", format="huggingface")
    (broken / "tokenizer.json").write_text(
        (checkout / "tokenizer.json").read_text()[:-20]
    )
    half, text, rows = home / "half.json", home / "text.json", home / "rows.jsonl"
    rows.write_text('{"id": 1, "text": "one"}\n')
    half.write_text(kept.read_text()[:999])
    text.write_text('{"model": "of what?", "format": "bpescope", "version": 1}')
    paths = map(str, (checkout, broken, half, text, rows, kept, book, home))
    texts, tokenizers, told, errors = Recognition(paths, []).run()
    assert not errors
    assert texts == (str(broken), str(half), str(text), str(rows), str(book), str(home))
    assert tokenizers == (str(checkout / "tokenizer.json"), str(kept))
    assert (
        "holds a tokenizer, so it was opened" in told[0]
        and "added to the corpus as a text" in told[1]
    )
    assert "half.json" in told[2] and told[2].endswith(
        " It was added to the corpus as a text."
    )
    assert "rows.jsonl" not in "".join(told)
    assert located(str(checkout)) == str(checkout / "tokenizer.json")


def test_a_tokenizer_is_named_as_the_list_calls_it(home: Path, kept: Path) -> None:
    assert located("small") == str(kept)
    save(load(kept), home / "mine.json")
    save_configuration(
        Configuration(
            opened=(Opened(str(home / "mine.json")),), names={str(kept): "Anna"}
        )
    )
    assert located("Anna") == str(kept) and located("mine") == str(home / "mine.json")
    save_configuration(
        Configuration(
            opened=(Opened(str(home / "mine.json")),), names={str(kept): "mine"}
        )
    )
    with pytest.raises(BpeError, match="Several tokenizers are called 'mine'"):
        located("mine")


@pytest.mark.parametrize("name", ["none.json", "gpt-9-none"])
def test_what_is_no_tokenizer_is_told(
    book: Path, name: str, answered: Callable[..., tuple[int, str]]
) -> None:
    with pytest.raises(BpeError):
        located(name)
    code, output = answered("-t", name)
    assert code == 2
    assert name in output and output.count("\n") == 1


def test_a_subcommand_after_a_path_is_a_path(
    answered: Callable[..., tuple[int, str]],
) -> None:
    code, output = answered("missing.txt", "train")
    assert code == 2 and "missing.txt" in output
    assert "there is no such file or folder" in output


def test_version_and_help() -> None:
    version = in_a_pipe("--version")
    assert version.returncode == 0 and version.stdout.startswith(b"bpescope ")
    asked = in_a_pipe("--help").stdout.decode()
    assert "PATH" in asked and all(command in asked for command in HEADLESS)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.txt", "there is no such file or folder"),
        ("pipe", "named pipe"),
        ("circle", "too many"),
        ("nu\x00l", "nu"),
        ("x" * 300, "too long"),
        ("binary/below", "not a directory"),
        ("\x1b]0;pwned\x07", "pwned"),
        ("--nonsense", "unrecognized"),
    ],
)
def test_a_path_that_cannot_be_opened_is_told_in_a_sentence(
    home: Path, name: str, reason: str, answered: Callable[..., tuple[int, str]]
) -> None:
    (home / "binary").write_bytes(bytes(range(256)) * 9)
    os.mkfifo(home / "pipe")
    (home / "circle").symlink_to("circle")
    code, output = answered(name)
    assert name != "missing.txt" or (code, output) == in_a_terminal(name)
    assert code == 2
    assert reason in output and "Traceback" not in output and "\x1b" not in output
    (sentence,) = output.splitlines()
    assert sentence.startswith("bpescope: ")


def test_a_wrong_argument_is_answered_before_anything_heavy_is_imported() -> None:
    program = "import sys, tui.__main__ as m; m.main(['missing']); print(*{'textual', 'rich'} & set(sys.modules))"
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
    )
    assert ended.stdout == b"\n"
