"""`bpescope completion`: each script in its own shell, and the records that the scripts are made from."""

import shutil
import subprocess
from pathlib import Path

import pytest

from bpe_core.cli.completion import SCRIPTS
from bpe_core.cli.main import main
from bpe_core.cli.outline import outline

# What an interactive zsh reads at its start. Its compadd also writes all matches to a file.
ZSHRC = """
autoload -Uz compinit
compinit -u -D
source {script}
compadd() {{
    local -a found
    if [[ ${{@[1,(i)(-|--)]}} != *-[a-zA-Z]#[ADO]\\ * ]]; then
        builtin compadd -O found "$@"
        print -rl -- $found >> {out}
    fi
    builtin compadd "$@"
}}
finish() {{ print finished >> {out} }}
complete_word() {{ comppostfuncs=(finish); zle complete-word }}
zle -N complete_word
bindkey '^I' complete_word
print READ''Y
"""
ZSH = """
zmodload zsh/zpty
zpty shell zsh -i
zpty -r shell output '*READY*'
zpty -w -n shell $'{line}\t'
repeat 100; do grep -q finished {out} 2> /dev/null && break; sleep 0.1; done
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file and a folder, next to the scripts."""
    folder = tmp_path / "texts"
    (folder / "notes").mkdir(parents=True)
    (folder / "my book.txt").touch()
    return folder


def completions(shell: str, line: str, folder: Path, script: str) -> set[str]:
    """The words that a shell offers for the last word of a line."""
    program = shutil.which(shell)
    if not program:
        pytest.skip(f"{shell} is not installed")
    path = folder.parent / f"bpescope.{shell}"
    path.write_text(script, "utf-8")
    out = folder.parent / "out"
    if shell == "bash":
        words = line.split(" ")
        array = " ".join(f"'{word}'" for word in words)
        run = f"COMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; _bpescope"
        code = f'source {path}; {run}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    elif shell == "fish":
        code = f"source {path}; complete -C '{line}'"
    else:
        (folder.parent / ".zshrc").write_text(ZSHRC.format(script=path, out=out))
        code = ZSH.format(out=out, line=line)
    ended = subprocess.run(
        [program, "-c", code],
        cwd=folder,
        env={"HOME": str(folder.parent), "PATH": "/usr/bin:/bin", "TERM": "xterm"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    printed = out.read_text("utf-8") if shell == "zsh" else ended.stdout
    return {row.partition("\t")[0] for row in printed.splitlines()}


@pytest.mark.parametrize("shell", SCRIPTS)
@pytest.mark.parametrize(
    ("line", "some", "none"),
    [
        ("bpescope enc", {"encode"}, {"decode"}),
        ("bpescope encode --all", {"--allow-special"}, {"--vocab-size"}),
        ("bpescope --full", {"--full-speed"}, {"--json"}),
        ("bpescope convert --format ", {"huggingface", "native"}, {"my book.txt"}),
        ("bpescope export ", {"merges", "curve"}, {"--output"}),
        ("bpescope encode -t gpt-4", {"gpt-4o"}, {"my book.txt"}),
        ("bpescope train --vocab-size ", set(), {"my book.txt", "notes/"}),
        ("bpescope count --pattern gpt", {"gpt4o"}, {"none"}),
        ("bpescope fetch o200k", {"o200k_base"}, {"notes/"}),
    ],
)
def test_a_shell_completes(
    shell: str, line: str, some: set[str], none: set[str], folder: Path
) -> None:
    offered = completions(shell, line, folder, SCRIPTS[shell](outline()))
    assert some <= offered
    assert not offered & none


@pytest.mark.parametrize("shell", SCRIPTS)
@pytest.mark.parametrize(
    "start",
    ["bpescope ", "bpescope encode -t ", "bpescope train -o ", "bpescope count "],
)
def test_a_shell_completes_files(shell: str, start: str, folder: Path) -> None:
    offered = completions(shell, f"{start}my", folder, SCRIPTS[shell](outline()))
    assert "my book.txt" in {word.replace("\\", "") for word in offered}


def test_bash_completes_after_an_equals_sign(folder: Path) -> None:
    script = SCRIPTS["bash"](outline())
    line = "bpescope convert --format = hug"
    assert completions("bash", line, folder, script) == {"huggingface"}


def test_the_command_prints_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    for shell, script in SCRIPTS.items():
        assert main(["completion", shell]) == 0
        assert capsys.readouterr().out == script(outline())


def test_a_placeholder_that_is_no_file_is_listed_here() -> None:
    """A new placeholder of files must be added to `outline.py`, any other one to this test."""
    others = {
        argument.metavar
        for command in outline()
        for argument in command.arguments
        if not (argument.takes_file or argument.words)
    }
    values = {"N", "NAME", "S", "SHARE", "SIZE", "SPECIAL", "STEP", "WORD", "X"}
    assert others == values | {"", "KIND,...", "M,...", "local|ADDRESS"}
