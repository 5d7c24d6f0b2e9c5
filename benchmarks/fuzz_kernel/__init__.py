"""`python -m benchmarks.fuzz_kernel`: the compiled kernel held against Python, `regex`, tiktoken and the reference."""
