"""The end of a text that is not final: nothing before it can change, all of it can, and what would swallow it."""

import json
import random
import unicodedata
from itertools import islice, product
from pathlib import Path

import pytest
import tiktoken
from real import real_file

from bpe_core import LiveText, Tokenizer, load, save, train
from bpe_core.explain.pitfalls import Pitfalls
from bpe_core.explain.unstable import Unstable, unstable, why_unknown
from bpe_core.patterns import PATTERNS, splitter
from bpe_core.tokenizer.normalizers import LOWERCASE, NormalForm, Normalizer
from bpe_core.tokenizer.preparation import PrefixStep, Preparation, SplitStep
from bpe_core.utf8 import is_utf8
from bpe_core.vocabulary import Vocabulary

TOKENIZER = train(
    "the theme of the other thesis, the thing that they thought through\n" * 4,
    vocab_size=290,
)


def end_of(tokenizer: Tokenizer, text: str) -> Unstable:
    found = unstable(LiveText(tokenizer, text))
    assert found is not None
    return found


def kept_of(tokenizer: Tokenizer, text: str, end: Unstable) -> list[int]:
    """The ids of a text before its unstable end."""
    ids = tokenizer.encode_ordinary(text)
    return ids[: len(ids) - len(end.ids)]


def words(tokenizer: Tokenizer, ids: tuple[int, ...]) -> list[str]:
    return [tokenizer.decode([token]) for token in ids]


def test_a_word_can_go_on() -> None:
    end = end_of(TOKENIZER, "of the th")
    assert end.start == 6 and words(TOKENIZER, end.ids) == [" th"]
    assert [words(TOKENIZER, found.ids) for found in islice(end.completions(), 3)] == [
        [" the"],
        [" them"],
        [" theme"],
    ]


def test_behind_a_space_any_word_can_come_and_a_full_group_of_digits_is_final() -> None:
    end = end_of(TOKENIZER, "of the ")
    assert end.start == 6 and words(TOKENIZER, end.ids) == [" "]
    assert all(found.swallowed == b" " and found.rest for found in end.completions())
    digits = train("123 123 12 12 1234", vocab_size=260, pattern="gpt4")
    assert end_of(digits, "123").ids == () == end_of(digits, "").ids
    assert end_of(digits, "12").ids != ()


def test_a_character_may_come_in_parts() -> None:
    emoji = train(
        "😊😊😊", vocab_size=258, pattern="none"
    )  # the first half of an emoji is a token
    assert end_of(emoji, "a").ids == ()
    both = train("a😊a😊a😊b", vocab_size=258, pattern="none", ties="lowest")
    assert all(found.rest for found in end_of(both, "a").completions())


def test_a_token_may_end_within_a_character_that_it_does_not_complete() -> None:
    half = Tokenizer(Vocabulary.of_bytes().extended([(97, 0xF0, 256)]), "none")
    end = end_of(half, "a")
    assert end.ids == (97,)
    assert [(found.ids, found.rest) for found in end.completions()] == [
        ((256,), b"\xf0")
    ]


def random_tokenizer(rng: random.Random, pattern: str) -> Tokenizer:
    letters = rng.choice(("ab", "ab ", "a 1'", "abé ", "n't \n", "aB/ '"))
    corpus = ["".join(rng.choices(letters, k=30)) for _ in range(6)]
    return train(corpus, vocab_size=256 + rng.randrange(2, 20), pattern=pattern)


def continuations(kinds: tuple[str, ...]) -> list[str]:
    letters = sorted({*"ab é1'n", *kinds[:12]})
    return ["".join(chosen) for n in (1, 2) for chosen in product(letters, repeat=n)]


@pytest.mark.parametrize(
    "pattern",
    ["none", "gpt2", "gpt4", "gpt4o", "llama3", "qwen2", r"\w+|\s+", r"[ab]+|'[^']*'"],
)
def test_as_trying_every_continuation_says(pattern: str) -> None:
    rng = random.Random(pattern)
    following = continuations(splitter(pattern).kinds if pattern != "none" else ())
    for _ in range(12):
        tokenizer = random_tokenizer(rng, pattern)
        text = "".join(rng.choices("aab  é1'n't\n/B", k=rng.randrange(1, 12)))
        ids = tokenizer.encode_ordinary(text)
        end = end_of(tokenizer, text)
        kept = kept_of(tokenizer, text, end)
        whole = [found for found in end.completions() if is_utf8(found.rest)]
        for rest in (*following, *(found.rest.decode() for found in whole)):
            assert tokenizer.encode_ordinary(text + rest)[: len(kept)] == kept, (
                text,
                rest,
            )
        for found in whole:
            assert tokenizer.encode_ordinary(text + found.rest.decode()) == [
                *kept,
                *found.ids,
            ]
        reachable = [tokenizer.encode_ordinary(text + rest) for rest in following]
        reachable += [[*kept, *found.ids] for found in whole]
        if end.ids:
            assert any(
                other[: len(kept) + 1] != ids[: len(kept) + 1] for other in reachable
            ), (text, end)
        assert swallowing(tokenizer, text, following) <= {
            (found.ids[-1], found.swallowed) for found in whole
        }


def test_where_nfc_leaves_the_text_as_it_is_as_trying_every_continuation_says() -> None:
    corpus = "the é café à la e\u0323 ạ̀ o\u0301 한국 1 2 12 naïve " * 3
    learned = train(
        unicodedata.normalize("NFC", corpus), vocab_size=300, pattern="qwen2"
    )
    nfc = Preparation(
        (),
        Normalizer([NormalForm("NFC")]),
        (SplitStep(learned.splitter),),
        description={"normalizer": {"type": "NFC"}},
    )
    tokenizer = Tokenizer(learned.vocabulary, "qwen2", preparation=nfc)
    letters = [
        "",
        *"abe 1'é",
        "\u0301",
        "\u0323",
        "\u0307",
        "\u0327",
        "\u11ab",
        "\u1161",
        "\n",
    ]
    following = ["".join(pair) for pair in product(letters, repeat=2)]
    for text in (
        "caf",
        "cafe",
        "naï",
        "the ",
        "1",
        "12",
        "la a",
        "q",
        "하",
        "ᄒ",
        "e\u0323",
        "\n",
    ):
        text = unicodedata.normalize("NFC", text)
        end, ids = end_of(tokenizer, text), tokenizer.encode_ordinary(text)
        kept = kept_of(tokenizer, text, end)
        reached = [tokenizer.encode_ordinary(text + rest) for rest in following]
        whole = [
            found for found in islice(end.completions(), 50) if is_utf8(found.rest)
        ]
        reached += [
            tokenizer.encode_ordinary(text + found.rest.decode()) for found in whole
        ]
        assert all(other[: len(kept)] == kept for other in reached), text
        assert not end.ids or any(
            other[: len(kept) + 1] != ids[: len(kept) + 1] for other in reached
        ), text
        for found in whole:
            assert tokenizer.encode_ordinary(text + found.rest.decode()) == [
                *kept,
                *found.ids,
            ]
    assert unstable(LiveText(tokenizer, "e\u0301")) is None, "here it changes the text"


def qwen_like(folder: Path, **changes: object) -> Tokenizer:
    """A tokenizer of the shape that Qwen 2.5 has: NFC, and added tokens of which some are not special."""
    corpus = "the é café à tool call <tool> </tool_call> fim 1 2 12 naïve I'll\n" * 3
    path = folder / "tokenizer.json"
    save(train(corpus, vocab_size=300, pattern="qwen2"), path, format="huggingface")
    data = json.loads(path.read_text())
    flags = {
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": False,
    }
    texts = "<|endoftext|>", "<tool_call>", "</tool_call>", "<|fim|>"
    data["added_tokens"] = [
        {"id": 400 + number, "content": text} | flags | {"special": number == 0}
        for number, text in enumerate(texts)
    ]
    data["added_tokens"][-1] |= changes
    path.write_text(json.dumps(data | {"normalizer": {"type": "NFC"}}))
    return load(path)


def test_what_may_come_is_known_of_tokenizers_that_make_nfc_and_find_added_tokens(
    tmp_path: Path,
) -> None:
    tokenizer = qwen_like(tmp_path)
    assert not tokenizer.by_piece
    others = [
        *"abe 1'é<|/>_\n",
        "\u0301",
        "\u0323",
        "\u0307",
        "l>",
        "tool_call>",
        "<tool_call>",
        "fim|>",
        "|fim|>",
        "/tool_call>",
    ]
    following = ["".join(pair) for pair in product(["", *others], repeat=2)]
    for text in (
        "caf",
        "the ",
        "12",
        "a <tool_call>",
        "<tool_cal",
        "a <",
        "x<|fim|",
        "<tool_call>the",
        "<|endoftext",
        "</",
    ):
        end, ids = end_of(tokenizer, text), tokenizer.encode_ordinary(text)
        kept = kept_of(tokenizer, text, end)
        reached = [tokenizer.encode_ordinary(text + rest) for rest in following]
        whole = [
            found for found in islice(end.completions(), 50) if is_utf8(found.rest)
        ]
        reached += [
            tokenizer.encode_ordinary(text + found.rest.decode()) for found in whole
        ]
        assert all(other[: len(kept)] == kept for other in reached), text
        assert not end.ids or any(
            other[: len(kept) + 1] != ids[: len(kept) + 1] for other in reached
        ), text
        for found in whole:
            assert tokenizer.encode_ordinary(text + found.rest.decode()) == [
                *kept,
                *found.ids,
            ]
        assert end.start == len(tokenizer.decode(kept))


def test_why_the_end_is_not_known_is_said_truly(tmp_path: Path) -> None:
    reasons = {
        "applies NFC first, and the end of this text is not NFC": LiveText(
            qwen_like(tmp_path), "e\u0301"
        ),
        "added tokens of this tokenizer depend on the text around": LiveText(
            qwen_like(tmp_path, lstrip=True), "low"
        ),
        "can examine any part of the text": LiveText(
            train("low", vocab_size=257, pattern="(?<=a)b|.").at(0), "low " * 90_000
        ),
    }
    lower = Preparation((), Normalizer([LOWERCASE]), (SplitStep(splitter("qwen2")),))
    tokenizer = Tokenizer(TOKENIZER.vocabulary, "qwen2", preparation=lower)
    reasons["changes text before splitting it"] = LiveText(tokenizer, "low")
    puts = Preparation((), None, (PrefixStep(" "), SplitStep(splitter("qwen2"))))
    reasons["adds characters to a text"] = LiveText(
        Tokenizer(TOKENIZER.vocabulary, "qwen2", preparation=puts), "low"
    )
    for reason, live in reasons.items():
        assert unstable(live) is None
        assert reason in why_unknown(live)


def swallowing(
    tokenizer: Tokenizer, text: str, following: list[str]
) -> set[tuple[int, bytes]]:
    """The tokens seen to reach over the end of a text and to end with a continuation, with the part that was there."""
    end = len(text.encode())
    found = set()
    for rest in following:
        at = 0
        ids = tokenizer.encode_ordinary(text + rest)
        for token in ids:
            data = tokenizer.token_bytes(token)
            if at < end < at + len(data) == len((text + rest).encode()):
                found.add((token, data[: end - at]))
            at += len(data)
    return found


def test_tiktoken_knows_no_completion_that_is_missing_here() -> None:
    tokenizer = train(
        "hello fantastic fantasy fan fanta tail tale tales talent\n" * 3,
        vocab_size=300,
        pattern="gpt2",
    )
    ranks = {
        tokenizer.token_bytes(token): token for token in tokenizer.vocabulary.ids()
    }
    encoding = tiktoken.Encoding(
        "t", pat_str=PATTERNS["gpt2"], mergeable_ranks=ranks, special_tokens={}
    )
    for text in ("hello fan", "a tal", "the t", "fantas", " ta", "hello "):
        theirs_stable, theirs = encoding.encode_with_unstable(text)
        end = end_of(tokenizer, text)
        kept = kept_of(tokenizer, text, end)
        assert (
            kept[: len(theirs_stable)] == theirs_stable
        )  # at least as many of ours are known to be stable
        ours = {
            tuple(kept[len(theirs_stable) :]) + found.ids for found in end.completions()
        }
        real = {
            tuple(seq)
            for seq in theirs
            if is_real(encoding, [*theirs_stable, *seq], text)
        }
        assert real <= ours


def is_real(encoding: tiktoken.Encoding, ids: list[int], text: str) -> bool:
    """Whether ids are what their text has, and go beyond `text`: tiktoken lists some that are not, or do not."""
    whole = encoding.decode(ids)
    return len(whole) > len(text) and encoding.encode(whole) == ids


def test_only_the_end_of_a_long_text_is_examined_and_a_pattern_that_looks_back_only_on_short_ones() -> (
    None
):
    letters = train("abab abab", vocab_size=258, pattern="none")
    for text in ("ab" * 5000, "the " * 5000, "a" * 4001):
        end = end_of(letters, text)
        kept = kept_of(letters, text, end)
        assert len(end.ids) < 4
        for rest in ("a", "b", "ab", " ", "ba"):
            assert letters.encode_ordinary(text + rest)[: len(kept)] == kept
    behind = train("abab abab", vocab_size=257, pattern=r"(?<= )ab|.")
    assert end_of(behind, "ab a").ids
    assert unstable(LiveText(behind, "ab" * 4000)) is None


def test_a_token_as_long_as_the_text_does_not_make_each_place_of_it_a_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text, joins, join = (
        "".join(random.Random(1).choices("abcdef ", k=1500)),
        [],
        Vocabulary.join,
    )
    whole = train(text, vocab_size=1800, pattern="none")
    monkeypatch.setattr(
        Vocabulary, "join", lambda self, data: joins.append(data) or join(self, data)
    )
    end = end_of(whole, text[:-7])
    assert sum(map(len, joins)) < 100 * len(text), "and not the square of its length"
    assert whole.encode(text)[-1] in {
        completion.ids[-1] for completion in end.completions()
    }


KEYS = """. → .|D . .D|e .D .De|f .De .Def|a → a|u a au|l au aul|t .Def·aul .Default|C → C|e C Ce|l Ce Cel|l Cel Cell
S → S|t S St|y → y|l y yl|e .Default·Cell·St·yl .DefaultCellStyle"""
"""Key, tokens that go, if any, and tokens that come."""


def test_default_cell_style(tmp_path: Path) -> None:
    """Typing a well-known word under a well-known vocabulary: its tokens and what changed, key by key."""
    tokenizer = load(real_file("cl100k_base.tiktoken", tmp_path))

    def typed(ids: tuple[int, ...]) -> str:
        return "·".join(tokenizer.decode([token]) for token in ids)

    live = LiveText(tokenizer)
    for key, gone, come in map(str.split, KEYS.replace("\n", "|").split("|")):
        change = live.splice(live.n_characters, live.n_characters, key)
        assert (typed(change.removed) or "→", typed(change.inserted)) == (gone, come)
        assert change.ripple == {".Default": 3, ".DefaultCellStyle": 8}.get(come, 0), (
            "to the farthest border that moved"
        )
        assert live.ids == tokenizer.encode_ordinary(live.text)
        if live.text == ".DefaultCellSty":
            assert typed(tuple(live.ids)) == ".Default·Cell·St·y"
            end = unstable(live)
            assert end is not None and next(end.completions()).ids == (98518,)
            [pitfall] = Pitfalls(live).at_end(end)
            assert (
                pitfall.reason == "The end is 4 tokens; .DefaultCellStyle would be 1."
            )
    assert live.ids == [98518]
