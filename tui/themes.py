"""The two themes of the house: dark ink and light paper, each with one accent."""

from typing import Final

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
