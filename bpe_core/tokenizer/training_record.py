"""What a training is asked for, each option declared once, and the record of it that its tokenizer's file keeps.

The command line, the app, tokenizer files, the history of trainings and the comparison of two of them loop over the
fields of `Options`: an option is one line there, and what the trainer does with it.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from dataclasses import field as field_of
from fractions import Fraction
from typing import Any, Final, Self, TypedDict

from bpe_core.corpus import Source
from bpe_core.errors import OptionError, UnknownOptionError
from bpe_core.patterns import splitter
from bpe_core.tokenizer.tie_rules import TIES
from bpe_core.typed_numbers import exact_fraction
from bpe_core.utf8 import without_surrogates
from bpe_core.visible import quoted
from bpe_core.vocabulary import ID_LAYOUTS

STOPPED: Final = "stopped"  # the stop reason of a training that would have learned more
YES: Final = "yes"  # what is typed for an option that is a flag of the command
LARGEST_VOCABULARY: Final = (
    0x110000 - 256
)  # several times as many ids as any published vocabulary has


@dataclass(frozen=True, slots=True)
class Option:
    """What people read about an option of a training: its argument of `bpescope train`, without dashes, its name on the
    screen and in the history, a sentence that says what it does, a value as example, and all values if they are few."""

    argument: str
    name: str
    does: str
    example: str = ""
    choices: tuple[str, ...] = ()

    def help(self, otherwise: object = "") -> str:
        """A clause for the command line; `otherwise` is what holds without the option.

        >>> OPTIONS["min-count"].help("1")
        'training stops when no pair occurs this often any more (1)'
        """
        clause = f"{self.does[0].lower()}{self.does[1:]}".rstrip(".")
        return f"{clause} ({otherwise})" if otherwise != "" else clause


@dataclass(frozen=True, slots=True)
class Options:
    """What to learn and by which rules; `OPTION_OF` says what each is, `checked` whether all make sense."""

    vocab_size: int = 4096
    pattern: str = "gpt4"
    ties: str = "first"
    id_layout: str = "bytes-first"
    min_count: int = 1
    max_token_length: int | None = None
    special_tokens: Sequence[str] = ()
    end_of_word: str = ""
    min_share: Fraction | str | None = None
    """A fraction, such as "1/10000" or "0.0001", compared exactly. Overlapping occurrences of a pair count each."""

    def checked(self, has_texts: bool = True) -> Self:
        """These options, the share as a number and the special tokens as a tuple; `OptionError` or `PatternError`.
        Without texts to learn from there need not be room for a merge."""
        if isinstance(self.special_tokens, str):
            raise OptionError(
                f"special_tokens is a list of texts, not the one text {self.special_tokens!r}."
            )
        specials: tuple[object, ...] = tuple(self.special_tokens)
        seen: set[object] = set()
        for text in specials:
            if not isinstance(text, str) or not text:
                raise OptionError(
                    f"The special token {text!r} is not a text of at least one character."
                )
            if text in seen:
                raise OptionError(
                    f"The special token {text!r} is named twice; name it once."
                )
            seen.add(text)
        if not isinstance(self.end_of_word, str):
            raise OptionError(
                f"end_of_word is a text such as '</w>', not {self.end_of_word!r}."
            )
        if without_surrogates(self.end_of_word) != self.end_of_word:
            raise OptionError(
                f"end_of_word {self.end_of_word!r} holds half of a character; give it a text."
            )
        if len(self.end_of_word) > 100:  # it stands in many tokens of a file
            raise OptionError(
                f"end_of_word has {len(self.end_of_word):,} characters; give it 100 at most."
            )
        if self.end_of_word in specials:
            raise OptionError(
                f"{self.end_of_word!r} is a special token already; choose another end_of_word."
            )
        smallest = 256 + has_texts + len(specials) + bool(self.end_of_word)
        room = "256 bytes, the special tokens" + " and a first merge" * has_texts
        for (
            name,
            least,
            most,
            because,
        ) in (  # with more digits than 10^18 has, a file could not be read back
            ("vocab_size", smallest, LARGEST_VOCABULARY, room),
            ("min_count", 1, 10**18, "a pair that does not occur cannot be merged"),
            *[("max_token_length", 2, 10**18, "a merge makes at least two bytes")]
            * (self.max_token_length is not None),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise OptionError(f"{name} is a whole number, not {value!r}.")
            if value > most:
                raise OptionError(
                    f"{name} is {value}; no more than {most} is possible."
                )
            if value < least:
                raise OptionError(
                    f"{name} is {value}, but must be at least {least}: {because}."
                )
        for name, option in OPTION_OF.items():
            if option.choices and getattr(self, name) not in option.choices:
                known = ", ".join(option.choices)
                raise OptionError(
                    f"There is no {name} {getattr(self, name)!r}; choose one of {known}."
                )
        splitter(self.pattern)
        return replace(
            self, min_share=self._share(), special_tokens=tuple(self.special_tokens)
        )

    def _share(self) -> Fraction | None:
        if self.min_share is None:
            return None
        try:
            share = (
                self.min_share
                if isinstance(self.min_share, Fraction)
                else exact_fraction(self.min_share)
            )
        except (ValueError, TypeError):
            raise OptionError(
                f"min_share is a fraction such as 1/10000 or 0.0001, not {self.min_share!r}."
            ) from None
        if not 0 <= share <= 1:
            raise OptionError(
                f"min_share is {self.min_share}, but a share is between 0 and 1."
            )
        return share


class TrainOptions(TypedDict, total=False):
    """The fields of `Options` but the vocabulary size, as keyword arguments."""

    pattern: str
    ties: str
    id_layout: str
    min_count: int
    max_token_length: int | None
    special_tokens: Sequence[str]
    end_of_word: str
    min_share: Fraction | str | None


OPTION_OF: Final[Mapping[str, Option]] = {
    "vocab_size": Option(
        "vocab-size",
        "vocabulary",
        "Tokens in all: 256 bytes, the special tokens, and one for each merge.",
        "4096",
    ),
    "pattern": Option(
        *(
            "pattern",
            "pattern",
            "The split pattern cuts texts into pieces; no merge crosses their borders.",
        ),
        "gpt4o, words, none or a regular expression",
    ),
    "ties": Option(
        "ties",
        "ties",
        "The tie rule chooses between pairs that occur equally often.",
        "first",
        TIES,
    ),
    "id_layout": Option(
        "id-layout",
        "id layout",
        f"Which ids come first: {' or '.join(ID_LAYOUTS)}.",
        "bytes-first",
        ID_LAYOUTS,
    ),
    "min_count": Option(
        "min-count",
        "min. count",
        "Training stops when no pair occurs this often any more.",
        "2",
    ),
    "max_token_length": Option(
        "max-token-length",
        "longest token",
        "Bytes in a token at most; longer pairs are passed over.",
        "16",
    ),
    "special_tokens": Option(
        "special",
        "specials",
        "Special tokens such as <|endoftext|>: ids that no merge makes.",
        "<|endoftext|>",
    ),
    "end_of_word": Option(
        "end-of-word",
        "end of word",
        "A marker behind every piece, a symbol of its own that merges too.",
        "</w>",
    ),
    "min_share": Option(
        *(
            "min-share",
            "least gain",
            "Stop after the first pair that makes up less than this share of the tokens.",
        ),
        "1/10000",
    ),
}
"""Name of a field of `Options` -> what people read about it."""

PEERS_NAMES: Final[Mapping[str, str]] = {
    "end_of_word_suffix": "end_of_word",
    "max_piece_length": "max_token_length",
    "max_sentencepiece_length": "max_token_length",
    "min_freq": "min_count",
    "min_frequency": "min_count",
    "n_merges": "vocab_size",
    "n_vocab": "vocab_size",
    "num_merges": "vocab_size",
    "num_symbols": "vocab_size",
    "pat_str": "pattern",
    "pre_tokenizer": "pattern",
    "regex_pattern": "pattern",
    "split_pattern": "pattern",
    "size": "vocab_size",
    "specials": "special_tokens",
    "control_symbols": "special_tokens",
    "user_defined_symbols": "special_tokens",
    "vocabulary_size": "vocab_size",
}
"""What an option of a training is called in another library -> the field of `Options`."""

NEEDLESS_OPTIONS: Final[Mapping[str, str]] = {
    "byte_fallback": "every text is made of bytes",
    "character_coverage": "every text is made of bytes",
    "continuing_subword_prefix": "tokens hold the bytes of the text alone",
    "initial_alphabet": "all 256 bytes are tokens from the start",
    "limit_alphabet": "all 256 bytes are tokens from the start",
    "show_progress": "nothing is printed; give a function as progress to follow the training",
    "unk_token": "every text is made of bytes, so nothing is unknown",
}
"""An option of another library's training -> why there is none here."""


def peers_name(name: str, written: Callable[[str], str] = str) -> str:
    """What to do about an option that other libraries have by this name, as a clause; "" if none of them has it.
    `written` is how a field of `Options` is to be written.

    >>> peers_name("min_frequency"), peers_name("initial_alphabet")
    ('it is called min_count here', 'leave it out: all 256 bytes are tokens from the start')
    """
    if field := PEERS_NAMES.get(name):
        counted_so = (
            ": 256 bytes, the special tokens and the merges" if "merges" in name else ""
        )
        return f"it is called {written(field)} here{counted_so}"
    reason = NEEDLESS_OPTIONS.get(name)
    return f"leave it out: {reason}" if reason else ""


def check_option_names(options: Mapping[str, object]) -> None:
    """Raise `UnknownOptionError` for the first name that is not one of a training's options."""
    for name in options:
        if name not in OPTION_OF:
            hint = peers_name(name) or f"choose from {', '.join(OPTION_OF)}"
            raise UnknownOptionError(f"A training has no option {name!r}; {hint}.")


ENDING: Final = ("vocab_size", "min_count", "min_share")
"""The options that say only where learning ends, and change no merge before."""

INHERITED: Final = ("id_layout", "special_tokens", "end_of_word")
"""Those that are not asked for where a training extends a vocabulary, but that of the vocabulary."""

EXTEND: Final = Option(
    "extend",
    "start from",
    "A tokenizer whose merges come first; its tokens keep their ids.",
    "mine.json",
)
WEIGHT: Final = Option(
    "weight",
    "weight",
    "Count each piece of a text so many times: a number such as 3, 2.5 or 1/3.",
    "3",
)
READING: Final = (
    Option(
        "sample",
        "sample",
        "Read only this share of the texts, in stretches of 64 KB.",
        "1/10",
    ),
    Option(
        "documents",
        "documents",
        "Read so many documents, drawn from all; rows are read twice for it.",
        "1000",
    ),
    Option("seed", "seed", "What a sample takes: the same number takes the same.", "0"),
    Option(
        "dedupe",
        "once each",
        "Read no document twice; to find which, all texts are read once more.",
        YES,
    ),
    Option(
        "skip-bad",
        "skip bad",
        "Leave out rows that are no text, and files that cannot be read.",
        YES,
    ),
    Option(
        "alpha",
        "alpha",
        "Count each path as if its share p of the bytes were p^alpha; at 0 all alike.",
        "0.5",
    ),
    Option(
        "dask",
        "Dask",
        "Have workers of Dask do it: local, one a core here, or those of a scheduler.",
        "local",
    ),
)
"""What of the texts is read, by whom, and how much it counts: fields of `Recipe`."""

OPTIONS: Final[Mapping[str, Option]] = {
    option.argument: option
    for option in (*OPTION_OF.values(), EXTEND, *READING, WEIGHT)
}
"""All options of a training by argument: what is learned, by which rules, and how the texts are read."""


def parsed_options(kind: type, typed: Mapping[str, str]) -> dict[str, Any]:
    """The fields of `Options`, or of another dataclass, that somebody has typed, by argument. Raises `OptionError`.

    >>> parsed_options(Options, {"max-token-length": "16", "sample": "1/10"})
    {'max_token_length': 16}
    """
    values: dict[str, Any] = {}
    for field in fields(kind):
        if text := typed.get(argument := field.name.replace("_", "-")):
            values[field.name] = text
            if field.type is bool and text != YES:
                raise OptionError(
                    f"--{argument}: {quoted(text)} is not {YES}; leave it out for no."
                )
            if field.type in (int, int | None):
                try:
                    values[field.name] = int(text)
                except ValueError:
                    raise OptionError(
                        f"--{argument}: {quoted(text)} is no whole number."
                    ) from None
    return values


def named_as_on_screen(sentence: str) -> str:
    """A sentence about options, which it calls by their arguments, or as Python does, with their names on the screen.

    >>> named_as_on_screen("min_count is 0, and --sample no share.")
    '“min. count” is 0, and “sample” no share.'
    """
    for option in OPTIONS.values():
        for called in {f"--{option.argument}", option.argument.replace("-", "_")}:
            if called != option.argument:  # which is a common word
                sentence = sentence.replace(called, f"“{option.name}”")
    return sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRecord(Options):
    """The options of one training and what came of it; `steps[i]` belongs to the i-th merge of its vocabulary. Its
    special tokens are those of the vocabulary, and not repeated here."""

    sources: tuple[Source, ...]
    steps: tuple[tuple[int, int, int], ...]
    """For each merge: (the pair's count, how many pairs had that count, tokens in the corpus after the merge)."""
    n_bytes: int  # of the corpus in UTF-8, those of a text as many times as it weighs: an amount, as all counts are
    n_tokens_start: int  # before the first merge; less than `n_bytes` if the pattern drops whitespace
    stop_reason: str  # the size was reached, no pair was left, or it was stopped
    n_given: int = (
        0  # the first so many merges were given, by the vocabulary that was extended
    )
    first_counts: tuple[int, ...] = ()
    """How often each of the 256 bytes occurred before the first merge, by value, then the end-of-word marker if there
    is one; empty if it is not known."""
    sample: str = (
        ""  # what was taken of the files, in words; "" if they were read whole
    )
    weights: str = ""  # as they were asked for, such as "en=3 code=0.5"; "" for none
    created: str = field_of(default="", compare=False)
    """When the training ended, in ISO 8601, UTC, as earlier versions recorded it. It is "" now, so that equal trainings
    make equal files; the file's own date tells when it was written."""

    @property
    def corpus_digest(self) -> str:
        """A SHA-256 of the digests and weights of all documents in their order, in hexadecimal: equal for the same
        texts, whatever their files are called."""
        digests = (
            source.sha256 + f" {source.weight}" * (source.weight != 1)
            for source in self.sources
        )
        return hashlib.sha256("".join(digests).encode()).hexdigest()
