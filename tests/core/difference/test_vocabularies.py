"""Tokens, merges and ids of two tokenizers: nothing that differs is called the same, and what differs is shown by a text."""

import random
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from real import real_file

from bpe_core import Tokenizer, load, reference, save, train
from bpe_core.difference.records import Pair
from bpe_core.difference.vocabularies import compare_vocabularies
from bpe_core.errors import BpeError, OptionError
from bpe_core.tokenizer.preparation import Preparation
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.ranked import RankedVocabulary
from bpe_core.vocabulary.symbols import CharacterSymbols

TEXT = Path("sample_texts/english-everyday.txt").read_text("utf-8")
BYTES = {byte: bytes([byte]) for byte in range(256)}
A, B, C, D = b"abcd"
AB, BC, CD, ABC = 256, 257, 258, 259


def of_merges(*merges, pattern="none", **options):
    return Tokenizer(Vocabulary(BYTES, merges, **options), pattern)


def of_ranks(tokens, pattern="none", ids=None):
    ids = ids or {token: 256 + n for n, token in enumerate(tokens)}
    id_of = {data: byte for byte, data in BYTES.items()}
    id_of.update((token, ids[token]) for token in tokens)
    bytes_of = {token: data for data, token in id_of.items()}
    return Tokenizer(RankedVocabulary(bytes_of, id_of=id_of), pattern)


def compared(a, b):
    """The comparisons of "vocabulary", "merges" and "ids", after a check of their witnesses."""
    comparisons = list(compare_vocabularies(Pair(a, b)))
    assert [comparison.part for comparison in comparisons] == [
        "vocabulary",
        "merges",
        "ids",
    ]
    for comparison in comparisons:
        has_witness = [cause.witness is not None for cause in comparison.causes]
        assert len(has_witness) <= 5
        assert all(has_witness) if comparison.is_same is False else not any(has_witness)
        assert bool(has_witness) or comparison.is_same is not False
        for cause in comparison.causes:
            if cause.witness:
                ids_of_a, ids_of_b = (
                    ids_or_none(tokenizer, cause.witness.text) for tokenizer in (a, b)
                )
                assert cause.witness.a == ids_of_a != ids_of_b == cause.witness.b
    return comparisons


def ids_or_none(tokenizer, text):
    try:
        return tuple(tokenizer.encode_ordinary(text))
    except BpeError:
        return None


def verdict(a, b):
    results = [comparison.is_same for comparison in compared(a, b)]
    if False in results:
        return "different"
    return "same" if all(results) else "undecided"


def causes(comparison):
    return [(cause.what, cause.witness.text) for cause in comparison.causes]


# What is said.


def test_a_token_of_one_only_is_its_own_witness():
    a = of_merges((A, B, AB), (AB, C, ABC))
    b = of_merges((A, B, AB))
    vocabulary, merges, ids = compared(a, b)
    assert causes(vocabulary) == [
        ("`abc` is a token of A only; B makes it `ab` + `c`.", "abc")
    ]
    assert vocabulary.sentence == ("1 token is in A only.")
    assert merges.is_same and ids.is_same
    vocabulary, _, _ = compared(b, a)
    assert causes(vocabulary) == [
        ("`abc` is a token of B only; A makes it `ab` + `c`.", "abc")
    ]


def test_merges_that_compete_show_their_order():
    a = of_merges((A, B, AB), (B, C, BC))
    b = of_merges((B, C, BC), (A, B, AB))
    vocabulary, merges, ids = compared(a, b)
    assert vocabulary.is_same and ids.is_same
    assert causes(merges) == [
        ("A merges `a` + `b` before `b` + `c`, and B after.", "abc")
    ]
    _, merges, _ = compared(b, a)
    assert causes(merges) == [
        ("A merges `b` + `c` before `a` + `b`, and B after.", "abc")
    ]


def test_other_ids_do_not_show_an_order():
    pattern = "ab|bc|."
    a = of_merges((A, B, AB), (B, C, BC), pattern=pattern)
    b = of_merges((B, C, AB), (A, B, BC), pattern=pattern)
    vocabulary, merges, ids = compared(a, b)
    assert vocabulary.is_same and merges.is_same is None
    assert ids.is_same is False


def test_merges_that_do_not_compete_may_change_places():
    a = of_merges((A, B, AB), (C, D, CD))
    b = of_merges((C, D, CD), (A, B, AB))
    vocabulary, merges, ids = compared(a, b)
    assert vocabulary.is_same and merges.is_same and ids.is_same
    assert merges.sentence == (
        "A and B apply the same 2 merges, and in the same order where two compete for a token."
    )


def test_a_moved_id_is_shown_by_its_token():
    a = of_merges((A, B, AB), (B, C, BC), (C, D, CD))
    b = of_merges((A, B, BC), (B, C, AB), (C, D, CD))
    vocabulary, merges, ids = compared(a, b)
    assert vocabulary.is_same and merges.is_same
    assert ids.sentence == "2 of 246 tokens have other ids."
    assert causes(ids) == [
        ("`ab` has the id 256 in A and 257 in B.", "ab"),
        ("`bc` has the id 257 in A and 256 in B.", "bc"),
    ]


def test_merges_that_are_never_applied_make_no_difference():
    """As Hugging Face's files have them: each way to split a token."""
    a = of_merges((A, B, AB), (B, C, BC), (AB, C, ABC))
    b = of_merges((A, B, AB), (B, C, BC), (A, BC, ABC), (AB, C, ABC))
    assert a.encode("abc") == b.encode("abc") == [ABC]
    assert verdict(a, b) == "same"
    assert verdict(b, of_merges((A, B, AB), (B, C, BC))) == "different"


def test_tokens_that_no_text_becomes_are_left_to_decoding():
    a = of_merges((A, B, AB), (B, C, BC), (BC, D, 258))
    dead = Vocabulary(
        BYTES | {300: b"xyz"}, [(A, B, AB), (B, C, BC), (BC, D, 258)], whole_pieces={}
    )
    vocabulary, merges, ids = compared(a, Tokenizer(dead, "none"))
    assert vocabulary.is_same and merges.is_same and ids.is_same
    assert vocabulary.sentence.endswith(
        " Encoding never produces 1 other token that is in only one of them."
    )


def test_a_merge_outside_of_utf_8_makes_no_difference():
    a = of_merges((0xC3, 0xA9, 256))
    b = of_merges((0xC3, 0xA9, 256), (0xC3, 0xC3, 257), (0xFF, 0x61, 258))
    vocabulary, merges, _ = compared(a, b)
    assert vocabulary.is_same and merges.is_same
    assert "produces 2 other tokens that are in only one" in vocabulary.sentence


def test_a_part_of_a_character_is_completed():
    a = of_merges((0x20, 0xE3, 256))
    vocabulary, _, _ = compared(a, of_merges())
    ((what, text),) = causes(vocabulary)
    assert what == "`␣\\xe3` is a token of A only; B makes it `␣` + `\\xe3`."
    assert text[0] == " " and len(text) == 2


def test_a_pattern_that_keeps_a_token_from_occurring_is_a_proof():
    """The pattern of GPT-2 ends a piece before a space."""
    merges = [(A, B, AB), (B, 0x20, 257)]
    a = of_merges(*merges, pattern="gpt2")
    b = of_merges(*merges[:1], pattern="gpt2")
    vocabulary, _, _ = compared(a, b)
    assert vocabulary.is_same
    assert vocabulary.sentence == (
        "1 token is in A only."
        " The split patterns cut these bytes in every text, so no ids differ."
    )
    assert verdict(a, of_merges(*merges, pattern="none")) == "same"


def test_a_token_that_needs_a_neighbor_is_found_with_it():
    pattern = "aba|."
    a = of_merges((A, B, AB), pattern=pattern)
    vocabulary, _, _ = compared(a, of_merges(pattern=pattern))
    assert causes(vocabulary) == [
        ("`ab` is a token of A only; B makes it `a` + `b`.", "aba")
    ]


def test_what_no_text_shows_is_undecided():
    """Some expressions can't be analyzed, so it isn't proved that no piece holds the token."""
    pattern = r"(?<!\d)x|[^x]"
    a = of_merges((A, B, AB), pattern=pattern)
    vocabulary, _, _ = compared(a, of_merges(pattern=pattern))
    assert vocabulary.is_same is None
    assert vocabulary.sentence == (
        "1 token is in A only. None of 617 texts tried shows it."
    )
    ((what, witness),) = [(cause.what, cause.witness) for cause in vocabulary.causes]
    assert what.startswith("`ab` is a token of A only") and witness is None


def test_a_token_that_is_only_looked_up_is_compared():
    base = BYTES | {256: b"abc"}
    looked_up = Tokenizer(Vocabulary(base), "none")
    merging = of_merges((B, C, 300), (A, 300, 256))
    vocabulary, merges, _ = compared(looked_up, merging)
    whats = [what for what, _ in causes(vocabulary)]
    assert "`bc` is a token of B only; A makes it `b` + `c`." in whats
    assert (
        "B merges text into `abc`; A produces it only for a piece that is exactly `abc`."
        in whats
    )
    assert merges.is_same
    assert verdict(looked_up, Tokenizer(Vocabulary(base), "none")) == "same"
    assert verdict(looked_up, of_merges()) == "different"


def test_a_token_looked_up_with_another_id_is_shown():
    merges = [(A, B, AB)]
    a = Tokenizer(Vocabulary(BYTES | {300: b"xyz"}, merges), "none")
    b = Tokenizer(Vocabulary(BYTES | {301: b"xyz"}, merges), "none")
    _, _, ids = compared(a, b)
    assert causes(ids)[0][1] == "xyz"


def test_a_token_built_from_other_parts_is_not_called_the_same():
    """Both make abc of `abc`, but with d after it another token wins."""
    tokens = [b"ab", b"bc", b"cd", b"abc"]
    others = [b"bc", b"ab", b"cd", b"abc"]
    ids = {token: 256 + n for n, token in enumerate(tokens)}
    a = of_ranks(tokens, ids=ids)
    b = of_ranks(others, ids=ids)
    assert a.encode("abc") == b.encode("abc") == [259]
    _, merges, _ = compared(a, b)
    assert (
        "A builds `abc` from `ab` + `c`, and B from `a` + `bc`.",
        "abcd",
    ) in causes(merges)


# Kinds of vocabularies.


def test_markers_of_ends_of_words_are_compared():
    def marked(*merges):
        base = BYTES | {256: b"</w>"}
        return Tokenizer(Vocabulary(base, merges, end_of_word=256), "gpt2")

    low = [(A, B, 300), (B, 256, 301), (300, 256, 302)]
    a = marked(*low)
    assert verdict(a, marked(*low)) == "same"
    _, merges, _ = compared(a, marked(low[1], low[0], low[2]))
    assert merges.is_same is False
    assert causes(merges)[0][0] == (
        "A merges `a` + `b` before `b` + `</w>`, and B after."
    )
    vocabulary, _, _ = compared(a, marked(*low[:2]))
    assert causes(vocabulary)[0] == (
        "`ab</w>` is a token of A only; B makes it `ab` + `</w>`.",
        "ab",
    )
    assert verdict(a, of_merges(low[0])) == "different"


def characters(*merges, extra="", unknown=0, fuse=False):
    letters = "abc" + extra
    id_of = {letter: 10 + n for n, letter in enumerate(letters)}
    base = {0: b"<unk>"} | {token: letter.encode() for letter, token in id_of.items()}
    symbols = CharacterSymbols(id_of, {}, unknown, fuse)
    vocabulary = Vocabulary(base, merges, symbols=symbols, whole_pieces={})
    return Tokenizer(
        vocabulary, "none", preparation=Preparation((), None, (), False, False)
    )


def test_characters_are_compared():
    a = characters((10, 11, 20), (11, 12, 21))
    assert verdict(a, characters((10, 11, 20), (11, 12, 21))) == "same"
    _, merges, _ = compared(a, characters((11, 12, 21), (10, 11, 20)))
    assert causes(merges)[0][1] == "abc"
    vocabulary, _, _ = compared(a, characters((10, 11, 20), (11, 12, 21), extra="é"))
    assert causes(vocabulary) == [
        ("`é` is a token of B only; A makes it `<unk>`.", "é")
    ]


def test_tokens_with_equal_bytes_are_the_same_only_as_data():
    def marked(*merges):
        """The marker looks like a letter."""
        base = BYTES | {256: b"x"}
        return Tokenizer(Vocabulary(base, merges, end_of_word=256), "gpt2")

    merges = [(A, B, 300), (C, D, 301)]
    assert verdict(marked(*merges), marked(*merges)) == "same"
    assert verdict(marked(*merges), marked(*reversed(merges))) == "undecided"


def test_equal_ranks_are_the_same_only_as_data():
    def with_equal_ranks(n_equal):
        tokens = BYTES | {256: b"ab", 257: b"bc", 258: b"cd"}
        id_of = {data: token for token, data in tokens.items()}
        ranks = {data: max(0, token - 255 - n_equal) for data, token in id_of.items()}
        return Tokenizer(RankedVocabulary(tokens, rank_of=ranks), "none")

    assert verdict(with_equal_ranks(3), with_equal_ranks(3)) == "same"
    assert verdict(with_equal_ranks(3), with_equal_ranks(2)) != "same"


# Formats.


@pytest.mark.parametrize("format", ["native", "huggingface", "gpt2", "tiktoken"])
def test_a_vocabulary_is_the_same_in_each_format(format, tmp_path):
    tokenizer = train(TEXT, vocab_size=900, pattern="gpt2")
    path = tmp_path / ("vocab.json" if format == "gpt2" else "tokenizer")
    save(tokenizer, path, format=format)
    pattern = "gpt2" if format == "tiktoken" else None
    other = load(path, pattern=pattern)
    assert verdict(tokenizer, other) == "same"
    assert verdict(other, tokenizer) == "same"


def test_gpt2_is_the_same_in_both_published_forms(tmp_path):
    real_file("encoder.json", tmp_path)
    merges = load(real_file("vocab.bpe", tmp_path))
    ranks = load(real_file("r50k_base.tiktoken", tmp_path))
    vocabulary, order, ids = compared(merges, ranks)
    assert vocabulary.is_same and order.is_same and ids.is_same
    assert order.sentence == "A and B apply the same 50,000 merges in the same order."


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_published_ranks_are_the_same_as_their_merges(name, tmp_path):
    ranks = load(real_file(f"{name}.tiktoken", tmp_path))
    save(ranks, tmp_path / "tokenizer.json", format="huggingface")
    assert verdict(ranks, load(tmp_path / "tokenizer.json")) == "same"


# The proofs, against the reference.


@cache
def strings(alphabet, longest):
    lengths = range(1, longest + 1)
    return [
        "".join(letters) for n in lengths for letters in product(alphabet, repeat=n)
    ]


def random_merges(chance, alphabet, n_merges):
    bytes_of = {ord(letter): letter.encode() for letter in alphabet}
    merges = []
    for _ in range(n_merges):
        left, right = chance.choices(list(bytes_of), k=2)
        data = bytes_of[left] + bytes_of[right]
        if data in bytes_of.values() or len(data) > 6:
            continue
        token = 256 + len(merges)
        bytes_of[token] = data
        merges.append((left, right, token))
    return merges


def mutated(chance, merges):
    merges = list(merges)
    place = chance.randrange(len(merges))
    match chance.choice(("swap", "move", "drop", "part")):
        case "swap":
            other = chance.randrange(len(merges))
            merges[place], merges[other] = merges[other], merges[place]
        case "move":
            merges.insert(chance.randrange(len(merges)), merges.pop(place))
        case "drop":
            del merges[place]
        case "part":
            bytes_of = dict(BYTES)
            for left, right, token in merges:
                bytes_of[token] = bytes_of[left] + bytes_of[right]
            ids = {data: token for token, data in bytes_of.items()}
            token = merges[place][2]
            data = bytes_of[token]
            end = chance.randrange(1, len(data))
            left, right = ids.get(data[:end]), ids.get(data[end:])
            if left is not None and right is not None:
                merges[place] = (left, right, token)
    return merges


@pytest.mark.parametrize(("alphabet", "longest"), [("ab", 8), ("abc", 5)])
def test_no_small_vocabulary_that_differs_is_called_the_same(alphabet, longest):
    chance = random.Random(longest)
    verdicts = Counter()
    for _ in range(400):
        merges = random_merges(chance, alphabet, chance.randrange(3, 11))
        changed = mutated(chance, merges)
        try:
            a, b = of_merges(*merges), of_merges(*changed)
        except OptionError:  # a merge comes before those that make its parts
            continue
        found = verdict(a, b)
        verdicts[found] += 1
        if found == "same":
            for text in strings(alphabet, longest):
                piece = text.encode()
                assert reference.encode(piece, merges) == reference.encode(
                    piece, changed
                ), (text, merges, changed)
    assert verdicts["same"] > 40 and verdicts["different"] > 40, verdicts
    assert not verdicts["undecided"], verdicts


def test_no_small_ranks_that_differ_are_called_the_same():
    """Some tokens have a lower rank than their parts, so the lists of merges are not in order."""
    chance = random.Random(3)
    n_changed = 0
    verdicts = Counter()
    for _ in range(300):
        bytes_of = dict(BYTES)
        tokens = []
        for left, right, token in random_merges(chance, "abc", chance.randrange(4, 11)):
            bytes_of[token] = bytes_of[left] + bytes_of[right]
            tokens.append(bytes_of[token])
        tokens = list(dict.fromkeys(tokens))
        exchange_neighbors(chance, tokens)
        others = list(tokens)
        exchange_neighbors(chance, others)
        ids = {token: 300 + n for n, token in enumerate(sorted(tokens))}
        a, b = of_ranks(tokens, ids=ids), of_ranks(others, ids=ids)
        found = verdict(a, b)
        verdicts[found] += 1
        if found == "same":
            n_changed += tokens != others
            texts = strings("abc", 7)
            assert a.encode_ordinary_batch(texts) == b.encode_ordinary_batch(texts)
    assert n_changed > 30 and verdicts["different"] > 50, verdicts
    assert verdicts["undecided"] < 0.5 * verdicts.total(), verdicts


@pytest.mark.parametrize(
    ("tokens", "others", "text"),
    [
        ("ab xab abx", "xab abx ab", "abxab"),
        ("cdab abcd cd ab", "cdab abcd ab cd", "abcdab"),
        ("xcd abx ab cd", "xcd abx cd ab", "abxcd"),
        ("xab ab yx", "xab yx ab", "yxab"),
        ("abx ab xy", "abx xy ab", "abxy"),
    ],
)
def test_merges_that_touch_because_of_late_merges_are_not_called_the_same(
    tokens, others, text
):
    """Here no two merges that overlap have different orders."""
    tokens = tokens.encode().split()
    others = others.encode().split()
    ids = {token: 300 + n for n, token in enumerate(tokens)}
    a, b = of_ranks(tokens, ids=ids), of_ranks(others, ids=ids)
    assert a.encode(text) != b.encode(text)
    assert verdict(a, b) != "same"


def exchange_neighbors(chance, tokens):
    for _ in range(chance.randrange(4)):
        place = chance.randrange(len(tokens) - 1) if len(tokens) > 1 else 0
        tokens[place : place + 2] = reversed(tokens[place : place + 2])


# One small change of a large vocabulary.


def changed_once(chance, tokenizer):
    """A copy with two merges exchanged, two ids exchanged, or one token left out with all that is made of it."""
    vocabulary = tokenizer.vocabulary.as_merges()
    merges = list(vocabulary.merges)
    place = chance.randrange(len(merges))
    match chance.choice(("merges", "ids", "token")):
        case "merges":
            other = min(len(merges) - 1, place + chance.choice((1, 3, 10, 100)))
            merges[place], merges[other] = merges[other], merges[place]
        case "ids":
            token, other = merges[place][2], chance.choice(merges)[2]
            exchanged = {token: other, other: token}
            merges = [
                tuple(exchanged.get(part, part) for part in merge) for merge in merges
            ]
        case "token":
            left_out = {merges[place][2]}
            kept = []
            for left, right, token in merges:
                if left_out.isdisjoint((left, right, token)):
                    kept.append((left, right, token))
                else:
                    left_out.add(token)
            merges = kept
    return Tokenizer(Vocabulary(vocabulary.base, merges), tokenizer.pattern)


def verdicts_of_changes(tokenizer, n_changes, texts):
    chance = random.Random(n_changes)
    verdicts = Counter()
    ids = tokenizer.encode_ordinary_batch(texts)
    for _ in range(n_changes):
        try:
            changed = changed_once(chance, tokenizer)
        except OptionError:  # a merge comes before those that make its parts
            continue
        found = verdict(tokenizer, changed)
        verdicts[found] += 1
        if found == "same":
            assert changed.encode_ordinary_batch(texts) == ids
    return verdicts


def test_a_small_change_of_a_trained_vocabulary_is_found():
    tokenizer = train(TEXT, vocab_size=1200, pattern="gpt4")
    verdicts = verdicts_of_changes(tokenizer, 250, [TEXT, *TEXT.split()])
    assert verdicts["different"] > 120 and verdicts["undecided"] <= 6, verdicts


@pytest.mark.slow
@pytest.mark.parametrize("n_changes", [19, 20, 21])
def test_a_small_change_of_gpt2_is_found(tmp_path, n_changes):
    """The number of changes is also the seed. Each takes two seconds, so they are divided."""
    tokenizer = load(real_file("r50k_base.tiktoken", tmp_path))
    verdicts = verdicts_of_changes(tokenizer, n_changes, [TEXT, *TEXT.split()])
    assert verdicts["different"] > 6 and verdicts["undecided"] <= 2, verdicts
