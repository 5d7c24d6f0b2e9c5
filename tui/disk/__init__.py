"""Reading and writing files: texts, tokenizers and settings. No module here imports a widget."""
