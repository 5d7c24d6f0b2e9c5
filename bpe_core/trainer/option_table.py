"""What each option of a training does, in one line: for the help of the command line, and for the app.

That what people ask for makes sense is checked by `bpe_core.trainer.options`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bpe_core.vocabulary import ID_LAYOUTS


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a training, in words."""

    argument: str
    """Of `bpescope train`, without its dashes."""
    name: str
    """On the screen."""
    does: str
    """A sentence."""
    example: str = ""
    """A value that it may have."""

    def help(self, otherwise: str = "") -> str:
        """What the command line says of it; `otherwise` is what holds without it.

        >>> RULES["min-count"].help("1")
        'training stops when no pair occurs this often any more (1)'
        """
        words = f"{self.does[0].lower()}{self.does[1:]}".rstrip(".")
        return f"{words} ({otherwise})" if otherwise else words


def _by_argument(*options: Option) -> Mapping[str, Option]:
    return {option.argument: option for option in options}


RULES: Final = _by_argument(
    Option("vocab-size", "vocabulary", "Tokens in all: 256 bytes, the special tokens, and one for each merge.", "4096"),
    Option("pattern", "pattern", "The split pattern cuts texts into pieces; no merge crosses their borders.", "gpt4"),
    Option("ties", "ties", "The tie rule chooses between pairs that occur equally often.", "first"),
    Option("min-count", "min. count", "Training stops when no pair occurs this often any more.", "2"),
    Option("special", "specials", "Special tokens such as <|endoftext|>: ids that no merge makes.", "<|endoftext|>"),
    Option("max-token-length", "longest token", "Bytes in a token at most; longer pairs are passed over.", "16"),
    Option("end-of-word", "end of word", "A marker behind every piece, a symbol of its own that merges too.", "</w>"),
    Option("id-layout", "id layout", f"Which ids come first: {' or '.join(ID_LAYOUTS)}.", ID_LAYOUTS[0]),
    Option(
        "min-share",
        "least gain",
        "Stop after the first pair that makes up less than this share of the tokens.",
        "1/10000",
    ),
    Option("extend", "start from", "A tokenizer whose merges come first; its tokens keep their ids.", "mine.json"),
)
"""By argument: what is learned, and by which rules."""

TEXTS: Final = _by_argument(
    Option("sample", "sample", "Read only this share of the texts, in stretches of 64 KB.", "1/10"),
    Option("seed", "seed", "Which stretches a sample takes: the same number takes the same.", "0"),
    Option("weight", "weight", "Count each piece of a text so many times: a number such as 3, 2.5 or 1/3.", "3"),
)
"""By argument: how much of the texts is read, and how much each counts."""


def named_as_on_screen(sentence: str) -> str:
    """A sentence about options, which it calls by their arguments, or as Python does, with their names on the screen.

    >>> named_as_on_screen("min_count is 0, and --sample no share.")
    '“min. count” is 0, and “sample” no share.'
    """
    for option in (*RULES.values(), *TEXTS.values()):
        for called in {f"--{option.argument}", option.argument.replace("-", "_")}:
            if called != option.argument:  # which is a common word
                sentence = sentence.replace(called, f"“{option.name}”")
    return sentence
