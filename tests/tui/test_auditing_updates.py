"""What a worker that audits tells, as values: progress, verdicts, what was measured, and why it could not be done."""

from pathlib import Path

from scope import TEXT

from bpe_core import audit, load, save
from bpe_core.corpus import Counts
from bpe_core.worker.audit import AuditRequest
from tui.state.audit import AuditInputs
from tui.state.training import Corpus
from tui.workers.auditing import AuditTask, AuditUpdate, auditing


async def updates(task: AuditTask) -> list[AuditUpdate]:
    return [update async for update in auditing(task)]


async def test_an_audit(book: Path, kept: Path) -> None:
    reference = book.parent / "other.txt"
    reference.write_text("quite another text")
    corpus = Corpus((str(book),), (str(reference),), "book.txt")
    told = await updates(AuditTask(kept, corpus=corpus))
    found = {verdict.id: verdict for update in told for verdict in update.verdicts}
    counts = Counts.of(TEXT, "gpt4")
    expected = audit(load(kept), counts=counts, reference=Counts.of("quite another text", "gpt4"))
    assert {(id, kind) for id, one in found.items() for kind in one.kinds} == {(f.id, f.kind) for f in expected}
    assert {part.column for update in told for part in update.measured} >= {"count", "reference"}
    end = told[-1].audit
    assert not end.running and end.subject.startswith(f"{len(found):,} tokens found in the tokenizer, book.txt, ref")


async def test_an_audit_of_ranks_is_told_how_they_split_a_text(book: Path, kept: Path) -> None:
    ranks = kept.with_suffix(".tiktoken")
    save(load(kept), ranks, format="tiktoken")
    assert "pattern" in (await updates(AuditTask(ranks)))[-1].failed
    told = await updates(AuditTask(ranks, "gpt4"))
    assert not told[-1].failed and any(update.verdicts for update in told)
    assert "in the tokenizer alone" in told[-1].audit.subject


async def test_an_audit_that_cannot_be_is_told_in_one_safe_sentence(home: Path) -> None:
    told = await updates(AuditTask(home / "mis\x1bsing.json"))
    assert [update.failed for update in told if update.failed] == [told[-1].failed]
    assert "cannot be read" in told[-1].audit.subject and "\x1b" not in told[-1].audit.subject


def test_what_is_asked_for_is_the_request(kept: Path) -> None:
    inputs = AuditInputs(embeddings="model.safetensors", tensor="wte")
    task = AuditTask(kept, "gpt2", Corpus(("-a.txt",), ("b.txt",)), inputs)
    assert task.request == AuditRequest(str(kept), "gpt2", ("-a.txt",), ("b.txt",), "model.safetensors", "wte")
    assert task.looked_at == "the tokenizer, -a.txt, reference b.txt, model.safetensors"
