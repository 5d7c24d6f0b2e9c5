"""What `import tiktoken` gives, with `bpe_core` inside, for programs and tests written for tiktoken.

Here are the names that `Tokenizer` does not have: the constructor, and private ones that people reach for.
"""

from bpe_core import Tokenizer
from bpe_core.vocabulary.ranked import RankedVocabulary


class Encoding:
    def __init__(self, name, *, pat_str, mergeable_ranks, special_tokens):
        tokens = {
            token: data
            for data, token in sorted(mergeable_ranks.items(), key=lambda item: item[1])
        }
        self.ours = Tokenizer(
            RankedVocabulary(tokens, special_tokens), pat_str, name=name
        )

    def __getattr__(self, name):
        return getattr(object.__getattribute__(self, "ours"), name)

    special_tokens_set = property(lambda self: set(self.special_tokens))
    _special_tokens = property(lambda self: self.special_tokens)
    _mergeable_ranks = property(
        lambda self: {data: token for token, data in self.vocabulary.bytes_of.items()}
    )
    _pat_str = property(lambda self: self.pattern)

    def _encode_bytes(self, data):
        return list(self.vocabulary.encode(data))
