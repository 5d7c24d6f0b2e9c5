"""Picky BPE: byte-pair encoding that takes tokens out of the vocabulary again while it learns.

After Chizhov, Arnett, Korotkova and Yamshchikov, "BPE Gets Picky: Efficient Vocabulary Refinement During Tokenizer
Training" (2024, arXiv 2409.04599). Each step merges the most frequent pair (x1, x2) into x3, as always. Then x1 is
removed if its *intersection over self*, the share of its occurrences that this merge took, is at least a threshold, and
so is x2. What is left of a removed token in the corpus falls back into the tokens it was made of, so that scaffolding
does not stay in the vocabulary. Single bytes are never removed; a removed token may be learned again.

What is defined here where the paper leaves room, after the authors' program where that has an answer:

- Both shares are those before the step removes anything. If x1 and x2 are the same token, each pair counts as one
  occurrence of it, not as two: the share is merged / (occurrences - merged).
- A removed token falls into the two that it was first made of; where one of these is removed too, into its own two.
- Tokens are told apart by what they are spelled of. A pair that spells a living token is merged into that token.
- A new token takes the lowest id that is free, one of a removed token if there is any. So an id stands for different
  tokens at different steps, and learning goes on until so many tokens *live* as were asked for.
- A text is encoded by doing what was done in training, in the same order: merges and removals.

`tests/core/picky_oracle.py` says the same in forty slow lines.
"""
