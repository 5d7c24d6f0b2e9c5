"""`audit`: list suspicious tokens, for people and for programs, with an exit code for CI."""

import json
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Final

from bpe_core.auditing.embeddings import INDICATORS
from bpe_core.auditing.findings import KINDS, Findings, Severity
from bpe_core.auditing.reachability import NORMALIZERS, what_if
from bpe_core.auditing.static import incomplete_bigrams, summary
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.verdicts import (
    Verdict,
    by_family,
    verdict,
    verdicts,
    verdicts_on,
)
from bpe_core.cli.arguments import Parser, Subcommands, add_command
from bpe_core.cli.streams import StderrReporter, open_tokenizer, print_fetching
from bpe_core.cli.train import add_selection, recipe_of, with_field
from bpe_core.corpus import Counts
from bpe_core.errors import OptionError
from bpe_core.hub import located
from bpe_core.process import INTERRUPTED, print_to_stderr
from bpe_core.report import ReportTable, Section, as_html, as_markdown, as_text
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import is_utf8
from bpe_core.visible import counted, shortened, visible
from bpe_core.weighted import for_programs
from bpe_core.worker.audit import (
    Asked,
    AuditRequest,
    OtherTokenizer,
    examine_request,
)
from bpe_core.worker.job import Job
from bpe_core.worker.messages import Event

_SHOWN_IN_REPORT: Final = 50
"""Maximum number of families of tokens in a Markdown or HTML report without --all."""
_SHOWN_RELATED: Final = 3
"""Maximum number of other tokens of a family that are named."""
_SHOWN_IN_TERMINAL: Final = 10
"""Maximum number of findings of each kind without --all, and of families with the highest scores."""
_BINS: Final = 20
"""Maximum number of rows in the histogram of an indicator."""
_BAR_WIDTH: Final = 30  # cells of the longest bar of the histogram
_SCORE: Final = (
    "The score ranks tokens by how much they deserve a look; it is not a probability. Each kind "
    "of evidence has a weight: the first kind counts in full, and each further kind adds its "
    "part of the remainder up to 1, so the parts add up to the score. If embeddings are given, "
    "the other kinds count as far as the embedding agrees. Evidence from the chosen texts counts "
    "more if it is unusual among the thousand tokens learned around the same time (by Bayes' "
    "rule, assuming that 0.3 % of a vocabulary are glitch tokens)."
)


def add(commands: Subcommands) -> None:
    width = max(map(len, KINDS))
    lines = [f"  {name:{width}}  {kind.meaning}" for name, kind in KINDS.items()]
    kinds = "\n".join(["kinds of findings:", *lines])
    parser = add_command(commands, run_audit, kinds)
    parser.add_tokenizer()
    _add_evidence(parser)
    forms = parser.add_forms(
        jsonl="print one JSON object per finding: id, token (its bytes in hex), text, score (0 "
        "to 1, higher is more suspicious), severity, kinds, reason, family (the id of the first "
        "token of those that contain one another), shares (the parts of the score), evidence",
        markdown="print a report in Markdown, such as for a model card",
        html="print a report as a self-contained HTML page",
        bigrams="print only the pairs of tokens that are valid text only together: the two ids "
        "and the text, one pair per line",
        ids="print only the ids of tokens with a warning or problem, the highest score first, one "
        "per line",
        texts="print only the texts of these tokens as JSON strings, one per line; tokens that are "
        "not valid text are left out",
    )
    forms.add_argument(
        "--format",
        choices=("garak",),
        metavar="FORM",
        help="print the tokens with a warning or problem for another program: garak, as options of its "
        "probe `glitch`",
    )
    parser.add_flag(
        "all", "print all findings (in a report, all tokens), not only the first ones"
    )
    parser.add_value(
        "--fail-on", "KIND,...", "exit with code 1 if there are findings of these kinds"
    )
    parser.add_flag(
        "all-tokens", "with --jsonl: print one object per token of the vocabulary"
    )
    parser.add_value(
        "--what-if",
        "PATTERN",
        "print only the tokens that would become unreachable if this pattern split the text",
        None,
    )
    parser.add_value(
        "--what-if-normalizer",
        "NAME",
        "print only the tokens that would become unreachable if this normalizer changed text "
        f"before the split: {', '.join(NORMALIZERS)}",
        None,
        choices=NORMALIZERS,
    )


def _add_evidence(parser: Parser) -> None:
    """Add the options for texts and embeddings."""
    files = "what `count` reads, or files that it wrote; repeatable"
    parser.add_value(
        "--corpus",
        "PATH",
        f"texts to count the tokens in, such as the training corpus: {files}",
        [],
        action="append",
    )
    parser.add_value(
        "--reference",
        "PATH",
        f"texts like those that a model will be trained on: {files}",
        [],
        action="append",
    )
    add_selection(parser)
    parser.add_value(
        "--against",
        "TOKENIZER",
        "another tokenizer, a file or a name as for -t: tokens that no other one has are "
        "suspicious; repeatable, the more the better",
        [],
        action="append",
    )
    parser.add_value(
        "--embeddings",
        "FILE",
        "the embeddings of a model with this tokenizer: .safetensors, an index of several of "
        "these, or .npy",
    )
    parser.add_value(
        "--tensor",
        "NAME",
        "the name of the matrix in FILE (default: the usual names are tried)",
        None,
    )
    parser.add_argument(
        "--indicator",
        choices=INDICATORS,
        help="the measure for judging embeddings (default: norm for input embeddings, cosine for "
        "output and tied ones)",
    )


def run_audit(options: Namespace) -> int:
    """List the suspicious tokens of a vocabulary.

    audit -t mine.json --corpus my_texts/ --reference what_a_model_reads/
    audit -t gpt2 --against gpt-4o --against qwen.json --against llama3.json
    audit -t mine.json --jsonl --fail-on unreachable,never-used
    audit -t gpt2 --embeddings model.safetensors --html > audit.html
    audit -t gpt-4 --what-if qwen2
    audit -t gpt2 --format garak > glitch.json

    garak (NVIDIA) then asks a model to repeat these tokens: garak --spec probes.glitch.GlitchFull
    --probe_option_file glitch.json, with the options that name the model.

    The kinds of findings were checked against published lists of glitch tokens and against token counts,
    not against the behavior of a model. A model may fail on tokens that no finding names: a census of one
    model found many glitch tokens whose embeddings look ordinary.
    """
    fatal_kinds = parse_kinds(options.fail_on, "--fail-on")
    if options.all_tokens and not options.jsonl:
        raise OptionError(
            "--all-tokens needs --jsonl; add --jsonl, or leave out --all-tokens."
        )
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    if options.bigrams:
        _print_bigrams(tokenizer)
        return 0
    if options.what_if is not None or options.what_if_normalizer is not None:
        _print_what_if(tokenizer, options)
        return 0
    options.paths = ()
    name_of = {str(located(name, print_fetching)): name for name in options.against}
    options.against = list(name_of.values())  # without two names of one file
    request = AuditRequest(
        options.tokenizer,
        corpus=with_field(options.corpus, options.field),
        reference=with_field(options.reference, options.field),
        recipe=recipe_of(options, {}),
        against=tuple(map(OtherTokenizer, name_of)),
        embeddings=options.embeddings,
        tensor=options.tensor,
        indicator=options.indicator,
    )
    reporter = _AuditReporter()
    with closing(Job(reporter)) as job:
        findings, subject = examine_request(tokenizer, request, job)
        if subject is None or job.stopped:
            job.say("Interrupted before the audit was complete.")
            return INTERRUPTED
    if options.jsonl:
        if options.all_tokens:
            _print_json(verdicts_on(tokenizer.vocabulary.ids(), subject, findings))
        else:
            _print_json(_rows_of_findings(findings, subject))
    elif options.ids or options.texts or options.format:
        _print_tokens(verdicts(subject, findings), options)
    else:
        asked = [name_of[path] for path in reporter.asked]
        print(_report(findings, subject, options, asked), end="")
    return 1 if findings.of(*fatal_kinds) else 0


class _AuditReporter(StderrReporter):
    """Remembers which of the other tokenizers were asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        """Their paths."""

    def send(self, event: Event) -> None:
        if isinstance(event, Asked):
            self.asked.append(event.path)
        super().send(event)


def _rows_of_findings(findings: Findings, subject: AuditSubject) -> list[Verdict]:
    """Return a verdict on each finding by itself, the highest score first."""
    family_of = {row.id: row.family for row in verdicts(subject, findings)}
    rows = [
        replace(
            verdict(subject, finding.id, [finding]), family=family_of.get(finding.id)
        )
        for finding in findings
    ]
    rows.sort(key=lambda row: -row.score)
    return rows


def parse_kinds(text: str, option: str) -> list[str]:
    """Parse the value of `option`."""
    names = [name.strip() for name in text.split(",")]
    kinds = [name for name in names if name]
    for kind in kinds:
        if kind not in KINDS:
            raise OptionError(
                f"{option}: unknown kind of finding {kind!r}; choose from {', '.join(KINDS)}."
            )
    return kinds


def _print_bigrams(tokenizer: Tokenizer) -> None:
    n_bigrams = 0
    for left, right, text in incomplete_bigrams(tokenizer):
        print(left, right, visible(text))
        n_bigrams += 1
    print_to_stderr(f"{counted(n_bigrams, 'incomplete bigram')}.")


def _print_what_if(tokenizer: Tokenizer, options: Namespace) -> None:
    """Print the tokens that another pattern or normalizer would make unreachable."""
    with closing(Job(StderrReporter())) as job:
        findings = list(
            what_if(
                tokenizer,
                pattern=options.what_if,
                normalizer=options.what_if_normalizer,
                progress=partial(job.progress, "auditing"),
            )
        )
    if options.jsonl:
        subject = AuditSubject(tokenizer)
        _print_json(verdict(subject, finding.id, [finding]) for finding in findings)
    elif findings:
        print(f"{counted(len(findings), 'token')} would become unreachable:")
        for finding in findings:
            print(finding.id, finding.label, visible(finding.reason), sep="\t")
    else:
        print("No token would become unreachable.")


def _print_tokens(ranked: Sequence[Verdict], options: Namespace) -> None:
    """Print the tokens with a warning or problem, or all findings with --all, for another program."""
    least = Severity.NOTE if options.all else Severity.WARNING
    listed = [row for row in ranked if row.severity and row.severity >= least]
    if options.ids:
        for row in listed:
            print(row.id)
        return
    texts = [row.token.decode() for row in listed if is_utf8(row.token)]
    if options.texts:
        for text in texts:
            print(json.dumps(text, ensure_ascii=False))
    else:
        print(json.dumps({"glitch": {"glitch_tokens": texts}}, ensure_ascii=False))


def _print_json(rows: Iterable[Verdict]) -> None:
    for row in rows:
        print(json.dumps(row.to_json(), default=for_programs))


def _report(
    findings: Findings,
    subject: AuditSubject,
    options: Namespace,
    asked: Sequence[str],
) -> str:
    """Return the report for people, in the chosen form. `asked` names the other tokenizers."""
    tokenizer = subject.tokenizer
    sentences = list(chain(summary(tokenizer), _evidence(options, subject, asked)))
    ranked = verdicts(subject, findings)
    if options.markdown or options.html:
        title = f"Audit of {tokenizer.name or Path(options.tokenizer).name}"
        most = len(ranked) if options.all else _SHOWN_IN_REPORT
        sections = _model_card(sentences, findings, ranked, most)
        sections[1:1] = _rows_of_model(subject)
        if options.markdown:
            return as_markdown(title, sections)
        return as_html(title, sections)
    most = len(findings) if options.all else _SHOWN_IN_TERMINAL
    sections = list(_by_kind(sentences, findings, ranked, most))
    return as_text([*sections, *_rows_of_model(subject)])


def _evidence(
    options: Namespace, subject: AuditSubject, asked: Sequence[str]
) -> Iterator[str]:
    """Name the texts and the model that were examined, and the checks that were not made."""
    if subject.counts:
        yield f"Texts: {_describe_texts(options.corpus, subject.counts)}."
    if subject.reference_counts:
        yield f"Reference: {_describe_texts(options.reference, subject.reference_counts)}."
    if asked:
        names = [visible(Path(name).name) for name in asked]
        yield f"Other vocabularies: {', '.join(names)}."
    not_asked = [visible(name) for name in options.against if name not in asked]
    if not_asked:
        yield f"Not asked, because this tokenizer has their tokens from the same training: {', '.join(not_asked)}."
    if options.embeddings:
        names = [Path(options.embeddings).name, options.tensor, options.indicator]
        yield f"Model: {', '.join(name for name in names if name)}."
    if not options.corpus and "count" in subject.columns:
        yield "Counts: from the training record."
    unchecked = []
    if not subject.usage:
        unchecked.append("how often tokens occur (needs --corpus)")
    if not options.against:
        unchecked.append("whether other vocabularies have its tokens (needs --against)")
    if not options.embeddings:
        unchecked.append("whether embeddings look untrained (needs --embeddings)")
    if unchecked:
        yield f"Not checked: {', '.join(unchecked)}."
    yield "Checked against published lists and counts, not against the behavior of a model."
    pattern = f", pattern {visible(options.pattern)}" if options.pattern else ""
    yield f"bpescope {version('bpescope')}{pattern}."


def _describe_texts(paths: Sequence[str], counts: Counts) -> str:
    """Return the names of texts, their total size, and a digest of them."""
    digests = "".join(source.sha256 for source in counts.sources)
    digest = sha256(digests.encode()).hexdigest()
    names = ", ".join(Path(path).name for path in paths)
    facts = [
        counted(len(counts.sources), "text"),
        counted(counts.n_bytes, "byte"),
        f"SHA-256 {digest[:16]}",
    ]
    if counts.sample:
        facts.append(counts.sample)
    if counts.weights:
        facts.append(f"weights {counts.weights}")
    return f"{names} ({', '.join(facts)})"


def _by_kind(
    sentences: Sequence[str],
    findings: Findings,
    ranked: Sequence[Verdict],
    most: int,
) -> Iterator[Section]:
    """Yield the report for a terminal: the worst tokens, then at most `most` findings of each kind."""
    yield Section(sentences=sentences)
    worst = [row for row in ranked if row.severity and row.severity > Severity.NOTE]
    if worst:
        rows = [
            (f"{first.id:,}", first.label, _with_related(first.making, others))
            for first, *others in by_family(worst)[:_SHOWN_IN_TERMINAL]
        ]
        yield Section("Highest scores:", table=_token_table(rows))
    for kind, n in findings.kinds().items():
        rows = [
            (f"{finding.id:,}", finding.label, finding.reason)
            for finding in findings.of(kind)[:most]
        ]
        more = f"and {n - most:,} more (--all shows them)" if n > most else ""
        heading = f"{kind}  {n:,}"
        yield Section(heading, [KINDS[kind].meaning], _token_table(rows), more)
    if not findings:
        yield Section(sentences=["The audit found nothing suspicious."])


def _with_related(text: str, others: Sequence[Verdict]) -> str:
    """Append the labels of the other tokens of a family."""
    if not others:
        return text
    labels = [shortened(other.label, 40) for other in others[:_SHOWN_RELATED]]
    if len(others) > len(labels):
        labels.append(f"{len(others) - len(labels):,} more")
    return f"{text}  Related: {', '.join(labels)}"


def _rows_of_model(subject: AuditSubject) -> list[Section]:
    """Return a histogram of the indicators of the model's rows, with the threshold marked."""
    distribution = subject.distribution
    if distribution is None:
        return []
    bins = distribution.bins(_BINS)
    at_threshold = distribution.bin_of(distribution.threshold, _BINS)
    most = max(part.n_rows for part in bins)
    rows: list[tuple[str, str, str]] = []
    for place, part in enumerate(bins):
        bar = "█" * ceil(_BAR_WIDTH * part.n_rows / most)
        if place == at_threshold:
            bar += " ◀ threshold"
        rows.append((f"{part.start:.3g}", f"{part.n_rows:,}", bar.strip()))
    head = ("indicator from", "rows", "")
    table = ReportTable(head, rows, numbers=(0, 1), widest=_BAR_WIDTH + 12)
    return [Section("Rows of the model", [distribution.sentence], table)]


def _token_table(rows: Sequence[tuple[str, str, str]]) -> ReportTable:
    """Make a table without column names: id, token, explanation."""
    return ReportTable(("", "", ""), rows, numbers=(0,), widest=24)


def _model_card(
    sentences: Sequence[str],
    findings: Findings,
    ranked: Sequence[Verdict],
    most: int,
) -> list[Section]:
    """Return the report for a model card: at most `most` tokens, and how their scores are made."""
    kinds = [
        (kind, f"{n:,}", KINDS[kind].meaning) for kind, n in findings.kinds().items()
    ]
    listed = by_family(ranked)[:most]
    heading = "Tokens with findings"
    if sum(map(len, listed)) < len(ranked):
        tokens = counted(len(ranked), "token")
        heading = f"The first {len(listed):,} families, of {tokens} with findings"
    token_table = ReportTable(
        ("id", "token", "score", "why"),
        [
            (
                str(row.id),
                shortened(row.label, 80),
                row.making,
                _with_related(row.reason, others),
            )
            for row, *others in listed
        ],
        numbers=(0,),
        tokens=1,
        marks=[row.severity.word if row.severity else "" for row, *_ in listed],
    )
    by_weight = sorted(KINDS.items(), key=lambda item: -item[1].most)
    weights = [(name, f"{kind.most:.2f}", kind.why) for name, kind in by_weight]
    return [
        Section(
            sentences=sentences,
            table=ReportTable(("kind", "tokens", "what it means"), kinds, numbers=(1,)),
        ),
        Section(heading, table=token_table),
        Section(
            "How the score is made",
            [_SCORE],
            ReportTable(("kind", "weight", "why"), weights, numbers=(1,)),
        ),
    ]
