"""What the command palette offers: the commands that have a name, and the examples of the editor."""

from collections.abc import Callable, Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from tui.commands import COMMANDS


class ScopeCommands(Provider):
    """The commands that do something now. Over a dialog there are none: they would act below it."""

    def _commands(self) -> Iterator[tuple[str, Callable[[], object], str]]:
        from bpe_core.content.samples import examples

        if self.screen.is_modal:
            return
        for part, run in (("Everywhere", self.screen.run_action), ("Editor", self._in_editor)):
            for command in COMMANDS[part]:
                if command.name and (command.when is None or command.when(self.screen)):
                    yield command.name, partial(run, command.run), command.does
        for number, example in enumerate(examples()):
            yield (
                f"Example: {example.title}",
                partial(self.screen.run_action, f"do('texts.open_example', {number})"),
                example.see,
            )

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
