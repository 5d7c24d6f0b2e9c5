"""A process that counts: portions in by stdin, their counts out by stdout, as pickles, until nobody asks any more."""

import gc
import pickle
import signal
import sys

from bpe_core.corpus.counts import Counts
from bpe_core.corpus.portions import Portion


def main(pattern: str) -> None:
    """Answer until stdin ends, which it does even when the other side is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches all processes; the one that asks decides
    gc.disable()  # counting makes no cycles
    with sys.stdin.buffer as asked, sys.stdout.buffer as answers:
        while True:
            try:
                portion = pickle.load(asked)
            except EOFError:
                return
            answer: Counts | Exception
            try:
                answer = count_portion(portion, pattern)
            except Exception as error:
                answer = error
            pickle.dump(answer, answers)
            answers.flush()


def count_portion(portion: Portion, pattern: str) -> Counts:
    """The counts of whole files, or of a part of one."""
    counts = Counts(pattern)
    for file in portion.files:
        counts.add_file(file, file.blocks(start=portion.start, end=portion.end))
    return counts
