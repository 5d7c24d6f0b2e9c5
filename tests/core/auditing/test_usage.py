"""What is left of each token once a corpus is tokenized, and in how many of its documents."""

from collections import Counter

import pytest

from bpe_core import train
from bpe_core.auditing import audit, usage
from bpe_core.auditing.findings import Severity
from bpe_core.auditing.usage import Usage
from bpe_core.corpus import Counts, find_files
from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer

WORDS = "low low low low low lower lower widest widest widest newest newest newest newest newest newest"
ONE_TEXT = """
    Hello world! This is a sample text to demonstrate BPE tokenization.
    We'll use this to train our tokenizer and then test encoding and decoding.
    """


@pytest.fixture(scope="module")
def words() -> tuple[Tokenizer, Counts]:
    """Six merges over words: s+t, e+st, o+w, l+ow, w+est, n+e; ids 257 to 262."""
    options = {"pattern": "words", "ties": "largest", "id_layout": "specials-first"}
    tokenizer = train(
        WORDS, vocab_size=263, special_tokens=["<|endoftext|>"], **options
    )
    return tokenizer, Counts.of(WORDS, "words")


def learned(found, *kinds):
    """The texts of the tokens that merges made and that have findings of these kinds."""
    return [
        finding.token.decode()
        for finding in found.of(*kinds)
        if finding.evidence["step"]
    ]


def test_what_is_left_of_each_merge_and_what_later_merges_took(words):
    usage = Usage.of(*words)
    other = Counts.of(WORDS.swapcase(), "words")  # of as many bytes
    assert usage.of_training and not Usage.of(words[0], other).of_training
    assert [usage.remaining[token] for token in range(257, 263)] == [
        0,
        3,
        0,
        7,
        6,
        6,
    ]  # st est ow low west ne
    assert (
        usage.n_tokens == sum(usage.remaining.values()) == 5 + 2 * 3 + 3 * 4 + 6 * 2
    )  # low; low|e|r; w|i|d|est; ne|west
    assert usage.remaining[0] == 0  # the special token is no part of any text
    assert [usage.merged[token] for token in range(257, 263)] == [9, 6, 7, 0, 0, 0]
    w = words[0].vocabulary.ids()[ord("w") + 1]
    assert (usage.merged[w], usage.remaining[w]) == (
        7 + 6,
        3,
    )  # into ow and west; the w of widest stays


def test_st_and_ow_are_scaffold(words):
    tokenizer, counts = words
    found = audit(tokenizer, counts=counts)
    assert learned(found, "scaffold") == ["st", "ow"]
    assert learned(found, "never-used") == ["st", "ow"]
    assert learned(found, "rare") == []
    st = found.of("scaffold")[0]
    assert (
        st.reason
        == "Later merges took all of its 9 occurrences, to build “est”; none is left."
    )
    own = {
        "step": 1,
        "parents": [ord("s") + 1, ord("t") + 1],
        "count": 0,
        "witness": "st",
    }
    assert st.evidence == own | {
        "merged": 9,
        "ios": 1.0,
        "into": 258,
        "strength": 0.0826,
    }


@pytest.mark.parametrize(
    "text",
    [
        "aaaaaaa aaa aa",
        "banana bandana ananas",
        "aaabdaaabac" * 3,
        "ééé eéé 😊😊",
        WORDS,
    ],
)
@pytest.mark.parametrize("pattern", ["none", "gpt4"])
def test_record_and_corpus_agree_at_any_step(text, pattern):
    # Runs such as "aaa" are where a pair's count and the number of its merges differ.
    tokenizer, counts = (
        train(text, vocab_size=300, pattern=pattern),
        Counts.of(text, pattern),
    )
    for step in {0, 1, 2, 3, 5, 8, 13, tokenizer.step} & set(range(tokenizer.step + 1)):
        known, read = (
            Usage.of_record(tokenizer.at(step)),
            Usage.of(tokenizer.at(step), counts),
        )
        assert known.n_tokens == read.n_tokens
        assert known.remaining == {
            token: read.remaining[token] for token in known.remaining
        }
        assert known.merged == {token: read.merged[token] for token in known.merged}


@pytest.mark.parametrize(
    ("min_count", "n_vocab", "n_unused"), [(1, 363, 106), (2, 284, 10)]
)
def test_merging_down_to_pairs_that_occur_once_wastes_a_vocabulary(
    min_count, n_vocab, n_unused
):
    tokenizer = train(ONE_TEXT, vocab_size=512, pattern="none", min_count=min_count)
    assert tokenizer.n_vocab == n_vocab
    for found in audit(tokenizer), audit(tokenizer, counts=Counts.of(ONE_TEXT, "none")):
        assert len(learned(found, "never-used")) == n_unused
    if min_count == 1:
        (whole,) = (finding for finding in found.of("rare") if finding.evidence["step"])
        assert whole.token.decode() == ONE_TEXT and whole.evidence["count"] == 1


@pytest.mark.parametrize(("n", "found"), [(9, []), (10, ["ab"])])
def test_scaffold_is_what_one_later_merge_took_more_than_nine_tenths_of(n, found):
    tokenizer = train("abc " * n + "ab", vocab_size=258, pattern="words")
    assert learned(audit(tokenizer), "scaffold") == found


def test_what_is_common_is_no_problem():
    # "th" is left 30 times of 330, more often than the last merge is made; "st" never, for it goes into three words.
    text = " ".join(
        ["the"] * 300
        + ["th"] * 30
        + ["stop"] * 9
        + ["stay"] * 8
        + ["step"] * 7
        + ["zq"] * 6
    )
    tokenizer = train(text, vocab_size=266, pattern="words", min_count=2)
    found = {
        finding.token: finding
        for finding in audit(tokenizer).of("scaffold", "never-used")
    }
    assert (found[b"th"].evidence["count"], found[b"th"].evidence["ios"]) == (
        30,
        0.9091,
    )
    assert (found[b"th"].severity, found[b"st"].severity) == (
        Severity.NOTE,
        Severity.NOTE,
    )
    assert found[b"st"].kind == "never-used"


def test_a_corpus_split_otherwise_is_refused(words):
    with pytest.raises(
        OptionError,
        match=r"counted with the pattern 'gpt4', but the tokenizer uses 'words'",
    ):
        audit(words[0], counts=Counts.of(WORDS, "gpt4"))


def test_chosen_texts_of_which_most_lack_a_token_say_nothing(words):
    """They lack nearly every token: of 200,000 all but some thousands, in a hundred pages."""
    bare = Tokenizer(words[0].vocabulary, "words")
    for texts in "", "low lower newest", "low newest " * 500:
        assert (
            audit(bare, counts=Counts.of(texts, "words")).of(
                "never-used", "rare", "absent-from-reference"
            )
            == []
        )


TEXTS = (
    "low lower lowest " * 40,
    "low and behold\n" * 9,
    "",
    "a newer, wider, lower one " * 3,
)
LEARNED = train(TEXTS, vocab_size=290)


@pytest.fixture
def files(tmp_path):
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.txt").write_text(text)
    return find_files([str(tmp_path)]).files


def test_it_is_what_each_document_holds(files):
    found = usage.spread_of(LEARNED, files)
    counts = [Counter(LEARNED.encode(text)) for text in TEXTS]
    for token in LEARNED.vocabulary.ids():
        here = [count[token] for count in counts if count[token]]
        assert found["document_frequency"].get(token, 0) == len(here)
        assert found["largest_share"].get(token) == (
            max(here) / sum(here) if here else None
        )


def test_what_proves_unreadable_is_no_document_and_one_or_too_large_ones_are_not_read(
    files, monkeypatch
):
    files[1].path.write_bytes(b"low \xff\xfe\xff low")
    found = usage.spread_of(LEARNED, files)
    (low,) = LEARNED.encode("low")
    assert found["document_frequency"][low] == sum(
        low in LEARNED.encode(TEXTS[number]) for number in (0, 2, 3)
    )
    assert usage.spread_of(LEARNED, files[:1]) is None
    monkeypatch.setattr(usage, "MOST_BYTES", sum(file.size for file in files) - 1)
    assert usage.spread_of(LEARNED, files) is None
