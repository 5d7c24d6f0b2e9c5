"""What one measuring process does: `python -m benchmarks.jobs JOB ...`; its figures are the last line it writes."""

import json
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Final
from zlib import crc32

from benchmarks import encoders, peers


def train(peer: str, vocab_size: str, out: str, folder: str) -> dict[str, float]:
    """The whole job, from files on disk to a saved vocabulary; imports included, as a user waits for them too."""
    paths = _files(folder)
    began = time.perf_counter()
    peers.TRAINERS[peer][1](paths, int(vocab_size), Path(out))
    return {"seconds": time.perf_counter() - began}


def encode(peer: str, vocabulary: str, folder: str) -> dict[str, float]:
    """All texts of a folder, one by one."""
    encoder = encoders.ENCODERS[peer][1](Path(vocabulary))
    return _encoded(
        lambda texts: map(encoder, texts), list(peers.texts(_files(folder)))
    )


def encode_batch(peer: str, vocabulary: str, folder: str) -> dict[str, float]:
    """All texts of a folder in documents of 20,000 characters, in one call."""
    texts = [
        text[at : at + 20_000]
        for text in peers.texts(_files(folder))
        for at in range(0, len(text), 20_000)
    ]
    return _encoded(encoders.BATCHES[peer][1](Path(vocabulary)), texts)


def _encoded(encode_all: encoders.EncodeAll, texts: list[str]) -> dict[str, float]:
    """Texts encoded with a fresh encoder, and once more when it has seen them."""
    encode_all(
        [
            "A first call, so that all patterns are compiled, those for long texts and for é, too. "
            * 2000
        ]
    )
    cold, n_tokens = _timed(lambda: sum(map(len, encode_all(texts))))
    warm, _ = _timed(lambda: sum(map(len, encode_all(texts))))
    digest = 0
    for ids in encode_all(texts):
        digest = crc32(array("I", ids).tobytes(), digest)
    return {"seconds": cold, "warm": warm, "tokens": n_tokens, "digest": digest}


def encode_corpus(
    peer: str, wish: str, vocabulary: str, out: str, folder: str
) -> dict[str, float]:
    """The whole job, from files on disk to ids in a file or counts of tokens; imports and vocabulary included."""
    from benchmarks import corpora

    paths = _files(folder)
    seconds, n_tokens = _timed(
        lambda: corpora.ENCODERS[peer][1](wish, paths, Path(vocabulary), Path(out))
    )
    return {"seconds": seconds, "tokens": n_tokens or corpora.written(Path(out))}


def load(peer: str, path: str) -> dict[str, float]:
    """From a file to an encoder that has encoded its first word; imports are done before."""
    read = peers.LOADERS[peer][1]()
    seconds, n_tokens = _timed(lambda: len(read(Path(path))("a first word")))
    return {"seconds": seconds, "tokens": n_tokens}


def edit(vocabulary: str, path: str, n_edits: str) -> dict[str, float]:
    """Random edits of a text, timed one by one; whether its tokens are right after the last is looked at, too."""
    from benchmarks.livetext import edited

    return edited(Path(vocabulary), Path(path), int(n_edits))


def _timed(work: Callable[[], int]) -> tuple[float, int]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def _files(folder: str) -> list[Path]:
    path = Path(folder)
    return sorted(path.iterdir()) if path.is_dir() else [path]


def _resources() -> dict[str, float]:
    """CPU seconds of this process and its children, and the peak of this one alone in bytes."""
    try:
        import resource
    except ImportError:  # Windows
        return {"cpu": time.process_time(), "peak": 0}
    own, children = (
        resource.getrusage(who)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    cpu = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    return {
        "cpu": cpu,
        "peak": _peak() or own.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
    }


def _peak() -> int:
    """As Linux knows it: its `ru_maxrss` begins with what the process that started this one had in memory."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next(
        (int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0
    )


JOBS: Final[dict[str, Callable[..., dict[str, float]]]] = {
    job.__name__: job
    for job in (train, encode, encode_batch, encode_corpus, load, edit)
}

if __name__ == "__main__":
    told = JOBS[sys.argv[1]](*sys.argv[2:])
    print(json.dumps({**told, **_resources()}))
