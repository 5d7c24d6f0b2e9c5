"""Why Picky BPE merged a pair, at any step: the numbers are those of a recount by the slow lines."""

import random
from collections import Counter
from itertools import pairwise

import picky_oracle as oracle
from amounts import amount
from test_picky import END, both, spelled

from bpe_core import reference
from bpe_core.explain.merge_choice import explain
from bpe_core.explain.pair_counts import PairCounts
from bpe_core.trainer.ties import TIES


def taken(rule, tied, ids):
    """What a rule takes of pairs in first-seen order; `ids` are those before the merge."""
    if rule == "first":
        return tied[0]
    if rule == "largest":
        return max(tied, key=lambda pair: [part.replace(END, "</w>") for part in pair])
    number = {byte: reference.HF_ORDER.index(byte) for byte in range(256)} if rule == "lowest-hf" else {}
    return min(tied, key=lambda pair: [number.get(ids[part], ids[part]) for part in pair])


@amount(5, 150)
def test_any_step_is_told_as_the_slow_lines_count_it(amount):
    n_removing = 0
    for seed in range(amount):
        pieces, trainer, _, (rows, events, _, _) = both(seed)
        tokenizer, options = trainer.tokenizer(), trainer.options
        longest, end = options.max_token_length or 10**9, options.end_of_word
        counts = PairCounts(tokenizer, pieces)
        starts = [0]
        for row in rows:
            starts.append(starts[-1] + len(row) - 5)  # the merge, and a removal each
        steps = random.Random(seed).choices(range(1, len(rows) + 1), k=6) if rows else []
        for step in [near for far in steps for near in (far, min(len(rows), far + 1))]:
            bytes_of = tokenizer.vocabulary.bytes_around(step)

            def text_of(*ids, bytes_of=bytes_of, end=end):
                texts = (bytes_of(token).decode("latin-1") for token in ids)
                return tuple(text.replace("</w>", END) if end else text for text in texts)

            def words(n_events, pieces=pieces, end=end, events=events):
                return {piece: oracle.encode(spelled(piece, end), events[:n_events]) for piece in pieces}

            def recounted(now, pieces=pieces):
                found = Counter()
                for piece, word in now.items():
                    for pair in pairwise(word):
                        found[pair] += pieces[piece]
                return found

            before, merged, after = words(starts[step - 1]), words(starts[step - 1] + 1), words(starts[step])
            was, now = recounted(before), recounted(after)
            told = explain(counts, step, options.ties, options.max_token_length)
            choice, row, removed = told.choice, rows[step - 1], rows[step - 1][6:]
            assert (choice.left, choice.right, choice.token, choice.count, choice.n_tied) == row[:5]
            assert tokenizer.vocabulary.history[step - 1] == (*row[:3], *removed)
            allowed = {pair: count for pair, count in was.items() if len("".join(pair)) <= longest}
            tied = [pair for pair, count in allowed.items() if count == choice.most]
            assert {text_of(*pair) for pair in choice.tied} <= set(tied)
            ids = {text: id for pair in choice.tied for text, id in zip(text_of(*pair), pair, strict=True)}
            if len(choice.tied) == choice.n_tied:
                assert {rule: text_of(*pair) for rule, pair in choice.by_rule.items()} == {
                    rule: taken(rule, tied, ids) for rule in TIES
                }
            assert choice.n_joined == sum(pieces[piece] * (len(before[piece]) - len(merged[piece])) for piece in pieces)
            assert choice.n_changed == sum(before[piece] != after[piece] for piece in pieces)
            for line in (*choice.runners_up, *choice.born, *choice.vanished):
                pair = text_of(line.left, line.right)
                assert line.change == now[pair] - was[pair]
            table = {text_of(line.left, line.right): (line.count, line.change) for line in told.table.rows}
            kept = {pair: count for pair, count in now.items() if len("".join(pair)) <= longest}
            assert table == {pair: (count, count - was[pair]) for pair, count in kept.items()}
            assert told.table.n_tokens == row[5]
            assert [(word.count, text_of(*word.before), text_of(*word.after)) for word in told.words] == [
                (pieces[piece], tuple(before[piece]), tuple(after[piece])) for piece in pieces
            ]
            n_removing += bool(removed)
            gone = next((later for later in range(step + 1, len(rows) + 1) if row[2] in rows[later - 1][6:]), 0)
            assert tokenizer.vocabulary.removal_of(step) == gone
    assert n_removing > amount // 2
