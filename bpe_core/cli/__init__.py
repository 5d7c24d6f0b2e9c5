"""The command line `bpescope COMMAND`: a module for each subcommand, and what several of them share.

`control` takes commands and signals, `report` writes progress, `counting` counts files; `wire` is the protocol between
the app and a command that it started as its worker, `events` what that tells.
"""
