"""Letters on the parts of the screen: each leads to its part, also from a text field."""

import pytest
from scope import Opened, Scope, key
from textual.widgets import Input, Static

from tui.dialogs.jump_labels import JumpLabels

pytestmark = pytest.mark.usefixtures("kept")


async def jump(scope: Scope) -> JumpLabels:
    """Press the key, and wait for the labels."""
    await scope.press("alt+j")
    await scope.until(
        lambda: isinstance(scope.app.screen, JumpLabels), "labels are shown"
    )
    labels = scope.app.screen
    assert isinstance(labels, JumpLabels)
    await scope.until(
        lambda: all(label.region for label in labels.query(Static)), "they are drawn"
    )
    return labels


@pytest.mark.parametrize(
    "size", [(120, 40), pytest.param((200, 60), marks=pytest.mark.slow)]
)
async def test_each_letter_leads_to_the_part_that_it_stands_on(
    opened: Opened, size: tuple[int, int]
) -> None:
    async with opened(size=size) as scope:
        text = scope.area.text
        letters = list((await jump(scope))._targets)
        await scope.press("escape")
        await scope.back()
        assert scope.area.has_focus, "Escape leaves everything as it was"
        assert len(letters) >= 8
        focused = set()
        for letter in letters:
            labels = await jump(scope)
            target = labels._targets[letter]
            label = labels.query_one(f"#jump-{letter}")
            assert label.region.offset == target.offset
            await scope.press(letter)
            await scope.back()
            if target.part is None:
                assert scope.screen.active == target.pane
                scope.screen.action_show("training")
                scope.screen.action_show("editor")
                await scope.settle()
                continue
            assert scope.screen.focused is target.part
            focused.add(target.part)
            if target.pane:
                assert scope.screen.active == target.pane
        assert {scope.area, scope.tree, scope.training.log_of_merges} <= focused
        assert scope.area.text == text


async def test_a_small_screen_has_letters_on_the_tabs(opened: Opened) -> None:
    async with opened(size=(80, 24)) as scope:
        labels = await jump(scope)
        panes = {
            target.pane: letter
            for letter, target in labels._targets.items()
            if target.part is None
        }
        assert set(panes) == {"corpus", "training", "audit", "compare"}
        await scope.press(panes["corpus"])
        await scope.back()
        assert scope.tree.has_focus
        labels = await jump(scope)
        (letter,) = (
            letter
            for letter, target in labels._targets.items()
            if target.pane == "editor"
        )
        await scope.pilot.click(f"#jump-{letter}")
        await scope.back()
        assert scope.screen.active == "editor" and scope.area.has_focus


async def test_the_letter_is_typed_together_with_the_key(opened: Opened) -> None:
    """Over a slow line both keys arrive at once; neither is written into the text field."""
    async with opened(size=(120, 40)) as scope:
        field = scope.training.fields.first
        assert isinstance(field, Input)
        scope.screen.set_focus(field)
        await scope.settle()
        value = field.value
        labels = await jump(scope)
        letter = next(
            letter
            for letter, target in labels._targets.items()
            if target.part is scope.tree
        )
        await scope.press("ctrl+f")
        await scope.back()
        assert scope.screen.focused is field
        await scope.batch(key("ctrl+f"), key(letter))
        await scope.until(lambda: scope.tree.has_focus, "the letter leads there")
        assert field.value == value


async def test_the_labels_go_when_the_terminal_is_resized(opened: Opened) -> None:
    async with opened(size=(120, 40)) as scope:
        await jump(scope)
        await scope.pilot.resize_terminal(100, 30)
        await scope.back()
        assert scope.area.has_focus
