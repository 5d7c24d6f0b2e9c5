"""Content of bpescope: sample texts, short examples for the editor, and presets for training."""
