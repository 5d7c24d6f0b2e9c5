"""What comes with bpescope: sample texts, small examples, and the founding examples as presets."""
