"""Which suspicious tokens belong together."""

from test_static import spelled

from bpe_core import train
from bpe_core.auditing import examine
from bpe_core.auditing.families import families
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.verdicts import by_family, verdicts

LOTTERY = "天天中彩票".encode()
TOKENIZER = spelled(LOTTERY + b"app", LOTTERY + b"!", b"oreAndOnline", b"the", b"them")


def roots(*listed, kinds=("only-here",)):
    """For each token, the token of `listed` whose family it is in."""
    id_of = TOKENIZER.encode_single_token
    found = families(TOKENIZER.vocabulary, {id_of(data): kinds for data in listed})
    return {data: TOKENIZER.token_bytes(found[id_of(data)]) for data in listed}


def test_tokens_that_contain_the_same_suspicious_token_are_one_family():
    app, won = LOTTERY + b"app", LOTTERY + b"!"
    assert roots(app, won, LOTTERY) == dict.fromkeys((app, won, LOTTERY), LOTTERY)
    assert roots(app, won) == {app: app, won: won}


def test_the_parts_of_a_part_belong_to_it_too():
    chain = (b"oreAndOnline", b"oreAndO", b"oreAn")
    assert set(roots(*chain).values()) == {b"oreAn"}


def test_short_parts_are_in_many_words():
    assert roots(b"the", b"them") == {b"the": b"the", b"them": b"them"}
    assert roots(b"oreA", b"oreAndO")[b"oreAndO"] == b"oreAndO"
    two_characters = "天天".encode()
    assert roots(two_characters, LOTTERY)[LOTTERY] == LOTTERY


def test_a_scaffold_joins_what_was_made_from_it_however_short():
    kinds = ("scaffold",)
    assert len(set(roots(b"the", b"them", kinds=kinds).values())) == 1
    part = LOTTERY[:4]
    assert len(set(roots(part, LOTTERY[:5], kinds=kinds).values())) == 1


def test_the_other_part_of_a_merge_joins_if_it_is_a_scaffold():
    tokenizer = train("raw " * 9 + "print " * 9 + "rawprint " * 40, vocab_size=266)
    id_of = tokenizer.encode_single_token
    (result,) = (
        token
        for left, right, token in tokenizer.merges
        if tokenizer.token_bytes(token) == b" rawprint"
    )
    left, right = tokenizer.vocabulary.parents(result)
    kinds_of = {left: ["scaffold"], right: ["scaffold"], result: ["verbatim"]}
    assert len(set(families(tokenizer.vocabulary, kinds_of).values())) == 1
    assert id_of(" rawprint") == result


def test_the_first_of_a_family_has_its_highest_score():
    tokenizer = train(
        "SolidGoldMagikarp " * 50 + "the cat and the hat " * 9, vocab_size=290
    )
    subject = AuditSubject(tokenizer)
    ranked = verdicts(subject, list(examine(subject)))
    grouped = by_family(ranked)
    assert sorted(one.id for family in grouped for one in family) == sorted(
        one.id for one in ranked
    )
    for family in grouped:
        assert {one.family for one in family} == {family[0].id}
        assert family[0].score == max(one.score for one in family)
    firsts = [family[0].score for family in grouped]
    assert firsts == sorted(firsts, reverse=True)
    assert max(map(len, grouped)) > 3
