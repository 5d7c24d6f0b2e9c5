"""Picky BPE as plain as possible. A token is the text that it stands for, a byte in it one character."""

from collections import Counter
from itertools import chain, pairwise

from bpe_core.reference import HF_ORDER


def replaced(word, old, new):
    """The word with the tokens `old` replaced by the tokens `new`, from left to right."""
    out = []
    for token in word:
        out.append(token)
        if out[-len(old) :] == old:
            out[-len(old) :] = new
    return out


def train(pieces, size, threshold, ties, min_count=1, max_length=10**9, n_base=256):
    """(rows, events, ids of the tokens that live at the end, tokens of each piece).

    A row is (left id, right id, id, count, pairs with that count, tokens left, *ids removed), an event (old, new).
    """
    words, ids, made_of, rows, events = [list(piece) for piece in pieces], {}, {}, [], []
    ids |= {chr(n): n for n in range(n_base)}
    number = {n: HF_ORDER.index(n) if ties == "lowest-hf" else n for n in range(256)}
    while len(ids) < size:
        counts = Counter(pair for word in words for pair in pairwise(word) if len("".join(pair)) <= max_length)
        most = max(counts.values(), default=0)
        tied = [pair for pair, n in counts.items() if n == most]
        if not tied or most < min_count:
            break
        pair = tied[0] if ties == "first" else min(tied, key=lambda pair: [number.get(ids[p], ids[p]) for p in pair])
        if ties == "largest":
            pair = max(tied, key=lambda pair: [p.replace("\u0100", "</w>") for p in pair])
        occurred, n_tokens, token = Counter(chain(*words)), sum(map(len, words)), "".join(pair)
        ids.setdefault(token, min(set(range(len(ids) + 1)) - set(ids.values())))
        made_of.setdefault(token, pair)
        row, removed = [ids[pair[0]], ids[pair[1]], ids[token]], []
        events.append((list(pair), [token]))
        words = [replaced(word, *events[-1]) for word in words]
        merged = n_tokens - sum(map(len, words))
        for part in dict.fromkeys(pair):
            if len(part) > 1 and merged >= threshold * (occurred[part] - merged * (pair[0] == pair[1])):
                removed.append(ids.pop(part))
                events.append(([part], _fallen(part, ids, made_of)))
                words = [replaced(word, *events[-1]) for word in words]
        rows.append((*row, most, len(tied), sum(map(len, words)), *removed))
    return rows, events, ids, words


def _fallen(token, ids, made_of):
    return [token] if token in ids else [part for half in made_of[token] for part in _fallen(half, ids, made_of)]


def encode(piece, events):
    """The tokens of a piece: every event applied to it, in order."""
    word = list(piece)
    for event in events:
        word = replaced(word, *event)
    return word
