"""A text as its tokens, drawn where the app is not: in a terminal, on a page, in a document, in a notebook."""
