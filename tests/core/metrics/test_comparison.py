"""Comparisons of tokenizers: boundaries, places, worst lines, parts and metrics, each held against a slow recount."""

import json
import random
from collections import Counter
from dataclasses import replace
from itertools import accumulate
from math import log2
from statistics import harmonic_mean

import pytest

from bpe_core import LiveText, TextError, load, metrics, save, train
from bpe_core.metrics import merges_in_common, overlap
from bpe_core.metrics.boundaries import (
    Agreement,
    EncodedText,
    compare_boundaries,
    edit_survival,
    encode_with_ends,
)
from bpe_core.metrics.catalog import METRICS, OF_PARTS, of_all_texts
from bpe_core.metrics.comparison import Comparison
from bpe_core.metrics.morphemes import morphological_alignment, read_morphemes
from bpe_core.metrics.scripts import script_runs
from bpe_core.metrics.sections import sections
from tests.nasty import nasty_texts

TEXT = (
    "the theme of the other thesis, the thing that they thought through 12345 times; мир и 世界 नमस्ते\n"
    * 9
)


@pytest.fixture(scope="module")
def pair():
    return train(TEXT, vocab_size=300), train(TEXT, vocab_size=340, pattern="gpt2")


def slow_boundaries(tokenizer, text):
    """By decoding ever more tokens; for tokenizers that keep every byte."""
    ids = tokenizer.encode_ordinary(text)
    return [len(tokenizer.decode_bytes(ids[:n])) for n in range(1, len(ids))]


def test_boundaries_are_where_decoding_ever_more_tokens_ends(pair):
    for text in ["", "a", TEXT, *nasty_texts(60)]:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        for tokenizer in pair:
            cuts = encode_with_ends(tokenizer, text).cuts
            assert [
                end for end in range(1, len(cuts) - 1) if cuts[end]
            ] == slow_boundaries(tokenizer, text)


def test_a_pattern_that_drops_white_space_keeps_places():
    tokenizer = train("low low lower", vocab_size=257, pattern="words")
    found = encode_with_ends(tokenizer, "  low lower ")
    assert [found.data[:end] for end in found.ends][-1].strip() == b"low lower"
    assert len(found.ids) == len(found.ends) == len(tokenizer.encode("  low lower "))


def test_a_tokenizer_that_changes_a_text_has_boundaries_in_the_text_as_it_was(
    pair, tmp_path
):
    save(pair[0], tmp_path / "tokenizer.json", format="huggingface")
    file = json.loads((tmp_path / "tokenizer.json").read_text())
    (tmp_path / "tokenizer.json").write_text(
        json.dumps(file | {"normalizer": {"type": "Lowercase"}})
    )
    lower = load(tmp_path / "tokenizer.json")
    found = encode_with_ends(lower, "THE THEME")
    assert found.ids == pair[0].encode("the theme")
    assert list(found.ends) == list(encode_with_ends(pair[0], "the theme").ends)


def test_agreement_by_hand_and_with_oneself(pair):
    found, _ = compare_boundaries(
        EncodedText(b"12345678", [], [1, 2, 5]),
        EncodedText(b"12345678", [], [2, 5, 6, 7]),
    )
    assert (found.n_shared, found.recall, found.precision) == (2, 2 / 3, 2 / 4)
    assert found.f1 == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert Agreement().f1 == 1.0
    comparison = Comparison([pair[0], pair[0]])
    comparison.add("text", TEXT)
    assert comparison.pairs[0].agreement.f1 == 1.0
    shared = overlap(pair[0], pair[0])
    assert shared.only_first == shared.only_second == []
    assert (
        comparison.pairs[0].examples(5) == []
        and shared.n_same_merges == merges_in_common(pair[0], pair[0]) == pair[0].step
    )


def slow_words(tokenizer, text):
    """(words, words without a boundary inside), walked through character by character."""
    cuts = set(slow_boundaries(tokenizer, text))
    offsets = [0, *accumulate(len(c.encode()) for c in text)]
    words, whole, start = 0, 0, None
    for index, character in enumerate(text + " "):
        if character.isspace():
            if start is not None:
                words += 1
                whole += not any(
                    at in cuts for at in range(offsets[start] + 1, offsets[index])
                )
            start = None
        elif start is None:
            start = index
    return words, whole


def test_amounts_are_those_of_a_slow_recount(pair):
    for text in (
        TEXT,
        "",
        "one",
        " two words ",
        "12 345 6789 0.5",
        "a\u00a0бв\u3000世界th\u2028z",
    ):
        comparison = Comparison(pair)
        comparison.add("text", text)
        total, scripts = comparison.total, comparison.scripts()
        assert (
            total.n_bytes
            == len(text.encode())
            == sum(script.n_bytes for script in scripts)
        )
        for index, tokenizer in enumerate(pair):
            assert (total.n_words, total.n_whole_words[index]) == slow_words(
                tokenizer, text
            )
            assert comparison.token_counts[index] == Counter(tokenizer.encode(text))
            assert total.n_tokens[index] == len(tokenizer.encode(text))
            assert (
                sum(script.n_tokens[index] for script in scripts)
                == total.n_tokens[index]
            )
            assert (
                sum(script.n_whole_words[index] for script in scripts)
                == total.n_whole_words[index]
            )
            assert (
                sum(n * times for n, times in comparison.token_lengths(index).items())
                == total.n_bytes
            )


def test_numbers_are_counted_by_how_they_are_cut():
    tokenizer = train("123 456 " * 20, vocab_size=256 + 4, pattern="gpt4")
    ids = [tokenizer.decode_bytes([id]).strip() for id in tokenizer.encode("1234567")]
    comparison = Comparison([tokenizer])
    for text in ("1234567 123", "9 " + "1" * 50):  # of a long run 40 digits count
        comparison.add("text", text)
    ways = comparison.number_splits[0]
    assert ways[tuple(map(len, ids))] == ways[3,] == ways[1,] == 1 and sorted(
        map(sum, ways)
    ) == [1, 3, 7, 40]


def test_every_character_belongs_to_one_script():
    for text in [TEXT, "", "12 !", "\u0378x", *nasty_texts(40, seed=9)]:
        runs = list(script_runs(text))
        assert "".join(text[start:end] for _, start, end in runs) == text
        assert all(
            runs[i][2] == runs[i + 1][1] and runs[i][0] != runs[i + 1][0]
            for i in range(len(runs) - 1)
        )
    assert [run[0] for run in script_runs("12 hello мир! 中文abc")] == [
        "Latin",
        "Cyrillic",
        "Han",
        "Latin",
    ]
    assert list(script_runs("12 !")) == [("no script", 0, 4)]


def test_morphemes_that_are_tokens_are_recalled():
    tokenizer = train(
        "un break able un break able", vocab_size=256 + 9, pattern="words"
    )
    found = morphological_alignment(tokenizer, [("un", "break", "able")])
    assert (found.n_first, found.recall) == (2, 1.0)
    assert morphological_alignment(tokenizer, []).f1 == 1.0
    # The end of a word is not a boundary inside it, even if an empty morpheme begins there.
    assert morphological_alignment(tokenizer, [("", "un", "able", "")]).n_first == 1


def test_an_edit_leaves_far_boundaries_alone(pair):
    assert edit_survival(pair[0], "") == edit_survival(pair[0], "a") == 1.0
    assert (
        edit_survival(
            pair[0].at(0), TEXT.encode("ascii", "ignore").decode(), n_edits=20
        )
        == 1.0
    )


def sections_of(text, size=1000):
    blocks = (text[at : at + size] for at in range(0, len(text), size))
    return [(one.title, "".join(one.blocks), one.line) for one in sections(blocks)]


def test_only_what_is_near_an_edit_is_encoded_again(monkeypatch):
    sizes = []

    class Watched(LiveText):
        def splice(self, *edit):
            change = super().splice(*edit)
            sizes.append(self.n_characters)
            return change

    monkeypatch.setattr("bpe_core.metrics.boundaries.LiveText", Watched)
    without_cuts = train(TEXT, vocab_size=300, pattern="none")
    assert edit_survival(without_cuts, TEXT * 50, n_edits=20) > 0.9
    assert len(sizes) == 40 and max(sizes) <= 1025


def test_progress_is_reported_before_each_metric_of_each_tokenizer(pair):
    comparison = Comparison(pair)
    comparison.add("text", TEXT)
    seen = []
    values = of_all_texts(comparison, lambda *progress: seen.append(progress))
    n_values = 2 * len(values)
    assert [(done, total) for done, total, _ in seen] == [
        (n, n_values) for n in range(n_values)
    ]
    assert "boundary survival" in {title for _, _, title in seen}


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_sections_are_texts_of_their_own(size):
    assert sections_of("before\n# One\n\na\nb\n\n# Two\n## c\n", size) == [
        ("One", "a\nb", 4),
        ("Two", "## c", 8),
    ]
    text = "\f\u2028x\n# One\na\f\n# Two\nb"
    assert sections_of(text, size) == [("One", "a\f", 3), ("Two", "b", 5)], (
        "LF ends a line"
    )
    assert (
        sections_of("nothing", size) == [] == sections_of("# \nno title\n #x\n#y", size)
    )
    long = f"# A\n{'x' * 50} # no\n\n\n## no\n#  B \r\n# C"
    assert sections_of(long, size) == [
        ("A", f"{'x' * 50} # no\n\n\n## no", 2),
        ("B", "", 7),
        ("C", "", 8),
    ]


def all_of(comparison):
    """All that a comparison knows."""
    found = vars(comparison) | {
        "pairs": [vars(pair) for pair in comparison.pairs],
        "_worst_lines": [vars(lines) for lines in comparison._worst_lines],
        "_divider": None,
    }
    return found | {
        "scripts": comparison.scripts(),
        "examples": [pair.examples(99) for pair in comparison.pairs],
    }


def prepared(folder, **settings):
    """A tokenizer that changes texts before it splits them."""
    save(
        train(TEXT, vocab_size=300, pattern="qwen2"),
        folder / "tokenizer.json",
        format="huggingface",
    )
    data = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps(data | settings))
    return load(folder / "tokenizer.json")


DEEPSEEK = (
    r"\p{N}{1,3}",
    r"[一-龥]+",
    r" ?\p{P}+[\r\n]*|[^\r\n\p{L}\p{P}\p{S}]?\p{L}+|\s*[\r\n]+|\s+(?!\S)|\s+|.",
)


@pytest.fixture(scope="module")
def pairs(pair, tmp_path_factory):
    lower = prepared(tmp_path_factory.mktemp("lower"), normalizer={"type": "Lowercase"})
    steps = [
        {
            "type": "Split",
            "pattern": {"Regex": one},
            "behavior": "Isolated",
            "invert": False,
        }
        for one in DEEPSEEK
    ]
    steps.append(
        {
            "type": "ByteLevel",
            "add_prefix_space": True,
            "trim_offsets": True,
            "use_regex": False,
        }
    )
    in_steps = prepared(
        tmp_path_factory.mktemp("steps"),
        pre_tokenizer={"type": "Sequence", "pretokenizers": steps},
    )
    gpt4o = train(TEXT, vocab_size=320, pattern="gpt4o")
    return [
        pair,
        (gpt4o, lower),
        (in_steps, in_steps),
        (train(TEXT, vocab_size=290, pattern="none"), gpt4o),
    ]


@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize("block", [1, 50])
def test_a_text_that_comes_in_parts_is_measured_as_the_whole(pairs, which, block):
    rng = random.Random(which)
    some = ["\n", " ", "  ", "the theme", "мир ", "世界", "12 345", "!\r\n", "\t"]
    lines = "".join(rng.choices(some, k=900))
    for text in [
        TEXT,
        lines,
        "1 2 3 4, " * 40,
        "12 " * 50 + "x",
        "",
        *nasty_texts(12, seed=5),
    ]:
        text = text.encode("utf-8", "replace").decode()
        whole, in_parts = Comparison(pairs[which]), Comparison(pairs[which])
        in_parts._divider.size = 30
        for comparison in whole, in_parts:
            comparison.add("first", "a first text\nof two lines")
        whole.add("text", text, line=7)
        in_parts.add(
            "text", (text[at : at + block] for at in range(0, len(text), block)), line=7
        )
        assert all_of(in_parts) == all_of(whole)


def test_a_long_text_is_divided_if_a_tokenizer_can_be_cut(pairs):
    for which, is_divided in enumerate((True, True, True, False)):
        comparison = Comparison(pairs[which])
        comparison._divider.size = 100
        parts = [part.text for part in comparison._divider.parts([TEXT])]
        assert "".join(parts) == TEXT
        parts = [
            part.text
            for part in comparison._divider.parts(
                TEXT[at : at + 9] for at in range(0, len(TEXT), 9)
            )
        ]
        assert "".join(parts) == TEXT
        assert (len(parts) > 2) is is_divided
        assert not is_divided or max(map(len, parts)) < 250


def slow_disagreements(first, second):
    """By walking over both lists of tokens at once."""
    i = j = before_i = before_j = start = 0
    while i < len(first.ids) and j < len(second.ids):
        end_i, end_j = first.ends[i], second.ends[j]
        i, j = i + (end_i <= end_j), j + (end_j <= end_i)
        if end_i == end_j:
            if first.ends[before_i : i - 1] != second.ends[before_j : j - 1]:
                yield (
                    start,
                    end_i,
                    tuple(first.ids[before_i:i]),
                    tuple(second.ids[before_j:j]),
                )
            before_i, before_j, start = i, j, end_i


def disagreements(first, second):
    for start, end in (found.span() for found in compare_boundaries(first, second)[1]):
        yield (
            start,
            end,
            tuple(first.tokens(start, end)),
            tuple(second.tokens(start, end)),
        )


def test_disagreements_are_those_of_a_walk_over_both(pair):
    for text in [TEXT, *nasty_texts(60, seed=8)]:
        first, second = (
            encode_with_ends(tokenizer, text.encode("utf-8", "replace").decode())
            for tokenizer in pair
        )
        assert list(disagreements(first, second)) == list(
            slow_disagreements(first, second)
        )


def test_tokens_that_stand_for_nothing_do_not_disagree():
    with_prefix = EncodedText(
        b"ab", [7, 8, 9], [0, 1, 2]
    )  # a space that is prepended ends where the text begins
    assert list(disagreements(with_prefix, EncodedText(b"ab", [1, 2], [1, 2]))) == []
    assert list(disagreements(with_prefix, EncodedText(b"ab", [1], [2]))) == [
        (0, 2, (7, 8, 9), (1,))
    ]


def test_examples_lead_to_where_they_begin(pair):
    text = "e\n\nthé thing\u3000世界 तheme\nthe theme " + TEXT
    comparison = Comparison(pair)
    comparison.add("first", "nothing", line=1)
    comparison.add("second", text, line=11)
    found = comparison.pairs[0].examples(1000)
    assert len(found) > 3
    lines = text.split("\n")
    for example in found:
        line = lines[example.place.line - 11]
        if example.place.text == 1 and "\ufffd" not in example.stretch:
            assert line[example.place.column :].startswith(
                example.stretch.partition("\n")[0]
            )
    counts = Counter(
        (ours, theirs)
        for _, _, ours, theirs in disagreements(
            *(encode_with_ends(t, text) for t in pair)
        )
    )
    counts += Counter(
        (ours, theirs)
        for _, _, ours, theirs in disagreements(
            *(encode_with_ends(t, "nothing") for t in pair)
        )
    )
    assert {(one.first, one.other): one.n_times for one in found} == counts


def test_the_worst_lines_are_those_of_sorting_all(monkeypatch):
    rng = random.Random(4)
    words = [
        *["the", "theme", "of", "other", "thesis", "мир", "世界", "12345", "!"],
        "\t",
        "\r",
    ]
    texts = [
        "\n".join(" ".join(rng.choices(words, k=rng.randrange(9))) for _ in range(80))
        for _ in range(4)
    ]
    sizes = (300, "gpt2"), (290, "gpt4"), (257, "none")
    three = [train(TEXT, vocab_size=size, pattern=pattern) for size, pattern in sizes]
    comparison = Comparison(three)
    monkeypatch.setattr(
        "bpe_core.metrics.disagreements._WORST", 5
    )  # so few that most of them are dropped on the way
    every = []
    for number, text in enumerate(texts):
        comparison.add(str(number), text)
        data, ends = (
            text.encode(),
            [list(encode_with_ends(one, text).ends) for one in three],
        )
        start = 0
        for n, line in enumerate(_lines(data), 1):
            end = start + len(line)
            tokens = tuple(sum(start < at <= end for at in one) for one in ends)
            every.append(
                (line.decode().removesuffix("\n").removesuffix("\r"), tokens, number, n)
            )
            start = end
    for index in range(3):
        times = Counter((line, tokens) for line, tokens, _, _ in every)
        excess = {
            key: key[1][index] - min(n for i, n in enumerate(key[1]) if i != index)
            for key in times
        }
        expected = sorted(
            (key for key in excess if excess[key] > 0), key=lambda key: -excess[key]
        )[:5]
        found = comparison.worst_lines(index)
        assert [excess[one.line, one.n_tokens] for one in found] == [
            excess[key] for key in expected
        ]
        for one in found:
            assert one.n_times == times[one.line, one.n_tokens]
            assert (one.line, one.n_tokens, *one.place[:2]) in every


def _lines(data):
    return [line + b"\n" for line in data.split(b"\n")[:-1]] + [
        last for last in data.split(b"\n")[-1:] if last
    ]


def test_folders_and_scripts_add_up_to_all(pair):
    comparison = Comparison(pair)
    for folder, text in (("en", "the theme"), ("ru", "мир"), ("en", TEXT)):
        comparison.add(text[:3], text, folder=folder)
    assert [one.name for one in comparison.folders()] == ["en", "ru"]
    for parts in (
        comparison.folders(),
        comparison.scripts(),
        [text.amounts for text in comparison.texts],
    ):
        first, *others = parts
        assert replace(sum(others, first), name="all") == comparison.total


def test_a_text_at_which_it_is_stopped_counts_for_no_tokenizer(pair):
    stopped, whole = Comparison(pair), Comparison(pair)
    for comparison in (stopped, whole):
        comparison.add("first", "the theme 1234")
    with pytest.raises(IndexError):
        stopped.add("second", TEXT, encoding=[None].__getitem__)
    assert of_all_texts(stopped) == of_all_texts(whole)
    assert stopped.number_splits == whole.number_splits


@pytest.mark.parametrize("n_before", [1, 4, 7])
def test_a_text_at_a_part_of_which_it_is_stopped_leaves_nothing(pair, n_before):
    stopped, whole = Comparison(pair), Comparison(pair)
    stopped._divider.size = 100
    for comparison in (stopped, whole):
        comparison.add("first", "the theme 1234, and\nthe other thesis")

    calls = []

    def encoding(index):
        calls.append(stopped.is_within_a_text)
        if len(calls) > n_before:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        stopped.add(
            "second",
            (TEXT[at : at + 50] for at in range(0, len(TEXT), 50)),
            encoding=encoding,
        )
    assert all(calls)
    assert not stopped.is_within_a_text
    assert all_of(stopped) == all_of(whole)


def test_each_metric_is_told_with_its_value(pair):
    comparison = Comparison(pair, [("th", "ing"), ("th", "eme")])
    comparison.add("text", TEXT)
    values = {
        key: [compute(comparison.all_texts(), None, index) for index in (0, 1)]
        for key, compute in OF_PARTS.items()
    }
    assert values.pop("parity") == [None, None], "parity takes a text it relates to"
    values |= of_all_texts(comparison)
    assert values.keys() == METRICS.keys() - {"parity"}
    for index, tokenizer in enumerate(pair):
        n = len(tokenizer.encode(TEXT))
        assert values["tokens"][index] == n
        assert values["bytes_per_token"][index] == len(TEXT.encode()) / n
        assert values["characters_per_token"][index] == len(TEXT) / n
        assert values["fertility"][index] == n / len(TEXT.split())
        assert values["continued_words"][index] == pytest.approx(
            1 - values["whole_words"][index]
        )
        counts = Counter(tokenizer.encode(TEXT)).values()
        assert values["renyi_entropy"][index] == metrics.renyi_entropy(counts)
        assert values["shannon_efficiency"][index] == metrics.renyi_efficiency(
            counts, 1
        )
        assert values["utilization"][index] == len(counts) / tokenizer.n_tokens
        assert 0.5 < values["edit_survival"][index] <= 1.0
        two = [values[f"morpheme_{what}"][index] for what in ("recall", "precision")]
        assert values["morpheme_f1"][index] == pytest.approx(
            harmonic_mean(two) if all(two) else 0.0
        )
        by_vocabulary = metrics.renyi_entropy(counts) / log2(tokenizer.n_tokens)
        assert values["renyi_efficiency_of_vocabulary"][index] == by_vocabulary
    assert all(len(metric.meaning) <= 100 for metric in METRICS.values())
    one = comparison.texts[0].amounts
    expected = {key: values[key][0] if key in values else 1.0 for key in OF_PARTS}
    assert {key: compute(one, one, 0) for key, compute in OF_PARTS.items()} == expected


def token_use(values, tokenizer):
    """The metrics of the use of tokens, each by its formula."""
    counts = Counter(values).values()
    return {
        "renyi_entropy": metrics.renyi_entropy(counts),
        "renyi_efficiency": metrics.renyi_efficiency(counts),
        "renyi_efficiency_of_vocabulary": metrics.renyi_entropy(counts)
        / log2(tokenizer.n_tokens),
        "shannon_entropy": metrics.renyi_entropy(counts, 1),
        "shannon_efficiency": metrics.renyi_efficiency(counts, 1),
        "utilization": len(counts) / tokenizer.n_tokens,
    }


def test_each_text_folder_and_script_has_its_own_use_of_tokens(pair):
    texts = [
        ("en", "12, the theme of the thing"),
        ("ru", "мир и мир"),
        ("en", "they thought"),
        ("de", ""),
        ("ru", "12 345 мир"),
    ]
    comparison = Comparison(pair)
    for folder, text in texts:
        comparison.add(folder, text, folder=folder)
    parts = [
        (compared.amounts, [text])
        for compared, (_, text) in zip(comparison.texts, texts, strict=True)
    ]
    for folder in comparison.folders():
        parts.append((folder, [text for name, text in texts if name == folder.name]))
    for script in comparison.scripts():
        folders = {"Latin": "en", "Cyrillic": "ru"}
        parts.append(
            (script, [text for name, text in texts if name == folders[script.name]])
        )
    assert len(parts) == 5 + 3 + 2
    for amounts, own_texts in parts:
        for index, tokenizer in enumerate(pair):
            ids = [id for text in own_texts for id in tokenizer.encode(text)]
            expected = token_use(ids, tokenizer)
            n_words = whole = 0
            for text in own_texts:
                n, n_whole = slow_words(tokenizer, text)
                n_words += n
                whole += n_whole
            expected["whole_words"] = whole / n_words if n_words else 0.0
            found = {name: OF_PARTS[name](amounts, None, index) for name in expected}
            assert found == pytest.approx(expected), amounts.name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("un+break+able\n\ncat\n", [("un", "break", "able"), ("cat",)]),
        (
            "dogs\tdog s\nunbreakable\tun @@break @@able",
            [("dog", "s"), ("un", "break", "able")],
        ),
        ("low@@ est", [("low", "est")]),
        ("un|do\nre-do", [("un", "do"), ("re", "do")]),
        ("hated\thate ed", "words.txt, line 1.*do not make 'hated'"),
        ("\n", "no word"),
    ],
)
def test_lists_of_morphemes_as_they_are_published(text, words):
    if isinstance(words, list):
        assert read_morphemes(text, "words.txt") == words
    else:
        with pytest.raises(TextError, match=words):
            read_morphemes(text, "words.txt")
