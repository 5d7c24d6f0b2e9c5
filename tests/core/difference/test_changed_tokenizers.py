"""Tokenizers with one small change: `diff` finds each with a text that Hugging Face's library confirms."""

import json
import random
from collections import Counter
from copy import deepcopy
from pathlib import Path

import pytest
import tokenizers

from bpe_core import diff, load, save, train
from bpe_core.difference.records import Witness
from bpe_core.errors import BpeError
from tests.nasty import nasty_texts

TEXT = Path("sample_texts/english-everyday.txt").read_text("utf-8")
END = "<|end|>"
PATTERN_CHANGES = (
    (r"\p{L}", r"\p{Lu}"),
    (r"\p{L}", r"[a-z]"),
    (r"\p{N}", r"\p{Nd}"),
    (r"{1,3}", r"{1,2}"),
    (r"{1,3}", ""),
    (r"\s+(?!\S)", r"\s+"),
    (r"\r\n", r"\n"),
    ("[sdmt]", "[sdm]"),
    ("(?i:", "(?:"),
    (" ?", ""),
    ("++", "+"),
    ("|", "|x|"),
)


def swap_merges(described, chance):
    merges = described["model"]["merges"]
    first = chance.randrange(len(merges) - 1)
    second = min(len(merges) - 1, first + chance.choice((1, 2, 10, 50)))
    merges[first], merges[second] = merges[second], merges[first]


def move_id(described, chance):
    vocab = described["model"]["vocab"]
    first, second = chance.sample(sorted(vocab), 2)
    vocab[first], vocab[second] = vocab[second], vocab[first]


def drop_last_merges(described, chance):
    n_dropped = chance.randint(1, 3)
    model = described["model"]
    for merge in model["merges"][-n_dropped:]:
        parts = merge.split(" ") if isinstance(merge, str) else merge
        del model["vocab"]["".join(parts)]
    del model["merges"][-n_dropped:]


def change_pattern(described, chance):
    text = json.dumps(described["pre_tokenizer"])
    known = [
        (old, new) for old, new in PATTERN_CHANGES if json.dumps(old)[1:-1] in text
    ]
    old, new = chance.choice(known)
    text = text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1], 1)
    described["pre_tokenizer"] = json.loads(text)


def change_flag(described, chance):
    token = described["added_tokens"][0]
    flag = chance.choice(("lstrip", "rstrip", "single_word", "special", "normalized"))
    token[flag] = not token[flag]


def change_normalizer(described, chance):
    kind = chance.choice(("NFC", "NFD", "NFKC", "NFKD", "Lowercase"))
    described["normalizer"] = {"type": kind}


CHANGES = (
    swap_merges,
    move_id,
    drop_last_merges,
    change_pattern,
    change_flag,
    change_normalizer,
)


def described_tokenizer(folder, pattern):
    path = folder / f"{pattern}.json"
    save(
        train(TEXT, vocab_size=700, pattern=pattern, special_tokens=[END]),
        path,
        format="huggingface",
    )
    return json.loads(path.read_text("utf-8"))


def peer_ids(peer, text, reads_specials):
    peer.encode_special_tokens = not reads_specials
    return tuple(peer.encode(text, add_special_tokens=False).ids)


def check_changes(described, folder, n_changes, seed):
    """Compare a tokenizer with changed ones, and count the verdicts of each kind of change."""
    chance = random.Random(seed)
    before = folder / "before.json"
    before.write_text(json.dumps(described), "utf-8")
    ours = load(before)
    peer = tokenizers.Tokenizer.from_file(str(before))
    texts = [*nasty_texts(200, seed), TEXT[:5000], *TEXT[5000:20000].split()]
    verdicts = Counter()
    for number in range(n_changes):
        change = CHANGES[number % len(CHANGES)]
        changed = deepcopy(described)
        change(changed, chance)
        after = folder / "after.json"
        after.write_text(json.dumps(changed), "utf-8")
        try:
            other = load(after)
        except BpeError:
            # A merge comes before the merge that makes one of its parts.
            verdicts[change.__name__, "refused"] += 1
            continue
        changed_peer = tokenizers.Tokenizer.from_file(str(after))
        difference = diff(ours, other)
        verdicts[change.__name__, difference.verdict] += 1
        witness = difference.witness
        if isinstance(witness, Witness):
            for each, ids in ((peer, witness.a), (changed_peer, witness.b)):
                assert peer_ids(each, witness.text, witness.reads_specials) == ids
        elif difference.verdict == "same":
            for text in texts:
                for reads in (True, False):
                    same = peer_ids(peer, text, reads)
                    assert peer_ids(changed_peer, text, reads) == same, text
    return verdicts


def check_undecided(verdicts):
    """Check that only merges that come before the merges of their parts are undecided, and not most of them."""
    n_undecided = verdicts["swap_merges", "unknown"]
    n_decided = verdicts["swap_merges", "same"] + verdicts["swap_merges", "different"]
    assert n_undecided <= n_decided, verdicts
    assert all(
        verdict != "unknown" or change == "swap_merges" for change, verdict in verdicts
    ), verdicts


@pytest.mark.parametrize("pattern", ["gpt2", "llama3"])
def test_one_small_change_is_found(tmp_path, pattern):
    described = described_tokenizer(tmp_path, pattern)
    check_undecided(check_changes(described, tmp_path, 30, 1))


@pytest.mark.slow
def test_hundreds_of_small_changes_are_found(tmp_path):
    verdicts = Counter()
    for seed, pattern in enumerate(("gpt2", "gpt4", "gpt4o", "llama3", "qwen2")):
        described = described_tokenizer(tmp_path, pattern)
        verdicts += check_changes(described, tmp_path, 48, seed)
    check_undecided(verdicts)
