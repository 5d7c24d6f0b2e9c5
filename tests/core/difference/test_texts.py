"""Differences on texts, held against Hugging Face's library and a slow recount, and the cause of each."""

import json
import random
from copy import deepcopy
from dataclasses import astuple
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
import small_files
import tokenizers

from bpe_core import Tokenizer, load, save, train
from bpe_core.corpus import find_files
from bpe_core.difference import texts as module
from bpe_core.difference.text_causes import Stretch, differences
from bpe_core.difference.texts import (
    NamedText,
    TextDifference,
    compare_texts,
    read_texts,
)
from bpe_core.errors import Stopped
from bpe_core.metrics.boundaries import EncodedText, encode_with_ends
from bpe_core.metrics.text_parts import TextDivider
from tests.nasty import nasty_texts

TEXT = Path("sample_texts/english-everyday.txt").read_text("utf-8")
ASCII = TEXT.encode("ascii", "ignore").decode()
NUMBERS = "In 1999 there were 11\nor 1,234\n\nand  no more, don't ask.\n"


def named(*texts):
    return [NamedText(f"text {number}", [text]) for number, text in enumerate(texts)]


def compared(a, b, *texts, **options):
    return compare_texts(a, b, named(*texts), **options)


def causes(found):
    return {cause.part: cause for cause in found.causes}


def slow_stretches(a, b):
    """The ids between all places at which both have a boundary, where they differ."""
    n_bytes = len(a.data)
    shared = {0, n_bytes} | (set(a.ends) & set(b.ends))
    for start, end in pairwise(sorted(shared)):
        ids = [
            tuple(
                token
                for token, token_end in zip(text.ids, text.ends, strict=True)
                if start < token_end <= end or token_end == start == 0
            )
            for text in (a, b)
        ]
        if ids[0] != ids[1]:
            yield Stretch(start, end, *ids)


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    """The object of a tokenizer.json with an added token."""
    path = tmp_path_factory.mktemp("base") / "tokenizer.json"
    save(train(TEXT, vocab_size=500, pattern="gpt2"), path, format="huggingface")
    found = json.loads(path.read_text("utf-8"))
    found["model"]["vocab"]["<tool>"] = 500
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    token = {"id": 500, "content": "<tool>", "special": False}
    found["added_tokens"].append(token | flags)
    return found


def lower(described):
    described["normalizer"] = {"type": "Lowercase"}


def without_added_token(described):
    described["added_tokens"].pop()
    del described["model"]["vocab"]["<tool>"]


def move_added_token(described):
    described["added_tokens"][-1]["id"] = 501
    described["model"]["vocab"]["<tool>"] = 501


def swap_ids(described):
    vocab = described["model"]["vocab"]
    vocab["Ġthe"], vocab["Ġa"] = vocab["Ġa"], vocab["Ġthe"]


def swap_merges(described):
    merges = described["model"]["merges"]
    merges[:60] = reversed(merges[:60])
    made = set()
    in_order = []
    while len(in_order) < len(merges):  # each merge after those that it needs
        for merge in merges:
            left, right = merge if isinstance(merge, list) else merge.split(" ")
            is_known = all(len(part) == 1 or part in made for part in (left, right))
            if is_known and left + right not in made:
                made.add(left + right)
                in_order.append(merge)
    described["model"]["merges"] = in_order


def drop_merges(described):
    model = described["model"]
    for merge in model["merges"][-40:]:
        parts = merge if isinstance(merge, list) else merge.split(" ")
        del model["vocab"]["".join(parts)]
    del model["merges"][-40:]


def digits_alone(described):
    digits = {"type": "Digits", "individual_digits": True}
    steps = [digits, described["pre_tokenizer"]]
    described["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}


class Opened:
    def __init__(self, path, described):
        path.write_text(json.dumps(described), "utf-8")
        self.ours = load(path)
        self.peer = tokenizers.Tokenizer.from_file(str(path))

    def encoded(self, text):
        """The text as the library encodes it."""
        ids = self.peer.encode(text, add_special_tokens=False).ids
        tokens = (self.peer.decode([token]) for token in ids)
        return EncodedText(text.encode(), ids, list(accumulate(map(len, tokens))))


CHANGES = {
    lower: "normalizer",
    without_added_token: "added tokens",
    move_added_token: "added tokens",
    swap_ids: "ids",
    swap_merges: "merges",
    drop_merges: "vocabulary",
    digits_alone: "split pattern",
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_each_change_is_counted_as_the_library_sees_it_and_has_its_cause(
    tmp_path, described, change
):
    changed = deepcopy(described)
    change(changed)
    a = Opened(tmp_path / "a.json", described)
    b = Opened(tmp_path / "b.json", changed)
    texts = [ASCII, f"a <tool> and <tool>.\n\nThe {NUMBERS}", "", "no end of 12"]
    found = compared(a.ours, b.ours, *texts, n_shown=10_000)
    lines = set()
    seen = []
    n_tokens = [0, 0]
    for number, text in enumerate(texts):
        of_a = a.encoded(text)
        of_b = b.encoded(text)
        n_tokens[0] += len(of_a.ids)
        n_tokens[1] += len(of_b.ids)
        for stretch in slow_stretches(of_a, of_b):
            before = text[: stretch.start]
            line = before.count("\n") + 1
            column = len(before) - (before.rfind("\n") + 1)
            lines.add((number, line))
            place = f"text {number}", line, column
            seen.append((text[stretch.start : stretch.end], *stretch[2:], *place))
    assert seen, "the texts show the change"
    assert found.n_tokens == tuple(n_tokens)
    assert found.n_texts == 4
    assert found.n_lines == sum(len(text.splitlines()) for text in texts)
    assert found.n_different_lines == len(lines)
    assert causes(found).keys() == {CHANGES[change]}
    (cause,) = found.causes
    assert cause.n_differences == len(seen)
    assert cause.n_lines == len(lines)
    firsts = {}
    for text, of_a, of_b, *place in seen:
        n_times = firsts.get((text, of_a, of_b), [0])[-1] + 1
        first_place = firsts.get((text, of_a, of_b), place)[:3]
        firsts[text, of_a, of_b] = [*first_place, n_times]
    expected = [(*key, *found) for key, found in firsts.items()]
    assert [astuple(difference) for difference in cause.first] == expected


def test_equal_texts_have_no_difference(described, tmp_path):
    a = Opened(tmp_path / "a.json", described).ours
    found = compared(a, a, TEXT, NUMBERS)
    assert found.n_tokens[0] == found.n_tokens[1] > 0
    assert found.causes == []
    assert found.n_different_lines == found.change == 0


def test_an_unknown_token_is_a_difference_of_the_fallback(tmp_path):
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    vocab = {
        name: number for number, name in enumerate([*names, "<unk>", "a", "b", "ab"])
    }
    model = {"type": "BPE", "vocab": vocab, "merges": ["a b"], "unk_token": "<unk>"}
    opened = [
        Opened(tmp_path / f"{name}.json", {"model": model | {"byte_fallback": name}})
        for name in (True, False)
    ]
    found = compared(*(one.ours for one in opened), "abéab")
    (cause,) = found.causes
    assert (cause.part, cause.n_differences) == ("byte fallback", 1)
    (difference,) = cause.first
    assert (difference.text, difference.column) == ("é", 2)
    for one, ids in zip(opened, (difference.a, difference.b), strict=True):
        whole = one.peer.encode("abéab", add_special_tokens=False).ids
        assert tuple(whole[1:-1]) == ids


def test_stretches_are_those_of_a_slow_recount():
    chance = random.Random(5)
    pairs = [
        (train(TEXT, vocab_size=300), train(TEXT, vocab_size=420, pattern="gpt2")),
        (train(TEXT, vocab_size=300, pattern="words"), train(TEXT, vocab_size=300)),
    ]
    for a, b in pairs:
        for text in (TEXT[:3000], *nasty_texts(60, seed=2)):
            text = text.encode("utf-8", "replace").decode()
            encoded = encode_with_ends(a, text), encode_with_ends(b, text)
            assert list(differences(*encoded)) == list(slow_stretches(*encoded))
    for _ in range(300):  # tokens that cover no byte
        drawn = []
        for _ in range(2):
            ends = sorted(chance.choices(range(13), k=chance.randrange(12)))
            ids = [chance.randrange(2) for _ in ends]
            drawn.append(EncodedText(b"twelve bytes", ids, ends))
        assert list(differences(*drawn)) == list(slow_stretches(*drawn))


def counted_in_parts(a, b, monkeypatch, text, size):
    class SmallDivider(TextDivider):
        def __init__(self, of):
            super().__init__(of)
            self.size = size

    monkeypatch.setattr(module, "TextDivider", SmallDivider)
    blocks = (text[start : start + 7] for start in range(0, len(text), 7))
    return compare_texts(a, b, [NamedText("text 0", blocks)], n_shown=10_000)


@pytest.mark.parametrize(
    "change",
    [*CHANGES, None],
    ids=lambda change: getattr(change, "__name__", "pattern"),
)
def test_a_long_text_in_parts_is_compared_as_the_whole(
    tmp_path, described, monkeypatch, change
):
    a = Opened(tmp_path / "a.json", described).ours
    if change is None:  # no part can be cut
        b = Tokenizer(a.vocabulary, "none")
    else:
        changed = deepcopy(described)
        change(changed)
        b = Opened(tmp_path / "b.json", changed).ours
    text = TEXT[:2500] + f"\n<tool> {NUMBERS}" * 9
    whole = compared(a, b, text, n_shown=10_000)
    assert whole.n_different_lines >= 9
    assert counted_in_parts(a, b, monkeypatch, text, size=40) == whole


def test_text_that_a_pattern_drops_is_a_difference_of_the_pattern():
    a = train(TEXT, vocab_size=400, pattern="words")
    found = compared(a, Tokenizer(a.vocabulary, "gpt2"), TEXT)
    assert causes(found).keys() == {"split pattern"}


def test_text_that_is_dropped_before_a_piece_is_not_the_cause_inside_of_it():
    a = train([], vocab_size=256, pattern="words")
    b = Tokenizer(a.with_merges([(ord("e"), ord("f"), 256)]).vocabulary, "gpt2")
    found = causes(compared(a, b, "a\ncdef"))
    texts = {part: cause.first[0].text for part, cause in found.items()}
    assert texts == {"split pattern": "\nc", "vocabulary": "ef"}


def test_a_normalizer_is_the_cause_although_a_pattern_drops_text(tmp_path, described):
    changed = deepcopy(described)
    lower(changed)
    b = Opened(tmp_path / "b.json", changed).ours
    a = Tokenizer(b.vocabulary, "words")
    found = causes(compared(a, b, "the the THE"))
    texts = {part: cause.first[0].text for part, cause in found.items()}
    assert texts == {"split pattern": " the", "normalizer": " THE"}


def test_a_split_of_bytes_is_the_cause_although_the_pieces_are_equal(tmp_path):
    """The second byte of "ò" is written "²" in the byte alphabet, which is a number."""
    file = small_files.huggingface(["Ã ²"])
    a = Opened(tmp_path / "a.json", file)
    numbers = {"type": "Split", "pattern": {"Regex": r"\p{N}"}, "behavior": "Isolated"}
    steps = [file["pre_tokenizer"], numbers | {"invert": False}]
    file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    b = Opened(tmp_path / "b.json", file)
    (cause,) = compared(a.ours, b.ours, "aò").causes
    assert (cause.part, cause.first[0].text) == ("split pattern", "ò")
    assert b.peer.encode("ò").ids == list(cause.first[0].b)


@pytest.mark.parametrize("n_spaces", [0, 2])
def test_only_the_ends_of_a_text_have_differences_of_its_ends(
    tmp_path, described, monkeypatch, n_spaces
):
    """A space is added before the text, white space after it is dropped, and elsewhere merges differ."""
    a = Opened(tmp_path / "a.json", described).ours
    changed = deepcopy(described)
    drop_merges(changed)
    changed["normalizer"] = {"type": "Strip", "strip_left": False, "strip_right": True}
    flags = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    changed["pre_tokenizer"] = {"type": "ByteLevel"} | flags
    b = Opened(tmp_path / "b.json", changed).ours
    text = TEXT[:2500] + "x" + " " * n_spaces
    found = compared(a, b, text, n_shown=10_000)
    of_part = causes(found)
    assert of_part.keys() == {"normalizer", "vocabulary"}
    first, *last = of_part["normalizer"].first
    assert (first.line, first.column) == (1, 0)
    assert len(last) == min(1, n_spaces)
    assert all(one.line == found.n_lines for one in last)
    assert of_part["vocabulary"].n_differences > 9
    assert counted_in_parts(a, b, monkeypatch, text, size=40) == found


def test_the_pieces_may_begin_before_the_difference():
    """123 is one piece of A, and 12|3 in B; only 23 is encoded differently."""
    merges = [(ord("2"), ord("3"), 256)]
    a, b = (
        train([], vocab_size=256, pattern=rf"\p{{N}}{{1,{most}}}|\P{{N}}+").with_merges(
            merges
        )
        for most in (3, 2)
    )
    (cause,) = compared(a, b, "a 123 a").causes
    assert cause.part == "split pattern"
    (difference,) = cause.first
    assert (difference.text, difference.a, difference.b) == ("23", (256,), (50, 51))


def test_spaces_added_before_each_piece_are_no_difference_of_merges(
    tmp_path, described
):
    changed = deepcopy(described)
    *_, byte_level = changed["pre_tokenizer"]["pretokenizers"]
    byte_level["add_prefix_space"] = True
    a = Opened(tmp_path / "a.json", described).ours
    b = Opened(tmp_path / "b.json", changed).ours
    assert causes(compared(a, b, ASCII)).keys() == {"normalizer"}


def test_the_cause_is_that_of_the_place_not_of_the_tokenizers():
    """Patterns and merges differ, each in its own places."""
    a = train(TEXT, vocab_size=400, pattern="gpt2")
    longer = train(TEXT, vocab_size=450, pattern="gpt2")
    b = Tokenizer(longer.vocabulary, "llama3")
    found = causes(compared(a, b, f"{TEXT[:600]}\n12345\ndon't.\n\n", n_shown=999))
    assert found.keys() == {"split pattern", "vocabulary"}
    texts = {
        part: {difference.text for difference in cause.first}
        for part, cause in found.items()
    }
    for text in texts["split pattern"]:
        assert a.splitter.split(text) != b.splitter.split(text) or text in TEXT
    for text in texts["vocabulary"]:
        assert a.splitter.split(text) == b.splitter.split(text)
        assert any(token in longer.vocabulary.ids()[400:] for token in b.encode(text))


def test_only_the_first_differences_are_shown():
    a = train(TEXT, vocab_size=400)
    b = a.at(0)
    found = compared(a, b, TEXT, n_shown=2)
    everything = compared(a, b, TEXT, n_shown=10**6)
    (cause,) = found.causes
    (whole,) = everything.causes
    assert len(cause.first) == 2 < len(whole.first)
    assert list(cause.first) == list(whole.first)[:2]
    assert sum(one.n_times for one in whole.first) == whole.n_differences
    assert found.change == found.n_tokens[1] / found.n_tokens[0] - 1 > 0


def test_a_token_across_the_end_of_a_line_belongs_to_the_line_where_it_begins():
    b = train([], vocab_size=256, pattern="none")
    a = b.with_merges([(ord("."), ord("\n"), 256)])
    found = compared(a, b, "one\ntwo.\nthree.\n.\nfour")
    assert (found.n_lines, found.n_different_lines) == (5, 3)
    (difference,) = found.causes[0].first
    assert difference == TextDifference(".\n", (256,), (46, 10), "text 0", 2, 3, 3)
    assert found.n_tokens == (19, 22)


def test_json_has_all_figures():
    a = train("low low", vocab_size=258)
    assert a.encode("low") == [257]
    found = compared(a, a.at(0), "low\n")
    written = json.loads(json.dumps(found.as_json()))
    assert written == {
        "texts": 1,
        "bytes": 4,
        "lines": 1,
        "different_lines": 1,
        "tokens": [2, 4],
        "change": 1.0,
        "causes": [
            {
                "part": "vocabulary",
                "differences": 1,
                "lines": 1,
                "first": [
                    {
                        "text": "low",
                        "a": [257],
                        "b": [*b"low"],
                        "name": "text 0",
                        "line": 1,
                        "column": 0,
                        "times": 1,
                    }
                ],
            }
        ],
    }


def test_documents_are_read_as_count_reads_them(tmp_path):
    (tmp_path / "a.txt").write_text("the\nthing")
    (tmp_path / "rows.jsonl").write_text(
        '{"body": "the"}\n{"body": 5}\n{"body": "them"}\n'
    )
    paths = [tmp_path / "a.txt", f"{tmp_path}/rows.jsonl::body"]
    files = find_files(paths, skip_bad=True).files
    skipped = []
    read = {name: "".join(blocks) for name, blocks in read_texts(files, None, skipped)}
    assert read == {
        "a.txt": "the\nthing",
        "rows.jsonl row 1": "the",
        "rows.jsonl row 2": "them",
    }
    assert [one.path.name for one in skipped] == ["rows.jsonl"]

    def stop(n_read, total, name):
        raise Stopped

    with pytest.raises(Stopped):
        list(read_texts(files, stop))
