"""A view of the first items of a list that only grows, by which earlier versions of a vocabulary need no copy."""

from collections.abc import Iterator, Sequence
from itertools import islice
from operator import eq
from typing import TypeVar, overload

T = TypeVar("T")


class Prefix(Sequence[T]):
    """The first `length` items of a list, as a read-only sequence; equal to any sequence of the same items."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: list[T], length: int) -> None:
        self._items = items
        self._length = length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self._items[i] for i in range(self._length)[index]]
        return self._items[range(self._length)[index]]

    def __iter__(self) -> Iterator[T]:
        return islice(self._items, self._length)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(other) == self._length and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # as a list's

    def __repr__(self) -> str:
        return f"<{self._length} items>"
