"""The two themes of the house: dark ink and light paper, each with one accent; and what a terminal can show."""

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console
from textual import constants
from textual.theme import Theme

INK: Final = Theme(
    name="bpescope-dark",
    primary="#e8b15c",
    secondary="#7fb4ca",
    accent="#e8b15c",
    warning="#e0a05a",
    error="#e0707a",
    success="#8fbf7f",
    foreground="#d5d8de",
    background="#14161a",
    surface="#191c21",
    panel="#22262d",
    boost="#272c34",
    dark=True,
    variables={"border": "#4b525e", "border-blurred": "#2c313a"},
)

PAPER: Final = Theme(
    name="bpescope-light",
    primary="#9a5b00",
    secondary="#2f6f8f",
    accent="#9a5b00",
    warning="#a85a00",
    error="#b3313d",
    success="#3f7a2f",
    foreground="#23262b",
    background="#f6f4ef",
    surface="#fbfaf7",
    panel="#ebe7de",
    boost="#e2ddd1",
    dark=False,
    variables={"border": "#a39b8b", "border-blurred": "#d6d0c3"},
)

THEMES: Final = (INK, PAPER)

SIXTEEN: Final = "ansi-dark"
"""Textual's theme of the terminal's own colors: it suits dark and light ones, whose ground and ink it takes."""


def has_few_colors() -> bool:
    """Whether the terminal has no more than 16 colors, to which those of most themes would all be gray."""
    wanted: Any = constants.COLOR_SYSTEM  # an environment variable of Textual's; "auto" without it
    console = Console(force_terminal=True, color_system=wanted, legacy_windows=False)
    return console.color_system in ("standard", "windows")


def that_show(themes: Mapping[str, Theme], few_colors: bool) -> dict[str, Theme]:
    """Of some themes by name, those that a terminal can show."""
    return {name: theme for name, theme in themes.items() if theme.ansi} if few_colors else dict(themes)
