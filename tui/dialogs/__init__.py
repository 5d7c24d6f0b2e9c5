"""The dialogs of the app: its questions, and the help."""
