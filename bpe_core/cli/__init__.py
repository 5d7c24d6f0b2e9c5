"""The command line `bpescope COMMAND`: one module per subcommand or group of similar ones."""
