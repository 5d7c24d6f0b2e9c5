"""What a random player of the app does: a list of deeds that follows from a seed alone, and can be written down.

A deed is a tuple of a name and plain values, so that a list of them that ends the app can be pasted into a test. All
the keys or clicks of one come at once, as over a slow line. Places are given in parts of a thousand of the terminal,
for that may have any size by then.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

Deed: TypeAlias = tuple[str | int | float, ...]

FILES: Final = {
    "book.txt": "the theme of the other thesis, the thing that they thought through\n"
    * 20,
    "tale.txt": "low lower lowest, new newer newest, wide wider widest\r\n" * 30,
    "letters.txt": "aaabdaaabac" * 40,
    "words.txt": "naïve café — 日本語のトークン 안녕하세요 👩‍👩‍👧‍👦 e\u0301 <|endoftext|> 3.14159 1234567\n"
    * 12,
    "odd [name].txt": "\x1b]0;pwned\x07 [red]not markup[/] \x00 \u202e\n" * 5,
    "empty.txt": "",
}
"""What lies in the player's home folder."""

KEYS: Final = (
    *(
        "up",
        "down",
        "left",
        "right",
        "home",
        "end",
        "pageup",
        "pagedown",
        "enter",
        "escape",
        "tab",
        "shift+tab",
    ),
    *(
        "backspace",
        "delete",
        "space",
        "ctrl+home",
        "ctrl+end",
        "shift+left",
        "shift+right",
        "shift+up",
        "shift+down",
    ),
    *(
        "ctrl+left",
        "ctrl+right",
        "ctrl+shift+left",
        "ctrl+shift+right",
        "ctrl+a",
        "alt+a",
        "ctrl+w",
        "ctrl+u",
    ),
    *("ctrl+k", "ctrl+z", "ctrl+y", "ctrl+x", "ctrl+c", "ctrl+v", "ctrl+d", "ctrl+f"),
    *(
        "ctrl+p",
        "ctrl+o",
        "ctrl+s",
        "ctrl+t",
        "ctrl+b",
        "ctrl+n",
        "alt+n",
        "alt+up",
        "alt+down",
        "ctrl+l",
        "ctrl+g",
    ),
    *(
        "ctrl+r",
        "alt+e",
        "alt+c",
        "alt+left",
        "alt+right",
        "slash",
        "shift+home",
        "shift+end",
        "ctrl+delete",
    ),
    *("alt+l", "alt+i"),
    *("f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10"),
)
LETTERS: Final = (
    *"etaoinshr ",
    *"qyers0123456789.,/\\<|>[]()",
    "\u00e9",
    "日",
    "😊",
    "\u0301",
    "\u200d",
    "\u202e",
)
WAYS: Final = (
    ("f2", "home", "down", "enter"),
    ("f2", "home", "down", "down", "space"),
    ("f2", "end", "enter", "down", "space", "down", "space"),
    ("f2", "tab", "down", "enter"),
    ("f2", "tab", "up", "up", "enter"),
    ("f2", "tab", "enter"),
    ("f2", "tab", "delete", "y"),
    ("f2", "end", "r"),
    ("f2", "down", "e"),
    ("f3", "shift+tab", "shift+tab", "enter", "down", "enter"),
    ("f3", "home", "down", "pagedown", "up"),
    ("f3", "end"),
    ("f4", "ctrl+a", "delete"),
    ("f5", "enter"),
    ("f5", "down", "enter"),
    ("f5", "end", "s"),
    ("f6", "f6"),
    ("f6", "f7", "f8"),
    ("f7", "f7", "f8"),
    ("f7", "f6"),
    ("f8", "f6"),
    ("f9", "f5", "f9"),
    ("f10", "enter"),
    ("f10", "c", "down", "space", "enter"),
    ("f10", "right", "right", "m", "t", "down", "enter"),
    ("f10", "left", "s", "r", "e", "end", "enter"),
    ("f1", "ctrl+p", "down", "enter"),
    ("ctrl+o", "ctrl+p", "down", "down", "enter", "escape"),
    ("ctrl+p", "pagedown", "enter"),
    ("ctrl+p", "pageup"),
    ("ctrl+p", *"zoom", "enter"),
    ("ctrl+p", *"theme", "enter", "down", "enter"),
    ("ctrl+p", *"example", "down", "down", "enter"),
    ("ctrl+p", *"audit", "enter"),
    ("ctrl+p", "escape", "escape"),
    ("ctrl+o", *"book.txt", "enter", "enter"),
    ("ctrl+o", *"odd [name].txt", "enter"),
    ("ctrl+o", *"nothing", "enter", "escape"),
    ("ctrl+s", *"out.txt", "enter", "y"),
    ("escape", "escape", "escape"),
    ("alt+left", "alt+left", "alt+right"),
    ("alt+e", "ctrl+n", "ctrl+b", "x"),
    ("alt+l", "enter", "down", "space", "escape"),
    ("alt+l", "end", "enter", "up", "enter", "escape", "x"),
    ("alt+l", "home", "enter", "enter", "escape"),
    ("alt+i", "ctrl+a", *"[104, 300, 999] x", "f4"),
    ("alt+i", "tab", "down", "end", "escape"),
    ("f3", "tab", "left", "right", "left", "left"),
)
"""Ways that lead somewhere, each sent in one batch."""
PASTES: Final[dict[str, Callable[[int], str]]] = {
    "prose": lambda n: (
        "It was the best of times, it was the worst of times.\n" * (n // 53 + 1)
    )[:n],
    "line": lambda n: ("the same long line without an end " * (n // 34 + 1))[:n],
    "letter": lambda n: "a" * n,
    "spaces": lambda n: " " * n,
    "digits": lambda n: ("1234567890" * (n // 10 + 1))[:n],
    "scripts": lambda n: (
        "日本語のテキスト안녕 हिन्दी ภาษาไทย العربية 👩‍👩‍👧‍👦\r\n" * (n // 40 + 1)
    )[:n],
    "marks": lambda n: ("e\u0301\u0308a\u200d" * (n // 5 + 1))[:n],
    "controls": lambda n: (
        "\x1b]0;pwned\x07\x00\x9b31m\x7f\u202e\x85\u2028\x0c" * (n // 18 + 1)
    )[:n],
    "specials": lambda n: ("<|endoftext|><|fim_prefix|>[bold]x[/]" * (n // 37 + 1))[:n],
}
"""What is pasted, in any number of characters."""
SIZES: Final = (
    (120, 40),
    (120, 40),
    (80, 24),
    (200, 60),
    (100, 30),
    (60, 12),
    (20, 5),
    (8, 3),
    (3, 2),
    (1, 1),
)
LENGTHS: Final = (1, 2, 7, 30, 200, 1000)
LARGE: Final = (99_999, 100_500, 130_355, 400_000, 500_500)


def deeds(seed: int, number: int, large: float = 0.003) -> Iterator[Deed]:
    """`number` deeds; `large` is the share of pastes past 100,000 and 500,000 characters."""
    rng = random.Random(seed)
    for _ in range(number):
        yield _deed(rng, large)


def count(deeds: Sequence[Deed]) -> int:
    """How many keys, clicks, pastes and so on there are in some deeds.

    >>> count([("keys", "f1", "escape"), ("click", 5, 5, 2), ("paste", "prose", 30)])
    5
    """
    return sum(
        len(deed) - 1
        if deed[0] == "keys"
        else int(deed[-1])
        if deed[0] in _CLICKS
        else 1
        for deed in deeds
    )


def _deed(rng: random.Random, large: float) -> Deed:
    place = (rng.randrange(1000), rng.randrange(1000))
    if rng.random() < large:
        return ("paste", rng.choice(tuple(PASTES)), rng.choice(LARGE))
    match rng.choices(_NAMES, _WEIGHTS)[0]:
        case "keys":
            return ("keys", *rng.choices(KEYS, k=rng.choice((1, 1, 1, 2, 3))))
        case "letters":
            return ("keys", *rng.choices(LETTERS, k=rng.choice((1, 2, 5, 9))))
        case "way":
            return ("keys", *rng.choice(WAYS))
        case "mixed":
            return (
                "keys",
                *rng.choices((*KEYS, *LETTERS, *LETTERS), k=rng.randrange(2, 12)),
            )
        case "paste":
            return ("paste", rng.choice(tuple(PASTES)), rng.choice(LENGTHS))
        case "click":
            return ("click", *place, rng.choice((1, 1, 2, 3)))
        case "click on":
            return (
                "click on",
                rng.choice(WIDGETS),
                rng.randrange(1000),
                rng.choice((1, 2, 3)),
            )
        case "drag":
            return ("drag", *place, rng.randrange(1000), rng.randrange(1000))
        case "move":
            return ("move", *place)
        case "scroll":
            return ("scroll", *place, rng.choice((-3, -1, 1, 3)))
        case "resize":
            return ("resize", *rng.choice(SIZES))
        case "step":
            return ("step", rng.randrange(1001))
        case _:
            return ("wait", rng.choice((0.02, 0.1, 0.3)))


_CLICKS: Final = ("click", "click on")
WIDGETS: Final = (
    *(
        "Toast",
        "Toast",
        "ScrollBar",
        "Button",
        "Select",
        "Input",
        "FooterKey",
        "Curve",
        "MergeLog",
        "CorpusTree",
    ),
    *(
        "TitleLine",
        "StepLine",
        "TokenTable",
        "OptionList",
        "TokenArea",
        "Static",
        "Help",
    ),
)
"""Kinds of widgets that are clicked on, where one is to be seen."""
_SHARES: Final = {
    "keys": 24,
    "letters": 12,
    "way": 16,
    "mixed": 6,
    "paste": 6,
    "click": 9,
    "click on": 8,
    "drag": 3,
    "move": 3,
    "scroll": 4,
    "resize": 3,
    "step": 3,
    "wait": 3,
}
_NAMES, _WEIGHTS = tuple(_SHARES), tuple(_SHARES.values())


def shortened(deeds: list[Deed], fails: Callable[[list[Deed]], bool]) -> list[Deed]:
    """Fewer of `deeds` for which `fails` still holds: none of them can be left out. Zeller's delta debugging."""
    parts = 2
    while len(deeds) >= 2:
        size = -(-len(deeds) // parts)
        for start in range(0, len(deeds), size):
            rest = deeds[:start] + deeds[start + size :]
            if rest and fails(rest):
                deeds, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(deeds))
    return deeds
