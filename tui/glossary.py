"""What the words on the screen mean, a sentence each: for the line at the foot, for tooltips, and for the help.

A sentence has at most `LONGEST` cells, so that it can be read whole in a terminal of 80.
"""

from collections.abc import Mapping
from typing import Final

from bpe_core.tokenizer.training_record import OPTIONS

LONGEST: Final = 78

FIELDS: Final[Mapping[str, str]] = {
    option.name: option.does for option in map(OPTIONS.__getitem__, ("vocab-size", "pattern", "ties", "min-count"))
} | {OPTIONS["special"].name: f"{OPTIONS['special'].does} Spaces between."}

PATTERN_MEANINGS: Final[Mapping[str, str]] = {
    "none": "none: nothing is cut, each document is one piece, so merges cross words.",
    "words": "words: cut at whitespace, which is dropped: decoding does not bring it back.",
    "gpt2": "gpt2: words with the space before them; runs of digits; runs of signs.",
    "gpt4": "gpt4: as gpt2, digits by threes, a sign goes with the word after it (cl100k).",
    "gpt4o": "gpt4o: as gpt4, and a capital inside a word begins a new piece (o200k).",
    "llama3": "llama3: as gpt4, but spaces at the end are cut off from the last newline.",
    "qwen2": "qwen2: as llama3, but each digit is a piece of its own.",
}
ANOTHER_PATTERN: Final = "another: any regular expression; what it does not match becomes pieces too."
OWN_PATTERN: Final = "Your own: what the expression matches are pieces, and so is what lies between."

TIE_MEANINGS: Final[Mapping[str, str]] = {
    "first": "first: of equally frequent pairs, the one that stands earliest in the texts.",
    "lowest": "lowest: of equally frequent pairs, the one with the smallest ids (rustbpe).",
    "lowest-hf": "lowest-hf: the smallest ids, bytes numbered as Hugging Face numbers them.",
    "largest": "largest: the pair with the largest bytes (Sennrich et al., 2016).",
}

WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "Corpus": {
        "corpus": "The chosen texts, from which merges are learned.",
        "document": "A file, or a text on its own: no merge crosses its border.",
        "different": "Pieces that differ from each other: counts are kept once for each of them.",
        "weight": "How many times a text counts; # on it in the corpus pane changes that.",
        "sample": "A share of the texts that is read instead of all; a seed says which.",
        "preset": "A founding example of the field: texts, options and the result it must have.",
        "pattern": "The split pattern: a regular expression that cuts a text into pieces.",
        "piece": "What the pattern cuts out, about a word each. No merge crosses its border.",
    },
    "Training": {
        "byte-pair encoding": "Begin with single bytes; join the pair of neighbors that occurs most; repeat.",
        "merge": "One learned step: two tokens become a new one wherever they are neighbors.",
        "step": "A merge's number, from 1; at step n the first n merges are in force.",
        "rank": "A merge's place in the order, from 0: of two that apply, the lower wins.",
        "vocabulary": "All tokens: the 256 bytes, the special tokens, one for each merge.",
        "ties": "Pairs that occur equally often; the tie rule chooses one of them.",
        "min. count": "Pairs that occur less often are not merged.",
        "specials": "Special tokens: a text such as <|endoftext|> with an id that no merge makes.",
        "ratio": "Bytes per token: the higher, the shorter the sequence a model has to read.",
        "share": "By what share of its tokens one merge made the corpus shorter.",
    },
    "Editor": {
        "token": "A run of bytes with an id. A model sees ids, never letters.",
        "id": "A token's number: where its row stands in the model's table of embeddings.",
        "lane": "The same text under another tokenizer or step; what differs stands out.",
        "bytes/token": "How many bytes of the editor's text a token holds on average.",
        "ripple": "How far from an edit token borders still moved, in bytes.",
        "not final": "Tokens at the end that further typing can still change; they are underlined.",
        "pitfall": "What trips tokenizers: spaces at the end, unseen characters, look-alikes.",
    },
    "Audit": {
        "audit": "A search for tokens that a model hardly learns.",
        "glitch token": "One a model never learned: no text that it was trained on holds it.",
        "reference": "Texts like those a model learns from: tokens missing there may be glitches.",
    },
    "Compare": {
        "boundary": "A place between two tokens; the F1 score says how far two tokenizers agree.",
        "fertility": "Tokens for each word; a word with a boundary inside is a continued one.",
        "parity": "Tokens of a translation for each token of the text it translates.",
        "efficiency": "How evenly a text uses its tokens, by Rényi's or Shannon's entropy; 1 is best.",
    },
}
"""By the title of the pane that they are about, each once; those of a table are told by its columns, too."""
