"""The trainer of Picky BPE: `Trainer` gives one for the experiment of that name."""

from collections.abc import Iterable

from bpe_core.corpus import Counts
from bpe_core.picky.learner import PickyLearner
from bpe_core.picky.vocabulary import PickyVocabulary
from bpe_core.trainer import Trainer
from bpe_core.trainer.experiment import Picky
from bpe_core.trainer.learner import Look, Rules


class PickyTrainer(Trainer):
    """Learns merges and removes tokens until so many live as were asked for. In Python, with the kernel or without."""

    def _count(self, counts: Counts, rules: Rules, look: Look | None) -> None:
        options = self.options
        assert isinstance(options.experiment, Picky)
        self._vocabulary = PickyVocabulary.of_bytes(options.id_layout, options.special_tokens, options.end_of_word)
        self._n_removed = 0
        first = next(self._start.new_ids)
        self._picky = PickyLearner(counts.pieces, rules, options.experiment.threshold, self._ids, first, look)

    @property
    def n_tokens(self) -> int:
        """Tokens in the corpus now."""
        return self._picky.n_tokens

    @property
    def n_removed(self) -> int:
        """How many tokens were removed again."""
        return self._n_removed

    def _make(self, n: int) -> None:
        for _ in range(n):  # each adds one living token at most, so there are never too many
            step = self._picky.step()
            if step is None:
                return
            self._news.append((*step.pair, step.token, *step.removed))
            self._steps.append((step.count, step.ties, step.n_tokens))
            self._bytes.append(self._picky.bytes_of(step.token))
            self._n_removed += len(step.removed)
            self._n_merges_wanted += len(step.removed) + (not step.is_new)

    def _pairs(self) -> Iterable[tuple[tuple[int, int], int]]:
        return self._picky.corpus.counts.items()

    def token_counts(self) -> dict[int, int]:
        """Id -> how often the token occurs in the corpus now, for those that live; 0 for those that do not occur."""
        occurs = self._picky.corpus.token_counts
        return {token: occurs.get(token, 0) for token in self._picky.living.spelling_of}
