"""Lessons: each to its end, left and taken up again, those of a file, and what is said at the first start."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from player import Cells, Player, play

from bpe_core.content.samples import EDITOR_GREETING, EXAMPLES, SAMPLES
from bpe_core.worker.messages import Done, Event, Started, Stop
from bpe_core.worker.train import TrainRequest
from tests.check_lesson import SIZES, problems_of, shows_sentence
from tests.tui.test_main import in_a_terminal
from tui.disk import config
from tui.disk.lessons import LessonError, own_lessons, read_lesson
from tui.process import WorkerProcess

TOUR = own_lessons()
TEXT = "the theme of the other thesis"
NUMBERS = "two three four five six seven eight nine ten eleven twelve"
KEYS_AND_NAMES = (
    r"\bF\d+|GPT-\d|UTF-\d",  # keys, a model and an encoding
    r"from 0 to 255|Ids 0 to 255|256 single-byte tokens",  # what a byte is
    r"so 123|123 and 45|base 16",
    r"16 languages|two digits|two neighbors|two programs",
)
"""What is no count of anything on the screen."""


def caption(lesson: str, number: int) -> str:
    return f" {lesson} · {number} of "


def says(step: dict[str, object]) -> object:
    """Whether all that a step says is seen."""
    return shows_sentence(str(step["say"]))


def outside(screen: Cells) -> bool:
    """Whether no lesson is shown."""
    return "Esc leave" not in screen


async def begin(player: Player, lesson: int) -> None:
    await player.command(f"learns {lesson}")


@pytest.mark.parametrize("obeys", [True, False])
@pytest.mark.parametrize(
    "size", [SIZES[0], pytest.param(SIZES[1], marks=pytest.mark.slow)]
)
async def test_all_lessons_are_true_whether_one_does_what_they_say_or_not(
    home: Path, size: tuple[int, int], obeys: bool
) -> None:
    assert await problems_of(TOUR, size, obeys=obeys) == []


@pytest.mark.parametrize(
    "claim, value",
    [("tokens", 12), ("next pair", "a + b"), ("shows", ["a single token"])],
)
async def test_a_claim_that_is_not_true_is_reported(
    home: Path, claim: str, value: object
) -> None:
    first = dict(TOUR[1].steps[0])
    first["expect"] = {**first["expect"], claim: value}
    lesson = replace(TOUR[1], steps=(first,))
    (problem,) = await problems_of([lesson], SIZES[0], obeys=False)
    assert f"The first merge · 1 of : {claim} = {value!r}, but it is " in problem


def test_each_number_in_a_sentence_is_expected() -> None:
    for lesson in TOUR:
        for number, step in enumerate(lesson.steps, 1):
            said = step["say"]
            for part in KEYS_AND_NAMES:
                said = re.sub(part, "", said)
            words = re.findall(r"[a-z]+", said.lower())
            spelled = {
                str(n) for n, word in enumerate(NUMBERS.split(), 2) if word in words
            }
            figures = re.findall(r"\d[\d.]*\d|\d", said)
            claims = str(step.get("expect", {}))
            expected = set(re.findall(r"\d[\d.]*\d|\d", claims))
            assert {*figures, *spelled} <= expected, (lesson.name, number)


def test_each_lesson_asks_one_question() -> None:
    for lesson in TOUR:
        assert sum("ask" in step for step in lesson.steps) == 1


async def test_the_panel_of_a_split_scrolls_to_its_merges(home: Path) -> None:
    async with play(lesson="5-encoding", size=(120, 40)) as player:
        await player.until(caption(TOUR[4].title, 1), "No merge joins these")
        player.press("f12")
        await player.until(caption(TOUR[4].title, 2))
        player.press("tab", *8 * ["down"])
        await player.until("step by step ", "5 merges")


async def test_f12_starts_and_resumes_the_tour_from_anywhere(kept: Path) -> None:
    async with play(size=(80, 24)) as player:
        await player.until("step 24 of 24")
        player.press("f12")
        await player.until(caption(TOUR[0].title, 1), says(TOUR[0].steps[0]))
        player.press("f12")
        await player.until(caption(TOUR[0].title, 2), says(TOUR[0].steps[1]))
        player.press("escape")
        await player.until("step 24 of 24", outside)
        player.press("f3", "f3", "f12")
        await player.until(caption(TOUR[0].title, 2), says(TOUR[0].steps[1]))
        player.write("typed")
        player.press("escape")
        await player.until("step 24 of 24", outside)
    async with play(size=(80, 24)) as player:
        await player.until("step 24 of 24")
        player.press("f12")
        await player.until(caption(TOUR[0].title, 2), says(TOUR[0].steps[1]))


async def test_a_tour_that_was_finished_starts_again(kept: Path) -> None:
    configuration = config.Configuration(lessons={TOUR[-1].name: "5"})
    config.save_configuration(configuration)
    async with play(size=(80, 24)) as player:
        await player.until("step 24 of 24")
        player.press("f12")
        await player.until(caption(TOUR[0].title, 1))
        player.press("f11")
        await player.rest()
        assert caption(TOUR[0].title, 1) in player.screen


async def test_f11_leads_to_the_end_of_the_lesson_before(kept: Path) -> None:
    async with play(size=(80, 24)) as player:
        await player.until("step 24 of 24")
        await begin(player, 3)
        await player.until(caption(TOUR[2].title, 1), "step 1 of 6")
        player.press("f11")
        last = len(TOUR[1].steps)
        await player.until(caption(TOUR[1].title, last), "step 3 of 3", " 5 tokens ")


async def test_the_last_sentence_stays_until_f12_or_esc(home: Path) -> None:
    (home / "mine.toml").write_text(OWN + 'wait = "edit"\n')
    async with play(lesson=str(home / "mine.toml")) as player:
        await player.until(caption("Mine", 1), "step 0 of 1")
        player.press("f12")
        await player.until(caption("Mine", 2), "step 1 of 1")
        player.write("x")
        await player.until("xabab")
        await player.rest()
        assert caption("Mine", 2) in player.screen
        player.press("f12")
        await player.until("Type here", outside)


async def test_a_question_is_answered_by_typing_and_told_why(kept: Path) -> None:
    async with play(size=(80, 24)) as player:
        await player.until("step 24 of 24")
        await begin(player, 2)
        question = "Which pair of neighbors occurs most often?"
        await player.until(question)
        player.write("x y")
        player.press("enter")
        await player.until(
            "Not yet. 'x y' is not a pair of neighbors here. Try again, or press F12."
        )
        for typed, reason in (
            ("a b", "Not yet. a + b occurs 2 times; another pair occurs 4 times."),
            ("aa", "Right. a + a occurs 4 times, more often than any other pair."),
        ):
            player.press("ctrl+u")
            player.write(typed)
            player.press("enter")
            await player.until(reason)
        await player.until(lambda screen: question not in screen)
        player.press("f12")
        await player.until(caption("The first merge", 2))


async def test_a_question_of_a_file_has_right_texts_and_a_reason(home: Path) -> None:
    (home / "mine.toml").write_text(
        """title = "Mine"
        [[step]]
        say = "First."
        text = "a b"
        train = "the text"
        options = { vocab_size = 257, pattern = "none", min_count = 1 }
        merges = 0
        ask = "What does a model read?"
        answer = ["ids", "numbers"]
        because = "It has no letters."
        [[step]]
        say = "Second."
        ask = "Which pair comes next?"
        answer = "next pair"
        """
    )
    async with play(lesson=str(home / "mine.toml")) as player:
        await player.until("What does a model read?")
        player.write("letters\n")
        await player.until("Not yet. It is not 'letters'. Try again, or press F12.")
        player.press("ctrl+u")
        player.write("Numbers\n")
        await player.until("Right. It has no letters.")
        player.press("f11")
        await player.until("What does a model read?", "First.")
        player.press("f12")
        await player.until("Answer: ids. It has no letters.")
        player.press("f12")
        await player.until("Which pair comes next?")
        player.write("space b\n")
        await player.until("␣ + b occurs once, and so does the pair that wins the tie.")
        player.press("ctrl+u")
        player.write("a space\n")
        await player.until("Right. a + ␣ occurs once, as often as 1 other pair;")


async def test_the_recipe_of_the_readme_makes_a_glitch_token(home: Path) -> None:
    async with play(size=(80, 24)) as player:
        await player.until("step 768 of 768")
        await begin(player, 8)
        await player.until(caption(TOUR[7].title, 2), "Which name")
        player.press("f12", "f12")
        await player.until("notes ·", "absent-from-reference")
        player.press("w")
        await player.until("14  #48004 by␣TinTeapotMajor")
        player.press("tab", "down", "enter")
        await player.until(" Editor  F4 ", "ids 276")
        player.press("f5")
        await player.until(" Audit  F5 ")
        player.press("escape")
        await player.until("step 768 of 768", outside)


async def test_esc_leaves_the_question_before_the_lesson(kept: Path) -> None:
    question = "Which pair of neighbors occurs most often?"
    async with play(size=(80, 24)) as player:
        await player.until("step 24 of 24")
        await begin(player, 2)
        await player.until(question)
        player.press("escape")
        player.write("b")
        await player.until("baaabdaaabac", question)
        player.press("f12")
        await player.until(
            "Answer: a + a occurs 4 times", lambda screen: question not in screen
        )
        player.press("escape")
        await player.until("step 24 of 24", outside)


async def test_alt_arrows_in_a_lesson_skip_merges_that_change_nothing(
    kept: Path,
) -> None:
    async with play(size=(80, 24)) as player:
        await player.until("step 24 of 24")
        await begin(player, 1)
        for _ in range(7):
            await player.rest()
            player.press("f12")
        await player.until(caption(TOUR[0].title, 7), "step 768 of 768", "63 tokens")
        player.press("alt+left")
        await player.until("64 tokens")
        player.press("alt+right")
        await player.until("63 tokens")
        player.press("escape")
        await player.until("step 24 of 24", outside)
        player.press("alt+left")
        await player.until("step 23 of 24")


async def test_after_a_lesson_the_panes_are_as_before(kept: Path) -> None:
    async with play(size=(120, 40)) as player:
        await player.until("step 24 of 24")
        player.press("f5")
        await player.until("notes ·")
        player.press("s", "s")
        await player.rest()
        player.press("alt+left", "f9")
        await player.until("step 23 of 24", lambda screen: " F2 " not in screen.rows[1])
        await player.rest()
        before = player.screen.text
        await begin(player, 7)
        for number, step in enumerate(TOUR[6].steps[:4], 1):
            await player.until(caption(TOUR[6].title, number), says(step))
            player.press("f12")
        await player.until(TOUR[6].steps[4]["ask"])
        player.press("f9", "f3", "right", "f5")
        await player.until("notes ·")
        player.press("s", "S", "escape")
        await player.until("step 23 of 24", outside)
        await player.until(lambda screen: screen.text == before)


def test_no_sentence_depends_on_colors() -> None:
    sentences = [step["say"] for lesson in own_lessons() for step in lesson.steps]
    sentences += [sample.reason for sample in SAMPLES]
    sentences += [example.see for example in EXAMPLES]
    sentences.append(EDITOR_GREETING)
    for sentence in sentences:
        assert not re.search(r"(?i)\bcolou?r", sentence)


async def test_a_lesson_is_left_and_taken_up_again_and_all_is_there_as_it_was(
    book: Path, small: Path
) -> None:
    def is_as_it_was(screen: Cells) -> bool:
        own = (
            TEXT in screen and "✓ book.txt" in screen and "small · 280 tokens" in screen
        )
        return (
            own
            and screen.step == (24, 24)
            and "Esc leave" not in screen
            and "1,024 tokens" in screen
        )

    async with play(book, tokenizers=(small,)) as player:
        await player.until("step 24 of 24", "✓ book.txt")
        player.press("ctrl+a")
        player.write(TEXT)
        await begin(player, 2)
        await player.until(caption("The first merge", 1), "Which pair", " 300 ")
        player.press("f12", "f12")
        for number in 2, 3:
            await player.until(
                caption("The first merge", number), f"step {number - 2} of 3"
            )
            player.press("f7")
        await player.until(caption("The first merge", 4), "Chosen  the editor's text")
        player.press("f11")
        await player.until(caption("The first merge", 3), "step 1 of 3")
        player.press("x", "escape")
        await player.until(is_as_it_was)
        await begin(player, 2)
        await player.until(
            caption("The first merge", 3),
            "step 1 of 3",
            lambda screen: "aaabdaaabac" in screen,
        )
        await begin(player, 6)  # from one into another
        await player.until(caption("Numbers, code, languages", 1), "It was raining")
        player.write("mine")
    async with play() as player:  # it was left by leaving all
        await player.until(is_as_it_was)
        await begin(player, 2)
        await player.until(caption("The first merge", 3), "step 1 of 3")
        player.press("f6", "f12", "f12", "f12", "alt+comma", "alt+full_stop", "escape")
        await player.until(is_as_it_was)
        player.press("f11")
        await player.rest()
        assert is_as_it_was(player.screen)


OWN = """title = "Mine"
[[step]]
say = "First."
text = "abab"
train = "the text"
options = { vocab_size = 258, pattern = "none" }
merges = 0
wait = "until length >= 2"
[[step]]
say = "Second."
"""


async def test_a_lesson_in_a_file_is_begun_at_once_and_what_was_never_there_comes_after_it(
    home: Path,
) -> None:
    (home / "mine.toml").write_text(OWN)
    async with play(lesson=str(home / "mine.toml")) as player:
        await player.until(caption("Mine", 1), "abab", "step 0 of 1")
        player.press("f7")
        await player.until(caption("Mine", 2), "Second.")
        player.press("f12")
        await player.until("step 768 of 768", "Type here")


@pytest.mark.parametrize(
    ("next_event", "phase"), [(Started, "counting"), (Done, "learning")]
)
async def test_leaving_a_lesson_stops_its_training(
    kept: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    next_event: type[Event],
    phase: str,
) -> None:
    (home / "mine.toml").write_text(OWN)
    stopped = asyncio.Event()
    batches = WorkerProcess.batches
    send = WorkerProcess.send

    async def batches_up_to(worker: WorkerProcess) -> AsyncIterator[list[Event]]:
        async for events in batches(worker):
            for event in events:
                is_training = isinstance(worker.request, TrainRequest)
                if is_training and isinstance(event, next_event):
                    await stopped.wait()
                yield [event]

    def send_and_note(worker: WorkerProcess, message: object) -> None:
        if isinstance(message, Stop):
            stopped.set()
        send(worker, message)

    monkeypatch.setattr(WorkerProcess, "batches", batches_up_to)
    monkeypatch.setattr(WorkerProcess, "send", send_and_note)
    async with play(lesson=str(home / "mine.toml")) as player:
        await player.until(caption("Mine", 1), phase)
        player.press("escape")
        await player.until("step 24 of 24", outside)
        assert stopped.is_set()


@pytest.mark.parametrize(
    "line, change, sentence",
    [
        (1, "title = 3", "title must be a text of at most 32 characters, not '3'"),
        (1, 'title = "Mine"\nnote = 1', "line 2: Unknown field 'note'"),
        (1, 'title = "Mine', "(at line 1, column 14)"),
        (2, "step = [3]", "step must be tables that begin with [[step]]"),
        (2, "[[steps]]", "Unknown field 'steps'; use title, step"),
        (3, "", "line 2: say must be"),
        (3, "say = '" + 151 * "x" + "'", "say must be a text of at most 150"),
        (4, "txt = 'abab'", "Unknown field 'txt'; use say, text, train"),
        (
            5,
            "train = 'no-such-text'",
            "train must be “the text” in the editor, a file, or one of english-prose",
        ),
        (6, "options = { pattern = '(' }", "options: "),
        (
            6,
            "options = { vocab_size = 'big' }",
            "options: vocab_size is a whole number",
        ),
        (7, "merges = -1", "merges must be a number of merges, not '-1'"),
        (7, "at = 'x'", "at must be in the text"),
        (7, "pane = 'edit0r'", "pane must be one of corpus, training, editor"),
        (8, "wait = 'key f99'", "wait must be next, edit, a key"),
        (8, "wait = 'until tea'", "wait: Invalid condition 'tea'"),
        (10, 'say = "Second."\nwait = "soon"', "line 11: wait must be"),
        (6, "options = " + 5_000 * "[", "line 6: it is nested too deeply"),
        (6, "options = " + 5_000 * "{ a = ", "line 6: it is nested too deeply"),
        (6, f"options{1_000 * '.a'} = 1", "options must be of vocab_size"),
        (5, f"train = '{5_000 * 'x'}'", "train: File name too long"),
        (7, f"merges = {5_000 * '9'}", "line 7: a number has too many digits"),
        (7, f"merges = 0x{5_000 * 'f'}", "merges must be a number of merges"),
        (8, "wait = 'key '", "wait must be next, edit, a key"),
        (7, "specials = 'on'", "specials must be true or false"),
        (8, "type = 3", "type must be a text to type"),
        (8, "ask = 'Why?'", "line 3: ask needs an answer"),
        (8, "answer = 'tokens'", "line 3: answer needs a question"),
        (8, f"ask = '{51 * '?'}'", "ask must be a text of at most 50 characters"),
        (8, "answer = 'tokens off b'", "answer: Unknown quantity 'tokens off b'"),
        (8, "answer = [3]", "answer must be a quantity such as"),
        (8, "expect = { token = 4 }", "expect: Unknown quantity 'token'; use tokens"),
        (8, "expect = { shows = 'x' }", "expect must be a table of shows, pane"),
        (8, "expect = { pane = 3 }", "expect must be a table of shows, pane"),
        (10, "say = 'x'\nask = 'x'\nanswer = 'ids'\nwait = 'edit'", "line 10: A step"),
    ],
)
def test_a_mistake_in_a_lesson_is_told_in_a_sentence_with_its_line(
    home: Path, line: int, change: str, sentence: str
) -> None:
    lines = OWN.split("\n")
    lines[line - 1 :] = [change, *([] if line == 2 else lines[line:])]
    (home / "mine.toml").write_text("\n".join(lines))
    with pytest.raises(LessonError) as caught:
        read_lesson(home / "mine.toml")
    told = str(caught.value)
    assert (
        told.startswith("mine.toml")
        and sentence in told
        and told.endswith(".")
        and "\n" not in told
    )
    assert "line " in sentence or f"line {line}: " in told


@pytest.mark.parametrize(
    "lesson, sentence",
    [
        (
            b"title = 'Mine'\nstep = [{ say = 'a' }, { say = 'b' }, { x = 1 }]",
            "line 2: ",
        ),
        (OWN.encode() + b"# \xff", "line 11: it is not UTF-8"),
        (OWN.encode() + b"#" * (1 << 20), "at most 1,048,576 are allowed"),
    ],
)
def test_bytes_that_are_no_lesson_are_told_in_a_sentence(
    home: Path, lesson: bytes, sentence: str
) -> None:
    (home / "mine.toml").write_bytes(lesson)
    with pytest.raises(LessonError) as caught:
        read_lesson(home / "mine.toml")
    assert sentence in str(caught.value)
    assert str(caught.value).endswith(".")


def test_no_app_is_opened_on_a_lesson_with_a_mistake(home: Path) -> None:
    (home / "mine.toml").write_text(OWN.replace("merges", "merge"))
    sentence = "bpescope: mine.toml, line 7: Unknown field 'merge'; use say, text"
    code, told = in_a_terminal("--lesson", "mine.toml")
    assert code == 2 and told.startswith(sentence) and told.count("\n") == 1
    (home / "nested.toml").write_text("title = " + 5_000 * "[")
    code, told = in_a_terminal("--lesson", "nested.toml")
    assert (code, told) == (
        2,
        "bpescope: nested.toml, line 1: it is nested too deeply.\n",
    )
    code, told = in_a_terminal("--lesson", "none.toml")
    assert (
        code == 2
        and told
        == "bpescope: none.toml cannot be read as a lesson: No such file or directory.\n"
    )
