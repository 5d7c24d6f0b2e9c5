"""The files and the report of `prune`, `graft` and `unite`. Nothing is written before everything is known."""

import json
import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from bpe_core.auditing.changed_rows import ChangedEmbeddings
from bpe_core.cli.files import warn_about_ranks
from bpe_core.cli.streams import print_fetching
from bpe_core.errors import OptionError
from bpe_core.formats import WRITABLE, format_of, load
from bpe_core.formats.file import TokenizerFile, tokenizer_at
from bpe_core.hub import located
from bpe_core.report import Section, as_text
from bpe_core.surgery import UNSEEN, save_changed
from bpe_core.surgery.grafting import Grafted
from bpe_core.surgery.pruning import Pruned
from bpe_core.surgery.uniting import United
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, quoted, visible
from bpe_core.weighted import for_programs
from bpe_core.whole_file import check_place, write_whole
from bpe_core.worker.inputs import compare_on_files
from bpe_core.worker.job import Job
from bpe_core.worker.surgery import audited
from bpe_core.worker.surgery_lists import Row, about_texts, finding_rows, list_sections


class Source(NamedTuple):
    """The tokenizer to change, and how to write the result."""

    options: Namespace
    tokenizer: Tokenizer
    format: str
    """The format of the result."""
    file: Path | None
    """The tokenizer.json in which only the vocabulary is changed; None to write a new file."""

    @classmethod
    def open(cls, options: Namespace, other_output: str = "") -> "Source":
        """Load the tokenizer, and check the files to write.

        Raises:
            OptionError: Two of the files are the same, or the format can't be written.
            FormatError: A file can't be read or written.
        """
        path = tokenizer_at(Path(located(options.tokenizer, print_fetching)))
        tokenizer = load(path, pattern=options.pattern)
        format_read = format_of(TokenizerFile.open(path))
        format = options.format or format_read
        if format not in WRITABLE:
            raise OptionError(
                f"{path.name} has the format {format}, which bpescope only reads; choose another for {options.output} "
                "with --format."
            )
        outputs = [options.output, *options.embeddings[1:]]
        if other_output:
            outputs.append(other_output)
        files = [str(path), *options.embeddings[:1], *outputs]
        if len(set(map(os.path.realpath, files))) < len(files):
            raise OptionError(
                f"Of {', '.join(files)}, two are the same file; name another one to write."
            )
        for output in outputs:
            check_place(output)
        is_edited = format == format_read == "huggingface" and not options.pattern
        return cls(options, tokenizer, format, path if is_edited else None)


Result = Pruned | Grafted | United


def finish(
    source: Source,
    job: Job,
    result: Result,
    lists: Mapping[str, Sequence[Row]],
    *,
    note: str = "",
    saved: Result | None = None,
) -> None:
    """Measure what changes, write all files, and print the report.

    Args:
        source: The tokenizer before the change.
        job: Receives the progress.
        result: The result of the change, with the old ids.
        lists: Lists of the report.
        note: A sentence of the report.
        saved: What is saved instead of the result; for other ids.
    """
    options = source.options
    before = source.tokenizer
    after = result.tokenizer
    saved = saved or result
    sentences = [
        f"{counted(before.n_tokens, 'token')} before, {after.n_tokens:,} after."
    ]
    embeddings = None
    if options.embeddings:
        embeddings = ChangedEmbeddings(
            options.embeddings[0], _rows(before, saved), before.n_vocab
        )
        names = ", ".join(embeddings.matrices)
        sentences.append(f"Rows changed in {options.embeddings[1]}: {names}.")
    if note:
        sentences.append(note)
    if after.n_tokens > before.n_tokens:
        sentences.append(UNSEEN)
        if embeddings:
            sentences.append(
                "The row of a new token is the mean of the rows of its parts, which is the usual rule."
            )
    facts: dict[str, Any] = {
        "output": options.output,
        "format": source.format,
        "tokens_before": before.n_tokens,
        "tokens_after": after.n_tokens,
        "notes": sentences,
        **lists,
    }
    if options.paths:
        texts = compare_on_files(before, after, options.paths, job)
        sentences += about_texts(texts)
        facts["texts"] = {"bytes": texts.n_bytes, **texts.as_json()}
    if not options.no_audit:
        findings = audited(before, job)
        findings_after = audited(after, job)
        sentences.append(
            f"Findings of the audit: {len(findings):,} before, {len(findings_after):,} after."
        )
        left = [finding for finding in findings if finding.id in after.vocabulary]
        facts["findings_before"] = findings.kinds()
        facts["findings_after"] = findings_after.kinds()
        facts["new_findings"] = finding_rows(findings_after, findings)
        facts["findings_gone"] = finding_rows(left, findings_after)
    _write(source, job, saved, embeddings)
    if options.json:
        print(json.dumps(facts, default=for_programs))
    else:
        sections = [
            Section(sentences=sentences),
            *list_sections(facts, hint=" (--json prints all)"),
        ]
        print(as_text(sections), end="")
    job.say(f"Saved in {visible(options.output)}.")
    if source.format == "tiktoken":
        pattern = quoted(after.pattern, 80)
        job.say(
            f"A file of ranks has no split pattern; read it with the pattern {pattern}."
        )
        warn_about_ranks(saved.tokenizer)


def _rows(before: Tokenizer, saved: Result) -> list[tuple[int, ...]]:
    """Return, for each new id, the old ids whose rows its row is the mean of: those that its text was before."""
    if isinstance(saved, Pruned):
        return [(token,) for token in saved.mapping]
    rows: list[tuple[int, ...]] = [(token,) for token in range(before.n_vocab)]
    for left, right, _ in saved.merges:  # each makes the next id
        rows.append(rows[left] + rows[right])
    return rows


def _write(
    source: Source, job: Job, saved: Result, embeddings: ChangedEmbeddings | None
) -> None:
    """Write the tokenizer and the embeddings.

    The embeddings are written to a temporary file, then the tokenizer is written, and then the temporary file gets its name.
    So if the embeddings can't be written, neither file is changed.
    """
    options = source.options
    save = partial(
        save_changed, saved, options.output, format=source.format, source=source.file
    )
    if embeddings is None:
        save()
        return

    def write(file: IO[bytes]) -> None:
        embeddings.write(
            file, partial(job.progress, "preparing", name="writing embeddings")
        )
        save()

    write_whole(options.embeddings[1], write)
