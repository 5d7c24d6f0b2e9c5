"""Results: save what a training has learned, show it, and report how the training ended."""

from contextlib import suppress
from pathlib import Path

from bpe_core.content.presets import PRESETS
from bpe_core.errors import BpeError
from bpe_core.formats import load, save_beside
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted
from bpe_core.worker.train import learned_by_heart
from tui.disk.locked import checkpoint_of
from tui.disk.tokenizer_files import without_twin
from tui.features.course import Course
from tui.features.feature import Feature, StateScreen, sentence_of
from tui.features.listed_tokenizers import ListedTokenizers
from tui.features.shown import Shown
from tui.features.tokenizers import Tokenizers
from tui.state import Loaded
from tui.terminal.background import in_thread


class Results(Feature):
    """Saves the tokenizers of trainings that have ended."""

    def __init__(
        self,
        screen: StateScreen,
        shown: Shown,
        tokenizers: Tokenizers,
        listed: ListedTokenizers,
    ) -> None:
        super().__init__(screen)
        self._shown = shown
        self._tokenizers = tokenizers
        self._listed = listed

    async def conclude(self, course: Course) -> str:
        """Save what a training has learned and show it. Return the verdict on a preset, else "".

        Without new merges, show the tokenizer that was shown before.
        """
        if course.stopped_at == 0 and course.saved:
            await in_thread(course.saved.unlink, missing_ok=True)
            course.saved = None
        if course.tokenizer is None or not (course.saved or course.has_learned):
            await self._conclude_without_merges(course)
            return ""
        learned = await in_thread(course.learned)
        if course.saved is None:
            course.saved = await self.keep(course.output, learned)
        elif course.saved != course.named:
            with suppress(BpeError, OSError):
                course.saved = await in_thread(without_twin, course.saved, course.named)
        await self._listed.refresh()
        if course.saved:
            await self._show(course, Loaded(learned, course.saved))
        return self._report(course, learned)

    async def _conclude_without_merges(self, course: Course) -> None:
        if await in_thread(checkpoint_of(course.output).is_file):
            # The training could not resume from this checkpoint. Its merges are kept.
            await self.keep(course.output)
        await self._listed.refresh()
        if course.tokenizer is not None:
            self._shown.take_back()
        elif self._shown.loaded is None:
            # The training began while the first tokenizer was being loaded.
            self._tokenizers.begin(self._tokenizers.load_first)

    async def _show(self, course: Course, loaded: Loaded) -> None:
        """Show the tokenizer in its file instead of the one in training."""
        path = str(loaded.path)
        self._shown.keep(loaded)
        listed = {known.path for known in self.screen.kept}
        if not course.task.folder and path not in listed:
            # The disk was full, and the tokenizer is saved in another folder.
            await self._listed.add(loaded.path, loaded.tokenizer)
        self.screen.remember(tokenizer=path)

    def _report(self, course: Course, learned: Tokenizer) -> str:
        """Show warnings about a training. For a preset, show and return whether it has its known result."""
        screen = self.screen
        verdict = ""
        if course.task.preset and course.run.phase == "done":
            as_expected, sentence = PRESETS[course.task.preset].verdict(learned)
            screen.say(sentence, "information" if as_expected else "warning")
            # The title line has no room for the rest.
            verdict = sentence.partition(":")[0]
        n_unnamed = len(self._listed.of_stopped)
        if course.run.phase == "stopped" and n_unnamed > 4:
            screen.say(
                f"{n_unnamed} tokenizers from stopped trainings have no name. To delete them: Ctrl+P, “stopped”."
            )
        warning = learned_by_heart(course.merges.counts)
        # On the stage, such merges are what lets the words of a short text close up.
        if course.saved and warning and not screen.on_stage:
            screen.say(warning, "warning")
        return verdict

    async def keep(self, output: Path, learned: Tokenizer | None = None) -> Path | None:
        """Save what an unfinished training has learned, by default what its checkpoint holds, and list it."""
        checkpoint = checkpoint_of(output)
        try:
            if learned is None:
                learned = await in_thread(load, checkpoint)
            kept = await in_thread(save_beside, learned, output)
            await in_thread(checkpoint.unlink, missing_ok=True)
        except (BpeError, OSError) as error:
            self.screen.say(
                f"The merges of this training could not be saved. {sentence_of(error)}",
                "error",
            )
            return None
        n_merges = counted(learned.step, "merge")
        self.screen.say(
            f"The training ended early. Its {n_merges} are saved as {kept.stem}.",
            "warning",
        )
        await self._listed.refresh()
        return kept
