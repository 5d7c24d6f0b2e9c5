"""The subcommands of the headless face, one file each, and what they share: control, report, counting."""
