"""Labels that tell compared tokenizers apart, also if they have the same name."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from bpe_core.visible import shortened

_LONGEST: Final = 40
"""Maximum number of characters of a name, a path or a pattern in a label."""


class NamedTokenizer(NamedTuple):
    """What is known of a tokenizer to tell it from others."""

    name: str  # the name in the file; "" without one
    source: str  # the path, or the name by which it was found
    pattern: str = ""  # the pattern that replaces its own; "" to keep its own


def labels_of(tokenizers: Sequence[NamedTokenizer]) -> list[str]:
    """Return a different label for each tokenizer.

    The label is the name in the file or of the file. Tokenizers of one name also get what differs: the
    file, its folder or its path, and the pattern that replaces their own. If nothing differs, they are numbered.

    Examples:
        >>> labels_of([NamedTokenizer("gpt2", "gpt2"), NamedTokenizer("gpt2", "gpt2", "none")])
        ['gpt2', 'gpt2 (none)']
        >>> labels_of([NamedTokenizer("", "a/my.json"), NamedTokenizer("", "b/my.json")])
        ['my.json (a)', 'my.json (b)']
    """
    names = []
    namesakes: defaultdict[str, list[NamedTokenizer]] = defaultdict(list)
    for tokenizer in tokenizers:
        place = PurePath(tokenizer.source).name or tokenizer.source
        name = shortened(tokenizer.name or place, _LONGEST)
        names.append(name)
        namesakes[name].append(tokenizer)
    labels = [
        _with_marks(name, tokenizer, namesakes[name])
        for name, tokenizer in zip(names, tokenizers, strict=True)
    ]
    return numbered(labels)


def numbered(labels: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """Add numbers to labels that are equal, or that are `taken`."""
    counts = Counter([*labels, *taken])
    unique = []
    for number, label in enumerate(labels, 1):
        unique_label = label
        if counts[label] > 1:
            unique_label = f"{label} ({number})"
            while unique_label in counts:
                unique_label += f" ({number})"
            counts[unique_label] = 1
        unique.append(unique_label)
    return unique


def _with_marks(
    name: str, tokenizer: NamedTokenizer, namesakes: Sequence[NamedTokenizer]
) -> str:
    """Return the name with what tells a tokenizer from others of the same name."""
    marks = []
    sources = list({other.source for other in namesakes})
    if len(sources) > 1:
        place = _place(tokenizer.source, sources)
        if place != name:
            marks.append(place)
    if len({other.pattern for other in namesakes}) > 1 and tokenizer.pattern:
        marks.append(shortened(tokenizer.pattern, _LONGEST))
    if not marks:
        return name
    return f"{name} ({', '.join(marks)})"


def _place(source: str, sources: Sequence[str]) -> str:
    """Return the file name, the folder or both, if that is different for all sources, or else the path."""
    for first, end in ((-1, None), (-2, -1), (-2, None)):
        places = ["/".join(PurePath(other).parts[first:end]) for other in sources]
        if all(places) and len(set(places)) == len(sources):
            source = places[sources.index(source)]
            break
    return shortened(source, _LONGEST)
