"""A sound call of all that the kernel's door has, to be tried with wrong arguments, without memory, interrupted."""

import random
from array import array
from binascii import b2a_base64
from collections.abc import Callable
from typing import Any

from bpe_core import PATTERNS, kernel
from bpe_core.kernel import grammars

Call = tuple[Callable[..., Any], tuple[Any, ...]]

BYTES = bytes(range(256))
BYTE_IDS = tuple(BYTES)
TOKENS = {bytes([byte]): byte for byte in BYTES} | {b"ab": 256, b"bc": 257, b"abc": 258, b" " * 20: 259}


def kernel_calls(size: int) -> dict[str, Call]:
    """What to call with which arguments, by its name; new objects for each, and texts of some `size` in bytes."""
    rng = random.Random(1)
    scanner = grammars.scanner(PATTERNS["gpt4o"])
    text = "".join(rng.choices("abc \n1.é中😀", k=size // 2))
    data = text.encode()
    pieces = [text[i : i + 9] for i in range(0, len(text), 9)]
    piece = "".join(rng.choices("abc", k=size))
    merges = kernel.Encoder(BYTE_IDS, None, None, {}, {}, False, False)
    merges = merges.extended(*(array("I", column) for column in ([97, 98], [98, 99], [256, 257])))
    ranks = kernel.Encoder(BYTE_IDS, None, None, TOKENS, TOKENS, True, True)
    lines = b"".join(b"%s %d\n" % (b2a_base64(b"%x" % n, newline=False), n) for n in range(size // 8))

    def table(*, counted: bool = True) -> kernel.PieceTable:
        new = kernel.PieceTable(scanner)
        if counted:
            new.add(data, 0)
            new.add_pieces([piece], 1)
        return new

    def trainer() -> kernel.Trainer:
        return kernel.Trainer(table(), 0, 1, 9, BYTES, b"")

    return {
        "Scanner": (kernel.Scanner, (lambda plane: b"", 3, 3, True, True)),
        "Scanner.ends": (grammars.scanner.__wrapped__(PATTERNS["gpt2"]).ends, (data,)),
        "Scanner.last_cut": (grammars.scanner.__wrapped__(PATTERNS["gpt2"]).last_cut, (data,)),
        "Scanner.run": (grammars.scanner.__wrapped__(PATTERNS["gpt2"]).run, (b"a" * size,)),
        "Encoder": (kernel.Encoder, (BYTE_IDS, 260, {"é".encode(): 261}, TOKENS, TOKENS, True, True)),
        "Encoder.extended": (merges.extended, (bytes(size // 4 * 4), bytes(size // 4 * 4), bytes(size // 4 * 4))),
        "Encoder.encode": (ranks.encode, (text, scanner, None)),
        "Encoder.encode_bytes": (merges.encode_bytes, (data, scanner, 2)),
        "Encoder.piece": (ranks.piece, (piece, 258)),
        "Encoder.part": (merges.part, (piece, None)),
        "Encoder.pieces": (merges.pieces, (pieces, 1)),
        "Encoder.parents": (ranks.parents, (pieces,)),
        "PieceTable": (kernel.PieceTable, (scanner,)),
        "PieceTable.add": (table(counted=False).add, (data, 0)),
        "PieceTable.add_pieces": (table(counted=False).add_pieces, (pieces, 0)),
        "PieceTable.append": (table(counted=False).append, (table(), 3, 2)),
        "PieceTable.counts": (table().counts, ()),
        "PieceTable.few_documents": (table().few_documents, ()),
        "Trainer": (kernel.Trainer, (table(), 2, 1, 9, BYTES, b"</w>", lambda done, total: None)),
        "Trainer.learn": (trainer().learn, (size,)),
        "Trainer.merge": (trainer().merge, (97, 98)),
        "Trainer.pair_table": (trainer().pair_table, ()),
        "Trainer.symbol_counts": (trainer().symbol_counts, ()),
        "read_ranks": (kernel.read_ranks, (lines,)),
        "decimals": (kernel.decimals, (bytes(size // 4 * 4), ", ")),
    }
