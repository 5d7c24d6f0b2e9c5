"""`python -m tests.attack.forks`: a process forked while threads first use a tokenizer encodes right, and ends.

Threads use new tokenizers of several kinds for the first time, which computes their tables. Meanwhile the process is
forked again and again. Each child uses new tokenizers too, and must give the ids that are known. A child that hangs is
ended by its alarm, and is a defect.
"""

import os
import random
import signal
import sys
import warnings
from argparse import ArgumentParser
from threading import Event, Thread
from typing import Final

from bpe_core import Tokenizer, train
from bpe_core.vocabulary.ranked import RankedVocabulary

_TEXT: Final = "the theme of the other thesis is that they breathe " * 4
_TRAINED: Final = train(_TEXT, vocab_size=300)
_TOKENS: Final = dict(_TRAINED.vocabulary.bytes_of)
_IDS: Final = _TRAINED.encode(_TEXT)
_SECONDS: Final = 30  # until a child that hangs is ended


def first_use(dice: random.Random) -> bool:
    """Use new tokenizers in all their parts; whether the ids are right."""
    kinds = [
        _TRAINED.at(dice.randrange(_TRAINED.step + 1)),
        Tokenizer(RankedVocabulary(_TOKENS), _TRAINED.pattern),
        train(_TEXT, vocab_size=300),
    ]
    for tokenizer in kinds:
        assert tokenizer.decode(tokenizer.encode(_TEXT)) == _TEXT
        assert tokenizer.n_vocab and tokenizer.merges is not None
        assert (
            tokenizer.vocabulary.id_by_bytes
            and tokenizer.vocabulary.whole_pieces is not None
        )
    return kinds[1].encode(_TEXT) == _IDS == kinds[2].encode(_TEXT)


def forked(seed: str) -> bool:
    """Fork once; whether the child encodes right, and ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about threads and forks
        child = os.fork()
    if child == 0:
        signal.alarm(_SECONDS)
        is_right = False
        try:
            is_right = first_use(random.Random(seed))
        finally:
            os._exit(0 if is_right else 1)
    _, status = os.waitpid(child, 0)
    return status == 0


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--forks", type=int, default=400, help="how many (400)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    ended = Event()

    def use_again_and_again(number: int) -> None:
        dice = random.Random(f"{options.seed} thread {number}")
        while not ended.is_set():
            first_use(dice)

    threads = [Thread(target=use_again_and_again, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    n_wrong = 0
    for number in range(options.forks):
        if not forked(f"{options.seed} {number}"):
            n_wrong += 1
            print(f"seed {options.seed}, fork {number}: the child hung or was wrong")
    ended.set()
    for thread in threads:
        thread.join()
    print(f"{options.forks} forks, {n_wrong} wrong")
    return bool(n_wrong)


if __name__ == "__main__":
    sys.exit(main())
