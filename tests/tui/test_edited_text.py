"""EditedText: whatever is done to it in whatever order, what it knows is what a fresh look at the same text finds."""

import random
from importlib import import_module

import pytest

from bpe_core import Tokenizer, train
from bpe_core.errors import PatternError
from bpe_core.live.change import Span
from bpe_core.live.live_text import LiveText
from bpe_core.patterns import splitter
from bpe_core.pictures.drawing import document
from bpe_core.tokenizer import normalizers
from bpe_core.tokenizer.preparation import PrefixStep, Preparation, SplitStep
from tests.nasty import nasty_texts
from tui.features.excerpts import drawn_lanes
from tui.text.edited_text import EditedText
from tui.text.lane import Lane
from tui.text.review import Review
from tui.text.rows import Rows
from tui.text.strips import Columns, RowContent

TEXTS = [
    *nasty_texts(150, seed=5),
    "pаypal ",
    "don’t ",
    "1234567 ",
    "trailing ",
    "\r\n",
    "the theme of the thesis\n" * 9,
]
LEARNED = train(TEXTS, vocab_size=420, pattern="gpt4", special_tokens=["<|endoftext|>"])


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """So small that a few hundred characters meet them all."""
    monkeypatch.setattr("tui.text.lane.BIG_TEXT", 300)
    monkeypatch.setattr("tui.text.lane.BIG_EDIT", 60)
    monkeypatch.setattr("tui.text.lane.PATIENCE", 5)
    monkeypatch.setattr("tui.text.edited_text.COMPARED", 50)


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.text.lane.PATIENCE", 0.05)
    monkeypatch.setattr(
        import_module("bpe_core.patterns.expression"),
        "enough_for",
        lambda n_characters: 0.05,
    )


def tokenizers() -> list[Tokenizer | None]:
    changing = Preparation(
        (),
        normalizers.Normalizer([normalizers.NormalForm("NFKC")]),
        (PrefixStep(" "), SplitStep(splitter("gpt2"))),
        False,
        True,
        {},
    )
    patterns = ("gpt4o", "none", "words", r"(?#only)\w+", r"(?<=a)b+|\w|\s+")
    return [
        None,
        LEARNED,
        *map(LEARNED.at, (0, 40, 150)),
        *(Tokenizer(LEARNED.vocabulary, pattern) for pattern in patterns),
        Tokenizer(LEARNED.vocabulary, "none", preparation=changing),
        train(TEXTS, vocab_size=400, pattern="words", end_of_word="</w>"),
    ]


def settled(edited: EditedText) -> EditedText:
    """Let it come to rest, as a screen does when nobody types."""
    while (reading := edited.next_reading) is not None:
        reading.run()
        edited.take_reading(reading)
    while not edited.settle_all(0):
        pass
    while not edited.settle_review(0):
        pass
    return edited


def check(edited: EditedText) -> None:
    """All that is known is what a fresh look finds."""
    text, tokenizer, live, review = (
        edited.document.text,
        edited.tokenizer,
        edited.live,
        edited.review,
    )
    if tokenizer is None:
        assert live is review is edited.under_cursor is edited.comparison is None
        return
    assert (
        live is not None
        and review is not None
        and not edited.why_none
        and not edited.why_no_review
    )
    assert live.tokenizer is tokenizer and live.text == text
    assert live.ids == tokenizer.encode(
        text, disallowed_special=()
    ) and edited.n_tokens == len(live.ids)
    fresh = Review(LiveText(tokenizer, text))
    while not fresh.settle(1):
        pass
    assert about(review) == about(fresh)
    if edited.baseline is not None and edited.comparison is not None:
        before = tokenizer.encode(edited.baseline.text, disallowed_special=())
        assert edited.comparison.n_tokens == len(live.ids) - len(before)
        assert bool(edited.comparison.hunks) == (before != live.ids)
    rows, anew = Rows(edited.document, 20), settled(EditedText(text, tokenizer))
    for y in range(0, rows.height, 7):
        place = rows.place(y)
        assert place is not None
        row, whole = edited.row(place, 6), anew.row(place, 6)
        assert (row.text, bounds(row), row.shared) == (
            whole.text,
            bounds(whole),
            whole.shared,
        )
    for stretch in edited.changed:
        assert 0 <= stretch[0] <= stretch[1] <= len(text)
    for lane in edited.lanes[1:]:
        check_lane(edited, lane)


def check_lane(edited: EditedText, lane: Lane) -> None:
    """Its tokens are those of its tokenizer; alike are those whose characters and bytes are a first lane's, too."""
    text, number = edited.document.text, edited.lanes.index(lane)
    assert lane.tokenizer is not None and lane.live is not None and not lane.why_none
    assert lane.live.tokenizer is lane.tokenizer and lane.live.text == text
    assert lane.live.ids == lane.tokenizer.encode(
        text, disallowed_special=()
    ) and lane.n_tokens == len(lane.live.ids)
    first = {shape(edited, span) for span in edited.spans(0, len(text))}
    alike = {span[:2]: shape(lane, span) in first for span in lane.spans(0, len(text))}
    rows = Rows(edited.document, 20)
    rows.n_lanes = len(edited.lanes)
    for y in range(number, rows.height, 7 * rows.n_lanes):
        place = rows.place(y)
        assert place is not None and place.lane == number
        start = edited.stretch(place)[0]
        for token in edited.row(place, 6).tokens:
            whole = (
                start + token.start - token.outside[0],
                start + token.end + token.outside[1],
            )
            assert token.is_alike == alike[whole]


def shape(lane: Lane, span: Span) -> tuple[object, ...]:
    """Where a token begins and ends; of several that share a character, all of them."""
    assert lane.live is not None
    is_shared = len(span.ids) > 1
    return *span[:2], *(
        len(lane.live.tokenizer.token_bytes(token)) for token in span.ids if is_shared
    )


def bounds(row: RowContent) -> list[Columns]:
    return [(token.start, token.end) for token in row.tokens]


def about(review: Review) -> tuple[object, ...]:
    found, at = [], -1
    while (pitfall := review.next_pitfall(at, 1)) is not None and pitfall.start > at:
        found.append(pitfall)
        at = pitfall.start
    end = review.end and (review.end.start, review.end.ids)
    return review.n_pitfalls, found, review.open_from, end, review.n_completions


def edit(edited: EditedText, rng: random.Random) -> tuple[int, int, str]:
    """A random edit, sometimes one that is big under these limits; what takes it back."""
    n = edited.document.n_characters
    start = rng.choice((0, n, rng.randint(0, n)))
    end = min(n, start + rng.choice((0, 0, 0, 1, 3, 61, n)))
    typed = rng.choice(
        ("", rng.choice(TEXTS)[:3], rng.choice(TEXTS), "".join(rng.choices(TEXTS, k=8)))
    )
    return put(edited, start, end, typed)


def put(edited: EditedText, start: int, end: int, typed: str) -> tuple[int, int, str]:
    document = edited.document
    before = document.n_characters
    gone = document.replace_range(
        document.get_location_from_index(start),
        document.get_location_from_index(end),
        typed,
    ).replaced_text
    return start, start + document.n_characters - before + len(gone), gone


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_done_in_whatever_order(seed: int) -> None:
    rng = random.Random(seed)
    known = tokenizers()
    edited = EditedText(
        "".join(rng.choices(TEXTS, k=rng.choice((0, 3, 12)))), rng.choice(known)
    )
    undo: list[list[tuple[int, int, str]]] = []
    for _ in range(60):
        deed = rng.randrange(13)
        if deed < 5:
            undo.append([edit(edited, rng) for _ in range(rng.choice((1, 1, 1, 4)))])
            changes = [lane.end_edits() for lane in edited.lanes]
            assert list(map(len, changes)) == [
                len(undo[-1]) if lane.tokenizer else 0 for lane in edited.lanes
            ]
        elif deed == 5 and undo:  # several edits at once, as an undo takes them back
            for taken_back in reversed(undo.pop()):
                put(edited, *taken_back)
            for lane in edited.lanes:
                lane.end_edits()
        elif deed == 6:
            edited.use(rng.choice(known))
            undo = undo[-3:]
        elif deed == 7 and edited.live is not None:
            edited.pin()
        elif (
            deed == 8 and (reading := edited.next_reading) is not None
        ):  # edits may come between reading and taking
            reading.run()
            undo.append([edit(edited, rng)])
            for lane in edited.lanes:
                lane.end_edits()
            edited.take_reading(reading)
        elif deed == 9:
            edited.settle_all(0)
            edited.settle_review(0) if edited.is_settled else None
        elif deed == 10:
            edited.set_cursor(rng.randint(0, edited.document.n_characters))
        elif deed == 11:
            edited.use_lanes(
                [
                    other
                    for other in rng.choices(known, k=rng.randrange(4))
                    if other is not None
                ]
            )
        else:
            check(settled(edited))
    check(settled(edited))


@pytest.mark.usefixtures("small_limits")
def test_tokenizers_may_change_while_a_text_is_read() -> None:
    """As in a training: the reading goes on, and its pieces are those of the newest step."""
    edited = EditedText("the theme\n" * 50, LEARNED)
    reading = edited.reading
    assert reading is not None
    edited.use(LEARNED.at(30))
    put(edited, 3, 3, "x")
    edited.end_edits()
    assert edited.reading is reading
    check(settled(edited))


def test_another_step_and_another_tokenizer_color_anew_what_was_drawn() -> None:
    edited = EditedText("the theme\n" * 5, LEARNED)
    for tokenizer in (
        LEARNED,
        LEARNED.at(3),
        LEARNED.at(40),
        Tokenizer(LEARNED.vocabulary, "none"),
        LEARNED.at(0),
    ):
        edited.use(tokenizer)
        rows, fresh = (
            Rows(edited.document, 20),
            EditedText(edited.document.text, tokenizer),
        )
        for y in range(rows.height):
            place = rows.place(y)
            assert (
                place is not None
                and edited.row(place, 6).tokens == fresh.row(place, 6).tokens
            )


EVIL = Tokenizer(LEARNED.vocabulary, r"(?:a|aa)+!|[a-z]+|\s|.")


def test_a_pattern_that_takes_too_long_leaves_the_text_and_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    impatient(monkeypatch)
    times: list[str] = []
    edited = EditedText("", EVIL, gave_up=lambda: times.append("gave up"))
    put(edited, 0, 0, "a" * 36)
    for n in range(36, 40):
        put(edited, n, n, "a")
        edited.end_edits()
        edited.set_cursor(n)
    assert edited.document.text == "a" * 40 and times
    settled(edited)
    assert edited.live is None and "took more than" in edited.why_none
    edited.use(EVIL.at(3))  # another step splits alike: that need not be tried again
    assert edited.live is None
    put(edited, 0, 39, "")
    edited.end_edits()
    settled(edited)
    assert not edited.why_none and edited.live is not None and edited.live.text == "a"
    put(edited, 1, 1, "a" * 40)
    edited.end_edits()
    settled(edited)
    assert edited.why_none
    edited.use(LEARNED)
    check(settled(edited))


def test_a_part_that_is_hard_to_split_where_the_whole_is_not_has_no_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    impatient(monkeypatch)
    edited = EditedText("a" * 60 + "!", EVIL)
    assert "aa│!" in document([drawn_lanes(edited, ["evil"], (58, 61))])
    with pytest.raises(PatternError, match="took more than"):
        drawn_lanes(edited, ["evil"], (0, 60))


@pytest.mark.usefixtures("small_limits")
def test_a_question_that_takes_too_long_is_answered_beside_the_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    edited = EditedText("the theme", Tokenizer(LEARNED.vocabulary, r"[a-z]+|\s"))
    live = settled(edited).live
    assert live is not None

    def slow(*_: object) -> None:
        raise PatternError("slow")

    monkeypatch.setattr(live, "spans", slow)
    assert edited.spans(0, 3) == [] and edited.live is None and not edited.why_none
    assert edited.reading is not None and edited.reading.is_thorough
    check(settled(edited))
    monkeypatch.setattr(edited.review, "settle", slow)
    put(edited, 0, 0, "x")
    edited.end_edits()
    assert edited.settle_review(1) and edited.why_no_review == "slow"
    assert edited.live is not None, "the tokens stay"
