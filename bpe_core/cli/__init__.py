"""The command line `bpescope COMMAND`: a module for each subcommand or a few that are alike, and what these share."""
