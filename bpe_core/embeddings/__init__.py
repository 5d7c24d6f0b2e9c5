"""Embedding matrices read from model files, and indicators of under-trained tokens computed from their rows.

Needs numpy, of the extra [embeddings]; the engine imports this package only when an embedding matrix is given.
"""
