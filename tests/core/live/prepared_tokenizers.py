"""Tokenizers that change a text before they encode it, of every kind that there is."""

from bpe_core import Tokenizer, Vocabulary, train
from bpe_core.patterns import splitter
from bpe_core.tokenizer import normalizers as n
from bpe_core.tokenizer.preparation import (
    AddedToken,
    PrefixStep,
    Preparation,
    ReplaceStep,
    SplitStep,
)
from bpe_core.vocabulary.symbols import CharacterSymbols
from tests.nasty import nasty_texts

TEXTS = nasty_texts(200, seed=11)
BYTES = train(TEXTS, vocab_size=500, pattern="gpt2").vocabulary


def prepared(rules=(), steps=(), vocabulary=BYTES, added=(), has_metaspace=False):
    return Tokenizer(
        vocabulary,
        "none",
        preparation=Preparation(
            tuple(added),
            n.Normalizer(rules) if rules else None,
            tuple(steps),
            has_metaspace=has_metaspace,
            drops_space=has_metaspace,
            description={},
        ),
    )


def of_characters(unknown=None, fuse=False, fallback=True):
    """A vocabulary of some characters and two merges; the rest are bytes, or unknown."""
    base = {3 + byte: bytes([byte]) for byte in range(256)} if fallback else {}
    names = {300: " ", 301: "l", 302: "o", 303: "w", 304: "é", 305: "カ"}
    base |= {token: name.encode() for token, name in names.items()} | {0: b"<unk>"}
    merges = [(301, 302, 310), (310, 303, 311), (300, 311, 312)]
    bytes_of = {byte: 3 + byte for byte in range(256)} if fallback else {}
    symbols = CharacterSymbols(
        {name: token for token, name in names.items()}, bytes_of, unknown, fuse=fuse
    )
    return Vocabulary(base, merges, {}, symbols=symbols, whole_pieces={})


LLAMA = [n.Prepended("▁"), n.Replaced(" ", "▁")]
ADDED = [
    AddedToken("lo", 301),
    AddedToken("ab", 302, normalized=True),
    AddedToken("E", 303, lstrip=True, rstrip=True),
]
METASPACE = [ReplaceStep(" ", "▁"), PrefixStep("▁", only_first=True)]
GPT2, WORDS = SplitStep(splitter("gpt2")), SplitStep(splitter("words"))
MAKERS = {
    "NFC": lambda: prepared([n.NormalForm("NFC")], [GPT2]),
    "NFD": lambda: prepared([n.NormalForm("NFD")], [GPT2]),
    "NFKC and small": lambda: prepared([n.NormalForm("NFKC"), n.LOWERCASE], [PrefixStep(" "), GPT2]),
    "NFKD without accents": lambda: prepared([n.NormalForm("NFKD"), n.WITHOUT_ACCENTS], [WORDS]),
    "replaced": lambda: prepared([
        n.Stripped("start"), n.Stripped("end"), n.Replaced("e", "EE"), n.Replaced("", "."), n.Replaced("..", "ab"),
        n.ReplacedMatches(r"\s+|(?<=a)", "_"), n.Prepended("@")], [GPT2]),
    "added": lambda: prepared([n.LOWERCASE], [GPT2], added=ADDED),
    "llama 2": lambda: prepared(LLAMA, [SplitStep(splitter("▁+[^▁]*|[^▁]+"))], of_characters(), (), True),
    "metaspace": lambda: prepared((), METASPACE, of_characters(), (), True),
    "unknown": lambda: prepared([n.LOWERCASE], [WORDS], of_characters(0, fallback=False)),
    "unknown in a row": lambda: prepared(LLAMA, [], of_characters(0, fuse=True, fallback=False), (), True),
    "end of word": lambda: train(TEXTS, vocab_size=400, pattern="words", end_of_word="</w>"),
    "end of piece": lambda: train(TEXTS, vocab_size=400, pattern="gpt2", end_of_word="</w>"),
    "spaces removed": lambda: prepared([
        n.ReplacedMatches("  +", " "), n.Stripped("start", " "), *LLAMA,
        n.Stripped("end", "▁")], [SplitStep(splitter("▁+[^▁]*|[^▁]+"))], of_characters(), (), True),
    "metaspace split": lambda: prepared((), [*METASPACE, SplitStep(splitter("▁[^▁]*"))], of_characters(), (), True),
    "many added": lambda: prepared((), [PrefixStep(" "), GPT2], added=[
        *ADDED, AddedToken("ee", 304, special=True), AddedToken("e  ", 305), AddedToken("Eß", 306, single_word=True)]),
    "removed": lambda: prepared([n.LOWERCASE], [SplitStep(splitter(r"(?#only)[^e\s]+")), PrefixStep(" "), GPT2]),
    "bytes in one piece": lambda: prepared([n.NormalForm("NFC")], []),
    "words of characters": lambda: prepared([n.NormalForm("NFD")], [WORDS], of_characters(0, True, False)),
}  # fmt: skip
