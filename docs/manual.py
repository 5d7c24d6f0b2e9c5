"""The manual of all commands, from their parsers: sections of a page for MkDocs, and the man page.

`python docs/manual.py` writes docs/bpescope.1 again. The man page is in the repository, since the build of a wheel could not
make it: it does not install what the parsers import.
"""

import html
import re
from pathlib import Path
from typing import Any

from bpe_core.cli.outline import Argument, Command, outline

PLACEHOLDER = "<!-- commands -->"
IN_EVERY_COMMAND = ("-h, --help", "--debug")
"""Options that the page names once, above all commands."""
MAN_PAGE = Path(__file__).with_name("bpescope.1")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the placeholder by one section per command. MkDocs calls this for each page."""
    if PLACEHOLDER not in markdown:
        return markdown
    sections = "\n\n".join(section(command) for command in outline())
    return markdown.replace(PLACEHOLDER, sections)


def section(command: Command) -> str:
    """Return the section of a command in Markdown."""
    parts = [f"## {command.full_name}", plain(command.summary)]
    parts.append(f"```text\n{command.usage}\n```")
    rows = [row for row in arguments_of(command) if row[0] not in IN_EVERY_COMMAND]
    parts.append(table("argument", rows))
    if command.examples:
        examples = "\n".join(command.examples)
        parts.append(f"**Examples**\n\n```sh\n{examples}\n```")
    parts.extend(plain(note) for note in command.notes)
    for rows in command.tables:
        parts.append(f"**{rows.title.capitalize()}**")
        parts.append(table("name", list(rows.rows)))
    return "\n\n".join(parts)


def arguments_of(command: Command) -> list[tuple[str, str]]:
    """Return how to write each argument, the positional ones first, and what it does."""
    arguments = [*command.positionals, *command.options]
    return [(written(argument), argument.help) for argument in arguments]


def written(argument: Argument) -> str:
    """Return how to write an argument, such as ``-o, --output OUT``."""
    parts = [", ".join(argument.names), argument.value]
    return " ".join(part for part in parts if part)


def table(heading: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| {heading} | meaning |", "|---|---|"]
    for name, meaning in rows:
        # A value such as local|ADDRESS must not end the cell.
        code = html.escape(name).replace("|", "&#124;").replace(",", ",<wbr>")
        lines.append(f"| <code>{code}</code> | {plain(meaning)} |")
    return "\n".join(lines)


def plain(text: str) -> str:
    """Return text in Markdown that looks as it is. Words in backticks stay code."""
    text = html.escape(text, quote=False).replace("|", "&#124;")
    return re.sub(r"([*_\[\]])", r"\\\1", text)


def man_page() -> str:
    """Return the man page, for the macros of man(7)."""
    app, *commands = outline()
    lines = ['.TH BPESCOPE 1 "" bpescope "User Commands"', ".SH NAME"]
    lines.append(r"bpescope \- see and use byte-pair encoding in the terminal")
    lines.append(".SH SYNOPSIS")
    for command in (app, *commands):
        lines += [roff(command.usage), ".br"]
    lines.pop()
    lines += [".SH DESCRIPTION", roff(app.summary)]
    lines.append("Without a command, bpescope opens the app.")
    lines += options_in_roff(app)
    for command in commands:
        lines.append(f'.SH "{command.full_name.upper()}"')
        lines.append(roff(command.summary))
        lines += options_in_roff(command)
        for note in command.notes:
            lines += [".PP", roff(note)]
        for rows in command.tables:
            lines += [".PP", roff(f"{rows.title.capitalize()}:")]
            lines += tagged(list(rows.rows))
        lines += [".PP", "Examples:", ".PP", ".RS 4", ".nf"]
        lines += [roff(example) for example in command.examples]
        lines += [".fi", ".RE"]
    lines += [".SH EXIT STATUS"]
    status = {
        "0": "Success.",
        "1": "The answer is no (audit --fail-on, train --preset, diff, check).",
        "2": "Wrong usage or bad input.",
        "3": "Unknown (diff, check).",
        "130": "Interrupted.",
    }
    lines += tagged(list(status.items()))
    return "\n".join(lines) + "\n"


def options_in_roff(command: Command) -> list[str]:
    return tagged(arguments_of(command))


def tagged(rows: list[tuple[str, str]]) -> list[str]:
    """Return a list of names with an indented meaning each."""
    lines: list[str] = []
    for name, meaning in rows:
        lines += [".TP", rf"\fB{roff(name)}\fR", roff(meaning)]
    return lines


def roff(text: str) -> str:
    r"""Return text for roff, such as ``\-o`` for ``-o``."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = "".join(c if c.isascii() else rf"\[u{ord(c):04X}]" for c in text)
    if text.startswith((".", "'")):
        text = rf"\&{text}"
    return text


if __name__ == "__main__":
    MAN_PAGE.write_text(man_page(), "utf-8")
