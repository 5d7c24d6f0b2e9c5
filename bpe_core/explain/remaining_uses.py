"""How often each learned token still occurs in its corpus after the newest merge: all of them, kept up to date.

`token_uses` tells of one token where its uses went. The argument is the same: a merge joins as many occurrences of its
pair as the corpus loses tokens by it; each is a use of the new token, and one less of both parts.
"""

from collections import defaultdict


class RemainingUses:
    """Uses of tokens in the corpus they are learned from, after the merges that were added.

    >>> uses = RemainingUses(11)
    >>> uses.add(97, 97, 256, 9), uses.add(256, 97, 257, 7)
    (None, None)
    >>> uses.of(256), uses.of(257)
    (0, 2)
    """

    def __init__(self, n_tokens: int) -> None:
        """`n_tokens` is the length of the corpus before the first merge."""
        self._n_tokens = n_tokens
        self._uses: defaultdict[int, int] = defaultdict(int)

    def add(self, left: int, right: int, token: int, n_tokens: int) -> None:
        """The next merge, after which the corpus has `n_tokens` tokens. O(1)."""
        made = self._n_tokens - n_tokens
        self._n_tokens = n_tokens
        self._uses[token] += made
        self._uses[left] -= made
        self._uses[right] -= made

    def of(self, token: int) -> int:
        """Uses of a token that a merge has made; what it gives of single bytes has no meaning."""
        return self._uses.get(token, 0)
