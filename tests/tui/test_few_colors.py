"""In a terminal of 16 colors the borders of tokens are seen, and only themes are offered that it can show."""

from pathlib import Path

import pytest
from scope import TEXT, Opened, Scope
from textual.css.styles import RulesMap
from textual.widget import Widget
from textual.widgets import Input, Select

from tui.app import THEMES, has_few_colors
from tui.disk import config


@pytest.fixture
def sixteen(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that says it has no more."""
    monkeypatch.delenv("COLORTERM")
    monkeypatch.setenv("TERM", "xterm")
    assert has_few_colors()


async def test_tokens_side_by_side_have_other_colors(
    opened: Opened, kept: Path, sixteen: None
) -> None:
    theme = "bpescope-dark"
    config.save_configuration(config.Configuration(theme=theme))
    async with opened() as scope:
        assert scope.app.theme == "ansi-dark"
        assert scope.app.available_themes and not set(scope.app.available_themes) & {
            other.name for other in THEMES
        }
        scope.area.load_text(TEXT[:40])
        await scope.until(lambda: len(scope.tokens()) > 5, "there are tokens")
        styles = [
            segment.style
            for segment in scope.area.render_line(0)
            if segment.style and segment.style.bgcolor
        ]
        grounds = {
            style.bgcolor.number
            for style in styles
            if style.bgcolor and not style.bgcolor.is_default
        }
        assert len(grounds) > 3 and all(
            number is not None and number < 16 for number in grounds
        )
    assert config.load_configuration().theme == theme, (
        "a terminal of more colors has the theme that was chosen there"
    )


@pytest.mark.slow
@pytest.mark.parametrize("colors", ["truecolor", ""])
async def test_without_any_color_the_focus_is_seen_as_well(
    opened: Opened, kept: Path, monkeypatch: pytest.MonkeyPatch, colors: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLORTERM", colors)
    monkeypatch.setenv("TERM", "xterm")

    def is_reversed(widget: Widget, y: int = 0) -> bool:
        return any(
            segment.style and segment.style.reverse
            for segment in widget.render_line(y)
            if segment.text.strip()
        )

    async with opened() as scope:
        for field in ("#pattern #label", "#ties #label", "#vocab-size"):
            widget = scope.training.query_one(field)
            before = is_reversed(widget)
            next(
                node
                for node in widget.ancestors_with_self
                if isinstance(node, Select | Input)
            ).focus()
            await scope.settle()
            assert is_reversed(widget) and not before, field
        await scope.press("f2")
        line = scope.tree.cursor_line - scope.tree.scroll_offset.y
        assert is_reversed(scope.tree, line) and not is_reversed(scope.tree, line - 1)
        await scope.press("f4")
        assert not is_reversed(scope.tree, line)


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
        sheet, styled = scope.app.stylesheet, []
        apply = sheet.apply
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(
                sheet,
                "apply",
                lambda node, **how: styled.append(node) or apply(node, **how),
            )
            await scope.press("f5")
        everything = list(scope.screen.walk_children(with_self=True))
        assert (
            0
            < len([node for node in styled if node in everything])
            < len(everything) / 2
        ), "no more than is needed"
        for key in (
            "f2",
            "tab",
            "f3",
            "f5",
            "f9",
            "f4",
            "f3",
            "f9",
            "f2",
            "f1",
            "escape",
            "f5",
        ):
            await scope.press(key)
            short = styles_of(scope)
            scope.app.update_styles(scope.screen, animate=False)
            assert short == styles_of(scope), key
