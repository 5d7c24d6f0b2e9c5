"""In a terminal of 16 colors the borders of tokens are seen, and only themes are offered that it can show."""

from pathlib import Path

import pytest
from rich.style import Style
from scope import TEXT, Alone, Opened, Scope
from textual.app import ComposeResult
from textual.color import Color
from textual.containers import Horizontal
from textual.css.styles import RulesMap
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets import Input, Select

from tui.app import THEMES, BpeScope, has_few_colors
from tui.disk import config
from tui.drawing.lines import ink_of
from tui.drawing.palette import contrast
from tui.text.piece_lines import what_may_come
from tui.widgets.curve import Curve
from tui.widgets.screen_lines import HintLine
from tui.widgets.tokenizer_lists import TokenizerList


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


async def test_the_line_of_a_lesson_is_in_the_colors_of_the_terminal(
    opened: Opened, kept: Path, sixteen: None
) -> None:
    async with opened() as scope:
        scope.screen.caption = "Bytes · 1 of 2\nA computer stores text as bytes."
        await scope.settle()
        line = scope.screen.query_one(HintLine)
        segments = [segment for y in range(2) for segment in line.render_line(y)]
        shown = [segment for segment in segments if segment.text.strip()]
        assert "F12" in "".join(segment.text for segment in shown)
        for text, style, _ in shown:
            assert style and style.reverse, text
            for color in (style.color, style.bgcolor):
                assert color is None or color.is_default, text


async def test_the_cursor_of_a_list_is_seen_without_the_focus_too(
    opened: Opened, kept: Path, sixteen: None
) -> None:
    def styles(widget: Widget, y: int) -> list[Style]:
        segments = widget.render_line(y)
        return [part.style for part in segments if part.style and part.text.strip()]

    async with opened() as scope:
        tokenizers = scope.screen.query_one("#kept", TokenizerList)
        await scope.press("f2")
        row = scope.tree.cursor_line - scope.tree.scroll_offset.y
        assert all(style.reverse for style in styles(scope.tree, row))
        assert any(style.underline for style in styles(tokenizers, 0))
        await scope.press("tab")
        assert scope.screen.focused is tokenizers
        for style in styles(tokenizers, 0):
            assert style.bgcolor and not style.bgcolor.is_default
            assert style.color and style.color.number == 0
        assert any(style.underline for style in styles(scope.tree, row))
        assert not any(style.underline for style in styles(scope.tree, row - 1))


@pytest.mark.parametrize(
    ("colorless", "note"), [(False, "not final (underlined)"), (True, "not final")]
)
async def test_underlines_are_not_explained_where_they_separate_tokens(
    opened: Opened,
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    colorless: bool,
    note: str,
) -> None:
    if colorless:
        monkeypatch.setenv("NO_COLOR", "1")
    async with opened() as scope:
        area = scope.area
        area.load_text("the th")
        await scope.until(
            lambda: area.edited.review and area.edited.review.settled, "it is reviewed"
        )
        tokenizer = area.edited.tokenizer
        assert tokenizer is not None
        lines = what_may_come(area.edited.review, tokenizer, area.palette, 40)
        assert note in [line.left for line in lines]


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
        await scope.press("tab")
        tokenizers = scope.screen.query_one("#kept", TokenizerList)
        assert scope.screen.focused is tokenizers
        (row, *_) = tokenizers.render_line(0)
        assert row.style and row.style.bold and row.style.underline
        await scope.press("f4")
        assert not is_reversed(scope.tree, line)


@pytest.mark.parametrize("colors", ["truecolor", ""])
async def test_without_any_color_lists_and_the_line_of_steps_show_the_focus(
    opened: Opened, kept: Path, monkeypatch: pytest.MonkeyPatch, colors: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLORTERM", colors)
    monkeypatch.setenv("TERM", "xterm")
    async with opened(size=(120, 40)) as scope:
        for key, selector, part in (
            ("f3", "#merge-log", "ink--cursor"),
            ("f5", "#tokens", "ink--cursor"),
            ("f5", "#evidence", "ink--cursor"),
            ("f10", "#comparison", "ink--cursor"),
            ("f4", "#steps", "step-line--thumb"),
        ):
            await scope.press(key)
            widget = scope.screen.query_one(selector)
            scope.area.focus()
            await scope.settle()
            assert not widget.get_component_rich_style(part).reverse, selector
            widget.focus()
            await scope.settle()
            assert widget.get_component_rich_style(part).reverse, selector
        await scope.press("f10")
        label = scope.screen.query_one("#compare-on #label")
        assert not label.rich_style.reverse
        scope.screen.query_one("#compare-on").focus()
        await scope.settle()
        assert label.rich_style.reverse


async def test_without_any_color_all_of_the_focused_row_is_readable(
    opened: Opened, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened() as scope:
        await scope.press("f2")
        scope.tree.move_cursor(scope.row("A chant"))
        await scope.settle()
        row = scope.tree.cursor_line - scope.tree.scroll_offset.y
        (line,) = scope.tree.render_lines(Region(0, row, scope.tree.size.width, 1))
        for text, style, _ in line:
            if text.strip() and style and style.reverse:
                assert style.color and style.bgcolor
                ink = Color.from_rich_color(style.color)
                ground = Color.from_rich_color(style.bgcolor)
                assert contrast(ink, ground) >= 4.5, text


class FieldAlone(Alone):
    """An app of one text field, with our themes and colors."""

    available_themes = BpeScope.available_themes
    get_theme_variable_defaults = BpeScope.get_theme_variable_defaults
    _few_colors = False

    def compose(self) -> ComposeResult:
        with Horizontal(classes="field"):
            yield Input("4096")


async def test_selected_text_in_a_field_is_readable() -> None:
    app = FieldAlone()
    async with app.run_test() as pilot:
        field = app.query_one(Input)
        field.focus()
        for theme in sorted(app.available_themes):
            app.theme = theme
            field.select_all()
            await pilot.pause()
            styles = [
                style for text, style, _ in field.render_line(0) if text == field.value
            ]
            assert len(styles) == 1, theme
            for style in styles:
                assert style and style.color and style.bgcolor
                if style.color.triplet and style.bgcolor.triplet:
                    ink = Color.from_rich_color(style.color)
                    ground = Color.from_rich_color(style.bgcolor)
                    # On the accent of solarized, white has 4.4.
                    assert contrast(ink, ground) >= 4.3, theme


@pytest.mark.parametrize(
    ("colorless", "colors"), [(False, "truecolor"), (False, ""), (True, "truecolor")]
)
async def test_the_curve_and_the_reasons_show_the_focus(
    opened: Opened,
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    colorless: bool,
    colors: str,
) -> None:
    if colorless:
        monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLORTERM", colors)
    monkeypatch.setenv("TERM", "xterm")
    async with opened(size=(120, 40)) as scope:
        await scope.press("f3")
        curve = scope.training.query_one(Curve)
        title = scope.training.query_one("WhyPanel .side-title.-active")
        labels_before = ink_of(curve, "muted")
        title_before = title.rich_style
        curve.focus()
        await scope.settle()
        assert ink_of(curve, "muted").bold and not labels_before.bold
        scope.training.query_one("#why").focus()
        await scope.settle()
        assert scope.training.query_one("#why").has_focus
        assert ink_of(curve, "muted") == labels_before
        style = title.rich_style
        assert style.underline or style.reverse
        assert not (title_before.underline or title_before.reverse)
        if colorless or not colors:
            assert title.rich_style.reverse and not title_before.reverse


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
