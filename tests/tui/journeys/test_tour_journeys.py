"""Lessons: each to its end, left and taken up again, those of a file, and what is said at the first start."""

import re
from pathlib import Path

import pytest
from player import Cells, Player, play

from bpe_core import train
from bpe_core.content.samples import EDITOR_GREETING, EXAMPLES, SAMPLES
from tests.tui.test_main import in_a_terminal
from tui.disk import config
from tui.disk.lessons import LessonError, own_lessons, read_lesson

FIRST, *TOUR = own_lessons()
FOUNDING = ["aaab", "d", "aaab", "a", "c"]
TEXT = "the theme of the other thesis"


def caption(lesson: str, number: int) -> str:
    return f" {lesson} · {number} of "


def says(step: dict[str, object]) -> object:
    """Whether all that a step says is seen."""
    return lambda screen: step["say"] in " ".join(" ".join(screen.rows[-3:-1]).split())


async def begin(player: Player, lesson: int) -> None:
    await player.command(f"learns {lesson}")


@pytest.mark.parametrize("number", range(1, 9))
async def test_a_lesson_leads_to_its_end_and_on(small: Path, number: int) -> None:
    lesson = TOUR[number - 1]
    async with play(tokenizers=(small,), size=(80, 24)) as player:
        await begin(player, number)
        for at, step in enumerate(lesson.steps, 1):
            kind, _, what = str(step.get("wait", "next")).partition(" ")
            if kind == "step" and "train" in step and "merges" not in step:
                continue  # it goes on by itself
            await player.until(caption(lesson.title, at), says(step))
            if "merges" in step:
                await player.until(
                    lambda screen, step=step: (
                        screen.step[0] == min(step["merges"], screen.step[1])
                    )
                )
            if "at" in step or kind == "edit":
                await player.until(" F4 Editor ", " tokens  ")
            if step.get("merges") == 0:
                await player.until(
                    "256 tokens"
                )  # what is asked for is not answered yet
            if "options" in step and step["pane"] == "training":
                await player.until(
                    f" tokens · {step['options'].get('pattern', 'gpt4')} · ties "
                )
            if lesson.name == "2-first-merge" and at == 4:
                await player.until(
                    "5 tokens", lambda screen: FOUNDING in screen.pieces("aaabdaaabac")
                )
            if step.get("pane") == "audit":
                await player.until("suspicious tokens ·", "TinTeapotMajor")
            player.press({"key": what, "edit": "x", "step": "f7"}.get(kind, "f12"))
        if number < 8:
            await player.until(
                caption(TOUR[number].title, 1), says(TOUR[number].steps[0])
            )
        else:
            await player.until(
                "step 24 of 24", "Type here", lambda screen: "leave" not in screen
            )


async def test_a_space_at_the_end_of_the_prompt_is_a_token_as_the_lesson_says() -> None:
    lesson = TOUR[6]
    assert "Press End, type a space" in lesson.steps[4]["say"]
    async with play(size=(80, 24)) as player:
        await begin(player, 7)
        for number in range(1, 5):
            await player.until(
                caption(lesson.title, number), says(lesson.steps[number - 1])
            )
            player.press("ctrl+r" if number == 2 else "f12")
        await player.until(caption(lesson.title, 5), "6 tokens", "The answer is")
        player.press("end", "space")
        await player.until(caption(lesson.title, 6), "7 tokens", "+1 token ")


def test_lessons_state_what_the_engine_counts() -> None:
    said = {
        lesson.name: " ".join(step["say"] for step in lesson.steps)
        for lesson in own_lessons()
    }
    text = {sample.name: sample.path.read_bytes().decode() for sample in SAMPLES}
    story = train(text["english-prose"], vocab_size=1024)

    assert text["english-prose"].count(" t") == 483
    assert "a space (␣) and t, 483 times" in said["0-first-start"]
    assert story.decode(story.at(5).encode(" the")[:1]) == " the"
    assert len(story.at(4).encode(" the")) == 2
    assert "at step 5, ␣t and he became ␣the" in said["0-first-start"]

    assert [story.token_bytes(id) for id in story.encode("café")] == [
        b"ca",
        b"f",
        b"\xc3",
        b"\xa9",
    ]
    assert "They join c and a in café, but é and 雨 stay bytes" in said["1-bytes"]

    assert "strawberry" not in text["english-prose"]
    assert len(story.encode("strawberry")) == 5
    assert "strawberry is not in the story, so it takes five" in said["5-encoding"]

    everyday = train(
        text["english-everyday"], vocab_size=700, special_tokens=["<|user|>"]
    )
    assert len(everyday.encode("<|user|>", disallowed_special=())) == 7
    assert "ordinary text, seven tokens" in said["7-special-tokens"]


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
        for number in 1, 2:
            await player.until(
                caption("The first merge", number), f"step {number - 1} of 3", " 259 "
            )
            player.press("f7")
        await player.until(caption("The first merge", 3), "Chosen  the editor's text")
        player.press("f11")
        await player.until(caption("The first merge", 2), "step 1 of 3")
        player.press("x", "escape")
        await player.until(is_as_it_was)
        await begin(player, 2)
        await player.until(
            caption("The first merge", 2),
            "step 1 of 3",
            lambda screen: "aaabdaaabac" in screen,
        )
        await begin(player, 6)  # from one into another
        await player.until(caption("Numbers, code, languages", 1), "It was raining")
        player.write("mine")
    async with play() as player:  # it was left by leaving all
        await player.until(is_as_it_was)
        await begin(player, 2)
        await player.until(caption("The first merge", 2), "step 1 of 3")
        player.press("f6", "f12", "f12", "f12", "alt+comma", "alt+full_stop", "escape")
        await player.until(is_as_it_was)
        player.press("f11", "f12")
        await player.rest()
        assert is_as_it_was(player.screen)


async def test_the_first_start_is_explained_once(home: Path) -> None:
    config.save_configuration(
        config.Configuration(pace=160)
    )  # no machine is so busy that it ends by itself
    async with play(full_speed=False, size=(80, 24)) as player:
        await player.until(" Welcome · ")
        await player.command("Show all merges")
        await player.until(
            caption("Welcome", 4), says(FIRST.steps[3]), "step 768 of 768"
        )
        player.write("typed")
        await player.until(
            "Type to see tokens", lambda screen: "Esc leave" not in screen
        )
    async with play(full_speed=False) as player:
        await player.until(
            "step 768 of 768", "typed", lambda screen: "Esc leave" not in screen
        )


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
        await player.until(caption("Mine", 1), "abab", "step 0 of 2")
        player.press("f7")
        await player.until(caption("Mine", 2), "Second.")
        player.press("f12")
        await player.until("step 768 of 768", "Type here")


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
