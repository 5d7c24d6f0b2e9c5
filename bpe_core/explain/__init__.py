"""Why a text became these tokens: the merges applied, the tokens that a continuation can change, and pitfalls."""
