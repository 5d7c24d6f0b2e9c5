"""Audit: find suspicious tokens in the tokenizer on the screen, and show their merges and examples."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core.auditing.distribution import Distribution
from bpe_core.auditing.findings import Severity
from bpe_core.auditing.matrix import tensors_with_rows
from bpe_core.auditing.verdicts import Verdict
from bpe_core.auditing.witness import witness
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, visible
from bpe_core.weighted import Measure
from bpe_core.worker.audit import (
    Asked,
    AuditRequest,
    FirstRoundDone,
    Measured,
    OtherTokenizer,
    Verdicts,
)
from bpe_core.worker.messages import Counted, Done, WorkProgress
from tui.dialogs.answers import one_of
from tui.dialogs.ask import Ask
from tui.dialogs.ask_path import AskPath
from tui.disk.config import write_file
from tui.disk.sources import title_of
from tui.drawing.token_rows import FORMS, MARKS, exported
from tui.features.feature import NO_TEXT, NO_TOKENIZER, Feature, StateScreen
from tui.features.shown import Shown
from tui.features.texts import Texts
from tui.process import WorkerProcess
from tui.state import Audit, AuditInputs, Corpus, KnownTokenizer, Run
from tui.terminal.background import in_thread
from tui.widgets.tokenizer_names import distinct_names

_UNSAVED: Final = (
    "The tokenizer is not saved. Only a tokenizer in a file can be audited."
)
_SECONDS_OF_REST: Final = 0.3
"""Seconds before an audit starts by itself, so that keys and files come first; then it asks for the totals as often."""
LEAST_ASKED: Final = 8192
"""Tokens that another tokenizer must have to be asked. Smaller ones lack most words."""
_MOST_ASKED: Final = 8
"""The maximum number of other tokenizers to ask. Loading one takes up to six seconds."""
_MOST_COUNTED: Final = 1 << 24
"""Bytes of texts in which an audit that starts by itself counts. It takes about a second."""


class AuditFeature(Feature):
    """Replaces the screen's `audit`. Findings stay until another audit has results."""

    def __init__(self, screen: StateScreen, shown: Shown, texts: Texts) -> None:
        super().__init__(screen)
        self._shown = shown
        self._texts = texts
        screen.watch(screen, "run", self._yield_to, init=False)

    # Auditing

    def audit(self) -> None:
        """Audit the tokenizer on the screen, or stop the audit."""
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
        elif self.refuse_while_training():
            return
        elif screen.tokenizer:
            screen.say(_UNSAVED, "warning")
        else:
            screen.say(NO_TOKENIZER, "warning")

    def start_soon(self) -> None:
        """Audit the tokenizer on the screen once nothing else happens, unless it was audited before."""
        never_audited = (Audit(), Audit(subject=_UNSAVED))
        if self.screen.audit in never_audited:
            self.begin(self._start_at_rest, about_tokenizer=True)

    async def _start_at_rest(self) -> None:
        screen = self.screen
        await asyncio.sleep(_SECONDS_OF_REST)
        if screen.tokenizer is None or screen.run.busy:
            return
        if not screen.path:
            screen.audit = Audit(subject=_UNSAVED)
            return
        record = screen.tokenizer.record
        counts_texts = record is not None and record.n_bytes <= _MOST_COUNTED
        inputs = AuditInputs()
        if not counts_texts:
            inputs = AuditInputs(texts=False)
        screen.audit = Audit(True, "waiting until the chosen texts are counted", inputs)
        # Only their size shows whether the tokenizer was trained on the chosen texts.
        while counts_texts and screen.corpus.paths and screen.totals is None:
            await asyncio.sleep(_SECONDS_OF_REST)
        await self._audit(Path(screen.path), self._texts_of_audit(), inputs)

    def _yield_to(self, run: Run) -> None:
        """Stop when a training starts: it needs the processor, and shows another tokenizer."""
        if run.busy and self.screen.audit.running:
            self.cancel()
            self.screen.audit = Audit()

    def _stop(self) -> None:
        self.cancel()
        audit = self.screen.audit
        subject = audit.subject or "stopped"
        self.screen.audit = replace(audit, running=False, subject=subject)

    async def _audit(self, path: Path, corpus: Corpus, inputs: AuditInputs) -> None:
        """Run the worker of an audit, and show its progress and findings."""
        others = self._others(path)
        request = AuditRequest(
            str(path),
            self.screen.pattern_for(path),
            corpus.paths,
            corpus.reference,
            inputs.embeddings,
            inputs.tensor or None,
            against=tuple(
                OtherTokenizer(other.path, self.screen.pattern_for(Path(other.path)))
                for other in others
            ),
            leave_out_bad=True,
            least_asked=LEAST_ASKED,
        )
        asked: list[str] = []
        verdicts: dict[int, Verdict] = {}
        measures: dict[str, dict[int, Measure]] = {}
        distribution: Distribution | None = None
        progress = "starting"
        self.screen.audit = replace(self.screen.audit, running=True, progress=progress)
        async with WorkerProcess(request) as worker:
            async for event in worker.events():
                match event:
                    case WorkProgress(activity, name=name, role=role):
                        progress = f"{visible(name)} {event.share:.0%}"
                        if activity == "counting":
                            progress = f"counting the {role} {event.share:.0%} · {visible(name)}"
                    case Counted(role=role):
                        progress = f"the {role} is counted"
                    case Measured(column, values):
                        measures.setdefault(column, {}).update(values)
                    case Distribution():
                        distribution = event
                    case Verdicts(new_verdicts):
                        for verdict in new_verdicts:
                            verdicts[verdict.id] = verdict
                        progress = f"{counted(len(verdicts), 'suspicious token')}"
                    case Asked(other):
                        asked.append(other)
                    case FirstRoundDone():
                        self.screen.audit = replace(
                            self.screen.audit,
                            subject=_summary(verdicts),
                            verdicts=verdicts,
                            measures=measures,
                            distribution=distribution,
                        )
                        verdicts = {}
                        measures = {}
                    case Done(_, _, seconds):
                        examined = _examined(corpus, inputs, self._names(asked))
                        subject = f"{_summary(verdicts)} · {examined} · {seconds:.1f} s"
                        self.screen.audit = Audit(
                            inputs=inputs,
                            subject=subject,
                            verdicts=verdicts,
                            measures=measures,
                            distribution=distribution,
                        )
                        return
                self.screen.audit = replace(self.screen.audit, progress=progress)

    def _others(self, path: Path) -> list[KnownTokenizer]:
        """Return the other tokenizers of the list to ask, the largest first. A lesson asks none.

        Right after the start some sizes are unknown. The worker leaves out those that turn out to be small.
        """
        if self.screen.caption:
            return []
        others = [
            known
            for known in self.screen.kept
            if (known.n_vocab >= LEAST_ASKED or not known.n_vocab)
            and known.path != str(path)
            and not known.trouble
        ]
        others.sort(key=lambda known: -known.n_vocab)
        return others[:_MOST_ASKED]

    def _names(self, paths: Sequence[str]) -> list[str]:
        names = distinct_names(self.screen.kept)
        return [names.get(path, Path(path).name) for path in paths]

    def failed(self, sentence: str) -> None:
        self.screen.audit = replace(
            self.screen.audit, running=False, progress="", subject=sentence
        )
        super().failed(sentence)

    def _texts_of_audit(self) -> Corpus:
        """Return the texts in which an audit counts.

        By default they are the chosen texts, if the tokenizer was trained on them here, or only the reference.
        """
        screen = self.screen
        corpus = screen.corpus
        wanted = screen.audit.inputs.texts
        if wanted:
            return corpus
        tokenizer = screen.tokenizer
        if wanted is False or tokenizer is None or tokenizer.record is None:
            return Corpus()
        record = tokenizer.record
        # A tokenizer trained in this session has no sources yet.
        n_bytes = sum(source.bytes for source in record.sources) or record.n_bytes
        totals = screen.totals
        if totals and totals.counted and totals.counted.bytes == n_bytes:
            return corpus
        # The record has the counts of the tokenizer's own texts.
        return replace(corpus, paths=())

    async def with_model(self) -> None:
        """Audit with a model's embeddings, or without them again."""
        screen = self.screen
        tokenizer = screen.tokenizer
        if screen.run.busy or not screen.path or tokenizer is None:
            # This shows why no audit is possible.
            self.audit()
            return
        inputs = screen.audit.inputs
        has_result = screen.audit.running or "indicator" in screen.audit.measures
        if inputs.embeddings and has_result:
            self._audit_with(replace(inputs, embeddings="", tensor=""))
            return
        question = "Which file holds the embeddings? .safetensors, its index, or .npy"
        path = await screen.ask(AskPath(question))
        if path is None:
            return
        special_ids = set(tokenizer.special_tokens.values())
        ordinary_ids = set(tokenizer.vocabulary.ids()) - special_ids
        n_rows = 1 + max(ordinary_ids, default=-1)
        tensors = await in_thread(tensors_with_rows, path, n_rows)
        tensor = await self._choose_tensor(tensors)
        if tensor is not None:
            self._audit_with(replace(inputs, embeddings=str(path), tensor=tensor))

    async def _choose_tensor(self, names: Sequence[str]) -> str | None:
        """Return the name of the tensor of embeddings. Ask if there are several; None if the user cancels."""
        if not names:
            return ""  # a .npy file has one matrix, without a name
        if len(names) == 1:
            return names[0]
        listed = ", ".join(map(visible, names))
        question = Ask(
            f"Which tensor has a row for each token? {listed}",
            partial(one_of, names),
            names[0],
            hint="Enter takes this one, Tab completes another",
            suggest=names,
        )
        return await self.screen.ask(question)

    def with_texts(self) -> None:
        screen = self.screen
        wanted = not self._texts_of_audit().paths
        if wanted and not screen.corpus.paths:
            screen.say(f"{NO_TEXT} Press r to mark a reference.")
        else:
            self._audit_with(replace(screen.audit.inputs, texts=wanted))

    def _audit_with(self, inputs: AuditInputs) -> None:
        if self.screen.audit.running:
            self._stop()
        self.screen.audit = replace(self.screen.audit, inputs=inputs)
        self.audit()

    # Following a row of the list

    def open_token(self, token: int, verdict: Verdict | None) -> None:
        """Show the merge that made a token, and an example of the token in the editor."""
        screen = self.screen
        tokenizer = screen.tokenizer
        if tokenizer is None or token not in tokenizer.vocabulary:
            return
        step = 0
        if tokenizer.vocabulary.knows_merges:
            step = tokenizer.vocabulary.step_of(token)
        # The example has the token from this step on.
        self._shown.go_to(step or tokenizer.step)
        text = example(tokenizer, token, verdict)
        sentences = []
        if text is None:
            sentences.append("No text with this token was found.")
        else:
            screen.editor.put(text, token=token)
            sentences.append("An example is in the editor.")
        if step:
            screen.training.log_of_merges.reveal(step - 1)
            sentences.append(f"Step {step:,} made this token.")
            if screen.go_to_log():
                sentences.append("F5 returns to the list.")
        screen.say(" ".join(sentences))

    async def export(self) -> None:
        pane = self.screen.audit_pane
        forms = tuple(FORMS)
        if not pane.display:
            self.screen.action_show("audit")

        def write(path: Path) -> None:
            order = tuple(pane.table.unfolded)
            write_file(path, exported(pane.table.rows, order, path.suffix))

        await self._texts.save(
            f"Save the tokens to which file? {', '.join(forms)}", write, "", forms
        )

    def try_text(self, text: str, token: int | None) -> None:
        screen = self.screen
        screen.editor.put(text, token=token)
        screen.action_show("editor")
        screen.say("F5 returns to the list.")


def _summary(verdicts: Mapping[int, Verdict]) -> str:
    """Return how many suspicious tokens have each severity."""
    n_tokens = Counter(
        verdict.severity or Severity.NOTE for verdict in verdicts.values()
    )
    marks = []
    for severity in reversed(Severity):
        n_marked = counted(n_tokens[severity], severity.word)
        marks.append(f"{MARKS[severity]} {n_marked}")
    return "  ".join(marks)


def _examined(corpus: Corpus, inputs: AuditInputs, others: Sequence[str]) -> str:
    parts = ["tokenizer"]
    if others:
        parts.append(f"against {', '.join(map(visible, others))}")
    if corpus.paths:
        parts.append(title_of(corpus.paths))
    if corpus.reference:
        parts.append(f"reference {title_of(corpus.reference)}")
    if inputs.embeddings:
        parts.append(visible(Path(inputs.embeddings).name))
    if len(parts) == 1:
        return "tokenizer alone (others, texts or a model show more)"
    return ", ".join(parts)


def example(tokenizer: Tokenizer, token: int, verdict: Verdict | None) -> str | None:
    """Return a text in which a token occurs, from the audit or found now; None if no text was found."""
    if verdict is not None:
        return verdict.evidence.get("witness")
    if token in tokenizer.vocabulary.special_tokens.values():
        return tokenizer.token_bytes(token).decode(errors="replace")
    return witness(tokenizer, token)[0]
