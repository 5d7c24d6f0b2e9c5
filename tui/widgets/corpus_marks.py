"""The marks of texts: path -> "corpus" for a chosen text, "reference" for one that an audit compares it with."""

import os
from collections.abc import Collection, Iterable, Mapping


def marks_of(corpus: Iterable[str], reference: Iterable[str]) -> dict[str, str]:
    """Return path -> mark. A path in both is of the corpus.

    >>> marks_of(["/a"], ["/a", "/b"])
    {'/a': 'corpus', '/b': 'reference'}
    """
    marks = dict.fromkeys(reference, "reference")
    marks.update(dict.fromkeys(corpus, "corpus"))
    return marks


def toggled(
    marks: Mapping[str, str], paths: Collection[str], mark: str
) -> dict[str, str]:
    """Return the marks with `paths` marked, or not marked if all of them were.

    A text that had another mark moves to the end, as if it had just been chosen: the order of the marks is the order
    of the corpus.
    """
    new_marks = dict(marks)
    if all(marks.get(path) == mark for path in paths):
        for path in paths:
            del new_marks[path]
        return new_marks
    for path in paths:
        if marks.get(path) != mark:
            new_marks.pop(path, None)
            new_marks[path] = mark
    return new_marks


def n_marked(
    marks: Iterable[str], texts: Collection[str], folders: Iterable[str]
) -> int:
    """Count the marked paths that are among `texts`, or in one of `folders`."""
    prefixes = tuple(os.path.join(folder, "") for folder in folders if folder)
    return sum(path in texts or path.startswith(prefixes) for path in marks)
