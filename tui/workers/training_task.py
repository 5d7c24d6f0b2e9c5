"""TrainingTask: a training to be done, and the command line of the worker that does it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bpe_core.cli.training_arguments import training_arguments
from bpe_core.cli.training_options import rules_of, sample_of
from bpe_core.tokenizer.training_record import Options
from bpe_core.trainer.start import first_vocabulary
from bpe_core.vocabulary import Vocabulary
from bpe_core.worker.messages import Command
from bpe_core.worker.train import TrainRequest
from tui.state.training import TrainingOptions

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

RUN: Final = Command("run")
WAIT: Final = Command("step", 0)


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """A training: on texts, or of a preset with its own text and options; from the bytes, or from a vocabulary."""

    title: str
    """What the kept tokenizer is named after."""
    options: TrainingOptions
    paths: tuple[str, ...] = ()
    preset: str = ""
    first: Command = RUN
    """What the worker does first: all of it, one step, nothing yet, or what there is until a condition holds."""
    begin: "Tokenizer | None" = None
    """The vocabulary it begins with, at the step where it goes its own way; None for the bytes."""
    begin_path: str = ""
    """The file that vocabulary is in."""
    resume: str = ""
    """The file in which an earlier run of the same training has left what it learned: its checkpoint, or its output."""

    def request(self, output: Path) -> TrainRequest:
        """What the worker is asked for."""
        keeps = ["--keep-existing"] if self.resume != str(output) else []
        resumes = ["--resume-from", self.resume] if self.resume else []
        return TrainRequest(("-o", str(output), *keeps, *resumes, *self.asked_for), self.first)

    @property
    def asked_for(self) -> list[str]:
        """Those arguments that say what is learned, by which rules, and from which texts."""
        if self.preset:
            return ["--preset", self.preset]
        options = self.options
        chosen = [
            *("--vocab-size", str(options.vocab_size), f"--pattern={options.pattern}", "--ties", options.ties),
            *("--min-count", str(options.min_count)),
            *(f"--{name}={value}" for name, value in options.more.items() if value and self._applies(name)),
            *(f"--weight={path}={options.weights[path]}" for path in self.paths if path in options.weights),
        ]
        if self.begin is None:
            return [*chosen, *(f"--special={token}" for token in options.special_tokens), *self.paths]
        return [*chosen, "--extend", self.begin_path, "--fork", str(self.begin.step), *self.paths]

    def _applies(self, name: str) -> bool:
        return self.begin is None or name != "extend"

    @property
    def rules(self) -> Options:
        """By what the worker learns, in the end. Raises `OptionError` or `PatternError` if it refuses to."""
        arguments = training_arguments(self.asked_for)
        sample_of(arguments)  # of texts and not of rules, but the worker would refuse it all the same
        return rules_of(arguments, self.begin)

    @property
    def asked(self) -> TrainingOptions:
        """What is asked for, also of a preset, or of a vocabulary to begin with. Raises as `rules` does."""
        rules = self.rules
        pattern, specials = rules.pattern, tuple(rules.special_tokens)
        return TrainingOptions(rules.vocab_size, pattern, rules.ties, rules.min_count, specials)

    @property
    def counts_all(self) -> bool:
        """Whether the worker tells what all of the texts amount to, split by the pattern that is chosen."""
        return "sample" not in self.options.more

    def first_vocabulary(self) -> Vocabulary:
        """What the merges will be added to, as the worker begins with it too."""
        return first_vocabulary(self.rules, self.begin.vocabulary if self.begin else None)
