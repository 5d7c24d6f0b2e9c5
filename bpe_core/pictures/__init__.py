"""Pictures of a tokenized text outside the app: for terminals, and as HTML, Markdown and SVG."""
