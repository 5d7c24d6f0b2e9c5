"""`python -m tests.attack.fuzz_kernel`: the compiled kernel held against Python, `regex`, tiktoken, the reference."""
