"""A sound call of everything behind the kernel's door, to be tried with wrong ones, without memory, interrupted."""

import random
from array import array
from binascii import b2a_base64
from collections.abc import Callable
from struct import pack
from typing import Any

from bpe_core import PATTERNS, kernel
from bpe_core.kernel import grammars

Call = tuple[Callable[..., Any], tuple[Any, ...]]

BYTES = bytes(range(256))
BYTE_IDS = tuple(BYTES)
TOKENS = {bytes([byte]): byte for byte in BYTES} | {
    b"ab": 256,
    b"bc": 257,
    b"abc": 258,
    b" " * 20: 259,
}


def kernel_calls(size: int) -> dict[str, Callable[[], Call]]:
    """Name -> what makes a function and sound arguments for it, of new objects; texts have about `size` bytes."""
    rng = random.Random(1)
    scanner = grammars.scanner(PATTERNS["gpt4o"])
    again = max(
        1, size // 100_000
    )  # choosing every character of a long text would take longer than the call
    text = "".join(rng.choices("abc \n1.é中😀", k=size // 2 // again)) * again
    data = text.encode()
    zeros = bytes(size // 4 * 4)
    pieces = [text[i : i + 9] for i in range(0, len(text), 9)]
    piece = "".join(rng.choices("abc", k=size // again)) * again
    merges = kernel.Encoder(BYTE_IDS, None, None, {}, {}, False, False)
    merges = merges.extended(
        *(array("I", column) for column in ([97, 98], [98, 99], [256, 257]))
    )
    ranks = kernel.Encoder(BYTE_IDS, None, None, TOKENS, TOKENS, True, True)

    def lines() -> bytes:
        return b"".join(
            b"%s %d\n" % (b2a_base64(b"%x" % n, newline=False), n)
            for n in range(size // 8)
        )

    def new_scanner() -> kernel.Scanner:
        return kernel.Scanner(
            lambda plane: pack("=3I", plane << 16, (plane << 16) + 0x80, 3),
            3,
            3,
            True,
            True,
            False,
        )

    def table(*, counted: bool = True) -> kernel.PieceTable:
        new = kernel.PieceTable(scanner)
        if counted:
            new.add(data, 0)
            kernel.add_pieces(new, [piece], 1)
        return new

    def learner() -> kernel.Learner:
        return kernel.Learner(table(), 0, 1, 9, BYTES, b"")

    def learned() -> kernel.Learner:
        new = learner()
        new.learn(size)
        return new

    return {
        "Scanner": lambda: (
            kernel.Scanner,
            (lambda plane: b"", 3, 3, True, True, True),
        ),
        "Scanner.ends": lambda: (new_scanner().ends, (data,)),
        "Scanner.last_cut": lambda: (new_scanner().last_cut, (data,)),
        "Encoder": lambda: (
            kernel.Encoder,
            (BYTE_IDS, 260, {"é".encode(): 261}, TOKENS, TOKENS, True, True),
        ),
        "Encoder.extended": lambda: (
            merges.extended,
            (bytes(size // 4 * 4), bytes(size // 4 * 4), bytes(size // 4 * 4)),
        ),
        "Encoder.encode_batch": lambda: (
            merges.encode_batch,
            ([text, "", text[:9]], scanner, 2, True),
        ),
        "Encoder.piece": lambda: (ranks.piece, (piece, 258)),
        "Encoder.part": lambda: (merges.part, (piece, None)),
        "Encoder.pieces": lambda: (merges.pieces, (pieces, 1)),
        "Encoder.parents": lambda: (ranks.parents, (pieces,)),
        "PieceTable": lambda: (kernel.PieceTable, (scanner,)),
        "PieceTable.add": lambda: (table(counted=False).add, (data, 0)),
        "PieceTable.append": lambda: (table(counted=False).append, (table(), 3, 2)),
        "PieceTable.counts": lambda: (table().counts, ()),
        "PieceTable.columns": lambda: (table().columns, (0, size)),
        "PieceTable.extend": lambda: (
            table().extend,
            (*table().columns(0, size)[:2], 3, 2),
        ),
        "Learner": lambda: (
            kernel.Learner,
            (table(), 2, 1, 9, BYTES, b"</w>", lambda done, total: None),
        ),
        "Learner.learn": lambda: (learner().learn, (size,)),
        "Learner.merges": lambda: (learned().merges, (0,)),
        "Learner.merge": lambda: (learner().merge, (97, 98)),
        "Learner.pairs": lambda: (learner().pairs, ()),
        "Learner.symbol_counts": lambda: (learner().symbol_counts, ()),
        "read_ranks": lambda: (kernel.read_ranks, (lines(),)),
        "decimals": lambda: (kernel.decimals, (zeros, ", ")),
    }
