"""The options of a training run, each declared once, and the record of a run, which is saved in the tokenizer file.

The command line, the app, tokenizer files, the history of runs and the comparison of two runs loop over the fields of
`Options`. So adding an option takes one line here, and its implementation in the trainer.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from dataclasses import field as field_of
from fractions import Fraction
from itertools import chain
from typing import Any, Final, Self, TypedDict

from bpe_core.corpus import Source
from bpe_core.errors import OptionError, UnknownOptionError
from bpe_core.patterns import splitter
from bpe_core.tokenizer.tie_rules import TIES
from bpe_core.utf8 import without_surrogates
from bpe_core.visible import quoted
from bpe_core.vocabulary import ID_LAYOUTS
from bpe_core.weighted import Count, count_text, exact_fraction

STOPPED: Final = "stopped"
"""The stop reason of a training run that would have learned more."""
YES: Final = "yes"
"""The value of an option that is a flag on the command line."""
LARGEST_VOCABULARY: Final = 0x110000 - 256
"""Several times as many ids as any published vocabulary has."""
_LARGEST: Final = 10**18
"""The largest value of other options. A file with more digits could not be read back."""
_LONGEST_END_OF_WORD: Final = 100
"""Characters. The marker is in many tokens of a file."""


@dataclass(frozen=True, slots=True)
class Option:
    """The texts about an option of a training run."""

    argument: str
    """Its argument of `bpescope train`, without dashes."""
    name: str
    """Its name on the screen and in the history."""
    does: str
    """A sentence about its effect."""
    example: str = ""
    """A value."""
    choices: tuple[str, ...] = ()
    """All values, if they are few."""

    def help(self, default: object = "", note: str = "") -> str:
        """Return a clause for the command line.

        >>> OPTIONS["min-count"].help("1", "such as 2")
        'stop when no pair occurs this often (such as 2; default: 1)'
        """
        clause = f"{self.does[0].lower()}{self.does[1:]}".rstrip(".")
        notes = [note] if note else []
        if default != "":
            notes.append(f"default: {default}")
        return f"{clause} ({'; '.join(notes)})" if notes else clause


@dataclass(frozen=True, slots=True)
class Options:
    """What to learn, and by which rules. `OPTION_OF` describes the fields, and `checked` checks them."""

    vocab_size: int = 4096
    pattern: str = "gpt4"
    ties: str = "first"
    id_layout: str = "bytes-first"
    min_count: int = 1
    max_token_length: int | None = None
    special_tokens: Sequence[str] = ()
    end_of_word: str = ""
    min_share: Fraction | str | None = None
    """A fraction such as "1/10000" or "0.0001", compared exactly. Overlapping occurrences of a pair count separately."""

    def checked(self, has_texts: bool = True) -> Self:
        """Return these options with the share as a number and the special tokens as a tuple.

        Without texts to learn from, the vocabulary needs no room for a merge.

        Raises:
            OptionError: An option has a wrong value.
            PatternError: The pattern is not valid.
        """
        self._check_special_tokens()
        self._check_end_of_word()
        smallest = 256 + len(self.special_tokens)
        room = "256 bytes, the special tokens"
        if self.end_of_word:
            smallest += 1
        if has_texts:
            smallest += 1
            room += " and a first merge"
        self._check_range("vocab_size", smallest, LARGEST_VOCABULARY, room)
        self._check_range(
            "min_count", 1, _LARGEST, "a pair that does not occur cannot be merged"
        )
        if self.max_token_length is not None:
            self._check_range(
                "max_token_length", 2, _LARGEST, "a merge makes at least two bytes"
            )
        for name, option in OPTION_OF.items():
            value = getattr(self, name)
            if option.choices and value not in option.choices:
                raise OptionError(
                    f"Unknown {name} {value!r}; choose one of {', '.join(option.choices)}."
                )
        splitter(self.pattern)
        return replace(
            self,
            min_share=self._checked_share(),
            special_tokens=tuple(self.special_tokens),
        )

    def _check_special_tokens(self) -> None:
        if isinstance(self.special_tokens, str):
            raise OptionError(
                f"special_tokens is a list of texts, not the one text {self.special_tokens!r}."
            )
        texts: tuple[object, ...] = tuple(self.special_tokens)
        seen: set[object] = set()
        for text in texts:
            if not isinstance(text, str) or not text:
                raise OptionError(
                    f"A special token is a non-empty string, not {text!r}."
                )
            if text in seen:
                raise OptionError(
                    f"The special token {text!r} is named twice; name it once."
                )
            seen.add(text)

    def _check_end_of_word(self) -> None:
        marker: object = self.end_of_word
        if not isinstance(marker, str):
            raise OptionError(f"end_of_word is a text such as '</w>', not {marker!r}.")
        if without_surrogates(marker) != marker:
            raise OptionError(
                f"end_of_word {marker!r} contains half of a character (a lone surrogate); use whole characters."
            )
        if len(marker) > _LONGEST_END_OF_WORD:
            raise OptionError(
                f"end_of_word has {len(marker):,} characters; give it {_LONGEST_END_OF_WORD} at most."
            )
        if marker in tuple(self.special_tokens):
            raise OptionError(
                f"{marker!r} is a special token already; choose another end_of_word."
            )

    def _check_range(self, name: str, least: int, most: int, reason: str) -> None:
        """Raise `OptionError` unless an option is a whole number in a range; `reason` explains the least value."""
        value = getattr(self, name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise OptionError(f"{name} is a whole number, not {value!r}.")
        if value > most:
            raise OptionError(f"{name} is {value}; no more than {most} is possible.")
        if value < least:
            raise OptionError(
                f"{name} is {value}, but must be at least {least}: {reason}."
            )

    def _checked_share(self) -> Fraction | None:
        share = self.min_share
        if share is None:
            return None
        if not isinstance(share, Fraction):
            try:
                share = exact_fraction(share)
            except (ValueError, TypeError):
                raise OptionError(
                    f"min_share is a fraction such as 1/10000 or 0.0001, not {share!r}."
                ) from None
        if not 0 <= share <= 1:
            raise OptionError(
                f"min_share is {self.min_share}, but must be between 0 and 1."
            )
        return share


class TrainOptions(TypedDict, total=False):
    """Keyword arguments of `train`: the fields of `Options` except `vocab_size`."""

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
        argument="vocab-size",
        name="vocabulary",
        does="The number of tokens: 256 bytes, the special tokens, and one per merge.",
        example="4096",
    ),
    "pattern": Option(
        argument="pattern",
        name="pattern",
        does="The split pattern cuts texts into pieces; no merge crosses their borders.",
        example="gpt4o, words, none or a regular expression",
    ),
    "ties": Option(
        argument="ties",
        name="ties",
        does="The tie rule chooses between pairs that occur equally often.",
        example="first",
        choices=TIES,
    ),
    "id_layout": Option(
        argument="id-layout",
        name="id layout",
        does=f"Which ids come first: {' or '.join(ID_LAYOUTS)}.",
        example="bytes-first",
        choices=ID_LAYOUTS,
    ),
    "min_count": Option(
        argument="min-count",
        name="min. count",
        does="Stop when no pair occurs this often.",
        example="2",
    ),
    "max_token_length": Option(
        argument="max-token-length",
        name="longest token",
        does="The most bytes in a token; longer pairs are skipped.",
        example="16",
    ),
    "special_tokens": Option(
        argument="special",
        name="specials",
        does="Special tokens such as <|endoftext|>; no merge makes them.",
        example="<|endoftext|>",
    ),
    "end_of_word": Option(
        argument="end-of-word",
        name="end of word",
        does="A marker at the end of every piece: a symbol that merges like the others.",
        example="</w>",
    ),
    "min_share": Option(
        argument="min-share",
        name="least gain",
        does="Stop after the first pair that makes up less than this share of the tokens.",
        example="1/10000",
    ),
}
"""Name of a field of `Options` -> the texts about it."""

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
"""Name of an option in another library -> the field of `Options`."""

NEEDLESS_OPTIONS: Final[Mapping[str, str]] = {
    "byte_fallback": "every text is made of bytes",
    "character_coverage": "every text is made of bytes",
    "continuing_subword_prefix": "tokens contain only bytes of the text",
    "initial_alphabet": "all 256 bytes are tokens from the start",
    "limit_alphabet": "all 256 bytes are tokens from the start",
    "show_progress": "nothing is printed; give a function as progress to follow the training",
    "unk_token": "every text is made of bytes, so nothing is unknown",
}
"""Name of an option in another library -> why bpescope does not need it."""


def peers_name(name: str, written: Callable[[str], str] = str) -> str:
    """Return a clause about an option that other libraries have; "" if none of them has it.

    `written` formats the name of a field of `Options`.

    >>> peers_name("min_frequency"), peers_name("initial_alphabet")
    ('it is called min_count here', 'leave it out: all 256 bytes are tokens from the start')
    """
    field = PEERS_NAMES.get(name)
    if field:
        clause = f"it is called {written(field)} here"
        if "merges" in name:
            clause += ": 256 bytes, the special tokens and the merges"
        return clause
    reason = NEEDLESS_OPTIONS.get(name)
    return f"leave it out: {reason}" if reason else ""


def check_option_names(options: Mapping[str, object]) -> None:
    """Raise `UnknownOptionError` for the first name that is not one of a training run's options."""
    for name in options:
        if name not in OPTION_OF:
            hint = peers_name(name) or f"choose from {', '.join(OPTION_OF)}"
            raise UnknownOptionError(f"A training run has no option {name!r}; {hint}.")


ENDING: Final = ("vocab_size", "min_count", "min_share")
"""The options that only say when training ends, and change no merge before that."""

INHERITED: Final = ("id_layout", "special_tokens", "end_of_word")
"""The options that come from the vocabulary if a training run extends one."""

EXTEND: Final = Option(
    argument="extend",
    name="start from",
    does="Start from the merges of this tokenizer, whose tokens keep their ids.",
    example="mine.json",
)
WEIGHT: Final = Option(
    argument="weight",
    name="weight",
    does="Count each piece of a text this many times: a number such as 3, 2.5 or 1/3.",
    example="3",
)
READING: Final = (
    Option(
        argument="sample",
        name="sample",
        does="Read only this share of the texts, in stretches of 64 KB.",
        example="1/10",
    ),
    Option(
        argument="documents",
        name="documents",
        does="Read this many documents, drawn at random; files with rows are read twice.",
        example="1000",
    ),
    Option(
        argument="seed",
        name="seed",
        does="The seed of the sample: the same number draws the same texts.",
        example="0",
    ),
    Option(
        argument="dedupe",
        name="once each",
        does="Skip repeated documents; to find them, all texts are read once more.",
        example=YES,
    ),
    Option(
        argument="skip-bad",
        name="skip bad",
        does="Skip rows that are not text and files that cannot be read.",
        example=YES,
    ),
    Option(
        argument="alpha",
        name="alpha",
        does="Count a path as if its share p of the bytes were p^alpha; at 0 all are equal.",
        example="0.5",
    ),
    Option(
        argument="dask",
        name="Dask",
        does="Use Dask workers: local for one per core here, or the address of a scheduler.",
        example="local",
    ),
)
"""How the texts are read, by whom, and how much they count: fields of `Recipe`."""

OPTIONS: Final[Mapping[str, Option]] = {
    option.argument: option
    for option in chain(OPTION_OF.values(), [EXTEND], READING, [WEIGHT])
}
"""All options of a training run, by argument."""


def parsed_options(kind: type, typed: Mapping[str, str]) -> dict[str, Any]:
    """Read the fields of `Options`, or of another dataclass, from typed texts by argument. Raises `OptionError`.

    >>> parsed_options(Options, {"max-token-length": "16", "sample": "1/10"})
    {'max_token_length': 16}
    """
    values: dict[str, Any] = {}
    for field in fields(kind):
        argument = field.name.replace("_", "-")
        text = typed.get(argument)
        if not text:
            continue
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
                    f"--{argument}: {quoted(text)} is not a whole number."
                ) from None
    return values


def named_as_on_screen(sentence: str) -> str:
    """Replace the names of options in a sentence, as the command or Python has them, by their names on the screen.

    >>> named_as_on_screen("min_count is 0, and --sample is 2.")
    '“min. count” is 0, and “sample” is 2.'
    """
    for option in OPTIONS.values():
        sentence = sentence.replace(f"--{option.argument}", f"“{option.name}”")
        python_name = option.argument.replace("-", "_")
        if python_name != option.argument:  # otherwise it is an ordinary word
            sentence = sentence.replace(python_name, f"“{option.name}”")
    return sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRecord(Options):
    """The options of one training run and its results. `steps[i]` describes merge i of the tokenizer, from 0.

    The special tokens are kept in the vocabulary, and are not repeated here. Counts and sizes are fractions if texts have
    fractional weights.
    """

    sources: tuple[Source, ...]
    steps: tuple[tuple[Count, int, Count], ...]
    """For each merge: (the pair's count, how many pairs had that count, tokens in the corpus after the merge)."""
    n_bytes: Count
    """Bytes of the corpus in UTF-8, times the weights of its texts."""
    n_tokens_start: Count
    """Tokens before the first merge; fewer than `n_bytes` if the pattern drops white space."""
    stop_reason: str
    """Why it ended: the size was reached, no pair was left, or it was stopped."""
    n_given: int = 0
    """How many of the first merges come from the vocabulary that was extended."""
    first_counts: tuple[Count, ...] = ()
    """How often each of the 256 bytes occurred before the first merge, by value, then the end-of-word marker if there
    is one; empty if it is not known."""
    sample: str = ""
    """Which part of the files was read, in words; "" if they were read completely."""
    weights: str = ""
    """The weights as given, such as "en=3 code=0.5"; "" for none."""
    created: str = field_of(default="", compare=False)
    """When the training ended, in ISO 8601, UTC, as earlier versions recorded it. It is "" now, so that equal trainings
    make equal files; the date of the file says when it was written."""

    @property
    def corpus_digest(self) -> str:
        """A SHA-256 of the digests and weights of all documents in order, in hexadecimal.

        It is equal for the same texts; the names of their files don't matter.
        """
        digest = hashlib.sha256()
        for source in self.sources:
            digest.update(source.sha256.encode())
            if source.weight != 1:
                digest.update(f" {count_text(source.weight)}".encode())
        return digest.hexdigest()
