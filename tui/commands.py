"""What the command palette offers: everything the keys do, found by name."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from textual.command import DiscoveryHit, Hit, Hits, Provider

ACTIONS: Final = (
    ("Train, pause, go on", "train_or_pause", "Learn merges from the chosen texts; let the training wait"),
    ("Step: one merge", "step_once", "Learn one merge and wait"),
    ("Stop the training", "stop", "What was learned is kept"),
    ("Show the corpus", "show('corpus')", "Choose texts, see them split"),
    ("Show the training", "show('training')", "Options, merge log, curve"),
    ("Show the editor", "show('editor')", "Type among the tokens"),
    ("Show the audit", "show('audit')", "Find tokens that were never learned well"),
    ("Audit the tokenizer in force", "audit", "Against the chosen corpus and reference"),
    ("Fill the screen with this pane", "fill", "And back again"),
    ("Open a text in the editor", "open_text", "Any UTF-8 file"),
    ("Save the editor's text", "save_text", "As a file, exactly as it is"),
    ("Add a file or folder to the corpus", "add_path", "By its path"),
    ("Open a tokenizer file", "open_tokenizer", "One that was saved elsewhere"),
    ("Split pattern of this tokenizer…", "change_pattern", "Seen, and changed where its file does not tell"),
    ("Fetch a tokenizer by name…", "fetch_tokenizer", "gpt-4o, or OWNER/NAME of Hugging Face's hub"),
    ("Keys and help", "help", "What each key does here"),
)
"""Name, action of the main screen, and a word on it."""

EDITOR_ACTIONS: Final = (
    ("Why this split, what may come", "turn_side", "What stands beside the editor's text"),
    ("View: borders, ids, one token a line", "turn_view", "Other ways to see the editor's text"),
    ("Show spaces and tabs", "toggle_spaces", "As glyphs, or no longer"),
    ("Special tokens as tokens or as text", "toggle_specials", "In the editor; as text at first"),
    ("Go to the next pitfall", "go_to_pitfall(1)", "What trips tokenizers in the editor's text"),
    ("Pin the text, or unpin it", "pin", "See what differs from it from now on"),
    ("Next example", "next_example", "Small texts in which one sees what tokens do"),
    ("Copy the text", "copy('text')", "The selection, or all of it"),
    ("Copy token ids", "copy('ids')", "Of the selection, or of all; with spaces between"),
    ("Copy token ids as a Python list", "copy('list')", "Of the selection, or of all"),
)
"""The same for actions of the editor."""


class ScopeCommands(Provider):
    """The main screen's actions, those that do something now. Over a dialog there are none: they would act below it."""

    def _commands(self) -> Iterator[tuple[str, Callable[[], object], str]]:
        from bpe_core.content.examples import examples

        if self.screen.is_modal:
            return
        for name, action, hint in ACTIONS:
            if self.screen.check_action(action.partition("(")[0], ()):
                yield name, partial(self.screen.run_action, action), hint
        for name, action, hint in EDITOR_ACTIONS:
            yield name, partial(self._in_editor, action), hint
        for number, example in enumerate(examples()):
            yield f"Example: {example.title}", partial(self.screen.run_action, f"open_example({number})"), example.see

    async def _in_editor(self, action: str) -> None:
        await self.screen.run_action("show('editor')")
        await self.screen.query_one("#editor").run_action(action)

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for name, run, hint in self._commands():
            yield DiscoveryHit(name, run, help=hint)

    async def search(self, query: str) -> Hits:
        """Those whose name fits what was typed."""
        matcher = self.matcher(query)
        for name, run, hint in self._commands():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, matcher.highlight(name), run, help=hint)
