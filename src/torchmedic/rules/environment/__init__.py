"""The machine and its packages."""
