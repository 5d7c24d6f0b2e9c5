"""`python -m benchmarks.tiny_language_model`: do the indicators find tokens that a model never met? Measured on models.

A tokenizer learns from two corpora, A (the topics of Python's help, English) and B (modules of Python's library); two
tiny transformers learn from B only, one with tied embeddings, one without. Which tokens occur in B is then known, and
each indicator is asked, on each matrix, to tell those that never do from those that do twenty times or more: the area
under its curve is the probability that a token of the first kind gets the lower value of two. 1 is perfect, 0.5 is
chance, and below 0.5 it is inverted.

Needs torch, which nothing else here does. Seeded; a few minutes on two cores. Markdown on stdout.
"""

import sys
import sysconfig
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy
import torch
from torch import nn

from bpe_core import Counts, Tokenizer, train
from bpe_core.auditing import Examination, on_every_token, token_counts
from bpe_core.auditing.undertrained import unused_rows
from bpe_core.embeddings.indicators import INDICATORS, indicator
from bpe_core.embeddings.matrix import Matrix

VOCAB: Final = 4096
ROWS: Final = VOCAB + 32
"""Rows of the embeddings; those past the vocabulary belong to no id, as in models padded to a round number."""
WIDTH, HEADS, LAYERS, CONTEXT, BATCH = 96, 4, 2, 64, 32
OFTEN: Final = 20
"""Occurrences in B from which on a token counts as seen."""
LIBRARY: Final = Path(sysconfig.get_path("stdlib"))
HELP: Final = LIBRARY / "pydoc_data" / "topics.py"
PYTHON_BYTES: Final = 4_000_000
"""Size of B, about."""


def corpora() -> tuple[str, str]:
    """A and B."""
    from pydoc_data.topics import topics

    text, size = [], 0
    for path in sorted(LIBRARY.glob("*.py")):
        if size < PYTHON_BYTES:
            text.append(path.read_text(encoding="utf-8"))
            size += len(text[-1])
    return "\n".join(topics.values()), "\n".join(text)


class Block(nn.Module):
    """Attention to what came before, and a layer of neurons; each added to what came in."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.neurons = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: Any, mask: Any) -> Any:
        y = self.before(x)
        x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
        return x + self.neurons(self.between(x))


class Model(nn.Module):
    """A transformer with GPT-2's shape and initialization, as small as it gets."""

    def __init__(self, tied: bool) -> None:
        super().__init__()
        self.embed = nn.Embedding(ROWS, WIDTH)
        self.places = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, ROWS, bias=False)
        for matrix in (self.embed.weight, self.places.weight, self.head.weight):
            nn.init.normal_(matrix, std=0.02)
        if tied:
            self.head.weight = self.embed.weight
        self.register_buffer("mask", torch.triu(torch.ones(CONTEXT, CONTEXT, dtype=torch.bool), 1))

    def forward(self, ids: Any) -> Any:
        x = self.embed(ids) + self.places.weight
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(self.norm(x))


def trained(ids: Any, tied: bool, steps: int, seed: int) -> tuple[Model, float]:
    """The model after `steps` batches of B, and its mean loss over the last fifty, in nats a token."""
    torch.manual_seed(seed)
    model = Model(tied)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps, pct_start=0.05)
    losses = []
    for step in range(steps):
        starts = torch.randint(len(ids) - CONTEXT - 1, (BATCH,))
        windows = torch.stack([ids[start : start + CONTEXT + 1] for start in starts])
        loss = nn.functional.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(float(loss))
        if step % 100 == 0:
            print(f"{'tied' if tied else 'untied'}: step {step:,}, loss {losses[-1]:.3f}", file=sys.stderr)
    return model, sum(losses[-50:]) / len(losses[-50:])


def area(low: Any, high: Any) -> float:
    """The area under the ROC curve: the probability that one of `low` is below one of `high`, ties counting half."""
    order = numpy.sort(high)
    above = len(order) - numpy.searchsorted(order, low, "right")
    ties = numpy.searchsorted(order, low, "right") - numpy.searchsorted(order, low, "left")
    return float((above + ties / 2).sum() / (len(low) * len(high)))


def rows_of(tokenizer: Tokenizer, matrix: Matrix, absent: list[int], seen: list[int]) -> Iterator[tuple[str, float]]:
    """(what was asked, area under the curve) for each indicator, and for the score of the audit."""
    unused = unused_rows(tokenizer, ROWS)
    for name in INDICATORS:
        values = indicator(matrix, name, unused, []).values
        yield name, area(values[absent], values[seen])
    examination = Examination(tokenizer, embeddings=matrix)
    found = list(examination.findings())
    score = {verdict.id: verdict.score for verdict in on_every_token(tokenizer, found, examination.measures)}
    yield "score of the audit", area([-score[token] for token in absent], numpy.array([-score[t] for t in seen]))


def main() -> int:
    """Train, ask, print; 1 if no indicator of some matrix is above 0.99."""
    parser = ArgumentParser(prog="python -m benchmarks.tiny_language_model", description=__doc__)
    parser.add_argument("--steps", type=int, default=1500, help=f"batches of {BATCH} times {CONTEXT} tokens (1,500)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write tokenizer and matrices there")
    options = parser.parse_args()
    began = time.monotonic()
    a, b = corpora()
    tokenizer = train([a, b], vocab_size=VOCAB)
    ids = torch.tensor(tokenizer.encode(b, disallowed_special=()))
    counts = token_counts(tokenizer, Counts.of(b, tokenizer.pattern))
    unused = set(unused_rows(tokenizer, ROWS))
    absent = [token for token, count in counts.items() if not count and token not in unused]
    seen = [token for token, count in counts.items() if count >= OFTEN]
    print(
        f"A: {len(a):,} characters, B: {len(b):,} characters, {len(ids):,} tokens; of {VOCAB:,} tokens {len(absent):,} "
        f"are absent from B, {len(seen):,} occur {OFTEN} times or more. {options.steps:,} batches, seed {options.seed}."
    )
    rows: dict[str, dict[str, float]] = {}
    for tied in (False, True):
        model, loss = trained(ids, tied, options.steps, options.seed)
        print(f"{'Tied' if tied else 'Untied'} model: {loss:.2f} nats a token at the end.", file=sys.stderr)
        matrices = {"tied": model.embed} if tied else {"input": model.embed, "output": model.head}
        for role, layer in matrices.items():
            data = layer.weight.detach().numpy()
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                numpy.save(options.keep / f"{role}.npy", data)
            rows[role] = dict(rows_of(tokenizer, Matrix(data, "", "", role), absent, seen))
    if options.keep:
        from bpe_core import save

        save(tokenizer, options.keep / "tokenizer.json")
    print("\n| matrix | " + " | ".join(next(iter(rows.values()))) + " |\n| --- |" + " ---: |" * (len(INDICATORS) + 1))
    for role, values in rows.items():
        print(f"| {role} | " + " | ".join(f"{value:.4f}" for value in values.values()) + " |")
    print(f"\n{time.monotonic() - began:.0f} s.", file=sys.stderr)
    return 0 if all(max(values.values()) > 0.99 for values in rows.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
