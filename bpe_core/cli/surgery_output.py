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
from bpe_core.whole_file import check_place, write_atomically, write_whole
from bpe_core.worker.inputs import compare_on_files
from bpe_core.worker.job import Job
from bpe_core.worker.surgery import audited
from bpe_core.worker.surgery_lists import Row, about_texts, finding_rows, list_sections


class Source(NamedTuple):
    """The tokenizer to change, and how to write the result."""

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
        return cls(tokenizer, format, path if is_edited else None)


class Change(NamedTuple):
    """What a command has made, for its files and its report."""

    before: Tokenizer
    after: Tokenizer
    """With the old ids."""
    made: Pruned | Grafted | United
    """The tokenizer to save, perhaps with new ids."""
    lists: Mapping[str, Sequence[Row]]
    """Lists of the report."""
    notes: Sequence[str] = ()
    """Sentences of the report."""
    files: Mapping[str, str] = {}
    """Path -> text of further files to write."""

    def rows(self) -> list[tuple[int, ...]]:
        """Return, for each new id, the old ids whose rows its row is the mean of: those that its text was before."""
        if isinstance(self.made, Pruned):
            return [(token,) for token in self.made.mapping]
        rows: list[tuple[int, ...]] = [(token,) for token in range(self.before.n_vocab)]
        for left, right, _ in self.made.merges:  # each makes the next id
            rows.append(rows[left] + rows[right])
        return rows


def finish(change: Change, source: Source, options: Namespace, job: Job) -> None:
    """Measure what changes, write all files, and print the report."""
    before = change.before
    after = change.after
    sentences = [
        f"{counted(before.n_tokens, 'token')} before, {after.n_tokens:,} after."
    ]
    embeddings = None
    if options.embeddings:
        embeddings = ChangedEmbeddings(
            options.embeddings[0], change.rows(), before.n_vocab
        )
        names = ", ".join(embeddings.matrices)
        sentences.append(f"Rows changed in {options.embeddings[1]}: {names}.")
    sentences += change.notes
    if not isinstance(change.made, Pruned):
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
        **change.lists,
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
    _write(change, source, options, embeddings, job)
    if options.json:
        print(json.dumps(facts, default=for_programs))
    else:
        sections = [Section(sentences=sentences), *list_sections(facts)]
        print(as_text(sections), end="")
    job.say(f"Saved in {visible(options.output)}.")
    if source.format == "tiktoken":
        pattern = quoted(after.pattern, 80)
        job.say(
            f"A file of ranks has no split pattern; read it with the pattern {pattern}."
        )
        warn_about_ranks(change.made.tokenizer)


def _write(
    change: Change,
    source: Source,
    options: Namespace,
    embeddings: ChangedEmbeddings | None,
    job: Job,
) -> None:
    """Write all files. The embeddings are complete before the others are written, and renamed after them."""

    def save(embeddings_file: IO[bytes] | None = None) -> None:
        if embeddings and embeddings_file:
            progress = partial(job.progress, "preparing", name="writing embeddings")
            embeddings.write(embeddings_file, progress)
        save_changed(
            change.made, options.output, format=source.format, source=source.file
        )
        for name, text in change.files.items():
            write_atomically((name, [text]))

    if embeddings:
        write_whole(options.embeddings[1], save)
    else:
        save()
