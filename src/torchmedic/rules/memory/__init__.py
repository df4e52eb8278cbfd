"""Memory that grows or runs out."""
