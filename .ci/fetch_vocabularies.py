"""Let tiktoken fetch the published vocabularies into its cache, where tests and attacks look for them."""

import tiktoken

for name in ("gpt2", "r50k_base", "p50k_base", "cl100k_base", "o200k_base"):
    print(name, tiktoken.get_encoding(name).n_vocab)
