"""Audit: look for suspicious tokens in the tokenizer on the screen, and show where a row of the list leads."""

import asyncio
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from bpe_core.auditing.findings import Severity
from bpe_core.auditing.matrix import tensors_with_rows
from bpe_core.auditing.verdicts import Verdict
from bpe_core.auditing.witness import witness
from bpe_core.corpus import find_files
from bpe_core.corpus.reading import Unreadable
from bpe_core.explain.places import CorpusPlace, CorpusText, token_places
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, visible
from bpe_core.weighted import Measure
from bpe_core.worker.audit import AuditRequest, Measured, Verdicts
from bpe_core.worker.messages import Counted, Done, WorkProgress
from tui.dialogs.questions import Ask, AskPath, one_of
from tui.disk.config import write_file
from tui.disk.sources import title_of
from tui.drawing.token_rows import FORMS, MARKS, exported
from tui.features.feature import NO_TEXT, NO_TOKENIZER, Feature, StateScreen
from tui.features.shown import Shown
from tui.features.texts import Texts
from tui.process import WorkerProcess
from tui.state import Audit, AuditInputs, Corpus, Run, TokenLines
from tui.terminal.background import in_thread

MOST_LINES: Final = (
    200  # lines that are found of a token; more of them tell nobody more
)
_UNSAVED: Final = (
    "What was learned is not saved, and only what is in a file can be audited."
)
_AT_REST: Final = 0.3  # seconds before an audit begins by itself: no keys and files are on their way then
_COUNTED_UNASKED: Final = (
    1 << 24
)  # bytes of texts in which an audit that nobody asked for counts, in about a second
_AT_ONCE: Final = 8  # lines or parts of a text between two looks at whether somebody still wants to know


class AuditFeature(Feature):
    """Replaces the screen's `audit` and `token_lines`; what was found stays until another audit has come to its end."""

    def __init__(self, screen: StateScreen, shown: Shown, texts: Texts) -> None:
        super().__init__(screen)
        self._shown, self._texts = shown, texts
        screen.watch(screen, "corpus", self._forget_lines, init=False)
        screen.watch(screen, "run", self._yield_to, init=False)

    # An audit

    def audit(self) -> None:
        """Audit the tokenizer on the screen, or stop doing so."""
        if self.screen.audit.running:
            self._stop()
        else:
            self.start()

    def start(self) -> None:
        screen = self.screen
        if screen.path and not screen.run.busy:
            if screen.active != "audit":
                screen.action_show("audit")
            audit = partial(
                self._audit,
                Path(screen.path),
                self._texts_of_audit(),
                screen.audit.inputs,
            )
            self.begin(audit, about_tokenizer=True)
        elif not self.refuse_while_training():
            screen.say(_UNSAVED if screen.tokenizer else NO_TOKENIZER, "warning")

    def start_soon(self) -> None:
        """Audit the tokenizer of which the open pane has nothing to list yet, once it has come to rest."""
        if self.screen.audit in (Audit(), Audit(subject=_UNSAVED)):
            self.begin(self._start_at_rest, about_tokenizer=True)

    async def _start_at_rest(self) -> None:
        screen = self.screen
        await asyncio.sleep(_AT_REST)
        if screen.tokenizer is None or screen.run.busy:
            return
        if not screen.path:
            screen.audit = Audit(subject=_UNSAVED)
            return
        record = screen.tokenizer.record
        counts = record is not None and record.n_bytes <= _COUNTED_UNASKED
        inputs = AuditInputs(None if counts else False)
        screen.audit = Audit(True, "waiting until the chosen texts are counted", inputs)
        while (
            counts and screen.corpus.paths and screen.totals is None
        ):  # it is not known yet whether they are its own
            await asyncio.sleep(_AT_REST)
        await self._audit(Path(screen.path), self._texts_of_audit(), inputs)

    def _yield_to(self, run: Run) -> None:
        """A training takes another tokenizer to the screen, and what the machine can do."""
        if run.busy and self.screen.audit.running:
            self.cancel()
            self.screen.audit = Audit()

    def _stop(self) -> None:
        self.cancel()
        audit = self.screen.audit
        self.screen.audit = replace(
            audit, running=False, subject=audit.subject or "stopped"
        )

    async def _audit(self, path: Path, corpus: Corpus, inputs: AuditInputs) -> None:
        pattern, model = (
            self.screen.pattern_for(path),
            (inputs.embeddings, inputs.tensor or None),
        )
        request = AuditRequest(
            str(path), pattern, corpus.paths, corpus.reference, *model
        )
        verdicts: dict[int, Verdict] = {}
        measures: dict[str, dict[int, Measure]] = {}
        progress = "starting"
        self.screen.audit = replace(self.screen.audit, running=True, progress=progress)
        async with WorkerProcess(request) as worker:
            async for event in worker.events():
                match event:
                    case WorkProgress("counting", done, total, name, role):
                        progress = f"counting the {role} {done / total if total else 1:.0%} · {visible(name)}"
                    case Counted(role=role):
                        progress = f"the {role} is counted"
                    case WorkProgress(_, done, total, name):
                        progress = f"{visible(name)} {done / total if total else 1:.0%}"
                    case Measured(column, values):
                        measures.setdefault(column, {}).update(values)
                    case Verdicts(some):
                        verdicts |= {verdict.id: verdict for verdict in some}
                        progress = f"{counted(len(verdicts), 'token')} found"
                    case Done(_, _, seconds):
                        n_of = Counter(
                            verdict.severity or Severity.NOTE
                            for verdict in verdicts.values()
                        )
                        marks = "  ".join(
                            f"{MARKS[it]} {counted(n_of[it], it.word)}"
                            for it in reversed(Severity)
                        )
                        found = f"{counted(len(verdicts), 'token')} found in {_examined(corpus, inputs)}"
                        subject = f"{marks} · {found} · {seconds:.1f} s"
                        self.screen.audit = Audit(
                            False, "", inputs, subject, verdicts, measures
                        )
                        return
                self.screen.audit = replace(self.screen.audit, progress=progress)

    def failed(self, sentence: str) -> None:
        self.screen.audit = replace(
            self.screen.audit, running=False, progress="", subject=sentence
        )
        super().failed(sentence)

    def _texts_of_audit(self) -> Corpus:
        """The texts in which an audit counts; none for a tokenizer from elsewhere, unless they are asked for."""
        screen, corpus, wanted = (
            self.screen,
            self.screen.corpus,
            self.screen.audit.inputs.texts,
        )
        if wanted is not None:
            return corpus if wanted else Corpus()
        record = screen.tokenizer.record if screen.tokenizer else None
        if record is None:
            return Corpus()
        n_bytes = (
            sum(source.bytes for source in record.sources) or record.n_bytes
        )  # of this session: no sources yet
        its_own = (
            screen.totals
            and screen.totals.counted
            and screen.totals.counted.bytes == n_bytes
        )
        return (
            corpus if its_own else replace(corpus, paths=())
        )  # the record has its own counts

    async def with_model(self) -> None:
        """Audit with the rows of a model's file that is asked for, or without them again."""
        screen = self.screen
        if screen.run.busy or not screen.path or screen.tokenizer is None:
            self.audit()  # says why there is none
            return
        path, tensor = "", ""
        failed = not screen.audit.running and "indicator" not in screen.audit.measures
        if failed or not screen.audit.inputs.embeddings:
            chosen = await screen.ask(
                AskPath(
                    "Which file holds the embeddings? .safetensors, its index, or .npy"
                )
            )
            if chosen is None:
                return
            path = str(chosen)
            ordinary = {*screen.tokenizer.vocabulary.ids()} - {
                *screen.tokenizer.special_tokens.values()
            }
            names = await in_thread(
                tensors_with_rows, chosen, 1 + max(ordinary, default=-1)
            )
            tensor = names[0] if names else ""
            if len(names) > 1:
                question = f"Which tensor holds a row for each token? {', '.join(map(visible, names))}"
                hint = "Enter takes this one, Tab completes another"
                named = await screen.ask(
                    Ask(
                        question,
                        partial(one_of, names),
                        names[0],
                        hint=hint,
                        suggest=names,
                    )
                )
                if named is None:
                    return
                tensor = named
        self._audit_with(replace(screen.audit.inputs, embeddings=path, tensor=tensor))

    def with_texts(self) -> None:
        screen = self.screen
        wanted = not self._texts_of_audit().paths
        if wanted and not screen.corpus.paths:
            screen.say(f"{NO_TEXT} r marks a reference.")
        else:
            self._audit_with(replace(screen.audit.inputs, texts=wanted))

    def _audit_with(self, inputs: AuditInputs) -> None:
        if self.screen.audit.running:
            self._stop()
        self.screen.audit = replace(self.screen.audit, inputs=inputs)
        self.audit()

    # What a row leads to

    def open_token(self, token: int, verdict: Verdict | None) -> None:
        """The step that made a token, in force and in the log; a text that holds the token in the editor."""
        screen, tokenizer = self.screen, self.screen.tokenizer
        if tokenizer is None or token not in tokenizer.vocabulary:
            return
        step = (
            tokenizer.vocabulary.step_of(token)
            if tokenizer.vocabulary.knows_merges
            else 0
        )
        self._shown.go_to(
            step or tokenizer.step
        )  # where it was made, the text has it, too
        text = example(tokenizer, token, verdict)
        sentences = ["No text is known in which this token occurs."]
        if text is not None:
            screen.editor.put(text, token=token)
            sentences = ["An example is in the editor."]
        if step:
            screen.training.log_of_merges.reveal(step - 1)
            sentences.append(f"Step {step:,} made this token.")
            if screen.go_to_log():
                sentences.append("F5 leads back to the list.")
        screen.say(" ".join(sentences))

    async def export(self) -> None:
        pane, forms = self.screen.audit_pane, tuple(FORMS)
        if not pane.display:
            self.screen.action_show("audit")

        def write(path: Path) -> None:
            write_file(
                path, exported(pane.table.rows, tuple(pane.table.order), path.suffix)
            )

        await self._texts.save(f"Where to? {', '.join(forms)}", write, "", forms)

    def try_text(self, text: str, token: int | None) -> None:
        screen = self.screen
        screen.editor.put(text, token=token)
        screen.action_show("editor")
        screen.say("F5 leads back to the list.")

    # The lines of a token

    def find_lines(self, token: int) -> None:
        """Search the chosen texts for the lines with this token; a search under way is given up."""
        tokenizer, paths = self.screen.tokenizer, self.screen.corpus.paths
        if tokenizer is None:
            return
        self._forget_lines()
        self.screen.token_lines = TokenLines(
            token, bool(paths), bool(paths), "finding the texts" if paths else ""
        )
        if paths:
            self.begin(
                partial(self._find_lines, tokenizer, token, paths),
                "lines",
                about_tokenizer=True,
            )

    def _forget_lines(self) -> None:
        self.cancel("lines")
        self.screen.token_lines = TokenLines()

    async def _find_lines(
        self, tokenizer: Tokenizer, token: int, paths: tuple[str, ...]
    ) -> None:
        screen = self.screen
        try:
            files = (await in_thread(find_files, paths)).files
        except Unreadable as error:
            screen.token_lines = replace(
                screen.token_lines, running=False, progress=str(error)
            )
            return
        for number, file in enumerate(files, 1):
            search = token_places(
                tokenizer,
                token,
                [CorpusText(file.name, file.documents, bool(file.form))],
            )
            more: list[CorpusPlace | None] = [None]
            while more and len(screen.token_lines.found) < MOST_LINES:
                try:
                    more = await in_thread(list, islice(search, _AT_ONCE))
                except (
                    Unreadable
                ):  # a file of a folder that is no text further on: the others are
                    break
                progress = f"{number:,} of {len(files):,} texts"
                lines = (
                    *screen.token_lines.found,
                    *((file, one) for one in more if one is not None),
                )[:MOST_LINES]
                screen.token_lines = replace(
                    screen.token_lines, progress=progress, found=lines
                )
        screen.token_lines = replace(screen.token_lines, running=False, progress="")


def _examined(corpus: Corpus, inputs: AuditInputs) -> str:
    parts = [title_of(corpus.paths)] if corpus.paths else []
    parts += [f"reference {title_of(corpus.reference)}"] if corpus.reference else []
    parts += [visible(Path(inputs.embeddings).name)] if inputs.embeddings else []
    return (
        ", ".join(("the tokenizer", *parts))
        if parts
        else "the tokenizer alone (texts or a model show more)"
    )


def example(tokenizer: Tokenizer, token: int, verdict: Verdict | None) -> str | None:
    """A text in which a token occurs: that of the audit, or else one that is found now; None without any."""
    if verdict is not None:
        return verdict.evidence.get("witness")
    text = tokenizer.token_bytes(token).decode(errors="replace")
    return (
        text
        if token in tokenizer.vocabulary.special_tokens.values()
        else witness(tokenizer, token)[0]
    )
