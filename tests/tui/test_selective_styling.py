"""What the screen does not style anew looks as if it had been: the short way and Textual's long one agree."""

from pathlib import Path

import pytest
from scope import Opened, Scope
from textual.css.styles import RulesMap


def styles_of(scope: Scope) -> dict[str, RulesMap]:
    """The rules of every widget, and of every component of one, by its place on the screen."""
    found = {}
    for number, node in enumerate(scope.screen.walk_children(with_self=True)):
        found[f"{number} {node!r}"] = node.styles.base.get_rules()
        for component, styles in node._component_styles.items():
            found[f"{number} {node!r} {component}"] = styles.get_rules()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (110, 32), (120, 40), (200, 60)], ids=str)
async def test_every_widget_has_the_styles_that_all_of_the_sheet_gives_it(
    opened: Opened, kept: Path, size: tuple[int, int]
) -> None:
    async with opened(size=size) as scope:
        await scope.until_tokenizer()
        for key in ("f2", "tab", "f3", "f5", "f9", "f4", "f3", "f9", "f2", "f1", "escape", "f5"):
            await scope.press(key)
            short = styles_of(scope)
            scope.app.update_styles(scope.screen, animate=False)
            assert short == styles_of(scope), key


async def test_a_pane_is_brought_to_the_front_without_styling_those_that_stay_as_they_are(
    opened: Opened, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        sheet, styled = scope.app.stylesheet, []
        apply = sheet.apply
        monkeypatch.setattr(sheet, "apply", lambda node, **how: styled.append(node) or apply(node, **how))
        await scope.press("f5")
        everything = list(scope.screen.walk_children(with_self=True))
        assert 0 < len([node for node in styled if node in everything]) < len(everything) / 2
