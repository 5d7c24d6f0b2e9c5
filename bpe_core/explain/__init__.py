"""Why a text became these tokens: merges in order, what may come, and what trips tokenizers."""
