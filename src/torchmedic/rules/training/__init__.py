"""Training dynamics: explosion, collapse, dead units, learning rates."""
