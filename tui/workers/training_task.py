"""TrainingTask: a training to be done, and the command line of the worker that does it."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from bpe_core.cli.training_options import add_rules, add_texts, rules_of, sample_of
from bpe_core.cli.wire import Command
from bpe_core.content.presets import PRESETS
from bpe_core.errors import OptionError
from bpe_core.trainer.options import Options
from bpe_core.vocabulary import Vocabulary
from tui.state.training import TrainingOptions

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

RUN: Final = Command("run")


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """A training: on texts, or of a preset with its own text and options; from the bytes, or from a vocabulary."""

    title: str
    """What the kept tokenizer is named after."""
    options: TrainingOptions
    paths: tuple[str, ...] = ()
    preset: str = ""
    first: Command = RUN
    """What the worker does first: all of it, one step, or what there is until a condition holds."""
    begin: "Tokenizer | None" = None
    """The vocabulary it begins with, at the step where it goes its own way; None for the bytes."""
    begin_path: str = ""
    """The file that vocabulary is in."""
    resume: str = ""
    """The file in which an earlier run of the same training has left what it learned: its checkpoint, or its output."""

    def arguments(self, output: Path) -> list[str]:
        """The command line of the worker."""
        waits = ["--paused"] if self.first != RUN else []
        keeps = ["--keep-existing"] if self.resume != str(output) else []
        command = ["train", "-o", str(output), *keeps, "--stream", *waits]
        if self.resume:
            command += ["--resume-from", self.resume]
        if self.preset:
            return [*command, "--preset", self.preset]
        return [*command, *self._rule_arguments(), *self.paths]

    def _rule_arguments(self) -> list[str]:
        options = self.options
        chosen = [
            *("--vocab-size", str(options.vocab_size), f"--pattern={options.pattern}", "--ties", options.ties),
            *("--min-count", str(options.min_count)),
            *(f"--{name}={value}" for name, value in _separate(options.more) if value and self._applies(name)),
        ]
        if self.begin is None:
            return [*chosen, *(f"--special={token}" for token in options.special_tokens)]
        return [*chosen, "--extend", self.begin_path, "--fork", str(self.begin.step)]

    def _applies(self, name: str) -> bool:
        return self.begin is None or name not in ("id-layout", "end-of-word")

    @property
    def rules(self) -> Options:
        """By what the worker learns. Raises `OptionError` or `PatternError` if it refuses to."""
        if self.preset:
            return PRESETS[self.preset].options
        parser = _Parser()
        add_rules(parser)
        add_texts(parser)
        parser.set_defaults(preset=None)
        arguments = parser.parse_args(self._rule_arguments())
        sample_of(arguments)  # of texts and not of rules, but the worker would refuse it all the same
        return rules_of(arguments, self.begin)

    def first_vocabulary(self) -> Vocabulary:
        """What the merges will be added to, as the worker begins with it too."""
        if self.begin is not None:
            return self.begin.vocabulary.at(0)
        rules = self.rules
        return Vocabulary.of_bytes(rules.id_layout, rules.special_tokens, rules.end_of_word)


def _separate(more: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The arguments and their values, of those that can be given several times one by one."""
    for name, value in more.items():
        yield from ((name, one) for one in (value.split() if name == "weight" else [value]))


class _Parser(ArgumentParser):
    """Raises `OptionError` for what the worker would refuse."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(f"{message.removeprefix('argument ')}.")
