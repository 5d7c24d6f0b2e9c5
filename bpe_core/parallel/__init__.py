"""A process pool, and files divided into portions that can be worked on apart."""
