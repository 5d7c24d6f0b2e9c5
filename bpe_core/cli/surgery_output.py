"""The files and the report of `prune`, `graft` and `unite`. Nothing is written before everything is known."""

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from bpe_core.auditing.changed_rows import ChangedEmbeddings
from bpe_core.cli.streams import print_fetching
from bpe_core.corpus import Counts
from bpe_core.errors import OptionError
from bpe_core.formats import WRITABLE, format_of, load
from bpe_core.formats.file import TokenizerFile, tokenizer_at
from bpe_core.hub import located
from bpe_core.process import print_to_stderr
from bpe_core.report import Section, as_text
from bpe_core.surgery import UNSEEN, save_changed
from bpe_core.surgery.grafting import Grafted
from bpe_core.surgery.pruning import Pruned
from bpe_core.surgery.reach import check_changeable
from bpe_core.surgery.uniting import United
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, quoted, visible
from bpe_core.weighted import for_programs
from bpe_core.whole_file import check_place, write_atomically, write_whole
from bpe_core.worker.job import Job
from bpe_core.worker.surgery import (
    Changed,
    change_of_findings,
    change_of_texts,
)
from bpe_core.worker.surgery_lists import (
    Listing,
    findings_listings,
    findings_section,
    texts_section,
)


class Source(NamedTuple):
    """The tokenizer to change, and how to write the result."""

    tokenizer: Tokenizer
    path: Path
    format: str
    edits_file: bool
    """Whether the result is the file at `path` with another vocabulary."""

    @classmethod
    def open(cls, options: Namespace, more_outputs: Sequence[str] = ()) -> "Source":
        """Load the tokenizer, and check the files to write.

        Raises:
            OptionError: Two of the files are the same, or the vocabulary can't be changed, or the format can't be written.
            FormatError: A file can't be read or written.
        """
        path = tokenizer_at(Path(located(options.tokenizer, print_fetching)))
        tokenizer = load(path, pattern=options.pattern)
        check_changeable(tokenizer)
        format_read = format_of(TokenizerFile.open(path))
        format = options.format or format_read
        if format not in WRITABLE:
            raise OptionError(
                f"{path.name} has the format {format}, which bpescope only reads; choose another for {options.output} "
                "with --format."
            )
        outputs = [options.output, *more_outputs]
        files = [path, *outputs]
        if options.embeddings:
            files += options.embeddings
            outputs.append(options.embeddings[1])
        for output in outputs:
            check_place(output)
        used: set[Path] = set()
        for file in files:
            resolved = Path(file).resolve()
            if resolved in used:
                raise OptionError(
                    f"{file} is named twice, as an input or output; name another file."
                )
            used.add(resolved)
        is_same = format == format_read == "huggingface"
        return cls(tokenizer, path, format, is_same and options.pattern is None)


class Result(NamedTuple):
    """The result of a command, for its report."""

    changed: Changed
    listings: list[Listing]
    made: Pruned | Grafted | United
    """The tokenizer to save, perhaps with new ids."""
    rows: Sequence[Sequence[int]] = ()
    """The rows of the new embeddings, as `ChangedEmbeddings` takes them."""
    files: Mapping[str, str] = {}
    """Path -> text of further files to write."""
    notes: Sequence[str] = ()
    """Sentences of the report."""


def finish(
    result: Result,
    source: Source,
    options: Namespace,
    job: Job,
    counts: Counts | None = None,
) -> None:
    """Measure what changes, write all files, and print the report. Nothing is written before all is known.

    `counts` has the texts of the audit.
    """
    changed = result.changed
    n_before = changed.before.n_tokens
    n_after = changed.after.n_tokens
    sentences = [f"{counted(n_before, 'token')} before, {n_after:,} after."]
    embeddings = None
    if options.embeddings:
        embeddings = ChangedEmbeddings(
            options.embeddings[0], result.rows, changed.before.n_vocab
        )
        names = ", ".join(embeddings.matrices)
        sentences.append(f"Rows changed in {options.embeddings[1]}: {names}.")
    sentences += result.notes
    if not isinstance(result.made, Pruned):
        if embeddings:
            sentences.append(
                "The row of a new token is the mean of the rows of its parts, which is the usual rule."
            )
        sentences.append(UNSEEN)
    facts: dict[str, Any] = {
        "output": options.output,
        "format": source.format,
        "tokens_before": n_before,
        "tokens_after": n_after,
        "notes": sentences,
    }
    listings = [*result.listings]
    sections = [Section(sentences=sentences)]
    for listing in listings:
        sections += listing.sections()
    if options.paths:
        texts = change_of_texts(changed, options.paths, job)
        sections.append(texts_section(texts))
        facts["texts"] = texts._asdict()
    if not options.no_audit:
        findings = change_of_findings(changed, counts, job)
        sections.append(findings_section(findings))
        facts["findings_before"] = findings.before.kinds()
        facts["findings_after"] = findings.after.kinds()
        for listing in findings_listings(findings):
            sections += listing.sections()
            listings.append(listing)
    _write(result, source, options, embeddings, job)
    if options.json:
        facts |= {listing.name: listing.rows for listing in listings if listing.name}
        print(json.dumps(facts, default=for_programs))
    else:
        print(as_text(sections), end="")
    job.say(f"Saved in {visible(options.output)}.")
    if source.format == "tiktoken":
        _warn_about_ranks(result.made.tokenizer)


def _write(
    result: Result,
    source: Source,
    options: Namespace,
    embeddings: ChangedEmbeddings | None,
    job: Job,
) -> None:
    """Write all files. The embeddings are complete before the others are written, and renamed after them."""

    def save(embeddings_file: IO[bytes] | None = None) -> None:
        if embeddings and embeddings_file:
            embeddings.write(
                embeddings_file,
                partial(job.progress, "preparing", name="writing embeddings"),
            )
        save_changed(
            result.made,
            options.output,
            format=source.format,
            source=source.path if source.edits_file else None,
        )
        for name, text in result.files.items():
            write_atomically((name, [text]))

    if embeddings:
        write_whole(options.embeddings[1], save)
    else:
        save()


def _warn_about_ranks(tokenizer: Tokenizer) -> None:
    """Print what a file of ranks does not contain."""
    from bpe_core.formats.tiktoken import warning_about  # imported late: few need it

    print_to_stderr(
        f"A file of ranks has no split pattern; read it with the pattern {quoted(tokenizer.pattern, 80)}."
    )
    warning = warning_about(tokenizer)
    if warning:
        print_to_stderr(warning)
