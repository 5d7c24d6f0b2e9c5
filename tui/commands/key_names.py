"""The names of keys on the screen."""

from typing import Final

_SIGNS: Final = {
    "number_sign": "#",
    "pageup": "PageUp",
    "pagedown": "PageDown",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "slash": "/",
    "escape": "Esc",
    "enter": "Enter",
    "space": "Space",
    "plus": "+",
    "minus": "-",
    "full_stop": ".",
    "comma": ",",
}
"""Textual's name of a key -> how it is written."""


def short_name(key: str) -> str:
    """Return the short name of the first key, for the line of keys.

    >>> short_name("ctrl+t"), short_name("alt+up"), short_name("f6"), short_name("enter")
    ('^t', 'alt+↑', 'F6', 'Enter')
    """
    first = key.partition(",")[0]
    modifiers, plus, name = first.rpartition("+")
    if name in _SIGNS:
        name = _SIGNS[name]
    elif name.startswith("f") and name[1:].isdigit():
        name = name.upper()
    if modifiers == "ctrl":
        return f"^{name}"
    return f"{modifiers}{plus}{name}"


def long_name(key: str) -> str:
    """Return the name of a key in a sentence.

    >>> long_name("ctrl+t"), long_name("alt+up"), long_name("f6"), long_name("x")
    ('Ctrl+T', 'Alt+↑', 'F6', 'x')
    """
    modifiers, plus, name = key.rpartition("+")
    if name in _SIGNS:
        name = _SIGNS[name]
    elif plus or len(name) > 1:
        name = name.capitalize()
    return f"{modifiers.title()}{plus}{name}"
