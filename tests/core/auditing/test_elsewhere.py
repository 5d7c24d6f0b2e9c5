"""What other vocabularies make of each token, and the tokens that only one vocabulary has."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from real import real_file

from bpe_core import Tokenizer, Vocabulary, load, save, train
from bpe_core.auditing import audit
from bpe_core.auditing.elsewhere import Elsewhere, ask, copied
from bpe_core.auditing.findings import LIKELY, SUSPECTED, Severity
from bpe_core.cli.main import main
from bpe_core.corpus import Counts

SAMPLES = Path("sample_texts")
PROSE = (SAMPLES / "english-prose.txt").read_text("utf-8")
NAME = " SolidGoldMagikarp"
OURS = train(PROSE + NAME * 60, vocab_size=1000)
OTHER = train((SAMPLES / "english-everyday.txt").read_text("utf-8"), vocab_size=900)
THIRD = train(PROSE[: len(PROSE) // 2] + "a cat and a hat " * 50, vocab_size=800)


def id_of(text, tokenizer=OURS):
    return tokenizer.encode_single_token(text)


def only_here(tokenizer, *others):
    return {
        finding.id: finding
        for finding in audit(tokenizer, against=others).of("only-here")
    }


def test_the_sizes_are_those_of_the_other_merges():
    found = ask(OURS, [OTHER, THIRD])
    not_asked = [copied(OURS, OTHER), copied(OURS, THIRD)]
    for token, elsewhere in found.items():
        text = OURS.decode([token])
        assert elsewhere.sizes == tuple(
            len(other.vocabulary.encode(text.encode()))
            for other, copies in zip((OTHER, THIRD), not_asked, strict=True)
            if token not in copies
        )
    assert found[id_of(NAME)].n_with == 0
    assert found[id_of(" the")].n_with in (1, 2)


def test_the_mean_and_the_vocabularies_that_have_it_are_counted():
    elsewhere = Elsewhere((1, 5, 1, 3))
    assert elsewhere.n_with == 2 and elsewhere.mean == 2.5


def test_special_tokens_single_bytes_and_parts_of_characters_are_not_asked_about():
    tokenizer = train(
        "世世界界" * 40, vocab_size=262, special_tokens=["<|end|>"], pattern="none"
    )
    asked = {tokenizer.token_bytes(token) for token in ask(tokenizer, [OTHER])}
    ordinary = {tokenizer.token_bytes(token) for _, _, token in tokenizer.merges}
    assert asked == {data for data in ordinary if is_text(data)}
    assert asked < ordinary


def is_text(data):
    return data.decode(errors="ignore").encode() == data


def test_tokens_of_one_training_are_not_asked_about():
    half = OURS.at(OURS.step // 2)
    copies = copied(OURS, half)
    learned_early = [token for _, _, token in half.merges]
    assert copies.issuperset(learned_early)
    late = {token for _, _, token in OURS.merges} - set(learned_early)
    assert not copies & late
    assert ask(OURS, [half]) == {}, "OURS extends it"
    assert ask(half, [OURS]) == {}, "each of its tokens is copied"
    assert ask(OURS, [OURS]) == {} and audit(OURS, against=[OURS]).of("only-here") == []


def test_another_training_shares_tokens_but_not_their_order():
    merged = {token for _, _, token in OURS.merges}
    shared = {id_of(data) for data in other_bytes(OTHER) & other_bytes(OURS)} & merged
    assert len(copied(OURS, OTHER) & merged) < len(shared) / 2


def other_bytes(tokenizer):
    return {tokenizer.token_bytes(token) for token in tokenizer.vocabulary.ids()}


def test_a_name_that_nobody_else_saw_comes_first():
    found = only_here(OURS, OTHER, THIRD)
    first = next(iter(found.values()))
    assert first.id == id_of(NAME)
    assert first.severity is Severity.WARNING
    sizes = first.evidence["sizes"]
    size = " to ".join(map(str, sorted(set(sizes))))
    assert f"One token here, {size} in each of 2 other vocabularies" in first.reason
    assert 0 < first.evidence["place"] <= 1
    assert first.evidence["usual"] > 1
    assert id_of(" the") not in found


def test_the_strength_falls_and_ends_where_it_means_nothing():
    strengths = [
        finding.evidence["strength"] for finding in only_here(OURS, OTHER).values()
    ]
    assert all(a >= b for a, b in pairwise(strengths))
    assert strengths[-1] >= SUSPECTED
    assert all(
        (finding.severity is Severity.WARNING)
        is (finding.evidence["strength"] >= LIKELY)
        for finding in only_here(OURS, OTHER).values()
    )


def test_a_script_that_the_others_hardly_know_is_not_suspicious_as_a_whole():
    greek = "και το νερό του ποταμού και ο σκύλος στο βουνό "
    tokenizer = train(PROSE + greek * 30 + NAME * 60, vocab_size=1100)
    sizes = {
        token: max(found.sizes) for token, found in ask(tokenizer, [OTHER]).items()
    }
    name = id_of(NAME, tokenizer)
    longer = [token for token, size in sizes.items() if size >= sizes[name]]
    assert longer != [name]
    assert next(iter(only_here(tokenizer, OTHER))) == name


def test_a_run_of_one_sign_is_not_odd():
    tokenizer = train(PROSE + ("=" * 64 + " \n") * 60, vocab_size=1000)
    run = id_of("=" * 64, tokenizer)
    assert ask(tokenizer, [OTHER])[run].sizes == (64,)
    found = only_here(tokenizer, OTHER)
    assert run not in list(found)[:3]


def test_a_vocabulary_that_lacks_a_character_has_no_token_for_it():
    letters = {ord(letter): letter.encode() for letter in "SolidGMagkrp "}
    few = Tokenizer(Vocabulary(letters), "none")
    found = ask(OURS, [few])
    assert found[id_of(NAME)].sizes == (len(NAME),)
    assert found[id_of(" the")].sizes == (4,), "its bytes"
    assert ask(OURS, [Tokenizer(Vocabulary({}), "none")])[id_of(" the")].sizes == (4,)


def test_without_others_nothing_is_said_about_them():
    assert audit(OURS).of("only-here") == []
    assert audit(OURS, against=[]).of("only-here") == []


def test_the_command_asks_the_others_and_says_who_was_asked(tmp_path, capsys):
    for name, tokenizer in (("ours", OURS), ("other", OTHER)):
        save(tokenizer, tmp_path / f"{name}.json")
    ours = str(tmp_path / "ours.json")
    other = str(tmp_path / "other.json")
    assert main(["audit", "-t", ours, "--against", other]) == 0
    printed = capsys.readouterr().out
    assert "Other vocabularies: other.json." in printed and "only-here" in printed
    assert "needs --against" not in printed
    assert main(["audit", "-t", ours, "--against", other, "--jsonl"]) == 0
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    (row,) = (
        row for row in rows if row["text"] == NAME and row["kinds"] == ["only-here"]
    )
    assert row["evidence"]["vocabularies"] == 0
    assert NAME.startswith(OURS.decode([row["family"]]))
    assert row["evidence"]["elsewhere"] == row["evidence"]["only-here"]["sizes"][0]
    assert main(["audit", "-t", ours, "--against", ours]) == 0
    output = capsys.readouterr()
    assert "was not asked: it has these tokens from the same training" in output.err
    assert "Other vocabularies:" not in output.out
    assert (
        f"Not asked, because this tokenizer has their tokens from the same training: {ours}."
        in output.out
    )
    assert main(["audit", "-t", ours]) == 0
    assert "needs --against" in capsys.readouterr().out
    assert main(["audit", "-t", ours, "--against", str(tmp_path / "none.json")]) == 2


@pytest.mark.slow
def test_gpt2_against_two_others_finds_what_was_published(tmp_path):
    """The hundred tokens that are oddest by this kind alone."""
    from test_gpt2 import GLITCHES

    real_file("encoder.json", tmp_path)
    gpt2 = load(real_file("vocab.bpe", tmp_path))
    others = [
        load(real_file(f"{name}.tiktoken", tmp_path))
        for name in ("cl100k_base", "o200k_base")
    ]
    known = set(map(int, GLITCHES.split()))
    oddest = list(only_here(gpt2, *others))
    assert len(known.intersection(oddest[:100])) >= 30
    assert gpt2.encode_single_token(" SolidGoldMagikarp") in oddest[:20]


def strength_with(text, token=NAME):
    """The strength of a token of OURS against OTHER, with counts of a text."""
    counts = Counts.of(text, OURS.pattern) if text else None
    found = audit(OURS, counts=counts, against=[OTHER]).of("only-here")
    (strength,) = (
        finding.evidence["strength"] for finding in found if finding.id == id_of(token)
    )
    return strength


def test_texts_that_lack_the_token_but_few_of_its_neighbors_make_it_stronger():
    assert strength_with(PROSE) > strength_with("") + 0.1


def test_texts_that_lack_its_neighbors_too_say_nothing():
    assert strength_with("12 34") == pytest.approx(strength_with(""), abs=0.01)


def test_a_token_that_occurs_only_inside_longer_ones_is_as_suspicious_as_without_texts():
    """That none is left follows from the merges, not from what the texts are about."""
    part = " SolidGoldMag"
    assert strength_with(PROSE + NAME, part) == strength_with("", part)
    assert strength_with(PROSE, part) > strength_with("", part)


def test_a_token_that_occurs_is_less_suspicious_the_more_often_it_does():
    once = strength_with(PROSE + NAME)
    odds, odds_once = (s / (1 - s) for s in (strength_with(""), once))
    assert odds_once == pytest.approx(odds / 2, rel=0.01)
    assert strength_with(PROSE + 3 * NAME) < once


def test_its_training_corpus_says_nothing_about_other_texts():
    of_training = Counts.of(PROSE + NAME * 60, OURS.pattern)
    found = audit(OURS, counts=of_training, against=[OTHER]).of("only-here")
    assert found[0].evidence["strength"] == strength_with("")
