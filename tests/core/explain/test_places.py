"""Where a token, or the pair of a merge, stands in the texts: each place is one that encoding the text finds, too."""

import json
from itertools import accumulate, pairwise

import pytest

from bpe_core import load, save, train
from bpe_core.content.samples import SAMPLES
from bpe_core.corpus import Counts, find_files
from bpe_core.explain.pair_counts import PairCounts
from bpe_core.explain.places import AROUND, PART, CorpusText, pair_places, token_places
from bpe_core.tokenizer import Tokenizer
from tests.nasty import nasty_texts


def text(name: str, *blocks: str) -> CorpusText:
    return CorpusText(name, lambda: [blocks])


def counted(tokenizer: Tokenizer, *texts: str) -> PairCounts:
    return PairCounts(tokenizer, Counts.of(texts, tokenizer.pattern).pieces)


def test_three_lines_of_two_files() -> None:
    texts = [("a.txt", "no\nthe end\n\nbend it\n"), ("b.txt", "\nsend the others\n")]
    tokenizer = train([text for _, text in texts], vocab_size=258, ties="lowest")
    counts = counted(tokenizer, *(text for _, text in texts))
    assert tokenizer.token_bytes(256) == b"en"
    places = list(pair_places(counts, 1, (text(*both) for both in texts)))
    assert [
        (place.name, place.line, place.before, place.left, place.right, place.after)
        for place in places
    ] == [
        ("a.txt", 2, "the ", "e", "n", "d"),
        ("a.txt", 4, "b", "e", "n", "d it"),
        ("b.txt", 2, "s", "e", "n", "d the others"),
    ]


def test_the_texts_that_made_the_count_come_first() -> None:
    few, many, some = (
        "the\n" * 2,
        "nothing\n" + "weather, other weather\n" * 9,
        "then\nthe\nthen\n",
    )
    texts = [
        text("few", few),
        text("none", "xyz"),
        text("many", many[:50], many[50:]),
        text("some", some),
    ]
    counts = counted(
        train([few, many, some], vocab_size=257, ties="lowest"), few, many, some
    )
    assert counts.tokenizer.token_bytes(256) == b"th"
    places = [
        (place.name, place.line, place.n) for place in pair_places(counts, 1, texts)
    ]
    assert places == [("many", 2, 28), ("some", 1, 3), ("few", 1, 2)]
    two = [
        (place.name, place.line, place.before, place.n)
        for place in pair_places(counts, 1, texts[:3])
    ]
    assert two == [
        ("many", 2, "wea", 28),
        ("many", 3, "weather, o", 0),
        ("few", 1, "", 2),
    ], "of its commonest pieces"


@pytest.mark.parametrize("pattern", ["gpt4", "words", "none"])
def test_places_in_real_texts_hold_the_pair_at_that_step(pattern: str) -> None:
    """Blocks are cut anywhere, and what is told around a place does not depend on it."""
    files = find_files([sample.path for sample in SAMPLES]).files[:4]
    tokenizer = train(Counts.read(files, pattern), vocab_size=700)
    counts = PairCounts(tokenizer, Counts.read(files, pattern).pieces)
    text_of = {file.name: "".join(file.blocks()) for file in files}
    for step in range(1, tokenizer.step, 110):
        texts = [text(*both) for both in text_of.items()]
        places = list(pair_places(counts, step, texts))
        cut = [
            text(name, *(whole[i : i + 37] for i in range(0, len(whole), 37)))
            for name, whole in text_of.items()
        ]
        assert list(pair_places(counts, step, cut)) == places
        left, right, token = tokenizer.merges[step - 1]
        assert 1 <= len(places) <= 3
        assert len({(place.name, place.line) for place in places}) == len(places)
        for place in places:
            lines = text_of[place.name].split("\n")
            told = place.before + place.left + place.right + place.after
            behind = "\n".join(lines[place.line - 1 :])
            assert told in behind and len(place.before) <= AROUND >= len(place.after)
            assert lines[place.line - 1][: place.column].endswith(place.before)
            assert tokenizer.token_bytes(token) in (place.left + place.right).encode()
            if pattern == "gpt4":  # a line has whole pieces there but at its ends
                ids = tokenizer.at(step - 1).encode_ordinary(
                    lines[place.line - 1] + "\n" + lines[place.line]
                )
                assert (left, right) in pairwise(ids)


def test_a_pair_inside_a_character_and_one_with_the_end_of_a_word() -> None:
    torn = train("日本 日本", vocab_size=257)
    (place,) = pair_places(counted(torn, "日本 日本"), 1, [text("t", "日本 日本")])
    assert (place.left, place.right, place.after) == ("日", "", "本 日本")
    marked = train(
        "low low", vocab_size=262, pattern="words", end_of_word="</w>", ties="largest"
    )
    step = next(
        n
        for n, (_, right, _) in enumerate(marked.merges, 1)
        if right == marked.vocabulary.end_of_word
    )
    (place,) = pair_places(counted(marked, "low low"), step, [text("t", "low low")])
    assert (place.left, place.right, place.after) == (
        "w" if step == 1 else place.left,
        "",
        " low",
    )


def test_a_long_piece_is_told_from_several_of_its_lines_and_texts_without_the_pair_are_no_place() -> (
    None
):
    lines = "one\n" * 50
    tokenizer = train(lines, vocab_size=257, pattern="none")
    places = list(pair_places(counted(tokenizer, lines), 1, [text("t", lines)]))
    assert [place.line for place in places] == [1, 2, 3]
    assert list(pair_places(counted(tokenizer, "xyz"), 1, [text("t", "xyz")])) == []


def of_token(tokenizer: Tokenizer, token: int, *texts: str) -> list:
    found = token_places(
        tokenizer, token, [text(str(n), one) for n, one in enumerate(texts)]
    )
    return [place for place in found if place]


def test_a_name_is_followed_to_its_lines() -> None:
    name = " SolidGoldMagikarp"
    tokenizer = train((name + "\n") * 50, vocab_size=290)
    (token,) = tokenizer.encode(name)
    texts = (
        "nobody counts here\n" * 3,
        "one\nthe user SolidGoldMagikarp counts\n\nand SolidGoldMagikarp again",
    )
    first, second = of_token(tokenizer, token, *texts)
    assert (first.name, first.line, first.column) == ("1", 2, 8)
    assert (first.before, first.left, first.right, first.after) == (
        "the user",
        name,
        "",
        " counts",
    )
    assert (second.line, second.column, second.after) == (4, 3, " again")


@pytest.mark.parametrize("pattern", ["gpt4", "words", "none"])
def test_the_places_of_a_token_are_all_lines_where_it_begins(pattern: str) -> None:
    text = (
        "".join(nasty_texts(40)).encode(errors="replace").decode()
        + "é\n\nè\n\nx abc ab\n" * 700
    )
    assert len(text) > 2 * PART
    tokenizer = train(text, vocab_size=330, pattern=pattern)
    ids, data = tokenizer.encode(text), text.encode()
    begins = [0, *accumulate(len(tokenizer.token_bytes(id)) for id in ids)]
    for token in list(dict.fromkeys(ids))[::7] if pattern != "words" else ():
        lines = [
            1 + data[:at].count(b"\n")
            for at, id in zip(begins, ids, strict=False)
            if id == token
        ]
        assert [place.line for place in of_token(tokenizer, token, text)] == list(
            dict.fromkeys(lines)
        )
    for token in list(dict.fromkeys(ids))[::15]:
        for place in of_token(tokenizer, token, text):
            line = text.split("\n")[place.line - 1]
            assert (line + "\n")[place.column :].startswith(place.left.split("\n")[0])
            shared = tokenizer.token_bytes(token).decode(errors="ignore")
            assert shared in place.left


def test_a_tokenizer_that_changes_a_text_has_places_in_the_text_as_it_was(
    tmp_path,
) -> None:
    save(
        train("the theme of the thing", vocab_size=270),
        tmp_path / "t.json",
        format="huggingface",
    )
    file = json.loads((tmp_path / "t.json").read_text())
    (tmp_path / "t.json").write_text(
        json.dumps(file | {"normalizer": {"type": "Lowercase"}})
    )
    lower = load(tmp_path / "t.json")
    (place,) = of_token(lower, lower.encode(" the")[0], "x\nx THE\n")
    assert (place.line, place.column, place.left) == (2, 1, " THE")


def test_a_search_pauses_after_each_part_of_a_text() -> None:
    tokenizer = train("zz zz zz", vocab_size=257)
    assert (
        list(token_places(tokenizer, 256, [text("t", *["nothing\n" * PART] * 3)]))
        == [None] * 4
    )
