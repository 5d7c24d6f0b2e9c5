"""A model's embeddings, read from a file without the model: which tokens their rows say were hardly ever trained.

Needs numpy, of the extra [embeddings]; nothing else of the engine imports this package unless it is asked for.
"""
