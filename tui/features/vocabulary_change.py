"""What a change of the vocabulary does: worked out in a thread, which stops when nobody waits for it."""

from collections.abc import Sequence
from contextlib import closing
from typing import Final, NamedTuple

from bpe_core.errors import TextError
from bpe_core.report import Section, as_text
from bpe_core.surgery import UNSEEN
from bpe_core.surgery.grafting import Grafted, graft
from bpe_core.surgery.pruning import Decision, Pruned, prune
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import utf8
from bpe_core.visible import counted, token_label
from bpe_core.worker.job import Job, Reporter
from bpe_core.worker.messages import Event, WorkProgress
from bpe_core.worker.surgery import Changed, change_of_texts
from bpe_core.worker.surgery_lists import grafted_listings, pruned_listings
from tui.dialogs.review import Review

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
    """A plan that was worked out."""

    plan: Plan
    result: Pruned | Grafted
    review: Review


class Progress(Reporter):
    """Keeps the progress of work in a thread. The work stops once it `is_over`."""

    share = 0.0
    is_over = False

    def send(self, event: Event) -> None:
        if self.is_over:
            raise BrokenPipeError
        if isinstance(event, WorkProgress):
            self.share = event.share


def work_out(plan: Plan, progress: Progress) -> Made:
    """Work out a change, and count what it does to the texts. Raises `Stopped` if the progress is over."""
    before = plan.tokenizer
    result: Pruned | Grafted
    sentences = []
    answers = ["s", "l"]
    if plan.tokens:
        result = prune(before, plan.tokens, unreachable=plan.decision)
        changed = Changed(before, result.tokenizer, result.mapping)
        lists = [*pruned_listings(result, changed)]
        unmade = [*result.unreachable, *result.only_whole]
        if unmade and plan.decision == "list":
            answers = ["t", "k", "l"]
            sentences.append(
                f"{counted(len(unmade), 'other token')} built on these can't be merged any more. Remove those that no "
                "text becomes then, or keep the marked tokens that they are built on (their parents)?"
            )
    else:
        result = graft(before, plan.words)
        same_ids = {token: token for token in before.vocabulary.ids()}
        changed = Changed(before, result.tokenizer, same_ids)
        lists = [*grafted_listings(result, changed, {})]
        answers.append("w")
        sentences.append(UNSEEN)
    sentences.insert(
        0,
        f"{before.n_tokens:,} tokens before, {result.tokenizer.n_tokens:,} after. All that stay keep their ids.",
    )
    sentences.append(_about_texts(plan.paths, changed, progress))
    sections: list[Section] = []
    for listing in lists:
        sections += listing.sections(_MOST_LISTED)
    return Made(plan, result, Review(sentences, as_text(sections), answers))


def _about_texts(paths: Sequence[str], changed: Changed, progress: Progress) -> str:
    if not paths:
        return "No text is chosen (F2), so none was counted."
    try:
        with closing(Job(progress)) as job:
            texts = change_of_texts(changed, paths, job)
    except TextError as error:
        return str(error)
    lines = counted(texts.n_lines, "line changes", "lines change")
    return (
        f"Chosen texts: {texts.n_before:,} tokens before, {texts.n_after:,} after; "
        f"{texts.n_lines_changed:,} of {lines}."
    )
