"""`completion`: print a script that completes the command line in bash, zsh or fish."""

import shlex
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from bpe_core.cli.arguments import Subcommands, add_command
from bpe_core.cli.outline import Argument, Command, outline
from bpe_core.hub import KNOWN_NAMES


def add(commands: Subcommands) -> None:
    parser = add_command(commands, run_completion)
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="the shell")


def run_completion(options: Namespace) -> int:
    """Print a script that completes commands, options and values in a shell.

    completion bash > ~/.local/share/bash-completion/completions/bpescope
    completion zsh > ~/.zfunc/_bpescope
    completion fish > ~/.config/fish/completions/bpescope.fish

    bash needs the package bash-completion to find that file; without it, source the file in
    ~/.bashrc. zsh needs fpath+=~/.zfunc in ~/.zshrc, before compinit. Create missing folders first,
    and start a new shell afterwards.
    """
    print(SCRIPTS[options.shell](outline()), end="")
    return 0


def _bash(commands: Sequence[Command]) -> str:
    names = [command.name for command in commands if command.name]
    values: list[str] = []
    options: list[str] = []
    positionals: list[str] = []
    for command in commands:
        for option in command.options:
            if option.metavar:
                keys = "|".join(f"{command.name}:{name}" for name in option.names)
                values.append(f"        {keys}) {_bash_candidates([option])} ;;")
        all_names = [name for option in command.options for name in option.names]
        options.append(f"        {command.name}:-*) words={_quoted(all_names)} ;;")
        candidates = _bash_candidates(command.positionals)
        positionals.append(f"        {command.name}:*) {candidates} ;;")
    return _BASH.format(
        commands=_quoted(names),
        names="|".join(names),
        values="\n".join(values),
        options="\n".join(options),
        positionals="\n".join(positionals),
    )


def _bash_candidates(arguments: Sequence[Argument]) -> str:
    """Return the assignments that describe the values of some arguments."""
    words = [word for argument in arguments for word in argument.words]
    files = int(any(argument.takes_file for argument in arguments))
    return f"words={_quoted(words)} files={files}"


# COMP_WORDS has the "=" of --option=value as a word of its own. This runs in bash 3.2, too, which has no compopt.
_BASH: Final = """\
_bpescope() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
    local command= words= files= first=
    if [[ $COMP_CWORD -gt 1 ]]; then
        case ${{COMP_WORDS[1]}} in {names}) command=${{COMP_WORDS[1]}} ;; esac
    else
        first={commands}
    fi
    if [[ $word == "=" ]]; then
        word=
    elif [[ $previous == "=" ]]; then
        previous=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    case $command:$previous in
{values}
    esac
    if [[ -z $files ]]; then
        files=0
        case $command:$word in
{options}
{positionals}
        esac
        words="$first $words"
    fi
    local IFS=$'\\n'
    COMPREPLY=($(compgen -W "${{words// /$'\\n'}}" -- "$word"))
    if [[ $files == 1 ]]; then
        COMPREPLY+=($(compgen -f -- "$word"))
    else
        compopt +o default +o filenames 2> /dev/null
    fi
}}
complete -o default -o filenames -F _bpescope bpescope
"""


def _zsh(commands: Sequence[Command]) -> str:
    functions: list[str] = []
    names: list[str] = []
    for command in commands:
        lines = list(_zsh_arguments(command))
        specification = " \\\n        ".join(["_arguments -s -S", *lines])
        functions.append(f"_bpescope_{command.name}() {{\n    {specification}\n}}")
        if command.name:
            described = f"{command.name}:{command.summary}"
            names.append(f"        {_quoted([described])}")
    return _ZSH.format(
        tokenizers=" ".join(KNOWN_NAMES),
        functions="\n".join(functions),
        names="\n".join(names),
    )


def _zsh_arguments(command: Command) -> Iterator[str]:
    """Yield the specifications of `_arguments`, such as ``'--ids[print the ids]'``."""
    for option in command.options:
        exclusive = ""
        if option.is_repeatable:
            exclusive = "*"
        elif len(option.names) > 1:
            exclusive = f"({' '.join(option.names)})"
        value = _zsh_value(option) if option.metavar else ""
        for name in option.names:
            equals = "=" if option.metavar and name.startswith("--") else ""
            description = _zsh_escaped(option.help)
            yield _quoted([f"{exclusive}{name}{equals}[{description}]{value}"])
    for positional in command.positionals:
        place = "*" if positional.is_repeatable else ""
        yield _quoted([f"{place}{_zsh_value(positional)}"])


def _zsh_value(argument: Argument) -> str:
    """Return the name and the action of a value, such as ``:FORMAT:(native gpt2)``."""
    name = _zsh_escaped(argument.metavar)
    words = " ".join(argument.words)
    if argument.takes_file and words:
        return f":{name}:_bpescope_tokenizers"
    if argument.takes_file:
        return f":{name}:_files"
    if words:
        return f":{name}:({words})"
    return f":{name}: "


def _zsh_escaped(text: str) -> str:
    for character in "\\[]:":
        text = text.replace(character, f"\\{character}")
    return text


_ZSH: Final = """\
#compdef bpescope
_bpescope_tokenizers() {{
    _alternative 'files:file:_files' 'names:name:({tokenizers})'
}}
{functions}
_bpescope() {{
    local -a commands=(
{names}
    )
    if (( CURRENT > 2 && $+functions[_bpescope_$words[2]] )); then
        shift words
        (( CURRENT-- ))
        _bpescope_$words[1]
        return
    fi
    if (( CURRENT == 2 )); then
        _describe command commands
    fi
    _bpescope_
}}
if [[ $funcstack[1] == _bpescope ]]; then
    _bpescope "$@"
else
    compdef _bpescope bpescope
fi
"""


def _fish(commands: Sequence[Command]) -> str:
    names = " ".join(command.name for command in commands if command.name)
    lines = [
        "function __bpescope_runs",
        "    set -l words (commandline -opc)",
        '    set -l command ""',
        f'    contains -- "$words[2]" {names}; and set command $words[2]',
        '    test "$command" = "$argv[1]"',
        "end",
        "complete -c bpescope -f",
    ]
    for command in commands:
        if command.name:
            lines.append(
                f"complete -c bpescope -n 'test (count (commandline -opc)) -eq 1' "
                f"-a {command.name} -d {_quoted([command.summary])}"
            )
        start = f"complete -c bpescope -n '__bpescope_runs \"{command.name}\"'"
        for option in command.options:
            described = f"{_fish_names(option)} -d {_quoted([option.help])}"
            lines.append(f"{start} {described}{_fish_value(option)}")
        for positional in command.positionals:
            lines.append(f"{start}{_fish_value(positional)}")
    return "\n".join(lines) + "\n"


def _fish_names(option: Argument) -> str:
    parts = []
    for name in option.names:
        kind = "-l" if name.startswith("--") else "-s"
        parts.append(f"{kind} {name.lstrip('-')}")
    return " ".join(parts)


def _fish_value(argument: Argument) -> str:
    """Return the options of `complete` that describe a value."""
    if not argument.metavar:
        return ""
    value = " -r" if argument.names else ""
    value += " -F" if argument.takes_file else " -f"
    if argument.words:
        value += f" -a {_quoted(argument.words)}"
    return value


def _quoted(words: Sequence[str]) -> str:
    """Join words with spaces, and quote the result for a shell."""
    return shlex.quote(" ".join(words))


SCRIPTS: Final[dict[str, Callable[[Sequence[Command]], str]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
