"""What the app reads from disks and writes there: texts, tokenizers, and what it remembers; no widget is known here."""
