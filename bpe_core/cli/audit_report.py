"""The report of an audit that one would attach to a model card: Markdown, or one self-contained page of HTML."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from bpe_core.auditing import KINDS, Verdict
from bpe_core.auditing.summary import Summary
from bpe_core.auditing.weights import WEIGHTS
from bpe_core.plurals import counted
from bpe_core.visible import shortened, visible

FIRST: Final = 50
"""Tokens in a report, unless all are asked for."""
_LABEL: Final = 80
"""Characters of a token's label at most."""
_SCORE: Final = (
    "The score ranks tokens for a reader's attention; it is no measured probability. Each kind of evidence has a "
    "weight, each further kind takes its part of what is left to 1, and the parts shown add up. Where the rows of a "
    "model are known, the other kinds count as far as the row agrees."
)


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What a report tells."""

    title: str
    """The name of the tokenizer."""
    looked_at: tuple[str, ...]
    """Sentences: what the audit was given beside the vocabulary."""
    summary: Summary
    verdicts: Sequence[Verdict]
    """On tokens with findings, the highest score first."""
    first: int | None = FIRST
    """How many of them to list; None: all."""

    @property
    def listed(self) -> Sequence[Verdict]:
        """The verdicts that are listed."""
        return self.verdicts[: self.first]

    @property
    def heading(self) -> str:
        """Of the list."""
        n, listed = len(self.verdicts), len(self.listed)
        return f"The first {listed:,} of {counted(n, 'token')} with findings" if listed < n else "Tokens with findings"


def markdown(report: AuditReport) -> str:
    """The report in Markdown with tables, as GitHub and model cards show it."""
    return "\n".join(_markdown_lines(report)) + "\n"


def _markdown_lines(report: AuditReport) -> Iterator[str]:
    yield f"# Audit of {_text(report.title)}"
    yield ""
    for sentence in (*report.summary.sentences, *report.looked_at):
        yield f"- {_text(sentence)}"
    yield from ("", "| kind | tokens | what it means |", "| --- | ---: | --- |")
    for kind, n in report.summary.kinds.items():
        yield f"| {kind} | {n:,} | {_text(KINDS[kind])} |"
    yield from ("", f"## {report.heading}", "", "| id | token | score | why |", "| ---: | --- | --- | --- |")
    for verdict in report.listed:
        yield f"| {verdict.id} | {_code(_label(verdict))} | {verdict.making} | {_text(verdict.reason)} |"
    yield from ("", "## How the score is made", "", _SCORE, "", "| kind | weight | why |", "| --- | ---: | --- |")
    for kind, weight in WEIGHTS.items():
        yield f"| {kind} | {weight.most:.2f} | {_text(weight.why)} |"


def html(report: AuditReport) -> str:
    """The report as a complete HTML document, dark or light as the reader has it; nothing is loaded from elsewhere."""
    title = escape(f"Audit of {visible(report.title)}")
    said = "".join(f"<li>{escape(visible(s))}</li>\n" for s in (*report.summary.sentences, *report.looked_at))
    kinds = "".join(
        f"<tr><td>{kind}</td><td class=n>{n:,}</td><td>{escape(KINDS[kind])}</td></tr>\n"
        for kind, n in report.summary.kinds.items()
    )
    rows = "".join(
        f'<tr class="{verdict.severity.word if verdict.severity else ""}"><td class=n>{verdict.id}</td>'
        f"<td><code dir=auto>{escape(_label(verdict))}</code></td><td>{escape(verdict.making)}</td>"
        f"<td>{escape(visible(verdict.reason))}</td></tr>\n"
        for verdict in report.listed
    )
    weights = "".join(
        f"<tr><td>{kind}</td><td class=n>{weight.most:.2f}</td><td>{escape(weight.why)}</td></tr>\n"
        for kind, weight in WEIGHTS.items()
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{title}</h1>
<ul>
{said}</ul>
<table>
<tr><th>kind<th class=n>tokens<th>what it means</tr>
{kinds}</table>
<h2>{escape(report.heading)}</h2>
<table>
<tr><th class=n>id<th>token<th>score<th>why</tr>
{rows}</table>
<h2>How the score is made</h2>
<p>{escape(_SCORE)}</p>
<table>
<tr><th>kind<th class=n>weight<th>why</tr>
{weights}</table>
</body>
</html>
"""


_STYLE: Final = """
body { --text: #1c1e21; --quiet: #5c6370; --page: #ffffff; --rule: #d8dbe0; --bad: #b3261e; --mild: #8a5a00;
  color: var(--text); background: var(--page); font: 15px/1.5 system-ui, sans-serif; max-width: 75em;
  margin: 0 auto; padding: 1em 1.2em; }
@media (prefers-color-scheme: dark) {
  body { --text: #e4e6eb; --quiet: #9aa2af; --page: #15171a; --rule: #33373d; --bad: #ff8a80; --mild: #e6b450; }
}
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25em .8em .25em 0; border-bottom: 1px solid var(--rule); }
th { color: var(--quiet); font-weight: 600; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.problem code { color: var(--bad); } .warning code { color: var(--mild); }
"""


def _label(verdict: Verdict) -> str:
    return shortened(verdict.label, _LABEL)


def _text(text: str) -> str:
    """Text of a cell or a line, nothing in it taken for Markdown or HTML."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#~&" else c for c in visible(text).replace("\n", " "))


def _code(label: str) -> str:
    """A label as code within a table, its backticks and bars kept."""
    fence = "`"
    while fence in label:
        fence += "`"
    space = " " if label.startswith("`") or label.endswith("`") else ""
    return f"{fence}{space}{label.replace('|', chr(92) + '|')}{space}{fence}"
