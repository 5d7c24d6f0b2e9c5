"""Where a training begins: at the bytes, or at a vocabulary whose merges are given and whose ids all stay.

A learner numbers symbols from 0: the 256 bytes in the order of the tie rule, the end-of-word marker, then one symbol
for each merge. Here each of them gets its id.
"""

from itertools import count, islice

from bpe_core.errors import OptionError
from bpe_core.kernel.fallback import Pair
from bpe_core.tokenizer.tie_rules import tie_rule
from bpe_core.tokenizer.training_record import Options, TrainOptions
from bpe_core.vocabulary import Vocabulary


def start_of(
    options: Options, old: Vocabulary | None
) -> tuple[Vocabulary, list[int], tuple[Pair, ...]]:
    """(vocabulary without merges, symbol -> its id, those of as many merges as are asked for included, merges that are
    given as pairs of symbols).

    `old`, which passes `check_extensible`, is the vocabulary that a training with these options extends, or None.
    Tokens and special tokens of `old` keep their ids; new tokens take the free ids in ascending order. In a new
    vocabulary special tokens behind the merges move up as these are learned. Raises `OptionError` if no more tokens are
    asked for than `old` has.
    """
    vocabulary = first_vocabulary(options, old)
    base = vocabulary.symbols(tie_rule(options.ties).alphabet)
    if old is None:
        first = max(base) + 1
        return (
            vocabulary,
            [*base, *range(first, first + options.vocab_size - vocabulary.n_tokens)],
            (),
        )
    check_larger(old, options.vocab_size)
    ids = [*base, *(token for _, _, token in old.merges)]
    symbol_of = {token: symbol for symbol, token in enumerate(ids)}
    used = {*symbol_of, *old.special_tokens.values()}
    free = islice(
        (token for token in count() if token not in used),
        options.vocab_size - old.n_tokens,
    )
    given = tuple((symbol_of[left], symbol_of[right]) for left, right, _ in old.merges)
    return vocabulary, [*ids, *free], given


def first_vocabulary(options: Options, old: Vocabulary | None) -> Vocabulary:
    """The vocabulary of a training before its first merge; `old` is the one that it extends, or None."""
    if old is not None:
        return old.at(0)
    return Vocabulary.of_bytes(
        options.id_layout, options.special_tokens, options.end_of_word
    )


def check_larger(old: Vocabulary, vocab_size: int) -> None:
    if vocab_size <= old.n_tokens:
        raise OptionError(
            f"The vocabulary to extend has {old.n_tokens:,} tokens; ask for a larger vocab_size."
        )


def check_extensible(old: Vocabulary) -> None:
    """Raise `OptionError` if no training can extend this vocabulary; merges that ranks hide are recovered first."""
    problem = ""
    if old.has_repeats:
        problem = "two of its merges make the same token"
    elif sorted(
        data for token, data in old.base.items() if token != old.end_of_word
    ) != [bytes([byte]) for byte in range(256)]:
        problem = "its merges do not begin with the 256 bytes alone"
    elif old.whole_pieces:
        problem = "some of its tokens are found without merging"
    if problem:
        raise OptionError(f"This vocabulary cannot be extended: {problem}.")


def inherited(old: Vocabulary) -> TrainOptions:
    """The options of a training that are not chosen but those of the vocabulary it extends, by name. The layout is
    "specials-first" if all special tokens have lower ids than the bytes."""
    last = max(old.special_tokens.values(), default=None)
    return {
        "id_layout": "specials-first"
        if last is not None and last < min(old.base)
        else "bytes-first",
        "special_tokens": tuple(old.special_tokens),
        "end_of_word": ""
        if old.end_of_word is None
        else old.token_bytes(old.end_of_word).decode(),
    }
