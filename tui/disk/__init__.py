"""Reading and writing files: texts, tokenizers and what the app remembers. No module here knows a widget."""
