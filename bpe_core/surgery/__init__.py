"""Change a vocabulary: remove tokens, add words, unite two tokenizers."""
