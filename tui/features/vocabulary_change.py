"""What a change of the vocabulary does: worked out in a thread, which stops when nobody waits for it."""

from collections.abc import Sequence
from contextlib import closing
from typing import Final, NamedTuple

from bpe_core.errors import TextError
from bpe_core.report import as_text
from bpe_core.surgery import UNSEEN
from bpe_core.surgery.grafting import Grafted, graft
from bpe_core.surgery.pruning import Decision, Pruned, prune
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import utf8
from bpe_core.visible import counted, token_label
from bpe_core.worker.inputs import compare_on_files
from bpe_core.worker.job import Job, Reporter
from bpe_core.worker.messages import Event
from bpe_core.worker.surgery_lists import (
    about_texts,
    grafted_lists,
    list_sections,
    pruned_lists,
)

_MOST_LISTED: Final = 500
"""Tokens of a list that are shown."""


class Plan(NamedTuple):
    """A change to work out."""

    tokenizer: Tokenizer
    paths: tuple[str, ...]
    """The texts in which its tokens are counted."""
    tokens: tuple[int, ...] = ()
    """The tokens to remove; if there are none, words are added."""
    words: tuple[str, ...] = ()
    decision: Decision = "list"

    @property
    def title(self) -> str:
        if self.tokens:
            return f"Without {counted(len(self.tokens), 'token')}"
        if len(self.words) == 1:
            return f"“{token_label(utf8(self.words[0]))}” as one token"
        return f"{len(self.words)} words as single tokens"


class Made(NamedTuple):
    """A change that was worked out."""

    result: Pruned | Grafted
    sentences: Sequence[str]
    lists: str
    """A report of many lines."""
    answers: str
    """Keys of `ReviewChange`."""


class Progress(Reporter):
    """Ends the work in a thread once it `is_over`."""

    is_over = False

    def send(self, event: Event) -> None:
        if self.is_over:
            raise BrokenPipeError


def work_out(plan: Plan, progress: Progress) -> Made:
    """Work out a change, and count what it does to the texts. Raises `Stopped` if the progress is over."""
    before = plan.tokenizer
    result: Pruned | Grafted
    answers = "sl"
    if plan.tokens:
        result = prune(before, plan.tokens, unreachable=plan.decision)
        lists = pruned_lists(before, result)
        question = ""
        n_unmade = len(result.unreachable) + len(result.only_whole)
        if n_unmade and plan.decision == "list":
            answers = "tkl"
            question = (
                f"{counted(n_unmade, 'other token')} built on these can't be merged any more. Remove those that no "
                "text becomes then, or keep the marked tokens that they are built on (their parents)?"
            )
    else:
        result = graft(before, plan.words)
        lists = grafted_lists(before, result, {})
        question = UNSEEN
        answers = "slw"
    after = result.tokenizer
    sentences = [
        f"{before.n_tokens:,} tokens before, {after.n_tokens:,} after. All that stay keep their ids.",
        question,
        *_about_texts(plan, after, progress),
    ]
    sections = list_sections(lists, _MOST_LISTED)
    return Made(result, list(filter(None, sentences)), as_text(sections), answers)


def _about_texts(plan: Plan, after: Tokenizer, progress: Progress) -> list[str]:
    if not plan.paths:
        return ["No text is chosen (F2), so none was counted."]
    try:
        with closing(Job(progress)) as job:
            texts = compare_on_files(plan.tokenizer, after, plan.paths, job)
    except TextError as error:
        return [str(error)]
    return about_texts(texts)
