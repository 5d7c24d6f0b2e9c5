"""Audits: what can be asked for about the tokens of the tokenizer on the screen, and where a row leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bpe_core.auditing.witness import witness
from bpe_core.errors import BpeError
from tui.dialogs.audit_questions import AskTensor
from tui.dialogs.questions import AskPath
from tui.drawing.token_export import FORMS, exported
from tui.owners.audit import AuditRun
from tui.owners.occurrences import OccurrenceSearch
from tui.owners.owner import sentence_of
from tui.state.audit import AuditInputs
from tui.state.training import Corpus
from tui.terminal.background import in_thread
from tui.workers.auditing import AuditTask

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.tokenizer import Tokenizer
    from tui.drawing.token_rows import TokenRows
    from tui.owners.text_files import TextFiles
    from tui.screen.main import MainScreen
    from tui.screen.shown_tokenizer import ShownTokenizer


class Audits:
    """Begins audits, shows in editor and log what a row tells of."""

    def __init__(
        self,
        screen: MainScreen,
        shown: ShownTokenizer,
        files: TextFiles,
        pattern_for: Callable[[Path], str | None],
    ) -> None:
        self._screen = screen
        self._shown = shown
        self._files = files
        self._pattern_for = pattern_for
        self.run = AuditRun(screen, partial(setattr, screen, "audit"))
        self.occurrences = OccurrenceSearch(screen, partial(setattr, screen, "token_lines"))

    def forget(self) -> None:
        """Another tokenizer takes the place of the one that all this tells of."""
        self.run.forget()
        self.occurrences.forget()

    # An audit

    def audit(self) -> None:
        """Audit the tokenizer on the screen, or stop doing so."""
        screen = self._screen
        if screen.audit.running:
            self.run.stop()
        elif screen.run.busy:
            screen.say("A training is running: stop it first (F8), then audit what it learned.", "warning")
        elif not screen.path and screen.tokenizer is not None:
            screen.say("What was learned is not saved, and only what is in a file can be audited.", "warning")
        elif not screen.path:
            screen.say("There is no tokenizer yet: train one (F6), or open one, and audit it then.", "warning")
        else:
            path = Path(screen.path)
            if screen.active != "audit":
                screen.action_show("audit")
            self.run.start(AuditTask(path, self._pattern_for(path), self._texts_of_audit(), screen.audit.inputs))

    def _texts_of_audit(self) -> Corpus:
        """The texts in which an audit counts; none for a tokenizer from elsewhere, unless they are asked for."""
        screen, wanted = self._screen, self._screen.audit.inputs.texts
        if wanted is not None:
            return screen.corpus if wanted else Corpus()
        record = screen.tokenizer.record if screen.tokenizer else None
        if record is None:
            return Corpus()
        its_own = screen.totals is not None and screen.totals.bytes == record.n_bytes
        return screen.corpus if its_own else replace(screen.corpus, paths=())  # the record tells its own counts

    async def with_model(self) -> None:
        """Audit with the rows of a model's file that is asked for, or without them again."""
        screen = self._screen
        if screen.run.busy or not screen.path:
            self.audit()  # tells why there is none
            return
        path, tensor = "", ""
        failed = not screen.audit.running and "indicator" not in screen.audit.measures
        if failed or not screen.audit.inputs.embeddings:
            chosen = await screen.ask(AskPath("Which file holds the embeddings? .safetensors, its index, or .npy"))
            if chosen is None:
                return
            path = str(chosen)
            try:
                names = await in_thread(_tensors_for, chosen, screen.tokenizer)
            except (BpeError, OSError) as error:
                screen.say(sentence_of(error), "error")
                return
            tensor = names[0] if names else ""
            if len(names) > 1:
                named = await screen.ask(AskTensor(names))
                if named is None:
                    return
                tensor = named
        self._audit_with(replace(screen.audit.inputs, embeddings=path, tensor=tensor))

    def _audit_with(self, inputs: AuditInputs) -> None:
        if self._screen.audit.running:
            self.run.stop()
        self.run.choose(inputs)
        self.audit()

    def with_texts(self) -> None:
        """Audit with the chosen texts, or without them."""
        screen = self._screen
        wanted = not self._texts_of_audit().paths
        if wanted and not screen.corpus.paths:
            screen.say("No text is chosen: press F2, go to one, and mark it with the space bar; r marks a reference.")
            return
        self._audit_with(replace(screen.audit.inputs, texts=wanted))

    # What a row leads to

    def open_token(self, token: int, verdict: Verdict | None) -> None:
        """The merge that made a token under the log's cursor, in sight; a text that holds the token in the editor."""
        screen, tokenizer = self._screen, self._screen.tokenizer
        if tokenizer is None or token not in tokenizer.vocabulary:
            return
        self._shown.go_to(tokenizer.step)
        text = example(tokenizer, token, verdict)
        told = []
        if text is None:
            told.append("No text is known in which this token occurs.")
        else:
            screen.editor.put(text, token=token)
            told.append("An example is in the editor; Ctrl+Z there brings your text back.")
        if tokenizer.vocabulary.knows_merges and (step := tokenizer.vocabulary.step_of(token)):
            told.append(f"Step {step:,} made this token.")
            screen.training.log_of_merges.move_to(step - 1)
            if screen.arrangement.go_to_log():
                told.append("F5 leads back to the list.")
        screen.say(" ".join(told))

    def find_lines(self, token: int) -> None:
        """The lines of the chosen texts in which a token occurs."""
        tokenizer = self._screen.tokenizer
        if tokenizer is not None and token in tokenizer.vocabulary:
            self.occurrences.find(tokenizer, token, self._screen.corpus.paths)

    def export(self, rows: TokenRows, order: Sequence[int]) -> None:
        """Save these rows of the audit's list, in this order."""
        self._files.save_rows(partial(exported, rows, tuple(order)), tuple(FORMS))

    def try_text(self, text: str, token: int | None) -> None:
        """Put a text into the editor, in sight, the cursor on a token of it."""
        screen = self._screen
        screen.editor.put(text, token=token)
        screen.action_show("editor")
        screen.say("Ctrl+Z brings your text back, and F5 leads back to the list.")


def _tensors_for(path: Path, tokenizer: Tokenizer | None) -> list[str]:
    """Names of the tensors in a model's file that have a row for each ordinary token; see `tensors_with_rows`."""
    from bpe_core.embeddings.matrix import tensors_with_rows

    vocabulary = tokenizer.vocabulary if tokenizer else None
    specials = set(vocabulary.special_tokens.values()) if vocabulary else set()
    ids = vocabulary.ids() if vocabulary else []
    return tensors_with_rows(path, 1 + max((token for token in ids if token not in specials), default=-1))


def example(tokenizer: Tokenizer, token: int, verdict: Verdict | None) -> str | None:
    """A text in which a token occurs: that of the audit, or else one that is found now; None without any."""
    if verdict is not None:
        return verdict.evidence.get("witness")
    text = tokenizer.token_bytes(token).decode(errors="replace")
    return text if token in tokenizer.vocabulary.special_tokens.values() else witness(tokenizer, token)
