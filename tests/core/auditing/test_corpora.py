"""Evidence from texts: the glitch-token story by hand, few documents, and thresholds, where one occurrence decides."""

import pytest

from bpe_core import Tokenizer, audit
from bpe_core.auditing import examine
from bpe_core.auditing.findings import Severity
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.verdicts import verdicts
from bpe_core.corpus import Counts, find_files
from bpe_core.trainer import train
from bpe_core.vocabulary import Vocabulary

FORUM = "".join(f"{n}: SolidGoldMagikarp counts on\n" for n in range(1, 201))
PROSE = (
    "The river was low that summer, and the boats lay on their sides in the mud.\n" * 20
)
LETTERS = "Nobody counts the boats; the harbor master sleeps.\n" * 20


@pytest.fixture(scope="module")
def tokenizer():
    return train([FORUM, PROSE], vocab_size=320)


@pytest.fixture(scope="module")
def counts():
    return Counts.of([FORUM, PROSE], "gpt4")


def test_the_name_is_one_token_and_no_model_will_see_it(tokenizer, counts):
    (name,) = tokenizer.encode_ordinary(" SolidGoldMagikarp")
    found = audit(
        tokenizer, counts=counts, reference=Counts.of([PROSE, LETTERS], "gpt4")
    )
    worst = found[0]
    assert (worst.id, worst.kind, worst.severity) == (
        name,
        "absent-from-reference",
        Severity.PROBLEM,
    )
    assert (worst.evidence["count"], worst.evidence["seen"]) == (200, 0)
    tokens = len(tokenizer.encode_ordinary(FORUM)) + len(
        tokenizer.encode_ordinary(PROSE)
    )
    there = len(tokenizer.encode_ordinary(PROSE)) + len(
        tokenizer.encode_ordinary(LETTERS)
    )
    assert worst.evidence["expected"] == round(200 * there / tokens, 2)
    assert worst.reason == (
        "It occurs 200 times in its training corpus but never in the reference, where "
        f"{200 * there / tokens:,.0f} times would be expected."
    )
    assert worst.witness == " SolidGoldMagikarp"
    labels = {finding.label for finding in found.of("absent-from-reference")}
    assert labels == {"␣SolidGoldMagikarp", ":", *"0123456789"}, (
        "what both corpora hold is no finding"
    )


def test_ranked_by_expected_against_seen(tokenizer, counts):
    found = audit(
        tokenizer,
        counts=counts,
        reference=Counts.of(PROSE * 2 + LETTERS + " SolidGoldMagikarp", "gpt4"),
    )
    name, *digits = found.of("absent-from-reference")
    assert (name.token, name.severity, name.evidence["seen"]) == (
        b" SolidGoldMagikarp",
        Severity.WARNING,
        1,
    )
    assert "but only once in the reference" in name.reason
    # Then the colon and the digits, the more frequent first; a lack of single bytes is noted, no more.
    assert [finding.token for finding in digits] == [
        bytes([byte]) for byte in b":1234567890"
    ]
    assert {finding.severity for finding in digits} == {Severity.NOTE}


def test_the_training_record_stands_in_for_the_corpus(tokenizer, counts):
    reference = Counts.of([PROSE, LETTERS], "gpt4")

    def learned(found):
        rows = [
            (f.id, f.evidence["expected"], f.evidence["seen"])
            for f in found
            if f.evidence["step"]
        ]
        return sorted(rows)

    with_corpus = audit(tokenizer, counts=counts, reference=reference).of(
        "absent-from-reference"
    )
    assert (
        learned(with_corpus)
        == learned(audit(tokenizer, reference=reference).of("absent-from-reference"))
        != []
    )


def test_a_reference_too_short_or_without_corpus_and_record_says_nothing(
    tokenizer, counts
):
    assert (
        audit(tokenizer, counts=counts, reference=Counts.of("The mud.", "gpt4")).of(
            "absent-from-reference"
        )
        == []
    )
    bare = type(tokenizer)(tokenizer.vocabulary, tokenizer.pattern)
    assert (
        audit(bare, reference=Counts.of(LETTERS, "gpt4")).of("absent-from-reference")
        == []
    )


COMMON = (
    " ".join(
        f"{one}{two}{one}{three}{two}"
        for one in "bdfgklmnpr"
        for two in "aeiou"
        for three in "stv"
    )
    + "\n"
)


@pytest.fixture
def folder(tmp_path):
    """Twelve letters and one page on which somebody counts; two of the letters tell of a heron."""
    for n in range(12):
        (tmp_path / f"letter{n:02}.txt").write_text(
            LETTERS * 4 + COMMON + "A heron, a heron, a heron.\n" * 5 * (n < 2)
        )
    (tmp_path / "page.txt").write_text(FORUM)
    return tmp_path


def test_tokens_from_one_or_two_documents(folder):
    counts = Counts.read(find_files([folder]).files, "gpt4")
    tokenizer = train(counts, vocab_size=900)
    found = audit(tokenizer, counts=counts).of("few-documents")
    documents = {finding.token: finding.evidence["documents"] for finding in found}
    name = folder.name
    assert documents[b" SolidGoldMagikarp"] == [f"{name}/page.txt"]
    # In texts that it was not trained on, the same is a tenth of the evidence.
    bare = Tokenizer(tokenizer.vocabulary, tokenizer.pattern)
    of_other_texts = audit(bare, counts=counts).of("few-documents")
    assert [
        (finding.token, finding.evidence["strength"]) for finding in of_other_texts
    ] == [
        (finding.token, pytest.approx(finding.evidence["strength"] / 10, abs=1e-4))
        for finding in found
    ]
    assert documents[b" heron"] == [f"{name}/letter00.txt", f"{name}/letter01.txt"]
    assert b" counts" not in documents and b" boats" not in documents
    (magikarp,) = (
        finding for finding in found if finding.token == b" SolidGoldMagikarp"
    )
    assert (
        magikarp.reason
        == f"All its 200 occurrences come from 1 of 13 documents: {name}/page.txt."
    )
    assert magikarp.evidence["share"] == round(len(FORUM) / counts.n_bytes, 4)
    # A document that is most of the corpus is no surprise.
    (folder / "page.txt").write_text(FORUM * 20)
    counts = Counts.read(find_files([folder]).files, "gpt4")
    found = audit(train(counts, vocab_size=900), counts=counts).of("few-documents")
    assert b" SolidGoldMagikarp" not in {finding.token for finding in found}


def test_texts_that_are_no_files_go_by_their_number():
    texts = [*([LETTERS + COMMON] * 11), FORUM]
    found = audit(train(texts, vocab_size=900), counts=Counts.of(texts, "gpt4")).of(
        "few-documents"
    )
    assert {tuple(finding.evidence["documents"]) for finding in found} == {("text 12",)}
    assert {finding.evidence["share"] for finding in found} == {None}


BYTES = {byte: bytes([byte]) for byte in range(256)}
AB, BETWEEN = (97, 98, 256), [(100 + 2 * i, 101 + 2 * i, 300 + i) for i in range(5)]
PAIRS = [
    (65 + i // 32, 65 + i % 32, 400 + i) for i in range(1000)
]  # a thousand neighbors


def others(n, text=""):
    """A text that holds each of PAIRS but the last `n` ten times."""
    return (
        " ".join([f"{left:c}{right:c}" for left, right, _ in PAIRS[: 1000 - n]] * 10)
        + " "
        + text
    )


def words(counts, reference=None):
    return "words", {"counts": counts} | ({"reference": reference} if reference else {})


LAST = f"{PAIRS[-1][0]:c}{PAIRS[-1][1]:c}"  # the text of the last pair


@pytest.mark.parametrize(
    ("kind", "merges", "texts", "expected"),
    [
        # Without texts, what is used within five steps.
        ("scaffold", [AB, *BETWEEN[:4], (256, 99, 257)], ("none", {}), ["ab"]),
        ("scaffold", [AB, *BETWEEN, (256, 99, 257)], ("none", {}), []),
        # Missing is a finding where at most a tenth of the tokens learned about then are missing.
        (
            "never-used",
            PAIRS,
            words(others(100)),
            [f"{left:c}{right:c}" for left, right, _ in PAIRS[-100:]],
        ),
        ("never-used", PAIRS, words(others(101)), []),
        # Rare is what occurs less than a hundredth of an even share: 1,256 tokens; of 251,200 an even share is 200.
        (
            "rare",
            PAIRS,
            words(others(1, f"{LAST} " * 2 + "AA " * (251_200 - 9_992))),
            [],
        ),
        (
            "rare",
            PAIRS,
            words(others(1, f"{LAST} " * 2 + "AA " * (251_201 - 9_992))),
            [LAST],
        ),
        # Nothing is concluded of less than five expected occurrences.
        (
            "absent-from-reference",
            PAIRS,
            words(others(1, f"{LAST} " * 4), others(1, "AA " * 4)),
            [],
        ),
        (
            "absent-from-reference",
            PAIRS,
            words(others(1, f"{LAST} " * 5), others(1, "AA " * 5)),
            [LAST],
        ),
        # Absent is what occurs less than a tenth as often as expected.
        (
            "absent-from-reference",
            PAIRS,
            words(others(1, f"{LAST} " * 10), others(1, f"{LAST} " + "AA " * 9)),
            [],
        ),
        # A token of one document must occur five times, and one document is few of ten.
        ("few-documents", PAIRS, words([others(1)] * 11 + [f"{LAST} " * 4]), []),
        ("few-documents", PAIRS, words([others(1)] * 11 + [f"{LAST} " * 5]), [LAST]),
        ("few-documents", PAIRS, words([others(1)] * 8 + [f"{LAST} " * 5]), []),
        ("few-documents", PAIRS, words([others(1)] * 9 + [f"{LAST} " * 5]), [LAST]),
    ],
)
def test_thresholds_where_one_occurrence_decides(kind, merges, texts, expected):
    pattern, corpora = texts
    tokenizer = Tokenizer(Vocabulary(BYTES, merges), pattern)
    found = audit(
        tokenizer, **{name: Counts.of(text, pattern) for name, text in corpora.items()}
    ).of(kind)
    assert [finding.token.decode() for finding in found] == expected


def test_what_is_seldom_in_the_texts_is_in_few_documents_by_chance():
    """Twenty early tokens that occur five times here, in one document, as five hundred of the later ones do."""
    later = [(33 + i // 32, 65 + i % 32, 1400 + i) for i in range(1000)]
    words_of = [f"{left:c}{right:c}" for left, right, _ in (*PAIRS, *later)]
    seldom, often = words_of[:20] + words_of[1500:], words_of[20:1500]
    texts = [" ".join(often)] * 11 + [" ".join(seldom * 5)]
    tokenizer = Tokenizer(Vocabulary(BYTES, [*PAIRS, *later]), "words")
    assert audit(tokenizer, counts=Counts.of(texts, "words")).of("few-documents") == []


def test_texts_raise_scores_and_lower_none_whatever_they_are():
    """A tokenizer of unknown training, with the texts that it learned from and with texts that have nothing of it."""
    texts = [
        FORUM,
        PROSE,
        LETTERS,
        "Heron and marsh, marsh and heron; heronry marshes.\n" * 9,
    ]
    learned = train(texts, vocab_size=400)
    bare = Tokenizer(learned.vocabulary, learned.pattern)

    def scores(**corpora):
        subject = AuditSubject(
            bare, **{name: Counts.of(text, "gpt4") for name, text in corpora.items()}
        )
        return {row.id: row.score for row in verdicts(subject, [*examine(subject)])}

    alone = scores()
    for corpora in (
        {"counts": PROSE},
        {"counts": texts},
        {"counts": "def f(x): return x"},
        {"counts": texts, "reference": PROSE},
    ):
        assert all(scores(**corpora)[token] >= score for token, score in alone.items())


def test_other_texts_do_not_hide_what_the_record_of_a_training_tells():
    learned = train([FORUM, PROSE, LETTERS], vocab_size=400)
    own = {finding.id: finding for finding in audit(learned).of("scaffold")}
    other = audit(learned, counts=Counts.of("def f(x): return x", "gpt4"))
    assert own and {f.id: f.severity for f in other.of("scaffold")} == {
        id: f.severity for id, f in own.items()
    }
    assert all(
        f.reason.startswith("In its training, later merges took")
        for f in other.of("scaffold")
    )
