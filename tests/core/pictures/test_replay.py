"""A text replayed merge by merge: every step that changes its tokens, and no other; recordings that others can play."""

import json
import re
from xml.etree import ElementTree

import pytest

from bpe_core import train
from bpe_core.errors import OptionError
from bpe_core.pictures.layout import laid_out
from bpe_core.pictures.replay import LAST_SECONDS, animation, cast, frames, steps_seen

CORPUS = "the theme of the other thesis, the thing that they thought through 日本 日中\n" * 8
TEXT = "the thesis 日本\nof the others\n"
TOKENIZER = train(CORPUS, vocab_size=330)


@pytest.mark.parametrize("text", [TEXT, "", "q", CORPUS])
def test_the_steps_seen_are_those_that_change_the_tokens(text: str) -> None:
    changed = [
        step
        for step in range(1, TOKENIZER.step + 1)
        if TOKENIZER.at(step).encode(text) != TOKENIZER.at(step - 1).encode(text)
    ]
    assert steps_seen(TOKENIZER, text) == changed


def test_a_replay_begins_with_the_bytes_and_ends_with_all_merges() -> None:
    shown = frames(TOKENIZER, TEXT)
    assert len(shown) == 1 + len(steps_seen(TOKENIZER, TEXT))
    assert shown[0].title == "bytes" and shown[1].title.startswith("step 1 of 35: t + h")
    assert [sum(len(chip.ids) for chip in frame.picture.chips) for frame in shown] == [
        len(TOKENIZER.at(step).encode(TEXT)) for step in (0, *steps_seen(TOKENIZER, TEXT))
    ]
    few = frames(TOKENIZER, TEXT, most=5)
    assert len(few) == 5 and few[0] == shown[0] and few[-1].title == shown[-1].title


@pytest.mark.parametrize("most", [5, 100])
def test_what_the_steps_since_the_frame_before_made_is_marked(most: int) -> None:
    shown = frames(TOKENIZER, TEXT, most)
    before: set[bytes] = set()
    for frame in shown:
        made = {chip.data for chip in frame.picture.chips if len(chip.data) > 1 and len(chip.ids) == 1}
        new = {chip.data for chip in frame.picture.chips if chip.is_new and len(chip.ids) == 1}
        assert new == made - before
        before |= made
    new = [chip for chip in shown[-1].picture.chips if chip.is_new]
    assert cast(shown[-1:]).count(r"\u001b[1;4;38;5;16") == len(new)
    assert animation(shown[-1:]).count(' n"/>') == sum(1 for chip in new for line in chip.lines if line)


def test_a_cast_is_what_asciinema_plays() -> None:
    shown = frames(TOKENIZER, TEXT)
    head, *events = map(json.loads, cast(shown, 0.5, 40).splitlines())
    assert (head["version"], head["width"]) == (2, 40)
    assert [event[0] for event in events[:-1]] == [0.5 * index for index in range(len(shown))]
    assert events[-1] == [0.5 * (len(shown) - 1) + LAST_SECONDS, "o", ""]
    for frame, (_, kind, written) in zip(shown, events, strict=False):
        assert kind == "o" and frame.title in written
        places = [(int(row) - 1, int(column) - 1) for row, column in re.findall(r"\x1b\[(\d+);(\d+)H", written)]
        assert places == [(part.row, part.column) for part in laid_out(frame.picture.chips, 40, 2)]
        assert max(row for row, _ in places) < head["height"] and max(column for _, column in places) < 40


def test_an_animation_is_one_document_of_all_frames_each_in_its_turn() -> None:
    shown = frames(TOKENIZER, TEXT)
    root = ElementTree.fromstring(animation(shown, 0.5))
    total = 0.5 * (len(shown) - 1) + LAST_SECONDS
    groups = root.findall("{http://www.w3.org/2000/svg}g")
    assert [group.get("style") for group in groups] == [
        f"animation-delay: {0.5 * index - total:.3f}s" for index in range(len(shown))
    ]  # begun before it is seen: until an animation begins, the last frame is what is seen of it
    for frame, group in zip(shown, groups, strict=True):
        told = [element.text or "" for element in group.iter("{http://www.w3.org/2000/svg}text")]
        assert told[0] == frame.title
        assert "".join(told[2:]) == "".join(line for chip in frame.picture.chips for line in chip.lines)


@pytest.mark.parametrize("make", [cast, animation])
@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_frame_takes_some_time(make: object, seconds: float) -> None:
    with pytest.raises(OptionError, match="more than 0 seconds"):
        make(frames(TOKENIZER, "a"), seconds)
