"""`audit`: what is suspicious about a vocabulary, as a table, as JSON lines, or as an exit code for CI."""

import json
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Final

from bpe_core.auditing.embeddings import INDICATORS
from bpe_core.auditing.findings import KINDS, Findings, Severity
from bpe_core.auditing.reachability import NORMALIZERS, what_if
from bpe_core.auditing.static import incomplete_bigrams, summary
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.verdicts import Verdict, verdict, verdicts, verdicts_on
from bpe_core.cli.arguments import Subcommands, add_command
from bpe_core.cli.streams import StderrReporter, open_tokenizer
from bpe_core.errors import OptionError
from bpe_core.process import INTERRUPTED, print_to_stderr
from bpe_core.report import ReportTable, Section, as_html, as_markdown, as_text
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, shortened, visible
from bpe_core.weighted import for_programs
from bpe_core.worker.audit import AuditRequest, examined
from bpe_core.worker.job import Job

_FIRST: Final = 50  # tokens in a report, unless all are asked for
_OF_KIND: Final = (
    10  # findings of each kind in a terminal, and tokens shown before everything else
)
_SCORE: Final = (
    "The score ranks tokens for a reader's attention; it is no measured probability. Each kind of evidence has a "
    "weight, each further kind takes its part of what is left to 1, and the parts shown add up. Where the rows of a "
    "model are known, the other kinds count as far as the row agrees. What chosen texts show counts as far as it is "
    "unusual for the thousand tokens learned about when it was (Bayes, with 0.3 % of a vocabulary glitch tokens)."
)


def add(commands: Subcommands) -> None:
    kinds = "".join(f"\n  {name:22}{kind.meaning}" for name, kind in KINDS.items())
    parser = add_command(commands, run_audit, f"kinds of findings:{kinds}")
    parser.add_tokenizer()
    which = "a file or folder, or what `count` has written; repeatable"
    own = f"texts to count its tokens in, such as those it learned from: {which}"
    parser.add_value("--corpus", "PATH", own, [], action="append")
    parser.add_value(
        "--reference",
        "PATH",
        f"texts that a model is to learn from: {which}",
        [],
        action="append",
    )
    model = "the embeddings of a model that uses the tokenizer: .safetensors, the index of several, or .npy"
    parser.add_value("--embeddings", "FILE", model)
    parser.add_value(
        "--tensor",
        "NAME",
        "which matrix of FILE; the usual ones are found without",
        None,
    )
    judged = "what rows are judged by: norm for inputs, cosine for outputs and tied ones, unless told"
    parser.add_argument("--indicator", choices=INDICATORS, help=judged)
    parser.add_forms(
        jsonl="print one JSON object a finding: id, token (its bytes in hex), text, score (0 to 1, higher is more "
        "suspicious), severity, kinds, reason, shares (what the score is made of), evidence",
        markdown="print a report in Markdown, as for a model card",
        html="print a report as one self-contained HTML page",
        bigrams="instead, print every pair of tokens that are text only together: ids and text, a line each",
    )
    parser.add_flag(
        "all",
        "print every finding, or every token in a report, not only the first ones",
    )
    parser.add_value(
        "--fail-on", "KIND,...", "exit with 1 if there is a finding of these kinds"
    )
    parser.add_flag(
        "all-tokens", "with --jsonl: one object a token of the vocabulary instead"
    )
    dead = "instead, print the tokens that no text would become any more if this pattern split the text"
    parser.add_value("--what-if", "PATTERN", dead, None)
    normalizers = (
        f"the same for a normalizer before the split: {', '.join(NORMALIZERS)}"
    )
    parser.add_value(
        "--what-if-normalizer", "NAME", normalizers, None, choices=NORMALIZERS
    )


def run_audit(options: Namespace) -> int:
    """List what is suspicious about a vocabulary.

    audit -t mine.json --corpus my_texts/ --reference what_a_model_reads/
    audit -t mine.json --jsonl --fail-on unreachable,never-used
    audit -t gpt2 --embeddings model.safetensors --html > audit.html
    audit -t gpt-4 --what-if qwen2
    """
    fatal = [kind for name in options.fail_on.split(",") if (kind := name.strip())]
    if unknown := [kind for kind in fatal if kind not in KINDS]:
        raise OptionError(
            f"--fail-on: there is no kind {unknown[0]!r} of finding; the kinds are {', '.join(KINDS)}."
        )
    if options.all_tokens and not options.jsonl:
        raise OptionError(
            "--all-tokens prints one JSON object a token; give --jsonl too."
        )
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    if options.bigrams:
        bigrams = list(incomplete_bigrams(tokenizer))
        for left, right, text in bigrams:
            print(left, right, visible(text))
        print_to_stderr(f"{counted(len(bigrams), 'incomplete bigram')}.")
        return 0
    if options.what_if is not None or options.what_if_normalizer is not None:
        return _what_if(tokenizer, options)
    texts = tuple(options.corpus), tuple(options.reference)
    model = options.embeddings, options.tensor, options.indicator
    with closing(Job(StderrReporter())) as job:
        found, subject = examined(
            tokenizer, AuditRequest(options.tokenizer, None, *texts, *model), job
        )
        if subject is None or job.stopped:
            job.say("Interrupted before the audit was complete.")
            return INTERRUPTED
    sentences = [*summary(tokenizer), *_given(options, subject)]
    if options.jsonl:
        ids = tokenizer.vocabulary.ids()
        of_each = (verdict(subject, finding.id, [finding]) for finding in found)
        _print_json(verdicts_on(ids, subject, found) if options.all_tokens else of_each)
    elif options.markdown or options.html:
        title = f"Audit of {tokenizer.name or Path(options.tokenizer).name}"
        sections = _card(
            sentences, found, verdicts(subject, found), None if options.all else _FIRST
        )
        print((as_markdown if options.markdown else as_html)(title, sections), end="")
    else:
        first = None if options.all else _OF_KIND
        print(
            as_text(_by_kind(found, sentences, verdicts(subject, found), first)), end=""
        )
    return 1 if found.of(*fatal) else 0


def _print_json(rows: Iterable[Verdict]) -> None:
    for row in rows:
        print(json.dumps(row.to_json(), default=for_programs))


def _given(options: Namespace, subject: AuditSubject) -> Iterator[str]:
    """What the audit was made with and given beside the vocabulary, and what it cannot find without more."""
    given = {
        "Texts": (options.corpus, subject.counts),
        "Reference": (options.reference, subject.reference_counts),
    }
    for what, (paths, counts) in given.items():
        if counts:
            digest = sha256(
                "".join(source.sha256 for source in counts.sources).encode()
            ).hexdigest()
            names = ", ".join(Path(path).name for path in paths)
            size = f"{counted(len(counts.sources), 'text')}, {counts.n_bytes:,} bytes"
            yield f"{what}: {names} ({size}, SHA-256 {digest[:16]})."
    if options.embeddings:
        how = [named for named in (options.tensor, options.indicator) if named]
        yield f"Model: {', '.join([Path(options.embeddings).name, *how])}."
    if not options.corpus and "count" in subject.columns:
        yield "Counts are those of its training corpus, from its record."
    known = {"texts": subject.usage, "the rows of a model": options.embeddings}
    if missing := [what for what, value in known.items() if not value]:
        yield f"Without {' and '.join(missing)} a token that is merely rare looks like any other."
    yield f"bpescope {version('bpescope')}{', pattern ' + visible(options.pattern) if options.pattern else ''}."


def _by_kind(
    found: Findings,
    sentences: Sequence[str],
    ranked: Sequence[Verdict],
    first: int | None,
) -> Iterator[Section]:
    """The summary, the tokens with the highest scores, and the `first` findings of each kind (None: all)."""

    def table(rows: Iterable[tuple[int, str, str]]) -> ReportTable:
        return ReportTable(
            ("", "", ""),
            [(f"{id:,}", label, why) for id, label, why in rows],
            numbers=(0,),
            widest=24,
        )

    yield Section(sentences=sentences)
    worst = [
        verdict
        for verdict in ranked
        if verdict.severity and verdict.severity > Severity.NOTE
    ][:_OF_KIND]
    if worst:
        yield Section(
            "Look at first, by score:",
            table=table((one.id, one.label, one.making) for one in worst),
        )
    for kind, n in found.kinds().items():
        rows = table((one.id, one.label, one.reason) for one in found.of(kind)[:first])
        more = (
            f"and {n - first:,} more (--all shows them)"
            if first is not None and n > first
            else ""
        )
        yield Section(f"{kind}  {n:,}", [KINDS[kind].meaning], rows, more)
    if len(found) == 0:
        yield Section(sentences=["Nothing suspicious."])


def _card(
    sentences: Sequence[str],
    found: Findings,
    ranked: Sequence[Verdict],
    first: int | None,
) -> list[Section]:
    """What one would attach to a model card: the `first` tokens with findings, and how their score is made."""
    listed = ranked[:first]
    n, m = len(ranked), len(listed)
    heading = (
        f"The first {m:,} of {counted(n, 'token')} with findings"
        if m < n
        else "Tokens with findings"
    )
    kinds = [(kind, f"{n:,}", KINDS[kind].meaning) for kind, n in found.kinds().items()]
    tokens = ReportTable(
        ("id", "token", "score", "why"),
        [
            (str(one.id), shortened(one.label, 80), one.making, one.reason)
            for one in listed
        ],
        numbers=(0,),
        tokens=1,
        marks=[one.severity.word if one.severity else "" for one in listed],
    )
    most = sorted(KINDS.items(), key=lambda one: -one[1].most)
    weights = [(name, f"{kind.most:.2f}", kind.why) for name, kind in most]
    return [
        Section(
            sentences=sentences,
            table=ReportTable(("kind", "tokens", "what it means"), kinds, numbers=(1,)),
        ),
        Section(heading, table=tokens),
        Section(
            "How the score is made",
            [_SCORE],
            ReportTable(("kind", "weight", "why"), weights, numbers=(1,)),
        ),
    ]


def _what_if(tokenizer: Tokenizer, options: Namespace) -> int:
    """Look for tokens that another pattern or normalizer kills, and print them; returns 0. Raises `Stopped`."""
    with closing(Job(StderrReporter())) as job:
        asked = {"pattern": options.what_if, "normalizer": options.what_if_normalizer}
        found = list(
            what_if(tokenizer, **asked, progress=partial(job.progress, "auditing"))
        )
    if options.jsonl:
        subject = AuditSubject(tokenizer)
        _print_json(verdict(subject, finding.id, [finding]) for finding in found)
    else:
        n = counted(len(found), "token") if found else "No token"
        print(f"{n} would become unreachable{':' if found else '.'}")
        print(
            "".join(
                f"{finding.id}\t{finding.label}\t{visible(finding.reason)}\n"
                for finding in found
            ),
            end="",
        )
    return 0
