"""`python -m tests.attack.fuzz_addresses`: whatever a Dask address is, or answers, it is one sentence in bounded time.

Each address is odd, refused, or that of a server on this machine that is silent, closes, or sends random bytes. The
connection must end with one sentence and leave no file descriptor that listens. Prints how often each kind was tried.
"""

import random
import socket
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Final

from bpe_core.errors import ClusterError
from bpe_core.worker.dask_connection import connected

_SECONDS: Final = 0.3
_ODD: Final = (
    "",
    "nowhere",
    "127.0.0.1",
    "127.0.0.1:0",
    "127.0.0.1:99999",
    "tcp://",
    "tcp://127.0.0.1:x",
    "tls://127.0.0.1:1",
    "ucx://127.0.0.1:1",
    "ws://127.0.0.1:1",
    "inproc://x",
    "://",
    "\x00",
    "tcp://\u00e9:1",
)
_HTTP: Final = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"


@contextmanager
def server(answer: bytes | None) -> Iterator[str]:
    """Serve on this machine: send `answer` to whoever connects and close, or stay silent if it is None."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        held: list[socket.socket] = []

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    if answer is None:
                        held.append(connection)
                        continue
                    with suppress(OSError):
                        connection.sendall(answer)
                    connection.close()

        Thread(target=serve, daemon=True).start()
        host, port = listener.getsockname()
        yield f"{host}:{port}"
        for connection in held:
            connection.close()


def attacked(kind: str, dice: random.Random) -> str:
    """Connect once; return what is wrong with the outcome, or ""."""
    if kind == "odd":
        return _outcome(dice.choice(_ODD))
    answers = {
        "silent": None,
        "closing": b"",
        "http": _HTTP,
        "random": dice.randbytes(dice.choice((1, 8, 64, 4096))),
    }
    with server(answers[kind]) as address:
        return _outcome(address)


def _outcome(address: str) -> str:
    try:
        with connected(address, _SECONDS):
            return f"{address!r} is connected"
    except ClusterError as error:
        sentence = str(error)
        return "" if sentence.endswith(".") and "\n" not in sentence else sentence
    except Exception as error:
        return f"{address!r}: {type(error).__name__}: {error}"


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--addresses", type=int, default=50, help="how many (50)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    kinds = ("odd", "silent", "closing", "http", "random")
    tried: Counter[str] = Counter()
    n_wrong = 0
    for number in range(options.addresses):
        kind = kinds[number % len(kinds)]
        dice = random.Random(f"{options.seed} {number}")
        problem = attacked(kind, dice)
        tried[kind] += 1
        if problem:
            n_wrong += 1
            print(f"seed {options.seed}, address {number} ({kind}): {problem}")
    print(", ".join(f"{n} {kind}" for kind, n in tried.items()), f"- {n_wrong} wrong")
    return bool(n_wrong)


if __name__ == "__main__":
    sys.exit(main())
