"""What keys are called on the screen."""

from typing import Final

_SIGNS: Final = {"number_sign": "#", "pageup": "PageUp", "pagedown": "PageDown"} | dict(
    left="←",
    right="→",
    up="↑",
    down="↓",
    slash="/",
    escape="Esc",
    plus="+",
    minus="-",
    full_stop=".",
    comma=",",
)


def short_name(key: str) -> str:
    """A key, or the first of some, as lines have room for it.

    >>> short_name("ctrl+t"), short_name("alt+up"), short_name("f6"), short_name("enter")
    ('^t', 'alt+↑', 'F6', 'enter')
    """
    *shifts, name = key.partition(",")[0].split("+")
    name = _SIGNS.get(
        name, name.upper() if name[0] == "f" and name[1:].isdigit() else name
    )
    return f"^{name}" if shifts == ["ctrl"] else "+".join((*shifts, name))


def long_name(key: str) -> str:
    """A key as a sentence tells it.

    >>> long_name("ctrl+t"), long_name("alt+up"), long_name("f6"), long_name("x")
    ('Ctrl+T', 'Alt+↑', 'F6', 'x')
    """
    *shifts, name = key.split("+")
    name = _SIGNS.get(name) or (
        name if len(name) == 1 and not shifts else name.capitalize()
    )
    return "+".join((*(shift.capitalize() for shift in shifts), name))
