"""Picky BPE against slow lines: what is learned and removed, how texts are encoded at every step, files."""

import json
import random
from collections import Counter
from fractions import Fraction
from itertools import chain, pairwise

import picky_oracle as oracle
import pytest
from amounts import amount
from nasty import nasty_texts

from bpe_core import FormatError, LiveText, OptionError, Trainer, audit, load, save, train
from bpe_core.corpus import Counts
from bpe_core.explain.trace import Split, steps_seen, trace
from bpe_core.explain.unstable import unstable
from bpe_core.formats import WRITABLE
from bpe_core.metrics.training_curve import TrainingCurve
from bpe_core.picky.vocabulary import PickyVocabulary
from bpe_core.trainer.experiment import Picky, experiment
from bpe_core.trainer.ties import TIES

END = "\u0100"
ALPHABETS = ["a", "ab", "abc", "abcdefgh", "aé", "a\0\x7f", "日本", "👩\u200d🚀 "]


def spelled(text, end=""):
    """A text as the oracle takes it: a character a byte, and one for the end of a word."""
    return text.encode().decode("latin-1") + (END if end else "")


def tokens_of(ids, tokenizer):
    return [tokenizer.token_bytes(token).decode("latin-1").replace("</w>", END) for token in ids]


def random_training(seed):
    """(pieces with counts, options of a training)."""
    r = random.Random(seed)
    letters = r.choice(ALPHABETS)
    words = ["".join(r.choices(letters, k=r.randint(1, r.choice([3, 8, 25])))) for _ in range(r.randint(1, 25))]
    return Counter(words), {
        "vocab_size": 256 + r.randint(2, 60),
        "ties": r.choice(TIES),
        "experiment": Picky(Fraction(r.choice(["0.1", "0.3", "0.5", "0.7", "0.9", "1"]))),
        "min_count": r.choice([1, 1, 2]),
        "max_token_length": r.choice([None, None, 4]),
        "end_of_word": r.choice(["", "", "</w>"]),
    }


def both(seed):
    """(pieces, the trainer at its end, its merges, what the oracle learned)."""
    pieces, options = random_training(seed)
    trainer = Trainer(list(pieces.elements()), pattern="none", **options)
    merges = list(trainer)
    end = options["end_of_word"]
    words = [spelled(piece, end) for piece in pieces.elements()]
    longest = options["max_token_length"] or 10**9
    expected = oracle.train(
        words,
        options["vocab_size"],
        options["experiment"].threshold,
        options["ties"],
        options["min_count"],
        longest,
        256 + bool(end),
    )
    return pieces, trainer, merges, expected


@amount(10, 600)
def test_training_and_encoding_are_the_oracles_at_every_step(amount, tmp_path):
    n_removed = n_again = 0
    for seed in range(amount):
        pieces, trainer, merges, (rows, events, ids, words) = both(seed)
        assert [(m.left, m.right, m.token, m.count, m.ties, m.n_tokens, *m.removed) for m in merges] == rows
        tokenizer, end = trainer.tokenizer(), trainer.options.end_of_word
        assert tokenizer.vocabulary.ids() == sorted(ids.values())
        assert {token: tokens_of([token], tokenizer) for token in ids.values()} == {ids[t]: [t] for t in ids}
        occurs = Counter(chain(*words))
        assert trainer.token_counts() == {ids[token]: occurs[token] for token in ids}
        assert trainer.n_removed == sum(len(row) - 6 for row in rows)
        assert trainer.n_merges_wanted == trainer.n_merges + trainer.options.vocab_size - len(ids)
        n_removed += trainer.n_removed
        n_again += len({m.token for m in merges}) < len(merges)
        # What the corpus ended as is what encoding makes of it.
        learned = iter(words)
        for piece in pieces.elements():
            assert tokens_of(tokenizer.encode_piece(piece), tokenizer) == next(learned)
        r = random.Random(seed)
        texts = [*list(pieces)[:3], "".join(r.choices("".join(pieces), k=r.randint(2, 60)))]
        for step in {0, len(rows), *(r.randint(0, len(rows)) for _ in range(4))}:
            then = tokenizer.at(step)
            known = events[: sum(1 + len(row) - 6 for row in rows[:step])]
            for text in texts:
                encoded = then.encode_piece(text)
                assert tokens_of(encoded, then) == oracle.encode(spelled(text, end), known)
                assert set(encoded) <= set(then.vocabulary.ids())
        path = tmp_path / "saved.json"
        save(tokenizer, path)
        loaded = load(path)
        assert loaded.vocabulary.history == tokenizer.vocabulary.history == [(*row[:3], *row[6:]) for row in rows]
        assert loaded.record == tokenizer.record and loaded.record.experiment == trainer.options.experiment.words
        assert [loaded.encode_piece(text) for text in texts] == [tokenizer.encode_piece(text) for text in texts]
    assert n_removed > 5 * amount and n_again > amount // 4


@amount(2, 50)
def test_a_step_is_a_shorter_training(amount):
    for seed in range(amount):
        pieces, options = random_training(seed)
        trainer = Trainer(list(pieces.elements()), pattern="none", **options)
        trainer.finish()
        whole = trainer.tokenizer()
        for size in range(257 + bool(options["end_of_word"]), options["vocab_size"]):
            short = train(list(pieces.elements()), pattern="none", **options | {"vocab_size": size})
            then = whole.at(short.step)
            assert then.n_vocab == short.n_vocab <= size
            assert then.vocabulary.ids() == short.vocabulary.ids()
            assert all(then.encode_piece(piece) == short.encode_piece(piece) for piece in pieces)
            assert then.merges == short.merges


def test_ids_of_removed_tokens_are_used_again():
    tokenizer = train("kentucky " * 9 + "tuck luck", vocab_size=259, experiment=experiment("picky=0.9"))
    vocabulary = tokenizer.vocabulary
    assert isinstance(vocabulary, PickyVocabulary) and vocabulary.n_vocab == 259 == max(vocabulary.ids()) + 1
    assert {removed.token for removed in vocabulary.removed} & {row[2] for row in vocabulary.history[-2:]}
    dead = [name for merge in vocabulary.merges for name in merge if name < 0]
    assert dead and all(name not in vocabulary for name in dead)
    assert {vocabulary.token_bytes(name) for name in dead} <= {removed.bytes for removed in vocabulary.removed}


def test_specials_layouts_and_growing():
    text = " ".join(nasty_texts(30)).replace("<s>", "").replace("</s>", "") * 3
    for layout in ("bytes-first", "specials-first"):
        trainer = Trainer(
            text, vocab_size=380, id_layout=layout, special_tokens=["<s>", "</s>"], experiment=Picky(Fraction(3, 5))
        )
        merges = list(trainer)
        whole = trainer.tokenizer()
        assert trainer.n_removed and whole.n_vocab == 380 == len(whole.vocabulary.ids())
        assert sorted(whole.special_tokens.values()) == ([378, 379] if layout == "bytes-first" else [0, 1])
        grown = PickyVocabulary.of_bytes(layout, ["<s>", "</s>"])
        for merge in merges:  # as the app lets its vocabulary grow
            grown = grown.extended([(merge.left, merge.right, merge.token, *merge.removed)])
        assert grown.history == whole.vocabulary.history and grown.special_tokens == whole.special_tokens
        assert [grown.encode(t.encode()) for t in text.split()] == [
            whole.vocabulary.encode(t.encode()) for t in text.split()
        ]
        assert whole.decode(whole.encode(text)) == text


@amount(3, 60)
def test_live_text_stays_what_encoding_gives(amount):
    for seed in range(amount):
        r = random.Random(seed)
        pattern = ["none", "words", "gpt4"][seed % 3]
        text = "".join(r.choices(["ab", "ba", "aab", " ", "c"], k=400))
        tokenizer = train(text, vocab_size=320, pattern=pattern, experiment=Picky(Fraction(2, 5)))
        assert tokenizer.vocabulary.removed
        live = LiveText(tokenizer, text[: r.choice([0, 40, 700])])
        for _ in range(10):
            n = len(live.text)
            start = r.randint(0, n)
            live.splice(
                start, min(n, start + r.choice([0, 1, 5, 300])), "".join(r.choices("ab c", k=r.choice([0, 1, 9, 300])))
            )
            assert list(live.ids) == tokenizer.encode_ordinary(live.text)
        live.use(tokenizer.at(r.randint(0, tokenizer.step)))
        assert list(live.ids) == live.tokenizer.encode_ordinary(live.text)
        assert unstable(live) is None


def test_a_trace_ends_in_what_encoding_gives():
    for seed in range(8):
        pieces, trainer, _, _ = both(seed)
        whole = trainer.tokenizer()
        splits = 0
        for step in {0, whole.step // 2, whole.step}:
            vocabulary = whole.vocabulary.at(step)
            for piece in pieces:
                traced = trace(vocabulary, piece)
                assert traced.parts == vocabulary.encode(piece.encode())
                assert [one.step for one in traced.applied] == sorted(one.step for one in traced.applied)
                splits += sum(isinstance(one, Split) for one in traced.applied)
                before = traced.start
                for one in traced.applied:
                    grown = len(one.into) - 1 if isinstance(one, Split) else -1
                    assert len(one.parts) == len(before) + one.count * grown
                    before = one.parts


def test_a_replay_shows_the_steps_that_change_a_text():
    for seed in range(5):
        pieces, trainer, _, _ = both(seed)
        whole, text = trainer.tokenizer(), "".join(pieces)[:60]
        shown = [tokens_of(whole.at(step).encode_ordinary(text), whole.at(step)) for step in range(whole.step + 1)]
        assert steps_seen(whole, text) == [step for step, pair in enumerate(pairwise(shown), 1) if pair[0] != pair[1]]


def trained(tmp_path):
    text = "she sells sea shells by the sea shore and the shells she sells are sea shells " * 3
    tokenizer = train(text, vocab_size=300, experiment=Picky(Fraction(4, 5)))
    path = tmp_path / "picky.json"
    save(tokenizer, path)
    return text, tokenizer, path


def test_what_cannot_be_told_is_refused_in_a_sentence(tmp_path):
    text, tokenizer, _ = trained(tmp_path)
    for format in WRITABLE:
        if format != "native":
            with pytest.raises(FormatError, match="Picky BPE splits tokens again"):
                save(tokenizer, tmp_path / "other", format=format)
    for convert in (tokenizer.to_tiktoken, tokenizer.to_tokenizers):
        with pytest.raises(FormatError, match="Picky BPE"):
            convert()
    with pytest.raises(OptionError, match="cannot be extended"):
        train(text, vocab_size=400, start=tokenizer.vocabulary)
    with pytest.raises(OptionError, match="begin with the bytes"):
        train(text, vocab_size=400, experiment=Picky(Fraction(1)), start=train(text, vocab_size=300).vocabulary)


def test_the_audit_and_the_curve_know_only_tokens_that_live(tmp_path):
    text, tokenizer, _ = trained(tmp_path)
    for counts in (None, Counts.of([text], "gpt4")):
        findings = list(audit(tokenizer, counts=counts))
        assert {finding.id for finding in findings} <= set(tokenizer.vocabulary.ids())
        assert not {"scaffold", "verbatim"} & {finding.kind for finding in findings}
    points = TrainingCurve.of(tokenizer).points
    assert [point.n_vocab for point in points] == [tokenizer.at(step).n_vocab for step in range(tokenizer.step + 1)]
    assert points[-1].n_tokens == len(tokenizer.encode(text))


@pytest.mark.parametrize(
    "change, said",
    [
        (lambda file: file["removed"][0].__setitem__(0, 10**6), "a step from"),
        (lambda file: file["removed"][0].__setitem__(1, 65), "removes the id 65"),
        (lambda file: file["removed"][0].__setitem__(2, "x"), "the text is not what the id stood for"),
        (lambda file: file["removed"].pop(), "is broken"),
        (lambda file: file["removed"].append(file["removed"][-1]), "is broken"),
        (lambda file: file["merges"][-1].__setitem__(2, 65), "is broken"),
        (lambda file: file.__setitem__("version", 1), "is broken"),
        (lambda file: file.__setitem__("version", 3), "a newer bpescope may read this"),
        (lambda file: file.__delitem__("removed"), "in removed, there is no value"),
    ],
)
def test_a_broken_file_is_refused(change, said, tmp_path):
    _, _, path = trained(tmp_path)
    file = json.loads(path.read_text())
    change(file)
    path.write_text(json.dumps(file))
    with pytest.raises(FormatError, match=said):
        load(path)


def test_experiments_are_named_in_words():
    assert experiment("picky=9/10") == experiment(" picky=0.9") == Picky(Fraction(9, 10))
    assert [experiment(words).words for words in ("picky=0.90", "picky=1/3", "picky=1")] == [
        "picky=0.9",
        "picky=1/3",
        "picky=1",
    ]
    for words in ("picky", "picky=0", "picky=1.1", "picky=-1", "picky=x", "picky=1e-1", "picky=1/0", "other=1", ""):
        with pytest.raises(OptionError, match=r"^.*\.$"):
            experiment(words)
