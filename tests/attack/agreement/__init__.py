"""Is bpescope exact against the world? `python -m tests.attack.agreement` compares it, and says what it has found.

Texts made to be hard and texts that people wrote are encoded here and by tiktoken and Hugging Face's tokenizers, and
tokenizers are trained here and by rustbpe and tokenizers. Where ids differ, the characters are named on which the
libraries' versions of Unicode differ; any other difference is one too many. `test_agreement.py` does
the same with little text.
"""
