"""One process of several: what has to be equal on all ranks, and what must not be."""
