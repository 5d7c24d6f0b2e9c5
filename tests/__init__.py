"""Tests: rooms of the engine (core), the app (tui), and attack: fuzzers and players, run by hand and by `.ci/run`."""
