"""What `import minbpe` gives, with `bpe_core` inside, for programs and tests written for minbpe."""

from pathlib import Path

from bpe_core import load, save, train


class BasicTokenizer:
    pattern = "none"

    def __init__(self, pattern=None):
        self.ours = train([], vocab_size=256, pattern=pattern or self.pattern)

    def __getattr__(self, name):
        return getattr(self.ours, name)

    def train(self, text, vocab_size, verbose=False):
        self.ours = train(text, vocab_size=vocab_size, pattern=self.ours.pattern)

    def register_special_tokens(self, special_tokens):
        self.ours = self.ours.with_special_tokens(special_tokens)

    def encode(self, text, allowed_special="none_raise"):
        refused = "all" if allowed_special == "none_raise" else ()
        allowed = () if allowed_special in ("none", "none_raise") else allowed_special
        return self.ours.encode(
            text, allowed_special=allowed, disallowed_special=refused
        )

    def save(self, prefix):
        save(self.ours, f"{prefix}.model", format="minbpe")
        Path(f"{prefix}.vocab").write_text("for people; nothing reads it")

    def load(self, path):
        self.ours = load(path)


class RegexTokenizer(BasicTokenizer):
    pattern = "gpt4"
