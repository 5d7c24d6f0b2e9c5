"""A number with its noun: "1 token", "2 tokens", "1,284 merges"."""


def counted(number: int, noun: str, several: str = "") -> str:
    """`number` with thousands separators, and the noun; `several` is its plural where that is not noun + "s".

    >>> counted(1, "token"), counted(0, "token"), counted(2_000, "time"), counted(2, "entry", "entries")
    ('1 token', '0 tokens', '2,000 times', '2 entries')
    """
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"
