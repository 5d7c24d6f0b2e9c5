"""TrainingTask: a training to be done, and what its worker is asked for."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bpe_core.tokenizer.training_record import Options, parsed_number, parsed_option
from bpe_core.trainer.start import first_vocabulary
from bpe_core.vocabulary import Vocabulary
from bpe_core.worker.messages import JobCommand
from bpe_core.worker.train import Recipe, TrainRequest
from tui.state import TrainingOptions

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

RUN: Final = JobCommand("run")
WAIT: Final = JobCommand("step", 0)

_OF_TEXTS: Final = ("sample", "seed", "extend")


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """A training: on texts, or of a preset with its own text and options; from the bytes, or from a vocabulary."""

    title: str
    """What the kept tokenizer is named after."""
    options: TrainingOptions
    paths: tuple[str, ...] = ()
    preset: str = ""
    first: JobCommand = RUN
    """What the worker does first: all of it, one step, nothing yet, or what there is until a condition holds."""
    begin: "Tokenizer | None" = None
    """The vocabulary it begins with, at the step where it goes its own way; None for the bytes."""
    begin_path: str = ""
    """The file that vocabulary is in."""
    resume: str = ""
    """The file in which an earlier run of the same training has left what it learned: its checkpoint, or its output."""

    def request(self, output: Path) -> TrainRequest:
        """What the worker is asked for."""
        keep = self.resume != str(output)
        return TrainRequest(self.recipe, str(output), keep_existing=keep, resume_from=self.resume, first=self.first)

    @property
    def recipe(self) -> Recipe:
        """What is learned, by which rules and from which texts. Raises `OptionError`."""
        if self.preset:
            return Recipe(preset=self.preset)
        options, more = self.options, self.options.more
        asked: dict[str, Any] = {"vocab_size": options.vocab_size, "pattern": options.pattern, "ties": options.ties}
        asked |= {"min_count": options.min_count}
        asked |= dict(parsed_option(name, text) for name, text in more.items() if name not in _OF_TEXTS and text)
        if self.begin is None:
            asked["special_tokens"] = options.special_tokens
        return Recipe(
            self.paths,
            asked,
            sample=more.get("sample", ""),
            seed=parsed_number("seed", more.get("seed") or "0"),
            weights=tuple(f"{path}={options.weights[path]}" for path in self.paths if path in options.weights),
            extend=self.begin_path if self.begin else more.get("extend", ""),
            fork=self.begin.step if self.begin else None,
        )

    @property
    def rules(self) -> Options:
        """By what the worker learns, in the end. Raises `OptionError` or `PatternError` if it refuses to."""
        recipe = self.recipe
        recipe.sampled()  # of texts and not of rules, but the worker would refuse it all the same
        return recipe.rules(self.begin)

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
